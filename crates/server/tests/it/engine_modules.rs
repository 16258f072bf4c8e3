//! Tests the rules about the modules of the engine (`crates/engine/src`) on its sources.

use std::fs;
use std::path::{Path, PathBuf};

use crate::signatures::{Function, functions};

/// Functions that follow the end of a question. Only `interactions/close.rs` calls them.
const FOLLOWERS: &[&str] = &[
    "actions::settle(",
    "interactions::close_handed_over(",
    "policy::suspend_contradicted_rules(",
    "secrets::seal_answer_values(",
    "sessions::end_by_answer(",
    "sessions::record_reply(",
    "steps::count_answer(",
];

/// File that may add methods to `Work`. Every other use case is a function of its module.
const METHODS_OF_WORK: &[&str] = &["run/transaction.rs"];

/// Minimum number of sentences at the top of a module's root file: its contents, its limits, and where to start
/// reading.
const SENTENCES: usize = 5;

/// First words of functions that take `&mut Work`. Each is an imperative verb, never a participle or a noun.
const VERBS: &[&str] = &[
    "add", "advance", "answer", "append", "apply", "ask", "begin", "build", "cancel", "change", "choose", "close",
    "collect", "continue", "copy", "count", "create", "decide", "deliver", "disable", "end", "enforce", "enter",
    "fill", "find", "finish", "follow", "give", "keep", "link", "list", "lock", "open", "protect", "publish", "put",
    "queue", "read", "record", "redo", "release", "remove", "renew", "report", "require", "reserve", "resolve",
    "retry", "revive", "revoke", "ring", "run", "save", "seal", "send", "settle", "suspend", "sync", "take", "unseal",
    "use", "void", "wake", "withdraw",
];

/// First words of functions that take `&mut Work` to answer a question about the stored state.
const QUESTIONS: &[&str] = &["can", "has", "is", "may", "satisfies"];

/// Methods of `Engine` that are visible in the crate only: those that every room builds on.
const SHARED_METHODS: &[&str] = &[
    "command",
    "command_with_secret",
    "list",
    "list_patiently",
    "list_while",
    "perform",
    "read",
    "read_by",
    "transact",
    "transact_again",
    "transact_as",
    "transact_by",
];

#[test]
fn only_close_rs_calls_the_followers_of_the_end_of_a_question() {
    let callers = |follower: &str| {
        let calls = sources().into_iter().filter(|(_, text)| text.contains(follower));
        calls.map(|(file, _)| format!("{follower} {file}")).collect::<Vec<_>>()
    };
    let found: Vec<String> = FOLLOWERS.iter().flat_map(|follower| callers(follower)).collect();
    let expected: Vec<String> = FOLLOWERS.iter().map(|follower| format!("{follower} interactions/close.rs")).collect();
    assert_eq!(found, expected);
}

#[test]
fn methods_of_work_are_defined_in_the_listed_files_only() {
    let found: Vec<String> =
        sources().into_iter().filter(|(_, text)| text.contains("impl Work<")).map(|(file, _)| file).collect();
    assert_eq!(found, METHODS_OF_WORK);
}

#[test]
fn root_file_of_each_room_describes_the_room() {
    let mut silent = Vec::new();
    for (file, text) in sources() {
        let is_room = !file.contains('/') && root().join(file.trim_end_matches(".rs")).is_dir();
        let docs: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//!")).collect();
        if is_room && docs.join(" ").matches(". ").count() + 1 < SENTENCES {
            silent.push(file);
        }
    }
    assert_eq!(silent, [""; 0], "the root file of a room opens with {SENTENCES} sentences about it");
}

#[test]
fn functions_that_write_are_named_by_verbs() {
    let mut found = Vec::new();
    for (file, text) in sources() {
        for Function { name, parameters } in functions(&text) {
            let first = name.split('_').next().unwrap_or_default();
            let in_transaction = parameters.iter().any(|parameter| parameter.contains(": &mut Work"));
            if in_transaction && !VERBS.contains(&first) && !QUESTIONS.contains(&first) {
                found.push(format!("{file}: {name}"));
            }
        }
    }
    assert_eq!(found, [""; 0], "start the name with a verb; add to VERBS only an imperative");
}

#[test]
fn steps_inside_use_cases_are_functions_of_their_room() {
    let mut found = Vec::new();
    for (file, text) in sources() {
        for block in text.split("\nimpl Engine {\n").skip(1) {
            let block = block.split("\n}\n").next().unwrap_or_default();
            let methods = block.lines().filter(|line| line.starts_with("    ") && !line.starts_with("     "));
            for name in methods.filter(|line| !line.starts_with("    pub ")).filter_map(function_name) {
                if !SHARED_METHODS.contains(&name) {
                    found.push(format!("{file}: {name}"));
                }
            }
        }
    }
    assert_eq!(found, [""; 0], "make it a function `name(engine: &Engine, …)`, so that imports show who uses it");
}

/// Name of the function that a line declares.
fn function_name(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("fn ")?;
    let known = ["pub", "(crate)", "(super)", "async", "const"];
    let declares = before.split_whitespace().all(|word| known.iter().any(|known| word.contains(known)));
    declares.then(|| rest.split(['(', '<']).next().unwrap_or_default())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/src")
}

/// Every source file of the engine with its path below `src`, sorted.
fn sources() -> Vec<(String, String)> {
    let (mut folders, mut found) = (vec![root()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let file = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
                found.push((file, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}
