//! Names of arguments, and what each says.

use serde_json::Value;

use super::companion;
use crate::url;
use crate::word_list::WordList;

/// What an argument is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    Command(List),
    Path,
    /// A path, or an object that names one: `files: [{path, content}]`.
    File,
    /// A path where it is a text; other types mean something else.
    PerhapsPath,
    /// A URL or a path, by what it looks like.
    Location,
    Url,
    Sql,
    /// SQL where it can be read as such, or the tool says so.
    PerhapsSql,
}

/// What a list is, where a command could stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum List {
    /// The words of one command.
    Words,
    /// A command each.
    Texts,
    /// Either.
    Unclear,
}

/// Commands whose lists are words.
const WORDS: &[&str] = &["command", "cmd", "argv"];

/// Commands whose lists are commands.
const TEXTS: &[&str] = &["commands", "cmds", "script", "scripts"];

const COMMANDS: &[&str] =
    &["shellcommand", "bashcommand", "commandline", "cmdline", "shell", "bash", "prescript", "postscript"];

/// What may stand beside a command as its further words.
pub(super) const FURTHER: &[&str] = &[
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

/// The same, where it is a list or a text.
const PERHAPS_FURTHER: &[&str] = &["arg", "argument", "params", "parameters", "flags", "switches", "options"];

/// What may stand beside a command as its variables.
static ENVIRONMENT_NAMES: WordList = WordList::new(include_str!("../../data/argument/environment.txt"));

/// Names of headers that change the method, wherever a text holds them.
pub(crate) const OVERRIDES: &[&str] = &["methodoverride", "xhttpmethod"];

/// What may stand beside a URL as its method.
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

/// What may stand beside a URL as its body.
static BODY_NAMES: WordList = WordList::new(include_str!("../../data/argument/bodies.txt"));

static PATH_NAMES: WordList = WordList::new(include_str!("../../data/argument/paths.txt"));

/// Things that have a path, and are often named by it.
const FILES: &[&str] = &["file", "files", "folder", "folders", "directory", "directories"];

/// Last words of longer names that are a path where they are a text.
static PATH_ENDINGS: WordList = WordList::new(include_str!("../../data/argument/path_endings.txt"));

/// The same, and names by themselves.
static POSSIBLE_PATH_NAMES: WordList = WordList::new(include_str!("../../data/argument/possible_paths.txt"));

static URL_NAMES: WordList = WordList::new(include_str!("../../data/argument/urls.txt"));

const SQLS: &[&str] = &["sql", "sqls", "statement", "statements", "sqlquery", "sqlstatement", "querysql"];

/// Words in a tool's name that make its `query` SQL.
static DATABASE_WORDS: WordList = WordList::new(include_str!("../../data/argument/database_tools.txt"));

/// Endings of what holds the settings of a call.
static SETTINGS_ENDINGS: WordList = WordList::new(include_str!("../../data/argument/settings_endings.txt"));

/// Last words of longer names that are SQL: `init_sql`.
const SQL_ENDINGS: &[&str] = &["sql", "ddl", "dml"];

/// Says what an argument of this name and type is.
pub(super) fn sort_of(name: &str, value: &Value) -> Option<Sort> {
    match value {
        Value::Null => None,
        // `ignore_scripts: true` is no script.
        Value::Bool(_) | Value::Number(_) => known(name),
        _ => sort(name),
    }
}

/// Says what an argument of this name is.
pub(crate) fn sort(name: &str) -> Option<Sort> {
    known(name).or_else(|| ending(name))
}

fn known(name: &str) -> Option<Sort> {
    // `path2` is another path.
    match plain(name).trim_end_matches(|c: char| c.is_ascii_digit()) {
        "query" | "queries" => Some(Sort::PerhapsSql),
        "location" | "locations" => Some(Sort::Location),
        name if WORDS.contains(&name) => Some(Sort::Command(List::Words)),
        name if TEXTS.contains(&name) => Some(Sort::Command(List::Texts)),
        name if COMMANDS.contains(&name) => Some(Sort::Command(List::Unclear)),
        name if PATH_NAMES.contains(name) => Some(Sort::Path),
        name if FILES.contains(&name) => Some(Sort::File),
        name if POSSIBLE_PATH_NAMES.contains(name) => Some(Sort::PerhapsPath),
        name if URL_NAMES.contains(name) => Some(Sort::Url),
        name if SQLS.contains(&name) => Some(Sort::Sql),
        _ => None,
    }
}

fn ending(name: &str) -> Option<Sort> {
    // What an editor of notebooks writes.
    if plain(name) == "newsource" {
        return None;
    }
    let unnumbered = name.trim_end_matches(|c: char| c.is_ascii_digit() || !c.is_alphanumeric());
    match last_word(unnumbered).as_str() {
        last if TEXTS.contains(&last) => Some(Sort::Command(List::Texts)),
        last if WORDS.contains(&last) => Some(Sort::Command(List::Unclear)),
        last if SQL_ENDINGS.contains(&last) => Some(Sort::Sql),
        last if PATH_ENDINGS.contains(last) || POSSIBLE_PATH_NAMES.contains(last) => Some(Sort::PerhapsPath),
        _ => None,
    }
}

/// Says whether something beside a command is its further words.
pub(crate) fn is_further(name: &str, value: &Value) -> bool {
    FURTHER.contains(&name) || (PERHAPS_FURTHER.contains(&name) && (value.is_array() || value.is_string()))
}

/// Says whether what has this name holds the settings of a call.
pub(super) fn holds_settings(name: &str) -> bool {
    SETTINGS_ENDINGS.any(|ending| name.ends_with(ending))
}

/// Says whether something beside a URL is its method, by its name or because it is nothing else: `operation: "POST"`.
pub(crate) fn is_method(name: &str, value: &Value) -> bool {
    METHODS.contains(&name) || (!companion::is_text(name) && value.as_str().is_some_and(url::is_method))
}

/// Says whether something beside a command holds its environment variables.
pub(crate) fn is_environment(name: &str) -> bool {
    ENVIRONMENT_NAMES.contains(name)
}

/// Says whether an argument beside a URL is the body of the request by its exact name.
pub(super) fn is_usual_body(name: &str) -> bool {
    BODY_NAMES.contains(name)
}

/// Says whether something beside a URL is sent with it, as far as a name tells.
pub(crate) fn is_body(name: &str) -> bool {
    let starts = ["body", "json", "post"].iter().any(|start| name.starts_with(start));
    let ends = ["body", "payload", "fields"].iter().any(|end| name.ends_with(end));
    BODY_NAMES.contains(name) || name == "values" || starts || ends
}

/// Says whether a name is that of several things.
pub(crate) fn is_plural(name: &str) -> bool {
    let name = plain(name);
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (name.ends_with('s') && !name.ends_with("ss")) || name.ends_with("list")
}

/// Says whether a tool is about a database.
pub(crate) fn is_database(tool: &str) -> bool {
    let tool = tool.to_lowercase();
    DATABASE_WORDS.any(|database| match database {
        "db" => tool.split(|c: char| !c.is_alphanumeric()).any(|word| word == "db"),
        database => tool.contains(database),
    })
}

/// A name in small letters, without what only holds its parts apart.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The last part of a name that has several: `script` of `pre_script` and of `preScript`.
fn last_word(name: &str) -> String {
    let mut words = words(name);
    words.pop().filter(|_| !words.is_empty()).unwrap_or_default()
}

/// The parts of a name, in small letters.
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
