//! Uses of the tools for building, testing, packages and operations: everyday ones that must have no hazard, and dangerous ones.
//!
//! The words of a row are separated by blanks; `'a b'` is one word. `$X` is an unknown quoted part, `$$X` an unquoted one, and what follows
//! `%` is a pattern.

use std::collections::BTreeSet;

use holdpoint_command_line::{Effects, HazardKind, ProgramRun, ShellWord, WordPart, WordRole, effects};

/// Reads the words of a row.
fn words(row: &str) -> Vec<ShellWord> {
    let mut words = Vec::new();
    let mut rest = row.trim();
    while !rest.is_empty() {
        let mut text = String::new();
        let mut quoted = false;
        let mut length = rest.len();
        for (at, character) in rest.char_indices() {
            match character {
                '\'' => quoted = !quoted,
                ' ' if !quoted => {
                    length = at;
                    break;
                }
                _ => text.push(character),
            }
        }
        assert!(!quoted, "a quote is open: {row}");
        words.push(word(&text));
        rest = rest[length..].trim_start();
    }
    words
}

fn word(text: &str) -> ShellWord {
    if let Some((start, pattern)) = text.split_once('%') {
        let start = Some(start).filter(|start| !start.is_empty()).map(|start| WordPart::Literal(start.to_owned()));
        let parts = start.into_iter().chain([WordPart::Glob(pattern.to_owned())]).collect();
        return ShellWord { parts, span: 0..0 };
    }
    let mut parts = Vec::new();
    for (at, piece) in text.split("$X").enumerate() {
        let (piece, unquoted) = match piece.strip_suffix('$') {
            Some(before) => (before, true),
            None => (piece, false),
        };
        if at > 0 && !matches!(parts.last(), Some(WordPart::Unknown { .. })) {
            parts.push(WordPart::Unknown { quoted: true });
        }
        if !piece.is_empty() {
            parts.push(WordPart::Literal(piece.to_owned()));
        }
        if unquoted {
            parts.push(WordPart::Unknown { quoted: false });
        }
    }
    ShellWord { parts, span: 0..0 }
}

fn effects_of(row: &str) -> Effects {
    let run = ProgramRun { words: words(row), ..ProgramRun::default() };
    let effects = effects(&run);
    assert!(effects.known, "the program is not in the tables: {row}");
    assert_eq!(effects.roles.len(), run.words.len(), "{row}");
    effects
}

/// The kinds of the hazards: `W` writes, `R` runs, `S` sends, `?` unknown.
fn kinds(effects: &Effects) -> String {
    let letters: BTreeSet<char> = effects
        .hazards
        .iter()
        .map(|hazard| match hazard.kind {
            HazardKind::Writes => 'W',
            HazardKind::Runs => 'R',
            HazardKind::Sends => 'S',
            HazardKind::Unknown => '?',
        })
        .collect();
    letters.into_iter().collect()
}

fn rows(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|row| !row.is_empty() && !row.starts_with('#'))
}

fn texts(words: &[ShellWord]) -> Vec<&str> {
    words.iter().map(|word| word.text().unwrap_or("?")).collect()
}

#[test]
fn everyday_uses_have_no_hazard() {
    let wrong: Vec<String> = rows(include_str!("tools/everyday.txt"))
        .map(|row| (row, effects_of(row)))
        .filter(|(_, effects)| !effects.hazards.is_empty())
        .map(|(row, effects)| format!("{row}\n    {:?}", effects.hazards))
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn dangerous_uses_have_their_hazards() {
    let mut wrong = Vec::new();
    for row in rows(include_str!("tools/dangerous.txt")) {
        let (expected, row) = row.split_once(' ').expect("a row has kinds and words");
        let found = kinds(&effects_of(row));
        if expected != found {
            wrong.push(format!("{row}\n    expected {expected}, found {found}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// No everyday use becomes quiet because of an unknown word: an option of any value may stand in the place of an unquoted one.
#[test]
fn an_unquoted_unknown_word_is_a_hazard() {
    for row in rows(include_str!("tools/everyday.txt")) {
        let run = words(row);
        let harmless_rest = run.iter().any(|word| word.text() == Some("--")) || row.starts_with("go run");
        if !harmless_rest {
            let found = effects_of(&format!("{row} $$X"));
            assert!(!found.hazards.is_empty(), "{row} $X has no hazard");
        }
    }
}

#[test]
fn an_option_that_no_table_lists_is_a_hazard() {
    for row in rows(include_str!("tools/everyday.txt")) {
        let first: Vec<ShellWord> = words(row).into_iter().take(1).collect();
        let option = ShellWord::literal("--no-such-option-anywhere=x");
        let run = ProgramRun { words: first.into_iter().chain([option]).collect(), ..ProgramRun::default() };
        assert!(!effects(&run).hazards.is_empty(), "{row}");
    }
}

#[test]
fn files_and_addresses_are_named() {
    let found = effects_of("pytest -q tests/test_a.py::TestX::test_y");
    assert_eq!(texts(&found.reads), ["tests/test_a.py"]);
    let found = effects_of("pytest /tmp/evil.py");
    assert_eq!(found.hazards[0].target.as_ref().and_then(ShellWord::text), Some("/tmp/evil.py"));
    let found = effects_of("curl -s https://docs.rs/x -o page.html");
    assert_eq!((texts(&found.contacts), texts(&found.writes)), (vec!["https://docs.rs/x"], vec!["page.html"]));
    let found = effects_of("curl https://{a,b}.example");
    assert_eq!(texts(&found.contacts), ["?"]);
    let found = effects_of("tar tf host:x.tar");
    assert_eq!(found.hazards.iter().map(|hazard| hazard.word).collect::<Vec<_>>(), [2]);
    let found = effects_of("make -C sub test");
    assert_eq!(found.directory.as_ref().and_then(ShellWord::text), Some("sub"));
    let found = effects_of("cargo build --target-dir /srv/out");
    assert_eq!(texts(&found.writes), ["/srv/out"]);
    let found = effects_of("black src");
    assert_eq!((texts(&found.writes), kinds(&found)), (vec!["src"], "W".to_owned()));
    let found = effects_of("black --check src");
    assert_eq!((texts(&found.reads), texts(&found.writes)), (vec!["src"], vec![]));
}

#[test]
fn subcommands_and_tools_have_their_roles() {
    let found = effects_of("cargo +nightly -q test --workspace");
    assert_eq!(found.subcommand, ["test"]);
    assert_eq!(
        found.roles,
        [WordRole::Program, WordRole::Option, WordRole::Option, WordRole::Subcommand, WordRole::Option]
    );
    let found = effects_of("npx --yes eslint --quiet src");
    assert_eq!(found.subcommand, ["eslint"]);
    let found = effects_of("gh -R a/b pr view 3");
    assert!(!found.hazards.is_empty(), "gh has -R after the subcommand only");
    let found = effects_of("python -m pytest -k x");
    assert_eq!(found.roles[1..3], [WordRole::Option, WordRole::Value]);
}
