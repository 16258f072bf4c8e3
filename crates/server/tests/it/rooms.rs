//! Tests the rules about the rooms of the engine (`crates/engine/src`) on its sources.

use std::collections::BTreeMap;
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

/// Source file of the engine: its path below `src`, and its text.
type Source = (String, String);

/// Result of a rule: how many places it examined, and which of them break it.
#[derive(Default)]
struct Report {
    examined: usize,
    violations: Vec<String>,
}

/// Applies a rule to the sources of the engine, where it must hold and examine at least `minimum` places. Then applies it to the sources with each
/// planted file, which must break it once.
fn hold(rule: impl Fn(&[Source]) -> Report, minimum: usize, planted: &[(&str, &str)], advice: &str) {
    let mut sources = sources();
    let Report { examined, violations } = rule(&sources);
    assert_eq!(violations, [""; 0], "{advice}");
    assert!(examined >= minimum, "the rule examined only {examined} places");
    for (file, text) in planted {
        let before = sources.iter().position(|(known, _)| known == file).map(|at| sources.remove(at));
        sources.push(((*file).to_owned(), (*text).to_owned()));
        let violations = rule(&sources).violations;
        assert_eq!(violations.len(), 1, "{text}: {violations:?}");
        assert!(violations[0].contains(file), "{text}: {violations:?}");
        sources.pop();
        sources.extend(before);
    }
}

#[test]
fn follow_end_calls_the_listed_followers() {
    let text = fs::read_to_string(root().join("interactions/close.rs")).unwrap();
    let start = "\nfn follow_end(";
    assert_eq!(followers_in(&text, start), FOLLOWERS, "list each consequence of the end of a question");
    let planted = text.replacen("\n    match answer", "\n    audit::follow(work)?;\n    match answer", 1);
    assert!(followers_in(&planted, start).contains(&"audit::follow"));
}

/// Functions that the function after `start` calls, except those with other callers.
fn followers_in<'a>(text: &'a str, start: &str) -> Vec<&'a str> {
    let body = text.split(start).nth(1).and_then(|rest| rest.split("\n}\n").next()).unwrap();
    let mut found = calls(body);
    found.retain(|call| !SHARED_FOLLOWERS.contains(call));
    found
}

#[test]
fn only_close_rs_calls_the_followers_of_the_end_of_a_question() {
    let rule = |sources: &[Source]| {
        let mut report = Report::default();
        for (file, text) in sources {
            for follower in FOLLOWERS {
                let (home, name) = follower.split_once("::").unwrap();
                let is_of_room = room(file) == home;
                for (number, line) in code_lines(text) {
                    let exports = is_of_room && line.starts_with("pub(crate) use ");
                    if (is_of_room || line.contains(&format!("{home}::"))) && !exports && names_function(line, name) {
                        report.examined += 1;
                        if file != "interactions/close.rs" {
                            report.violations.push(format!("{file}:{number}: {follower}"));
                        }
                    }
                }
            }
        }
        report
    };
    let planted = [
        ("stats/planted.rs", "fn f() {\n    sessions::end_by_answer(work, session, answer)?;\n}\n"),
        ("stats/planted.rs", "fn f() {\n    sessions.try_for_each(sessions::end_by_answer)\n}\n"),
        ("sessions/planted.rs", "fn f() {\n    let end = end_by_answer;\n}\n"),
        ("stats/planted.rs", "use crate::actions::settle;\n"),
    ];
    hold(rule, FOLLOWERS.len(), &planted, "a consequence of the end of a question is called in `follow_end` only");
}

#[test]
fn only_close_rs_saves_questions() {
    let rule = |sources: &[Source]| {
        let mut report = Report::default();
        for (file, text) in sources {
            let saves = code_lines(text).filter(|(_, line)| uses(line, "interaction_save"));
            for (number, _) in saves {
                report.examined += 1;
                if file != "interactions/close.rs" {
                    report.violations.push(format!("{file}:{number}"));
                }
            }
        }
        report
    };
    let planted = [("actions/planted.rs", "fn f() {\n    work.tx.interaction_save(&interaction)?;\n}\n")];
    hold(rule, 2, &planted, "a change of a question goes through `interactions::apply_change`");
}

#[test]
fn functions_of_other_rooms_are_called_with_their_room() {
    let rule = |sources: &[Source]| {
        let mut report = Report::default();
        for (file, text) in sources {
            for path in text.split("\nuse crate::").skip(1).filter_map(|rest| rest.split(';').next()) {
                let (home, names) = path.rsplit_once("::").unwrap_or((path, ""));
                for name in names.split(['{', '}', ',']).map(str::trim).filter(|name| !name.is_empty()) {
                    report.examined += 1;
                    let is_module = root().join(home.replace("::", "/")).join(name).with_extension("rs").exists();
                    let is_function = name.starts_with(|letter: char| letter.is_lowercase() || letter == '*');
                    if is_function && !is_module && home.split("::").next() != Some(room(file)) {
                        report.violations.push(format!("{file}: {home}::{name}"));
                    }
                }
            }
        }
        report
    };
    let planted = [("actions/planted.rs", "\nuse crate::sessions::lock::{SessionLock, save};\n")];
    hold(rule, 250, &planted, "call it as `room::function`, so that each call says where it leads");
}

/// A use case that another room needs too is a function of its room with a thin method of `Engine`, so that paths show who uses it.
#[test]
fn rooms_call_no_public_method_of_engine_that_another_room_defines() {
    let rule = |sources: &[Source]| {
        let mut homes: BTreeMap<&str, &str> = BTreeMap::new();
        for (file, text) in sources.iter().filter(|(file, _)| !["run", "engine"].contains(&room(file))) {
            let public = engine_methods(text).filter(|line| line.starts_with("    pub "));
            homes.extend(public.filter_map(function_name).map(|name| (name, room(file))));
        }
        let mut report = Report::default();
        for (file, text) in sources {
            for name in methods_called(product_code(text)) {
                report.examined += 1;
                if homes.get(name.as_str()).is_some_and(|home| *home != room(file)) {
                    report.violations.push(format!("{file}: {name}"));
                }
            }
        }
        report
    };
    let planted = [
        ("stats/planted.rs", "fn f() {\n    engine\n        .check_value(schema, value, under)\n}\n"),
        (
            "stats/planted.rs",
            "impl Engine {\n    pub fn f(&self) {\n        self.check_value(schema, value, under)\n    }\n}\n",
        ),
        ("stats/planted.rs", "fn f() {\n    Engine::check_value(engine, schema, value, under)\n}\n"),
    ];
    hold(rule, 150, &planted, "call a function of the room, which the method of `Engine` calls too");
}

#[test]
fn methods_of_work_are_defined_in_the_listed_files_only() {
    let rule = |sources: &[Source]| {
        let mut report = Report::default();
        for (file, text) in sources {
            for head in text.lines().filter_map(|line| line.strip_prefix("impl")) {
                report.examined += 1;
                let head = head.split_once("> ").filter(|_| head.starts_with('<')).map_or(head, |(_, kind)| kind);
                let kind = head.split_once(" for ").map_or(head, |(_, kind)| kind);
                if kind.trim_start().starts_with("Work<") && !METHODS_OF_WORK.contains(&file.as_str()) {
                    report.violations.push(format!("{file}: impl{head}"));
                }
            }
        }
        report
    };
    let planted = [
        ("stats/planted.rs", "impl Work<'_> {\n}\n"),
        ("stats/planted.rs", "impl<'a> Work<'a> {\n}\n"),
        ("stats/planted.rs", "impl Count for Work<'_> {\n}\n"),
        ("stats/planted.rs", "impl<T> Count<T> for Work<'_> {\n}\n"),
    ];
    hold(rule, 100, &planted, "write a function `name(work: &mut Work, …)` of the room");
}

#[test]
fn the_architecture_page_names_the_fields_and_methods_of_work() {
    let page = fs::read_to_string(root().join("../../../ARCHITECTURE.md")).unwrap();
    let about = page.split_once("\n`Work` (`run/transaction.rs`)").unwrap().1.split("\n#").next().unwrap();
    let missing = |text: &str| -> (usize, Vec<String>) {
        let fields = text.split_once("pub(crate) struct Work<'a> {\n").unwrap().1.split("\n}\n").next().unwrap();
        let methods = text.split_once("\nimpl Work<'_> {\n").unwrap().1.split("\n}\n").next().unwrap();
        let fields = fields.lines().filter_map(|line| line.strip_prefix("    pub(crate) ")?.split(':').next());
        let methods = methods.lines().filter(|line| line.starts_with("    pub(crate) ")).filter_map(function_name);
        let names: Vec<&str> = fields.chain(methods).collect();
        let missing = names.iter().filter(|name| !about.contains(&format!("`{name}`")));
        (names.len(), missing.map(|name| (*name).to_owned()).collect())
    };
    let text = fs::read_to_string(root().join("run/transaction.rs")).unwrap();
    let (names, none) = missing(&text);
    assert_eq!(none, [""; 0], "say there why every use case needs it");
    assert!(names >= 14, "{names} names");
    let planted = text.replacen("    pub(crate) now: Timestamp,\n", "    pub(crate) spare: Timestamp,\n", 1);
    assert_eq!(missing(&planted).1, ["spare"]);
    let planted = text.replacen("    pub(crate) fn caller(", "    pub(crate) const fn spare(", 1);
    assert_eq!(missing(&planted).1, ["spare"]);
}

#[test]
fn root_file_of_each_room_describes_the_room() {
    let rule = |sources: &[Source]| {
        let mut report = Report::default();
        for (file, text) in sources {
            let is_room = !file.contains('/') && root().join(file.trim_end_matches(".rs")).is_dir();
            let docs: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//!")).collect();
            let docs = docs.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
            let start = docs.split_once("Start with `").and_then(|(_, rest)| rest.split('`').next());
            let leads = start.is_some_and(|start| root().join(file.trim_end_matches(".rs")).join(start).exists());
            report.examined += usize::from(is_room);
            if is_room && (docs.matches(". ").count() + 1 < SENTENCES || !leads) {
                report.violations.push(file.clone());
            }
        }
        report
    };
    let planted = [
        ("stats.rs", "//! Counts. Sums. Adds. Start with `summary.rs`.\n"),
        ("stats.rs", "//! Counts. Sums. Adds. Multiplies. Start with `absent.rs`.\n"),
    ];
    hold(rule, 13, &planted, "the root file of a room opens with five sentences about it, and says where to start");
}

#[test]
fn functions_that_write_are_named_by_verbs() {
    let rule = |sources: &[Source]| {
        let mut report = Report::default();
        for (file, text) in sources {
            for Function { name, parameters } in functions(text) {
                let first = name.split('_').next().unwrap_or_default();
                let in_transaction = parameters.iter().any(|parameter| parameter.contains(": &mut Work"));
                report.examined += usize::from(in_transaction);
                if in_transaction && !VERBS.contains(&first) && !QUESTIONS.contains(&first) {
                    report.violations.push(format!("{file}: {name}"));
                }
            }
        }
        report
    };
    let planted = [("stats/planted.rs", "fn saved(\n    work: &mut Work<'_>,\n) {\n}\n")];
    hold(rule, 140, &planted, "start the name with a verb; add to VERBS only an imperative");
}

#[test]
fn steps_inside_use_cases_are_functions_of_their_room() {
    let rule = |sources: &[Source]| {
        let mut report = Report::default();
        for (file, text) in sources {
            for line in engine_methods(text) {
                let Some(name) = function_name(line) else { continue };
                report.examined += 1;
                if !line.starts_with("    pub ") && !SHARED_METHODS.contains(&name) {
                    report.violations.push(format!("{file}: {name}"));
                }
            }
        }
        report
    };
    let planted = [
        ("stats/planted.rs", "\nimpl Engine {\n    pub(crate) async fn step(&self) {}\n}\n"),
        ("stats/planted.rs", "\nimpl Engine {\n    fn step(&self) {}\n}\n"),
    ];
    hold(rule, 180, &planted, "make it a function `name(engine: &Engine, …)`, so that imports show who uses it");
}

/// Room that a source belongs to: `actions` for `actions.rs` and `actions/start.rs`.
fn room(file: &str) -> &str {
    file.split(['/', '.']).next().unwrap_or_default()
}

/// Text of a source before its unit tests.
fn product_code(text: &str) -> &str {
    text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default()
}

/// Lines of the `impl Engine` blocks of a source that stand at the level of methods.
fn engine_methods(text: &str) -> impl Iterator<Item = &str> {
    let blocks = text.split("impl Engine {\n").skip(1).filter_map(|rest| rest.split("\n}\n").next());
    blocks.flat_map(str::lines).filter(|line| line.starts_with("    ") && !line.starts_with("     "))
}

/// Methods that a text calls on `engine` or `self` or names as `Engine::method`.
fn methods_called(text: &str) -> Vec<String> {
    let code: Vec<&str> = code_lines(text).map(|(_, line)| line.trim()).collect();
    let code = code.join(" ").replace(" .", ".");
    let is_name = |letter: &char| letter.is_alphanumeric() || *letter == '_';
    let mut found = Vec::new();
    for receiver in ["engine.", "self.", "Engine::"] {
        for (at, _) in code.match_indices(receiver) {
            let name: String = code[at + receiver.len()..].chars().take_while(is_name).collect();
            let is_call = receiver == "Engine::" || code[at + receiver.len() + name.len()..].starts_with('(');
            if is_call && !code[..at].ends_with(|letter| is_name(&letter)) {
                found.push(name);
            }
        }
    }
    found
}

/// Whether a line names the function `name`, called or passed as a value. Its declaration, a method of that name and a module of that name do not count.
fn names_function(line: &str, name: &str) -> bool {
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    line.match_indices(name).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + name.len()..]);
        let is_word = !before.ends_with(is_name) && !after.starts_with(is_name);
        is_word
            && !before.ends_with("fn ")
            && !before.ends_with("mod ")
            && !before.ends_with('.')
            && !after.starts_with("::")
    })
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
fn sources() -> Vec<Source> {
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
