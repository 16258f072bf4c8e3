//! Finds paths in arguments whose names do not say that they hold a path.
//!
//! The argument names of all tools cannot be known. But a call that has a path under a known name works on files, so every other text in it that
//! has the form of a path (`/etc/shadow`, `../x`, `~/x`, `C:\x`) is a path too, unless its name says that it is content. An argument
//! name that has this form (`edits: {"/etc/shadow": …}`) is a path in any call. A text that could be several paths, or that holds
//! arguments of its own, cannot be relied on.
//! A relative path without `..` (`notes/a.md`) looks like a branch, a model or a media type, and counts as a path by its name only.

use serde_json::Value;

use super::name::{kind_of, plain};
use super::{Argument, ArgumentKind, CallArguments, beside_fact};
use crate::path;
use crate::word_list::WordList;

/// Names of arguments that are content, even if the text looks like a path.
static CONTENT_NAMES: WordList = WordList::new(include_str!("../../data/argument/contents.txt"));

pub(super) fn is_text(name: &str) -> bool {
    CONTENT_NAMES.contains(name) || beside_fact::is_text(name)
}

/// Adds the paths that were not found by the name of their argument.
pub(super) fn add<'a>(arguments: &'a Value, found: &mut CallArguments<'a>) {
    let is_path =
        |one: &Argument<'_>| matches!(one.kind, ArgumentKind::Path | ArgumentKind::File | ArgumentKind::PossiblePath);
    let files = found.arguments.iter().any(is_path);
    let command = found.arguments.iter().any(|one| matches!(one.kind, ArgumentKind::Command(_)));
    // The words of a command are parsed with the command.
    let mut strays =
        PathSearch { values: files && !command, files, arguments: Vec::new(), keys: Vec::new(), packed: Vec::new() };
    strays.look(arguments, true, "");
    found.arguments.extend(strays.arguments);
    found.keys = strays.keys;
    found.packed = strays.packed;
}

struct PathSearch<'a> {
    /// Texts are examined, and not only names.
    values: bool,
    /// The call has a path under a known name.
    files: bool,
    arguments: Vec<Argument<'a>>,
    keys: Vec<(String, &'a str)>,
    packed: Vec<String>,
}

impl<'a> PathSearch<'a> {
    fn look(&mut self, value: &'a Value, named: bool, place: &str) {
        match value {
            Value::String(text) if self.values && !named => self.text(text, value, place),
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(at, item)| self.look(item, named, &format!("{place}[{at}]")));
            }
            Value::Object(fields) => {
                for (name, inner) in fields {
                    let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                    // No tool has an argument of such a name: the name is a path, and the value says what is done with it.
                    if has_path_form(name) || (self.files && name.contains(['/', '\\'])) {
                        self.keys.push((place.clone(), name));
                    }
                    let named = kind_of(name, inner).is_some() || is_text(&plain(name));
                    self.look(inner, named, &place);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn text(&mut self, text: &str, value: &'a Value, place: &str) {
        let climbs = || text.contains(['/', '{']) && path::may_climb(text);
        if has_path_form(text) || several(text, false) || climbs() {
            let place = place.to_owned();
            self.arguments.push(Argument { kind: ArgumentKind::PossiblePath, place, around: Vec::new(), value });
        } else if serde_json::from_str(text).is_ok_and(|inner: Value| holds_arguments(&inner)) {
            self.packed.push(place.to_owned());
        }
    }
}

/// Says whether JSON in a string has arguments that would be parsed.
fn holds_arguments(packed: &Value) -> bool {
    match packed {
        Value::Object(fields) => fields.iter().any(|(name, inner)| {
            kind_of(name, inner).is_some() || has_path_form(name) || name.contains('/') || holds_arguments(inner)
        }),
        Value::Array(items) => items.iter().any(holds_arguments),
        Value::String(text) => has_path_form(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Says whether a tool may split a text into several paths. Under a plural name any separator suffices; under other names a part after the
/// first, or after an opening bracket, must have the form of a path.
pub(crate) fn several(text: &str, plural: bool) -> bool {
    const SEPARATORS: [char; 9] = [',', ';', ':', '|', '\n', '\t', ' ', '"', '\''];
    let rest = if has_drive(text) { text.get(2..).unwrap_or_default() } else { text };
    // The part after `https://` is not a path of its own.
    let rest = if is_file(rest) { rest.to_owned() } else { rest.replace("://", "") };
    if !rest.contains(SEPARATORS) {
        return false;
    }
    let elsewhere = |(at, part): (usize, &str)| {
        let bare = part.trim_start_matches(['[', '{', '(']);
        has_path_form(bare) && (at > 0 || bare.len() < part.len())
    };
    plural || rest.split(SEPARATORS).enumerate().any(elsewhere)
}

/// Says whether a text has the form of a path: absolute, relative with `./` or `..`, in a home directory, on a drive, or a `file:` URL.
fn has_path_form(text: &str) -> bool {
    let file = text.get(..5).is_some_and(is_file);
    let up = text.split(['/', '\\']).any(|part| part == "..");
    has_drive(text)
        || file
        || up
        || text.starts_with(['/', '\\', '~'])
        || text.starts_with("./")
        || text.starts_with(".\\")
}

fn is_file(text: &str) -> bool {
    text.to_ascii_lowercase().contains("file:")
}

/// Says whether a text begins with a drive: `C:\x` or `C:/x`.
fn has_drive(text: &str) -> bool {
    let mut start = text.chars();
    start.next().is_some_and(|c| c.is_ascii_alphabetic())
        && start.next() == Some(':')
        && start.next().is_some_and(|c| matches!(c, '/' | '\\'))
}
