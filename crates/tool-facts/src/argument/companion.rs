//! What stands beside a command, a URL or SQL.
//!
//! Nobody here knows what a tool makes of `executable`, `worktree`, `init_sql` or `proxy`. So nothing is harmless but what is on a list
//! here, in the type that it usually has; everything else is a stranger.

use std::collections::HashMap;

use serde_json::Value;

use super::name::{holds_settings, is_environment, is_further, is_method, is_usual_body, plain};
use super::{Argument, Sort, deed, header};
use crate::word_list::WordList;

/// An argument that may change what a call does, beside something that rules look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stranger {
    /// What it stands beside, by the variable of expressions: `shell`, `path`, `url` or `sql`.
    pub(crate) beside: &'static str,
    /// Its name, or that of what it stands in, at the top of the call.
    pub(crate) argument: String,
    /// The variable through which a rule may look at it, where it is one of those that are parsed.
    pub(crate) variable: Option<&'static str>,
}

/// Texts for whoever reads the call.
static TEXTS: WordList = WordList::new(include_str!("../../data/argument/texts.txt"));

/// How long to wait and how much to show: numbers, or texts such as `30s`.
static LIMITS: WordList = WordList::new(include_str!("../../data/argument/limits.txt"));

/// The manner in which a call is made: true or false.
static FLAGS: WordList = WordList::new(include_str!("../../data/argument/flags.txt"));

/// Beside a URL: what is made of the answer.
const URL_TEXTS: &[&str] = &["prompt", "useragent", "language", "acceptlanguage", "accept", "responsetype"];
const URL_FIGURES: &[&str] = &["format", "outputformat", "returnformat", "startindex", "maxsize"];
const URL_FLAGS: &[&str] = &["raw", "cache", "nocache", "markdown"];

/// Beside SQL: how much is given and how it is shown.
const SQL_FIGURES: &[&str] = &[
    "format",
    "outputformat",
    "limit",
    "maxrows",
    "maxresults",
    "rowlimit",
    "fetchsize",
    "page",
    "pagesize",
    "offset",
];

/// Beside SQL: the values of its parameters.
static SQL_VALUES: WordList = WordList::new(include_str!("../../data/argument/sql_values.txt"));

/// Beside a command: switches that are harmless while they are off.
const OFF: &[&str] = &["dangerouslydisablesandbox", "withescalatedpermissions", "tty", "restart"];

/// Says whether a name is that of a text for whoever reads the call.
pub(super) fn is_text(name: &str) -> bool {
    TEXTS.contains(name) || URL_TEXTS.contains(&name)
}

/// Says whether an argument is harmless beside whatever it stands: a text for whoever reads the call, how long to wait, how much to show.
pub(super) fn is_harmless_anywhere(name: &str, value: &Value) -> bool {
    match value {
        Value::Bool(_) => FLAGS.contains(name),
        Value::Number(_) => LIMITS.contains(name),
        Value::String(text) => TEXTS.contains(name) || (LIMITS.contains(name) && is_figure(text)),
        _ => false,
    }
}

/// A number with its unit, or one word.
fn is_figure(text: &str) -> bool {
    text.len() <= 16 && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | ' '))
}

/// What is known of a call as a whole.
pub(crate) struct Known {
    /// What may be SQL was read as such.
    pub(crate) sql: bool,
    /// The tool is about a database, so that it certainly is.
    pub(crate) database: bool,
    /// It names paths, if only in a patch.
    pub(crate) paths: bool,
}

/// Everything that is parsed, by where it is, and the variable of expressions that it is behind.
pub(super) type Sorted = HashMap<*const Value, &'static str>;

/// Gives every stranger in a call.
pub(crate) fn strangers(arguments: &Value, found: &[Argument<'_>], known: &Known) -> Vec<Stranger> {
    let place = |one: &Argument<'_>| Some((std::ptr::from_ref(one.value), variable(one, known.sql)?));
    let sorted: Sorted = found.iter().filter_map(place).collect();
    let mut strangers = Vec::new();
    for beside in ["shell", "url", "sql"] {
        let company = Company { beside, sorted: &sorted };
        if !sorted.values().any(|variable| *variable == beside) {
            continue;
        }
        let fields: Vec<(&str, &Value)> = match arguments {
            Value::Object(fields) => fields.iter().map(|(name, value)| (name.as_str(), value)).collect(),
            other => vec![("", other)],
        };
        for (name, value) in fields {
            let mut variables = Vec::new();
            company.look(name, value, &mut variables);
            let stranger = |variable| Stranger { beside, argument: name.to_owned(), variable };
            strangers.extend(variables.into_iter().map(stranger));
        }
    }
    if known.paths {
        // What one looks for in files may read like SQL.
        let certain = found.iter().filter(|one| known.database || one.sort != Sort::PerhapsSql);
        deed::add(arguments, &certain.filter_map(place).collect(), &mut strangers);
    }
    strangers
}

/// The variable of expressions that an argument is behind.
fn variable(argument: &Argument<'_>, sql: bool) -> Option<&'static str> {
    match argument.sort {
        Sort::Command(_) => Some("shell"),
        Sort::Url => Some("url"),
        Sort::Location if argument.value.as_str().is_some_and(|text| text.contains("://")) => Some("url"),
        Sort::Sql => Some("sql"),
        Sort::PerhapsSql => sql.then_some("sql"),
        Sort::Path | Sort::File | Sort::PerhapsPath | Sort::Location => Some("path"),
    }
}

/// What stands beside one variable.
pub(super) struct Company<'a> {
    pub(super) beside: &'static str,
    pub(super) sorted: &'a Sorted,
}

impl Company<'_> {
    /// Notes a stranger for each thing that is not known, with the variable through which it can be looked at.
    fn look(&self, name: &str, value: &Value, strangers: &mut Vec<Option<&'static str>>) {
        let name = plain(name);
        match self.sorted.get(&std::ptr::from_ref(value)).copied() {
            Some(variable) if variable == self.beside => return,
            // Where a command runs is told by its own facts.
            Some("path") if self.beside == "shell" => return,
            Some(variable) => return strangers.push(Some(variable)),
            None => {}
        }
        if value.is_null() || self.belongs(&name, value) || self.harmless(&name, value) {
            return;
        }
        match value {
            Value::Object(fields) if holds_settings(&name) || self.leads_on(value) => {
                fields.iter().for_each(|(name, inner)| self.look(name, inner, strangers));
            }
            Value::Array(items) if holds_settings(&name) || self.leads_on(value) => {
                items.iter().for_each(|item| self.look(&name, item, strangers));
            }
            _ => strangers.push(None),
        }
    }

    /// Says whether something that is parsed lies within.
    fn leads_on(&self, value: &Value) -> bool {
        let parsed = |inner: &Value| self.sorted.contains_key(&std::ptr::from_ref(inner)) || self.leads_on(inner);
        match value {
            Value::Object(fields) => fields.values().any(parsed),
            Value::Array(items) => items.iter().any(parsed),
            _ => false,
        }
    }

    /// Says whether it is read together with what it stands beside.
    pub(super) fn belongs(&self, name: &str, value: &Value) -> bool {
        match self.beside {
            "shell" => is_further(name, value) || is_environment(name),
            "url" => is_method(name, value) || is_usual_body(name),
            _ => SQL_VALUES.contains(name) && are_values(value, 0),
        }
    }

    pub(super) fn harmless(&self, name: &str, value: &Value) -> bool {
        let (texts, figures, flags): (&[&str], &[&str], &[&str]) = match self.beside {
            "url" => (URL_TEXTS, URL_FIGURES, URL_FLAGS),
            "sql" => (&[], SQL_FIGURES, &[]),
            _ => (&[], &[], &[]),
        };
        let on = |common: &WordList, own: &[&str]| common.contains(name) || own.contains(&name);
        match value {
            Value::Bool(_) if on(&FLAGS, flags) => true,
            Value::Bool(false) if self.beside == "shell" && OFF.contains(&name) => true,
            Value::Bool(_) if self.beside == "shell" => name == "login",
            Value::Bool(false) if self.beside == "url" => matches!(name, "followredirects" | "followredirect"),
            Value::String(wanted) if self.beside == "shell" && name == "sandboxpermissions" => wanted == "use_default",
            // Which of the shells that the tool keeps.
            Value::String(id) if self.beside == "shell" && name == "shellid" => {
                id.len() <= 64 && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
            }
            Value::Bool(true) => self.beside == "sql" && matches!(name, "readonly" | "dryrun"),
            Value::Number(_) => on(&LIMITS, figures),
            Value::String(_) if TEXTS.contains(name) => true,
            // Some of them become headers, and a second line would be another one.
            Value::String(text) if texts.contains(&name) => name == "prompt" || !text.contains(char::is_control),
            Value::String(text) if on(&LIMITS, figures) => is_figure(text),
            headers if self.beside == "url" && name.ends_with("headers") => header::harmless(headers),
            _ => false,
        }
    }
}

/// Texts, numbers and the like, in lists or by names.
fn are_values(value: &Value, depth: usize) -> bool {
    match value {
        Value::Object(fields) => depth < 2 && fields.values().all(|inner| are_values(inner, depth + 1)),
        Value::Array(items) => depth < 2 && items.iter().all(|inner| are_values(inner, depth + 1)),
        Value::String(_) => depth > 0,
        _ => true,
    }
}
