//! Rows of words and what they do.
//!
//! The words of a row are separated by blanks. `$X` is an unknown quoted part, `$$X` an unquoted one, `$#` digits, `%X` a pattern `X`, and `~` at the
//! beginning the home directory. `_` inside a word stands for a blank, and `''` for an empty word.

use holdpoint_command_line::{Effects, HazardKind, Part, Run, Word, effects};

/// Reads the words of a row.
fn words(text: &str) -> Vec<Word> {
    text.split(' ').filter(|word| !word.is_empty()).map(word).collect()
}

fn word(text: &str) -> Word {
    let mut parts = Vec::new();
    let mut rest = text;
    if rest == "''" {
        return Word::default();
    }
    if let Some(after) = rest.strip_prefix('~') {
        parts.push(Part::Home);
        rest = after;
    }
    while !rest.is_empty() {
        let (part, length) = if rest.starts_with("$$X") {
            (Part::Unknown { quoted: false }, 3)
        } else if rest.starts_with("$X") {
            (Part::Unknown { quoted: true }, 2)
        } else if rest.starts_with("$#") {
            (Part::Number, 2)
        } else if let Some(pattern) = rest.strip_prefix('%') {
            (Part::Glob(pattern.to_owned()), rest.len())
        } else {
            let length = rest.find("$X").or_else(|| rest.find("$$X")).or_else(|| rest.find("$#")).unwrap_or(rest.len());
            let length = length.min(rest.find('%').filter(|_| !rest.starts_with(['+', '-'])).unwrap_or(length));
            (Part::Literal(rest[..length].replace('_', " ")), length)
        };
        parts.push(part);
        rest = &rest[length..];
    }
    Word { parts, span: 0..0 }
}

fn shown(word: &Word) -> String {
    let part = |part: &Part| match part {
        Part::Literal(text) => text.clone(),
        Part::Glob(pattern) => format!("%{pattern}"),
        Part::Home => "~".to_owned(),
        Part::Number => "$#".to_owned(),
        Part::Unknown { quoted: true } => "$X".to_owned(),
        Part::Unknown { quoted: false } => "$$X".to_owned(),
    };
    word.parts.iter().map(part).collect()
}

fn effects_of(text: &str) -> Effects {
    let run = Run { words: words(text), ..Run::default() };
    let effects = effects(&run);
    assert_eq!(effects.roles.len(), run.words.len(), "{text}");
    effects
}

/// Shows what a run does: `W` writes, `R` runs, `S` sends and `?` unknown for the hazards; then the files and addresses.
fn summary(text: &str) -> String {
    let effects = effects_of(text);
    if !effects.known {
        return "not known".to_owned();
    }
    let mut kinds: Vec<char> = effects
        .hazards
        .iter()
        .map(|hazard| match hazard.kind {
            HazardKind::Writes => 'W',
            HazardKind::Runs => 'R',
            HazardKind::Sends => 'S',
            HazardKind::Unknown => '?',
        })
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    let list =
        |sign: &str, words: &[Word]| words.iter().map(|word| format!(" {sign}{}", shown(word))).collect::<String>();
    let directory: Vec<Word> = effects.directory.iter().cloned().collect();
    let kinds: String = if kinds.is_empty() { "-".to_owned() } else { kinds.into_iter().collect() };
    format!(
        "{kinds}{}{}{}{}",
        list("<", &effects.reads),
        list(">", &effects.writes),
        list("@", &effects.contacts),
        list("in:", &directory)
    )
}

/// Checks rows `words => summary`.
fn check(rows: &str) {
    let mut wrong = String::new();
    for row in rows.lines().map(str::trim).filter(|row| !row.is_empty()) {
        let (text, expected) = row.split_once(" => ").unwrap_or_else(|| panic!("a row without a summary: {row}"));
        let found = summary(text.trim());
        if found != expected.trim() {
            wrong.push_str(&format!("{}\n    expected: {expected}\n    found:    {found}\n", text.trim()));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn programs_that_read() {
    check(include_str!("reading.txt"));
}
