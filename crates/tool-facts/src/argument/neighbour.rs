//! What stands beside a path in the tools that work on files, and neither runs anything nor leads elsewhere.
//!
//! The names are those of the workspace's own tools, of the usual MCP servers for files, and of the editors and agents that people use.

use serde_json::Value;

use super::name::{plain, words};
use crate::word_list::WordList;

/// What is written, looked for, or said to whoever reads the call.
static TEXTS: WordList = WordList::new(include_str!("../../data/argument/file_tools/texts.txt"));

/// Which files of those that are named: patterns, also in lists.
static PATTERNS: WordList = WordList::new(include_str!("../../data/argument/file_tools/patterns.txt"));

/// Which lines, how many, how deep: numbers, ranges of two, and texts such as `10`, `1-20` or `end`.
static NUMBERS: WordList = WordList::new(include_str!("../../data/argument/file_tools/numbers.txt"));

/// The manner in which files are read, found and written: true or false.
static FLAGS: WordList = WordList::new(include_str!("../../data/argument/file_tools/flags.txt"));

/// What a text says that is a figure, and no number.
const FIGURES_IN_WORDS: &[&str] =
    &["all", "auto", "beginning", "bottom", "end", "first", "last", "none", "start", "top"];

/// One word of how it is written or shown: `encoding: "utf-8"`.
static SINGLE_WORDS: WordList = WordList::new(include_str!("../../data/argument/file_tools/single_words.txt"));

/// What something is, or how it is shown. Another word here may name a program: `format: "prettier"`, `type: "exec"`.
const SHAPES: &[&str] = &["celltype", "editmode", "edittype", "entrytype", "format", "kind", "outputformat", "type"];

/// What these say, besides [`MODE_VALUES`]: also the language of files that are looked for.
static SHAPE_VALUES: WordList = WordList::new(include_str!("../../data/argument/file_tools/shape_values.txt"));

/// Types of contents, as the web spells them.
const MEDIA_TYPES: &[&str] = &["contenttype", "mimetype"];

/// What `mode` says in these tools. Elsewhere it says who may run a file.
static MODE_VALUES: WordList = WordList::new(include_str!("../../data/argument/file_tools/mode_values.txt"));

/// What is done about a conflict, an error and the like: `on_conflict: "overwrite"`. Anything else behind `on_` is something to run.
static ON_VALUES: WordList = WordList::new(include_str!("../../data/argument/file_tools/on_values.txt"));

/// What would run something, and does not while it is off.
static RUNNING_FLAGS: WordList = WordList::new(include_str!("../../data/argument/file_tools/running_flags.txt"));

/// What holds further arguments, or several changes: its parts are looked at.
static HOLDERS: WordList = WordList::new(include_str!("../../data/argument/file_tools/holders.txt"));

/// Switches as the search tools of some agents spell them.
const SWITCHES: &[&str] = &["-A", "-B", "-C", "-i", "-n"];

/// What holds the settings of a tool for files.
const SETTINGS: &[&str] = &["config", "kwargs", "option", "options", "opts", "settings"];

/// What the settings of such a tool are called for.
static SETTINGS_SUBJECTS: WordList =
    WordList::new(include_str!("../../data/argument/file_tools/settings_subjects.txt"));

/// Says whether the parts of what has this name are arguments in their turn.
pub(super) fn holds_arguments(written: &str) -> bool {
    let words = words(written);
    let settings = words.split_last().is_some_and(|(last, before)| {
        let of = |word: &String| SETTINGS_SUBJECTS.contains(word);
        SETTINGS.contains(&last.as_str()) && before.iter().all(of)
    });
    settings || HOLDERS.contains(&plain(written))
}

/// Says whether an argument of a tool that works on files is known to be harmless, by its name and in the type that it usually has.
pub(super) fn is_harmless(written: &str, value: &Value) -> bool {
    let (name, words) = (plain(written), words(written));
    let name = name.as_str();
    let begins_with_on = words.len() > 1 && words.first().is_some_and(|first| first == "on");
    match value {
        Value::Bool(_) if FLAGS.contains(name) || SWITCHES.contains(&written) => true,
        Value::Bool(false) => RUNNING_FLAGS.contains(name),
        Value::Number(_) => NUMBERS.contains(name) || SWITCHES.contains(&written),
        Value::String(_) if TEXTS.contains(name) || PATTERNS.contains(name) => true,
        Value::String(text) if name == "input" => text.trim_start().starts_with("*** Begin Patch"),
        Value::String(text) if NUMBERS.contains(name) => is_figure(text),
        Value::String(text) if SINGLE_WORDS.contains(name) => is_word(text),
        Value::String(text) if MEDIA_TYPES.contains(&name) => {
            text.split('/').count() <= 2 && text.split('/').all(is_word)
        }
        Value::String(text) if SHAPES.contains(&name) => says(text, &[&SHAPE_VALUES, &MODE_VALUES]),
        Value::String(text) if name == "mode" => says(text, &[&MODE_VALUES]),
        Value::String(text) if begins_with_on => says(text, &[&ON_VALUES]),
        Value::Array(items) if TEXTS.contains(name) || PATTERNS.contains(name) => items.iter().all(Value::is_string),
        Value::Array(items) if NUMBERS.contains(name) => items.len() == 2 && items.iter().all(Value::is_number),
        _ => false,
    }
}

/// A number, a range of them, or a word for one.
fn is_figure(text: &str) -> bool {
    let figures = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | ',' | ':' | '.' | ' ');
    text.len() <= 40 && (text.chars().all(figures) || FIGURES_IN_WORDS.contains(&text.to_ascii_lowercase().as_str()))
}

/// One word, which is neither a file nor a command with words of its own.
fn is_word(text: &str) -> bool {
    text.len() <= 40 && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+' | '#'))
}

fn says(text: &str, any_of: &[&WordList]) -> bool {
    let text = text.to_ascii_lowercase();
    any_of.iter().any(|words| words.contains(&text))
}
