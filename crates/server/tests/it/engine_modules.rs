//! Tests the rules about the modules of the engine (`crates/engine/src`) on its sources.

use std::fs;
use std::path::{Path, PathBuf};

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
const SENTENCES: usize = 4;

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
fn writing_functions_of_rooms_are_not_named_by_participles() {
    let mut found = Vec::new();
    for (file, text) in sources() {
        let functions = text.split("fn ").skip(1).filter_map(|rest| rest.split_once('('));
        for (name, rest) in functions.filter(|(_, rest)| rest.trim_start().starts_with("work: &mut Work")) {
            let returns_nothing = rest.split('{').next().is_some_and(|head| head.contains("-> Result<(), Error>"));
            let first = name.split('_').next().unwrap_or_default();
            if returns_nothing && first.len() > 4 && first.ends_with("ed") {
                found.push(format!("{file}: {name}"));
            }
        }
    }
    assert_eq!(found, [""; 0]);
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
