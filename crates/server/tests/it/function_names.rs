//! Tests that a function that answers a question is named as one, `is_over` and not `over`, and that a function that adds problems is named by a verb.

use std::fs;
use std::path::Path;

use crate::signatures::{Function, functions};

/// First words of names that are no question: adjectives, participles, prepositions and adverbs. A verb (`covers`, `holds`) reads as one.
const NO_QUESTIONS: &[&str] = &[
    "again",
    "alive",
    "allowed",
    "changed",
    "closed",
    "contradicted",
    "dead",
    "disabled",
    "due",
    "empty",
    "enabled",
    "ended",
    "enough",
    "exact",
    "expired",
    "followed",
    "free",
    "full",
    "held",
    "hopeless",
    "idle",
    "in",
    "invisible",
    "known",
    "legal",
    "live",
    "never",
    "old",
    "over",
    "own",
    "played",
    "private",
    "public",
    "ready",
    "reserved",
    "rested",
    "running",
    "same",
    "satisfied",
    "secure",
    "shallower",
    "signed",
    "stale",
    "stopped",
    "unknown",
    "valid",
    "visible",
    "waiting",
    "whole",
    "with",
    "within",
];

/// First words of functions that add to a list of problems.
const VERBS_OF_CHECKS: &[&str] = &["check", "find"];

/// Crates whose questions follow the grammars that they read. The rule does not cover them yet.
const NOT_COVERED: &[&str] = &["policy", "tool-facts"];

#[test]
fn functions_that_return_a_bool_are_named_as_questions() {
    let (mut names, sources) = (Vec::new(), sources());
    for (file, text) in &sources {
        names.extend(questions(text).into_iter().map(|name| (file.as_str(), name)));
    }
    assert!(names.len() > 150, "{} questions", names.len());
    let wrong = names.iter().filter(|(_, name)| !is_question(name)).map(|(file, name)| format!("{file}: {name}"));
    assert_eq!(wrong.collect::<Vec<_>>(), [""; 0], "begin the name with is_, has_ or may_");
}

#[test]
fn functions_that_add_problems_are_named_by_verbs() {
    let (mut found, mut wrong) = (0, Vec::new());
    let planted = ("planted.rs".to_owned(), "fn line(text: &str, problems: &mut Vec<Problem>) {}\n".to_owned());
    for (file, text) in sources().into_iter().chain([planted]) {
        for Function { name, parameters } in functions(&text) {
            if parameters.iter().any(|parameter| parameter == "problems: &mut Vec<Problem>") {
                found += 1;
                let first = name.split('_').next().unwrap_or_default();
                if !VERBS_OF_CHECKS.contains(&first) {
                    wrong.push(format!("{file}: {name}"));
                }
            }
        }
    }
    assert!(found > 40, "{found} functions");
    assert_eq!(wrong, ["planted.rs: line"], "begin the name with check_");
}

#[test]
fn functions_that_return_a_bool_are_found() {
    let text = "    pub const fn over(&self) -> bool {\n    }\nfn wide(\n    one: u8,\n) -> bool\nwhere\n    u8: Copy,\n{}\n\
                fn flags() -> Vec<bool> {}\n// fn remark() -> bool {\nfn calls(test: &dyn Fn() -> bool) {}\n";
    assert_eq!(questions(text), ["over", "wide"]);
    assert_eq!(["over", "within_reach", "is_over", "covers"].map(is_question), [false, false, true, true]);
}

/// Whether a name does not begin with one of [`NO_QUESTIONS`].
fn is_question(name: &str) -> bool {
    name.split('_').next().is_some_and(|first| !NO_QUESTIONS.contains(&first))
}

/// Names of the functions of a source that return a `bool`.
fn questions(text: &str) -> Vec<&str> {
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let declared = text.match_indices("fn ").filter(|(at, _)| {
        let line = text[..*at].rsplit('\n').next().unwrap_or_default();
        line.split_whitespace()
            .all(|word| ["pub", "const", "async"].contains(&word.split('(').next().unwrap_or_default()))
    });
    let heads = declared.filter_map(|(at, _)| text[at + 3..].split(['{', ';']).next());
    let heads = heads.map(|head| head.split("\nwhere").next().unwrap_or(head).trim_end());
    heads
        .filter(|head| head.ends_with(") -> bool"))
        .filter_map(|head| head.split(|letter| !is_name(letter)).next())
        .collect()
}

/// Every source of the crates that the rules cover, without tests, with its path.
fn sources() -> Vec<(String, String)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut sources = Vec::new();
    for entry in fs::read_dir(&crates).unwrap() {
        let entry = entry.unwrap();
        if !NOT_COVERED.iter().any(|name| entry.file_name() == *name) {
            read(&entry.path().join("src"), &mut sources);
        }
    }
    sources
}

/// Adds every Rust source below a directory with its path.
fn read(directory: &Path, sources: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
        }
    }
}
