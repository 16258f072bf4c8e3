//! What a call with paths does besides: a rule that looks at its paths alone does not know of it.

use serde_json::Value;

use super::companion::{Sorted, Stranger};
use super::name::{FURTHER, VARIABLES, plain, words};

/// What an editor's tool is told to do to a file.
const EDITOR_COMMANDS: &[&str] = &["view", "create", "str_replace", "insert", "undo_edit"];

/// Last words of names that say what is to run, and how: `hook`, `post_save_hook`.
const RUNS: &[&str] = &[
    "run",
    "runner",
    "exec",
    "execute",
    "executable",
    "exe",
    "hook",
    "hooks",
    "callback",
    "callbacks",
    "handler",
    "handlers",
    "trigger",
    "triggers",
    "interpreter",
    "program",
    "entrypoint",
    "onsave",
    "onwrite",
    "onchange",
    "oncomplete",
    "onsuccess",
];

/// What is done about a conflict, an error and the like: `on_conflict: "overwrite"`. Anything else behind `on_` is something to run.
const WAYS: &[&str] = &[
    "abort",
    "append",
    "ask",
    "continue",
    "error",
    "fail",
    "ignore",
    "keep",
    "merge",
    "overwrite",
    "raise",
    "rename",
    "replace",
    "skip",
    "stop",
    "warn",
];

/// Notes the commands, addresses and SQL of a call with paths, and what names something to run.
pub(super) fn add(arguments: &Value, sorted: &Sorted, strangers: &mut Vec<Stranger>) {
    for (name, value) in arguments.as_object().into_iter().flatten() {
        // The tools of editors have one for what they do: it is no program.
        let edits =
            plain(name) == "command" && value.as_str().is_some_and(|command| EDITOR_COMMANDS.contains(&command));
        if edits {
            continue;
        }
        let parsed = ["shell", "url", "sql"].into_iter().filter(|variable| holds(value, variable, sorted));
        let mut variables: Vec<_> = parsed.map(Some).collect();
        look(name, value, sorted, &mut variables);
        let stranger = |variable| Stranger { beside: "path", argument: name.clone(), variable };
        strangers.extend(variables.into_iter().map(stranger));
    }
}

fn holds(value: &Value, variable: &str, sorted: &Sorted) -> bool {
    let inner = |inner: &Value| holds(inner, variable, sorted);
    sorted.get(&std::ptr::from_ref(value)).is_some_and(|found| *found == variable)
        || match value {
            Value::Object(fields) => fields.values().any(inner),
            Value::Array(items) => items.iter().any(inner),
            _ => false,
        }
}

/// Notes what names something to run in an argument, with the variable through which it can be looked at. What is parsed is looked at as such.
fn look(name: &str, value: &Value, sorted: &Sorted, variables: &mut Vec<Option<&'static str>>) {
    let parsed = sorted.get(&std::ptr::from_ref(value)).is_some_and(|variable| *variable != "path");
    if !parsed && runs(name, value, sorted) {
        // Its words and variables are facts of a command, and its values those of SQL.
        let told = |name: &str| FURTHER.contains(&name) || VARIABLES.contains(&name);
        let of = |wanted: &&str| sorted.values().any(|variable| variable == wanted);
        return variables.push(["shell", "sql"].into_iter().find(of).filter(|_| told(&plain(name))));
    }
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, inner)| look(name, inner, sorted, variables)),
        Value::Array(items) => items.iter().for_each(|item| look(name, item, sorted, variables)),
        _ => {}
    }
}

fn runs(name: &str, value: &Value, sorted: &Sorted) -> bool {
    let whole = plain(name);
    let further = FURTHER.contains(&whole.as_str());
    let words = words(name);
    let ends = |endings: &[&str]| words.last().is_some_and(|last| endings.contains(&last.as_str()));
    let by_name = further || RUNS.contains(&whole.as_str()) || VARIABLES.contains(&whole.as_str());
    let begins_with_on = words.len() > 1 && words.first().is_some_and(|first| first == "on");
    match value {
        Value::Null | Value::Bool(false) => false,
        // `run: true` has a file run once it is written; `dry_run: true` does not.
        Value::Bool(true) | Value::Number(_) => by_name,
        Value::String(text) if text.is_empty() => false,
        Value::String(text) if begins_with_on => !WAYS.contains(&text.to_ascii_lowercase().as_str()),
        // Some tools have all of their arguments in one, and its parts are looked at.
        Value::Object(_) | Value::Array(_) if further && holds(value, "path", sorted) => false,
        Value::Array(items) if items.is_empty() => false,
        Value::Object(fields) if fields.is_empty() => false,
        _ => by_name || begins_with_on || ends(RUNS) || ends(FURTHER) || ends(VARIABLES),
    }
}
