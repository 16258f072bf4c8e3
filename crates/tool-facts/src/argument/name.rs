//! Names of arguments, and the kind that each name stands for.

use serde_json::Value;

use super::beside_fact;
use crate::url;
use crate::word_list::WordList;

/// The kind of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArgumentKind {
    Command(CommandList),
    Path,
    /// A path, or an object that names one: `files: [{path, content}]`.
    File,
    /// A path if the value is a string; other types mean something else.
    PossiblePath,
    /// A URL if it contains `://`, else a path.
    Location,
    Url,
    Sql,
    /// SQL if it can be parsed as SQL, or the name of the tool says so.
    PossibleSql,
}

/// The meaning of a list under the name of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandList {
    /// The words of one command.
    Words,
    /// One command each.
    Texts,
    /// Either of the two; the name does not tell.
    Unclear,
}

/// Names of commands whose lists are words.
const WORDS: &[&str] = &["command", "cmd", "argv"];

/// Names of commands whose lists are commands.
const TEXTS: &[&str] = &["commands", "cmds", "script", "scripts"];

/// Names of commands whose lists are not clear.
const COMMANDS: &[&str] =
    &["shellcommand", "bashcommand", "commandline", "cmdline", "shell", "bash", "prescript", "postscript"];

/// Names of arguments beside a command that hold its further words.
pub(super) const FURTHER_WORDS: &[&str] = &[
    "args",
    "argv",
    "arguments",
    "arglist",
    "cmdargs",
    "commandargs",
    "commandarguments",
    "extraargs",
    "additionalargs",
];

/// Names that hold further words if the value is a list or a string.
const POSSIBLE_FURTHER_WORDS: &[&str] = &["arg", "argument", "params", "parameters", "flags", "switches", "options"];

/// Names of arguments beside a command that hold its environment variables.
static ENVIRONMENT_NAMES: WordList = WordList::new(include_str!("../../data/argument/environment.txt"));

/// Headers that change the method, in the plain form of names.
pub(crate) const OVERRIDES: &[&str] = &["methodoverride", "xhttpmethod"];

/// Names of arguments beside a URL that hold its method.
pub(crate) const METHODS: &[&str] = &[
    "method",
    "httpmethod",
    "requestmethod",
    "verb",
    "httpverb",
    "requesttype",
    "methodoverride",
    "xhttpmethod",
    "xhttpmethodoverride",
    "xmethodoverride",
];

/// Names of arguments beside a URL that hold its body.
static BODY_NAMES: WordList = WordList::new(include_str!("../../data/argument/bodies.txt"));

static PATH_NAMES: WordList = WordList::new(include_str!("../../data/argument/paths.txt"));

/// Names of arguments that are a path, or an object with a path.
const FILES: &[&str] = &["file", "files", "folder", "folders", "directory", "directories"];

/// Last words of longer names that are a path if the value is a string.
static PATH_ENDINGS: WordList = WordList::new(include_str!("../../data/argument/path_endings.txt"));

/// Names, and last words of longer names, that are a path if the value is a string.
static POSSIBLE_PATH_NAMES: WordList = WordList::new(include_str!("../../data/argument/possible_paths.txt"));

static URL_NAMES: WordList = WordList::new(include_str!("../../data/argument/urls.txt"));

const SQLS: &[&str] = &["sql", "sqls", "statement", "statements", "sqlquery", "sqlstatement", "querysql"];

/// Words in the name of a tool which say that its `query` argument is SQL.
static DATABASE_WORDS: WordList = WordList::new(include_str!("../../data/argument/database_tools.txt"));

/// Endings of the names of arguments that hold settings of a call.
static SETTINGS_ENDINGS: WordList = WordList::new(include_str!("../../data/argument/settings_endings.txt"));

/// Last words of longer names that are SQL: `init_sql`.
const SQL_ENDINGS: &[&str] = &["sql", "ddl", "dml"];

/// Returns the kind of an argument by its name and the type of its value.
pub(super) fn kind_of(name: &str, value: &Value) -> Option<ArgumentKind> {
    match value {
        Value::Null => None,
        // `ignore_scripts: true` is not a script.
        Value::Bool(_) | Value::Number(_) => known(name),
        Value::String(_) | Value::Array(_) | Value::Object(_) => kind_by_name(name),
    }
}

/// Returns the kind of an argument by its name.
pub(crate) fn kind_by_name(name: &str) -> Option<ArgumentKind> {
    known(name).or_else(|| ending(name))
}

fn known(name: &str) -> Option<ArgumentKind> {
    // `path2` is another path.
    match plain(name).trim_end_matches(|c: char| c.is_ascii_digit()) {
        "query" | "queries" => Some(ArgumentKind::PossibleSql),
        "location" | "locations" => Some(ArgumentKind::Location),
        name if WORDS.contains(&name) => Some(ArgumentKind::Command(CommandList::Words)),
        name if TEXTS.contains(&name) => Some(ArgumentKind::Command(CommandList::Texts)),
        name if COMMANDS.contains(&name) => Some(ArgumentKind::Command(CommandList::Unclear)),
        name if PATH_NAMES.contains(name) => Some(ArgumentKind::Path),
        name if FILES.contains(&name) => Some(ArgumentKind::File),
        name if POSSIBLE_PATH_NAMES.contains(name) => Some(ArgumentKind::PossiblePath),
        name if URL_NAMES.contains(name) => Some(ArgumentKind::Url),
        name if SQLS.contains(&name) => Some(ArgumentKind::Sql),
        _ => None,
    }
}

fn ending(name: &str) -> Option<ArgumentKind> {
    // Notebook editors give this name to the new content of a cell, which is text.
    if plain(name) == "newsource" {
        return None;
    }
    let unnumbered = name.trim_end_matches(|c: char| c.is_ascii_digit() || !c.is_alphanumeric());
    match last_word(unnumbered).as_str() {
        last if TEXTS.contains(&last) => Some(ArgumentKind::Command(CommandList::Texts)),
        last if WORDS.contains(&last) => Some(ArgumentKind::Command(CommandList::Unclear)),
        last if SQL_ENDINGS.contains(&last) => Some(ArgumentKind::Sql),
        last if PATH_ENDINGS.contains(last) || POSSIBLE_PATH_NAMES.contains(last) => Some(ArgumentKind::PossiblePath),
        _ => None,
    }
}

/// Says whether an argument beside a command holds its further words.
pub(crate) fn is_further_words(name: &str, value: &Value) -> bool {
    FURTHER_WORDS.contains(&name) || (POSSIBLE_FURTHER_WORDS.contains(&name) && (value.is_array() || value.is_string()))
}

/// Says whether an argument of this name holds settings of the call.
pub(super) fn holds_settings(name: &str) -> bool {
    SETTINGS_ENDINGS.any(|ending| name.ends_with(ending))
}

/// Says whether an argument beside a URL is its method: by its name, or because the value is a method (`operation: "POST"`).
pub(crate) fn is_method(name: &str, value: &Value) -> bool {
    METHODS.contains(&name) || (!beside_fact::is_text(name) && value.as_str().is_some_and(url::is_method))
}

/// Says whether an argument beside a command holds its environment variables.
pub(crate) fn is_environment(name: &str) -> bool {
    ENVIRONMENT_NAMES.contains(name)
}

/// Says whether an argument beside a URL is the body of the request by its exact name.
pub(super) fn is_usual_body(name: &str) -> bool {
    BODY_NAMES.contains(name)
}

/// Says whether an argument beside a URL is sent as its body, as far as the name tells.
pub(crate) fn is_body(name: &str) -> bool {
    let starts = ["body", "json", "post"].iter().any(|start| name.starts_with(start));
    let ends = ["body", "payload", "fields"].iter().any(|end| name.ends_with(end));
    BODY_NAMES.contains(name) || name == "values" || starts || ends
}

/// Says whether a name is a plural.
pub(crate) fn is_plural(name: &str) -> bool {
    let name = plain(name);
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (name.ends_with('s') && !name.ends_with("ss")) || name.ends_with("list")
}

/// Says whether the name of a tool says that it works on a database.
pub(crate) fn is_database(tool: &str) -> bool {
    let tool = tool.to_lowercase();
    DATABASE_WORDS.any(|database| match database {
        "db" => tool.split(|c: char| !c.is_alphanumeric()).any(|word| word == "db"),
        database => tool.contains(database),
    })
}

/// The plain form of a name: lower case, letters and digits only.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The last word of a name that has several: `script` of `pre_script` and of `preScript`.
fn last_word(name: &str) -> String {
    let mut words = words(name);
    words.pop().filter(|_| !words.is_empty()).unwrap_or_default()
}

/// The words of a name, in lower case.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut small = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && small) {
            words.push(String::new());
        }
        small = c.is_lowercase() || c.is_numeric();
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
