//! Paths under names that say nothing.
//!
//! Nobody here knows the names of every tool's arguments. But a tool that names a path by a known name works on files, and a text that
//! leads somewhere by itself (`/etc/shadow`, `../x`, `~/x`, `C:\x`) is then a path too, unless its name says that it is a text.
//! A path that stays where it starts (`notes/a.md`) looks like a branch, a model or a media type, and is taken by its name alone.

use serde_json::Value;

use super::{Argument, Sort, plain, sort_of};

/// Names of what is only a text, whatever it looks like.
const TEXTS: &[&str] = &[
    "content",
    "contents",
    "text",
    "body",
    "data",
    "oldstring",
    "newstring",
    "oldstr",
    "newstr",
    "oldtext",
    "newtext",
    "inserttext",
    "filetext",
    "find",
    "replace",
    "replacement",
    "search",
    "regex",
    "query",
    "message",
    "commitmessage",
    "title",
    "description",
    "reason",
    "explanation",
    "comment",
    "note",
    "notes",
    "summary",
    "prompt",
    "diff",
    "patch",
    "code",
    "xpath",
    "jsonpath",
];

/// Adds what must be a path beside those that were found by name.
pub(super) fn add<'a>(arguments: &'a Value, found: &mut Vec<Argument<'a>>) {
    let is_path = |one: &Argument<'_>| matches!(one.sort, Sort::Path | Sort::File | Sort::PerhapsPath);
    // The words of a command are its own: they are looked at as such.
    if !found.iter().any(is_path) || found.iter().any(|one| matches!(one.sort, Sort::Command(_))) {
        return;
    }
    let mut strays = Vec::new();
    look(arguments, true, "", &mut strays);
    found.extend(strays);
}

fn look<'a>(value: &'a Value, named: bool, place: &str, strays: &mut Vec<Argument<'a>>) {
    match value {
        Value::String(text) if !named && leads_somewhere(text) => {
            strays.push(Argument { sort: Sort::PerhapsPath, place: place.to_owned(), around: Vec::new(), value });
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| look(item, named, &format!("{place}[{at}]"), strays));
        }
        Value::Object(fields) => {
            for (name, inner) in fields {
                let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                let named = sort_of(name, inner).is_some() || TEXTS.contains(&plain(name).as_str());
                look(inner, named, &place, strays);
            }
        }
        _ => {}
    }
}

fn leads_somewhere(text: &str) -> bool {
    let mut start = text.chars();
    let drive = start.next().is_some_and(|c| c.is_ascii_alphabetic())
        && start.next() == Some(':')
        && start.next().is_some_and(|c| matches!(c, '/' | '\\'));
    let file = text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
    let up = text.split(['/', '\\']).any(|part| part == "..");
    drive || file || up || text.starts_with(['/', '\\', '~']) || text.starts_with("./") || text.starts_with(".\\")
}
