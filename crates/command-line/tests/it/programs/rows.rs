//! Rows of words and what they do.
//!
//! The words of a row are separated by blanks. `$X` is an unknown quoted part, `$$X` an unquoted one, `$#` digits, `%%*` a pattern, and `~` at the
//! beginning the home directory. `_` inside a word stands for a blank, `\N` for a line end, and `''` for an
//! empty word.

use holdpoint_command_line::{Effects, HazardKind, ProgramRun, ShellWord, WordPart, effects};

/// Reads the words of a row.
fn words(text: &str) -> Vec<ShellWord> {
    text.split(' ').filter(|word| !word.is_empty()).map(word).collect()
}

fn word(text: &str) -> ShellWord {
    let signs = [
        ("$$X", WordPart::Unknown { quoted: false }),
        ("$X", WordPart::Unknown { quoted: true }),
        ("$#", WordPart::Number),
    ];
    if text == "''" {
        return ShellWord::default();
    }
    let mut rest = text.strip_prefix('~').unwrap_or(text);
    let mut parts = if rest == text { Vec::new() } else { vec![WordPart::Home] };
    while !rest.is_empty() {
        let found = signs
            .iter()
            .filter_map(|(sign, part)| rest.find(sign).map(|at| (at, sign.len(), part.clone())))
            .min_by_key(|found| found.0);
        let glob = rest.find("%%").map(|at| (at, rest.len() - at, WordPart::Glob(rest[at + 2..].to_owned())));
        let next = found.into_iter().chain(glob).min_by_key(|found| found.0);
        let (at, length, part) = next.map_or((rest.len(), 0, None), |(at, length, part)| (at, length, Some(part)));
        if at > 0 {
            parts.push(WordPart::Literal(rest[..at].replace('_', " ").replace("\\N", "\n")));
        }
        parts.extend(part);
        rest = &rest[at + length..];
    }
    ShellWord { parts, span: 0..0 }
}

fn shown(word: &ShellWord) -> String {
    let part = |part: &WordPart| match part {
        WordPart::Literal(text) => text.clone(),
        WordPart::Glob(pattern) => format!("%%{pattern}"),
        WordPart::Home => "~".to_owned(),
        WordPart::Number => "$#".to_owned(),
        WordPart::Unknown { quoted: true } => "$X".to_owned(),
        WordPart::Unknown { quoted: false } => "$$X".to_owned(),
    };
    word.parts.iter().map(part).collect()
}

fn effects_of(text: &str) -> Effects {
    let run = ProgramRun { words: words(text), ..ProgramRun::default() };
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
    let list = |sign: &str, words: &[ShellWord]| {
        words.iter().map(|word| format!(" {sign}{}", shown(word))).collect::<String>()
    };
    let directory: Vec<ShellWord> = effects.directory.iter().cloned().collect();
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

#[test]
fn programs_with_scripts() {
    check(include_str!("scripts.txt"));
}

#[test]
fn programs_that_write_files() {
    check(include_str!("files.txt"));
}

#[test]
fn git() {
    check(include_str!("git.txt"));
}
