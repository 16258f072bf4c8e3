//! Tests the rules about the rooms of the engine (`crates/engine/src`) on its sources.

use std::fs;
use std::path::{Path, PathBuf};

use crate::signatures::{Function, functions};

/// Functions that follow the end of a question, in the order of `follow_end`. Only `interactions/close.rs` calls them.
const FOLLOWERS: &[&str] = &[
    "sessions::record_reply",
    "actions::settle",
    "steps::count_answer",
    "interactions::close_handed_over",
    "policy::suspend_contradicted_rules",
    "secrets::seal_answer_values",
    "sessions::end_by_answer",
];

/// Functions that `follow_end` calls and that have callers beside it: everything that a step waits for wakes the step.
const SHARED_FOLLOWERS: &[&str] = &["steps::wake"];

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
fn follow_end_calls_the_listed_followers() {
    let text = fs::read_to_string(root().join("interactions/close.rs")).unwrap();
    let body = text.split("\nfn follow_end(").nth(1).and_then(|rest| rest.split("\n}\n").next()).unwrap();
    let mut found = calls(body);
    found.retain(|call| !SHARED_FOLLOWERS.contains(call));
    assert_eq!(found, FOLLOWERS, "list each consequence of the end of a question");
}

#[test]
fn only_close_rs_calls_the_followers_of_the_end_of_a_question() {
    let mut found = Vec::new();
    for (file, text) in sources() {
        let room = file.split(['/', '.']).next().unwrap_or_default();
        for follower in FOLLOWERS {
            let (home, name) = follower.split_once("::").unwrap();
            for (number, line) in code_lines(&text) {
                let is_called = line.contains(&format!("{name}(")) && !line.contains(&format!("fn {name}("));
                let is_imported = line.trim_start().starts_with("use ");
                let is_of_room = room == home || line.contains(&format!("{home}::"));
                if is_of_room && uses(line, name) && (is_called || is_imported) && file != "interactions/close.rs" {
                    found.push(format!("{file}:{number}: {follower}"));
                }
            }
        }
    }
    assert_eq!(found, [""; 0], "a consequence of the end of a question is called in `follow_end` only");
}

#[test]
fn only_close_rs_saves_questions() {
    let saves = |(_, text): &(String, String)| code_lines(text).any(|(_, line)| line.contains("interaction_save("));
    let found: Vec<String> = sources().into_iter().filter(saves).map(|(file, _)| file).collect();
    assert_eq!(found, ["interactions/close.rs"], "a change of a question goes through `interactions::apply_change`");
}

#[test]
fn functions_of_other_rooms_are_called_with_their_room() {
    let mut found = Vec::new();
    for (file, text) in sources() {
        let room = file.split(['/', '.']).next().unwrap_or_default();
        for path in text.split("\nuse crate::").skip(1).filter_map(|rest| rest.split(';').next()) {
            let (home, names) = path.rsplit_once("::").unwrap_or((path, ""));
            for name in names.split(['{', '}', ',']).map(str::trim) {
                let is_module = root().join(home.replace("::", "/")).join(name).with_extension("rs").exists();
                let is_function = name.starts_with(|letter: char| letter.is_lowercase() || letter == '*');
                if is_function && !is_module && home.split("::").next() != Some(room) {
                    found.push(format!("{file}: {home}::{name}"));
                }
            }
        }
    }
    assert_eq!(found, [""; 0], "call it as `room::function`, so that each call says where it leads");
}

#[test]
fn methods_of_work_are_defined_in_the_listed_files_only() {
    let has_methods = |text: &str| {
        let heads = text.lines().filter_map(|line| line.strip_prefix("impl"));
        heads
            .map(|head| head.split_once("> ").filter(|_| head.starts_with('<')).map_or(head, |(_, kind)| kind))
            .any(|kind| kind.trim_start().starts_with("Work<"))
    };
    let found: Vec<String> =
        sources().into_iter().filter(|(_, text)| has_methods(text)).map(|(file, _)| file).collect();
    assert_eq!(found, METHODS_OF_WORK);
}

#[test]
fn the_architecture_page_names_the_fields_and_methods_of_work() {
    let text = fs::read_to_string(root().join("run/transaction.rs")).unwrap();
    let fields = text.split_once("pub(crate) struct Work<'a> {\n").unwrap().1.split("\n}\n").next().unwrap();
    let methods = text.split_once("\nimpl Work<'_> {\n").unwrap().1.split("\n}\n").next().unwrap();
    let fields = fields.lines().filter_map(|line| line.strip_prefix("    pub(crate) ")?.split(':').next());
    let methods = methods.lines().filter_map(|line| line.strip_prefix("    pub(crate) fn ")?.split('(').next());
    let page = fs::read_to_string(root().join("../../../ARCHITECTURE.md")).unwrap();
    let about = page.split_once("\n`Work` (`run/transaction.rs`)").unwrap().1.split("\n#").next().unwrap();
    let missing: Vec<&str> = fields.chain(methods).filter(|name| !about.contains(&format!("`{name}`"))).collect();
    assert_eq!(missing, [""; 0], "say there why every use case needs it");
}

#[test]
fn root_file_of_each_room_describes_the_room() {
    let mut silent = Vec::new();
    for (file, text) in sources() {
        let is_room = !file.contains('/') && root().join(file.trim_end_matches(".rs")).is_dir();
        let docs: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//!")).collect();
        let docs = docs.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
        let start = docs.split_once("Start with `").and_then(|(_, rest)| rest.split('`').next());
        let leads = start.is_some_and(|start| root().join(file.trim_end_matches(".rs")).join(start).exists());
        if is_room && (docs.matches(". ").count() + 1 < SENTENCES || !leads) {
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

/// Functions of rooms, as `room::function`, that a text calls with `work` as the first argument, in the order of the text.
fn calls(text: &str) -> Vec<&str> {
    let is_path = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    let paths = text.match_indices("(work").map(|(at, _)| {
        let start = text[..at].rfind(|letter| !is_path(letter)).map_or(0, |before| before + 1);
        &text[start..at]
    });
    paths.filter(|path| path.contains("::")).collect()
}

/// Lines of a source with their numbers, without comments.
fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// Whether a line has `name` as a whole word.
fn uses(line: &str, name: &str) -> bool {
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    line.match_indices(name)
        .any(|(at, _)| !line[..at].ends_with(is_name) && !line[at + name.len()..].starts_with(is_name))
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
