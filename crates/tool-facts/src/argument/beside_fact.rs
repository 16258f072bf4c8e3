//! Finds unknown arguments beside a command, a URL or SQL.
//!
//! The effect of arguments such as `executable`, `worktree`, `init_sql` or `proxy` is not known. So an argument is
//! harmless only if its name is on a list here and its value has the usual type; every other argument is an
//! [`UnknownArgument`].

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::name::{holds_settings, is_environment, is_further_words, is_method, is_usual_body, plain};
use super::{Argument, ArgumentKind, beside_path, header};
use crate::word_list::WordList;

/// An argument that may change what a call does, beside a fact that rules examine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnknownArgument {
    /// The fact beside the argument, by its variable in expressions: `shell`, `path`, `url` or `sql`.
    pub(crate) beside: &'static str,
    /// Name of the top-level argument that it is, or is part of.
    pub(crate) argument: String,
    /// The variable by which a rule can examine it, if it is parsed.
    pub(crate) variable: Option<&'static str>,
}

/// Texts for the reader of the call, and identifiers.
static TEXTS: WordList = WordList::new(include_str!("../../data/argument/texts.txt"));

/// Limits of time and size: numbers, or strings such as `30s`.
static LIMITS: WordList = WordList::new(include_str!("../../data/argument/limits.txt"));

/// Switches that say how the call is made: booleans.
static FLAGS: WordList = WordList::new(include_str!("../../data/argument/flags.txt"));

/// Beside a URL: texts about the request and its response.
const URL_TEXTS: &[&str] = &["prompt", "useragent", "language", "acceptlanguage", "accept", "responsetype"];
/// Beside a URL: formats and limits of the response.
const URL_NUMBERS: &[&str] = &["format", "outputformat", "returnformat", "startindex", "maxsize"];
/// Beside a URL: booleans about the response.
const URL_FLAGS: &[&str] = &["raw", "cache", "nocache", "markdown"];

/// Beside SQL: limits and formats of the result.
const SQL_NUMBERS: &[&str] = &[
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

/// Beside a command: booleans that are harmless if they are false.
const OFF: &[&str] = &["dangerouslydisablesandbox", "withescalatedpermissions", "tty", "restart"];

/// Says whether an argument of this name is text for the reader of the call.
pub(super) fn is_text(name: &str) -> bool {
    TEXTS.contains(name) || URL_TEXTS.contains(&name)
}

/// Says whether an argument is harmless beside any fact: a text for the reader, a limit or a switch.
pub(super) fn is_harmless_anywhere(name: &str, value: &Value) -> bool {
    match value {
        Value::Bool(_) => FLAGS.contains(name),
        Value::Number(_) => LIMITS.contains(name),
        Value::String(text) => TEXTS.contains(name) || (LIMITS.contains(name) && is_number(text)),
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}

/// Says whether a text is a number with its unit, or one word.
fn is_number(text: &str) -> bool {
    text.len() <= 16 && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | ' '))
}

/// Properties of the call as a whole.
pub(crate) struct CallTraits<'a> {
    /// An argument that may be SQL was parsed as SQL.
    pub(crate) sql: bool,
    /// The name of the tool says that it works on a database, so that such an argument certainly is SQL.
    pub(crate) database: bool,
    /// The call names paths, at least in a patch.
    pub(crate) paths: bool,
    /// The addresses of the declared values.
    pub(crate) declared: &'a DeclaredValues,
}

/// The declared values by their addresses.
pub(crate) type DeclaredValues = HashSet<*const Value>;

/// The parsed values by their addresses, each with its variable in expressions.
pub(super) type ParsedValues = HashMap<*const Value, &'static str>;

/// Returns every unknown argument of a call.
pub(crate) fn unknown_arguments(
    arguments: &Value,
    found: &[Argument<'_>],
    known: &CallTraits<'_>,
) -> Vec<UnknownArgument> {
    let place = |one: &Argument<'_>| Some((std::ptr::from_ref(one.value), variable(one, known.sql)?));
    let sorted: ParsedValues = found.iter().filter_map(place).collect();
    let mut unknown_arguments = Vec::new();
    for beside in ["shell", "url", "sql"] {
        let company = BesideFact { beside, sorted: &sorted, declared: known.declared };
        if !sorted.values().any(|variable| *variable == beside) {
            continue;
        }
        let fields: Vec<(&str, &Value)> = if let Value::Object(fields) = arguments {
            fields.iter().map(|(name, value)| (name.as_str(), value)).collect()
        } else {
            vec![("", arguments)]
        };
        for (name, value) in fields {
            let mut variables = Vec::new();
            company.look(name, value, &mut variables);
            let unknown = |variable| UnknownArgument { beside, argument: name.to_owned(), variable };
            unknown_arguments.extend(variables.into_iter().map(unknown));
        }
    }
    if known.paths {
        // A search text may read like SQL.
        let certain = found.iter().filter(|one| known.database || one.kind != ArgumentKind::PossibleSql);
        let certain = certain.filter_map(place).collect();
        beside_path::add(arguments, &certain, known.declared, &mut unknown_arguments);
    }
    unknown_arguments
}

/// The variable in expressions by which a rule examines an argument.
fn variable(argument: &Argument<'_>, sql: bool) -> Option<&'static str> {
    match argument.kind {
        ArgumentKind::Command(_) => Some("shell"),
        ArgumentKind::Url => Some("url"),
        ArgumentKind::Location if argument.value.as_str().is_some_and(|text| text.contains("://")) => Some("url"),
        ArgumentKind::Sql => Some("sql"),
        ArgumentKind::PossibleSql => sql.then_some("sql"),
        ArgumentKind::Path | ArgumentKind::File | ArgumentKind::PossiblePath | ArgumentKind::Location => Some("path"),
    }
}

/// Judges the arguments beside one fact.
pub(super) struct BesideFact<'a> {
    pub(super) beside: &'static str,
    pub(super) sorted: &'a ParsedValues,
    pub(super) declared: &'a DeclaredValues,
}

impl BesideFact<'_> {
    /// Adds every part of an argument that is not known, with the variable by which a rule can examine it.
    fn look(&self, name: &str, value: &Value, unknown_arguments: &mut Vec<Option<&'static str>>) {
        let name = plain(name);
        match self.sorted.get(&std::ptr::from_ref(value)).copied() {
            Some(variable) if variable == self.beside => return,
            // The facts of a command say where it runs.
            Some("path") if self.beside == "shell" => return,
            Some(variable) => return unknown_arguments.push(Some(variable)),
            None => {}
        }
        if value.is_null() || self.belongs(&name, value) || self.harmless(&name, value) {
            return;
        }
        match value {
            Value::Object(fields) if holds_settings(&name) || self.leads_on(value) => {
                fields.iter().for_each(|(name, inner)| self.look(name, inner, unknown_arguments));
            }
            Value::Array(items) if holds_settings(&name) || self.leads_on(value) => {
                for item in items {
                    self.look(&name, item, unknown_arguments);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                unknown_arguments.push(None);
            }
        }
    }

    /// Says whether a parsed value lies within this value.
    fn leads_on(&self, value: &Value) -> bool {
        leads_to(value, &|inner| self.sorted.contains_key(&inner) || self.declared.contains(&inner))
    }

    /// Says whether an argument is parsed together with the fact beside it.
    pub(super) fn belongs(&self, name: &str, value: &Value) -> bool {
        match self.beside {
            "shell" => is_further_words(name, value) || is_environment(name),
            "url" => is_method(name, value) || is_usual_body(name),
            _ => SQL_VALUES.contains(name) && are_values(value, 0),
        }
    }

    pub(super) fn harmless(&self, name: &str, value: &Value) -> bool {
        let (texts, numbers, flags): (&[&str], &[&str], &[&str]) = match self.beside {
            "url" => (URL_TEXTS, URL_NUMBERS, URL_FLAGS),
            "sql" => (&[], SQL_NUMBERS, &[]),
            _ => (&[], &[], &[]),
        };
        let on = |common: &WordList, own: &[&str]| common.contains(name) || own.contains(&name);
        match value {
            Value::Bool(_) if on(&FLAGS, flags) => true,
            Value::Bool(false) if self.beside == "shell" && OFF.contains(&name) => true,
            Value::Bool(_) if self.beside == "shell" => name == "login",
            Value::Bool(false) if self.beside == "url" => matches!(name, "followredirects" | "followredirect"),
            Value::String(wanted) if self.beside == "shell" && name == "sandboxpermissions" => wanted == "use_default",
            // Identifier of one of the shells that the tool keeps open.
            Value::String(id) if self.beside == "shell" && name == "shellid" => {
                id.len() <= 64 && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
            }
            Value::Bool(true) => self.beside == "sql" && matches!(name, "readonly" | "dryrun"),
            Value::Number(_) => on(&LIMITS, numbers),
            Value::String(_) if TEXTS.contains(name) => true,
            // Some of these become headers, and a second line would be another header.
            Value::String(text) if texts.contains(&name) => name == "prompt" || !text.contains(char::is_control),
            Value::String(text) if on(&LIMITS, numbers) => is_number(text),
            headers if self.beside == "url" && name.ends_with("headers") => header::harmless(headers),
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => false,
        }
    }
}

/// Says whether a value at a wanted address lies within this value.
pub(super) fn leads_to(value: &Value, wanted: &dyn Fn(*const Value) -> bool) -> bool {
    let leads = |inner: &Value| wanted(std::ptr::from_ref(inner)) || leads_to(inner, wanted);
    match value {
        Value::Object(fields) => fields.values().any(leads),
        Value::Array(items) => items.iter().any(leads),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Says whether a value consists of strings, numbers and the like, in lists or objects.
fn are_values(value: &Value, depth: usize) -> bool {
    match value {
        Value::Object(fields) => depth < 2 && fields.values().all(|inner| are_values(inner, depth + 1)),
        Value::Array(items) => depth < 2 && items.iter().all(|inner| are_values(inner, depth + 1)),
        Value::String(_) => depth > 0,
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}
