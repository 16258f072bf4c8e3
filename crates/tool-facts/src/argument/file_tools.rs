//! Harmless arguments of tools that work on files: they run nothing and name no other file.
//!
//! The names come from the tools of Holdpoint's own agent, of the usual MCP servers for files, and of common editors and agents.

use serde_json::Value;

use super::name::{plain, words};
use crate::word_list::WordList;

/// Text that is written, looked for, or shown to the reader of the call.
static TEXTS: WordList = WordList::new(include_str!("../../data/argument/file_tools/texts.txt"));

/// Patterns that choose among the named files, as a string or a list.
static PATTERNS: WordList = WordList::new(include_str!("../../data/argument/file_tools/patterns.txt"));

/// Line numbers, counts and depths: numbers, ranges of two numbers, and strings such as `10`, `1-20` or `end`.
static NUMBERS: WordList = WordList::new(include_str!("../../data/argument/file_tools/numbers.txt"));

/// Switches for reading, finding and writing files: booleans.
static FLAGS: WordList = WordList::new(include_str!("../../data/argument/file_tools/flags.txt"));

/// Words that stand for a number.
const NUMBER_WORDS: &[&str] = &["all", "auto", "beginning", "bottom", "end", "first", "last", "none", "start", "top"];

/// Arguments whose value is one word about how a file is written or shown: `encoding: "utf-8"`.
static SINGLE_WORDS: WordList = WordList::new(include_str!("../../data/argument/file_tools/single_words.txt"));

/// Arguments that say what something is or how it is shown. Their values are checked, because a value may name a program: `format: "prettier"`.
const SHAPE_NAMES: &[&str] =
    &["celltype", "editmode", "edittype", "entrytype", "format", "kind", "outputformat", "type"];

/// Harmless values of [`SHAPE_NAMES`] besides [`MODE_VALUES`], among them languages of source files.
static SHAPE_VALUES: WordList = WordList::new(include_str!("../../data/argument/file_tools/shape_values.txt"));

/// Arguments whose value is a media type.
const MEDIA_TYPES: &[&str] = &["contenttype", "mimetype"];

/// Harmless values of `mode`. Other values are file permissions, which may make a file executable.
static MODE_VALUES: WordList = WordList::new(include_str!("../../data/argument/file_tools/mode_values.txt"));

/// Harmless values of arguments such as `on_conflict: "overwrite"`. Any other value after `on_` is something to run.
static ON_VALUES: WordList = WordList::new(include_str!("../../data/argument/file_tools/on_values.txt"));

/// Booleans that run something if they are true.
static RUNNING_FLAGS: WordList = WordList::new(include_str!("../../data/argument/file_tools/running_flags.txt"));

/// Arguments that hold further arguments, or several changes. Their parts are examined.
static HOLDERS: WordList = WordList::new(include_str!("../../data/argument/file_tools/holders.txt"));

/// Switches of search tools.
const SWITCHES: &[&str] = &["-A", "-B", "-C", "-i", "-n"];

/// Last words of the names of arguments that hold settings.
const SETTINGS: &[&str] = &["config", "kwargs", "option", "options", "opts", "settings"];

/// Words that may stand before those of [`SETTINGS`].
static SETTINGS_SUBJECTS: WordList =
    WordList::new(include_str!("../../data/argument/file_tools/settings_subjects.txt"));

/// Says whether an argument of this name holds further arguments.
pub(super) fn holds_arguments(written: &str) -> bool {
    let words = words(written);
    let settings = words.split_last().is_some_and(|(last, before)| {
        let of = |word: &String| SETTINGS_SUBJECTS.contains(word);
        SETTINGS.contains(&last.as_str()) && before.iter().all(of)
    });
    settings || HOLDERS.contains(&plain(written))
}

/// Says whether an argument of a tool that works on files is known to be harmless, by its name and the type of its value.
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
        Value::String(text) if NUMBERS.contains(name) => is_number(text),
        Value::String(text) if SINGLE_WORDS.contains(name) => is_word(text),
        Value::String(text) if MEDIA_TYPES.contains(&name) => {
            text.split('/').count() <= 2 && text.split('/').all(is_word)
        }
        Value::String(text) if SHAPE_NAMES.contains(&name) => says(text, &[&SHAPE_VALUES, &MODE_VALUES]),
        Value::String(text) if name == "mode" => says(text, &[&MODE_VALUES]),
        Value::String(text) if begins_with_on => says(text, &[&ON_VALUES]),
        Value::Array(items) if TEXTS.contains(name) || PATTERNS.contains(name) => items.iter().all(Value::is_string),
        Value::Array(items) if NUMBERS.contains(name) => items.len() == 2 && items.iter().all(Value::is_number),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

/// Says whether a text is a number, a range of numbers, or a word for a number.
fn is_number(text: &str) -> bool {
    let number_characters = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | ',' | ':' | '.' | ' ');
    text.len() <= 40
        && (text.chars().all(number_characters) || NUMBER_WORDS.contains(&text.to_ascii_lowercase().as_str()))
}

/// Says whether a text is one word, and neither a path nor a command with arguments.
fn is_word(text: &str) -> bool {
    text.len() <= 40 && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+' | '#'))
}

fn says(text: &str, any_of: &[&WordList]) -> bool {
    let text = text.to_ascii_lowercase();
    any_of.iter().any(|words| words.contains(&text))
}
