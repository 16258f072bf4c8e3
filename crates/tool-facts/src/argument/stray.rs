//! Paths under names that say nothing.
//!
//! Nobody here knows the names of every tool's arguments. But a tool that names a path by a known name works on files, and a text that
//! leads somewhere by itself (`/etc/shadow`, `../x`, `~/x`, `C:\x`) is then a path too, unless its name says that it is a text.
//! So is a name that does (`edits: {"/etc/shadow": …}`), wherever it stands. A text that could be taken for several paths, or that holds
//! arguments in its turn, is none that can be relied on.
//! A path that stays where it starts (`notes/a.md`) looks like a branch, a model or a media type, and is taken by its name alone.

use serde_json::Value;

use super::name::{plain, sort_of};
use super::{Argument, Found, Sort, companion};
use crate::path;
use crate::word_list::WordList;

/// Names of what is only a text, whatever it looks like.
static CONTENT_NAMES: WordList = WordList::new(include_str!("../../data/argument/contents.txt"));

pub(super) fn is_text(name: &str) -> bool {
    CONTENT_NAMES.contains(name) || companion::is_text(name)
}

/// Adds what must be a path beside those that were found by name.
pub(super) fn add<'a>(arguments: &'a Value, found: &mut Found<'a>) {
    let is_path = |one: &Argument<'_>| matches!(one.sort, Sort::Path | Sort::File | Sort::PerhapsPath);
    let files = found.arguments.iter().any(is_path);
    let command = found.arguments.iter().any(|one| matches!(one.sort, Sort::Command(_)));
    // The words of a command are its own: they are looked at as such.
    let mut strays =
        Strays { values: files && !command, files, arguments: Vec::new(), keys: Vec::new(), packed: Vec::new() };
    strays.look(arguments, true, "");
    found.arguments.extend(strays.arguments);
    found.keys = strays.keys;
    found.packed = strays.packed;
}

struct Strays<'a> {
    /// Whether texts are looked at, or only names.
    values: bool,
    /// Whether the call names a path.
    files: bool,
    arguments: Vec<Argument<'a>>,
    keys: Vec<(String, &'a str)>,
    packed: Vec<String>,
}

impl<'a> Strays<'a> {
    fn look(&mut self, value: &'a Value, named: bool, place: &str) {
        match value {
            Value::String(text) if self.values && !named => self.text(text, value, place),
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(at, item)| self.look(item, named, &format!("{place}[{at}]")));
            }
            Value::Object(fields) => {
                for (name, inner) in fields {
                    let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                    // No tool has an argument of such a name: it is a path, with what is to become of it.
                    if leads_somewhere(name) || (self.files && name.contains(['/', '\\'])) {
                        self.keys.push((place.clone(), name));
                    }
                    let named = sort_of(name, inner).is_some() || is_text(&plain(name));
                    self.look(inner, named, &place);
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str, value: &'a Value, place: &str) {
        let climbs = || text.contains(['/', '{']) && path::climbs(text);
        if leads_somewhere(text) || several(text, false) || climbs() {
            let place = place.to_owned();
            self.arguments.push(Argument { sort: Sort::PerhapsPath, place, around: Vec::new(), value });
        } else if serde_json::from_str(text).is_ok_and(|inner: Value| holds_arguments(&inner)) {
            self.packed.push(place.to_owned());
        }
    }
}

/// Says whether what was packed into a text names something that would be looked into.
fn holds_arguments(packed: &Value) -> bool {
    match packed {
        Value::Object(fields) => fields.iter().any(|(name, inner)| {
            sort_of(name, inner).is_some() || leads_somewhere(name) || name.contains('/') || holds_arguments(inner)
        }),
        Value::Array(items) => items.iter().any(holds_arguments),
        Value::String(text) => leads_somewhere(text),
        _ => false,
    }
}

/// Says whether a text may be taken for several paths: one under a plural name, wherever it could be taken apart; any other, where a
/// part of it would lead somewhere else than the whole.
pub(crate) fn several(text: &str, plural: bool) -> bool {
    const SEPARATORS: [char; 9] = [',', ';', ':', '|', '\n', '\t', ' ', '"', '\''];
    let rest = if drive(text) { text.get(2..).unwrap_or_default() } else { text };
    // What follows `https://` is no path of its own.
    let rest = if is_file(rest) { rest.to_owned() } else { rest.replace("://", "") };
    if !rest.contains(SEPARATORS) {
        return false;
    }
    let elsewhere = |(at, part): (usize, &str)| {
        let bare = part.trim_start_matches(['[', '{', '(']);
        leads_somewhere(bare) && (at > 0 || bare.len() < part.len())
    };
    plural || rest.split(SEPARATORS).enumerate().any(elsewhere)
}

fn leads_somewhere(text: &str) -> bool {
    let file = text.get(..5).is_some_and(is_file);
    let up = text.split(['/', '\\']).any(|part| part == "..");
    drive(text) || file || up || text.starts_with(['/', '\\', '~']) || text.starts_with("./") || text.starts_with(".\\")
}

fn is_file(text: &str) -> bool {
    text.to_ascii_lowercase().contains("file:")
}

/// `C:\x` and `C:/x`.
fn drive(text: &str) -> bool {
    let mut start = text.chars();
    start.next().is_some_and(|c| c.is_ascii_alphabetic())
        && start.next() == Some(':')
        && start.next().is_some_and(|c| matches!(c, '/' | '\\'))
}
