//! Checks that grants need: whether an argument fits a pattern, and whether a tool may be run again.

use serde_json::Value;
use tool_facts::{CallFacts, PathFacts};

use crate::{Pattern, Policy};

impl Policy {
    /// Says whether the policy declares that a tool may be run again if it is not known whether it ran.
    #[must_use]
    pub fn repeatable(&self, tool: &str) -> bool {
        self.tools.get(tool).is_some_and(|tool| tool.idempotent)
    }

    /// The declared schemas of arguments, by tool.
    pub fn schemas(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.tools.iter().filter_map(|(name, tool)| Some((name.as_str(), tool.schema.as_ref()?)))
    }
}

/// Says whether an argument as a whole fits a pattern.
///
/// A path is compared in its canonical form. Wildcards match no character by which a tool could find a second item in a text: no blanks,
/// separators, quotes or `@`, and no `..`; a lone `*` matches one line of anything. A command, a URL or SQL has
/// more meanings than a pattern can express, and fits none. No argument of a call that could not be parsed fits. A path that decides what
/// runs later, such as a git hook, fits only a pattern without wildcards: a grant for `/srv/notes/*` does not mean `/srv/notes/.git/hooks/x`.
#[must_use]
pub fn fits(tool: &str, arguments: &Value, name: &str, pattern: &str) -> bool {
    let (Some(text), Ok(pattern)) = (arguments.get(name).and_then(Value::as_str), Pattern::new(pattern)) else {
        return false;
    };
    let parsed = CallFacts::of(tool, arguments);
    if parsed.first_failure().is_some() {
        return false;
    }
    if let Some(path) = parsed.paths.iter().find(|one| one.place == name).map(|one| &one.path) {
        let climbs = |path: &PathFacts| path.escapes && !pattern.is_exact() && !pattern.is_everything();
        let steers = |path: &PathFacts| path.steers && !pattern.is_exact();
        return path.as_ref().is_ok_and(|path| !climbs(path) && !steers(path) && matches(&pattern, &path.canonical));
    }
    // The argument may also belong to a command or a URL: as further words, as variables or as the method.
    let others = arguments.as_object().into_iter().flatten().filter(|(other, _)| *other != name);
    let others: Value = others.map(|(other, value)| (other.clone(), value.clone())).collect();
    let rest = CallFacts::of(tool, &others);
    let read = (&parsed.shell, &parsed.url, &parsed.sql) != (&rest.shell, &rest.url, &rest.sql);
    !read && matches(&pattern, text)
}

/// Says whether a path of the call decides what runs later: a git hook, a start file of a shell, a task of an editor.
#[must_use]
pub fn steers(tool: &str, arguments: &Value) -> bool {
    let parsed = CallFacts::of(tool, arguments);
    parsed.paths.iter().any(|one| one.path.as_ref().is_ok_and(|path| path.steers))
}

fn matches(pattern: &Pattern, text: &str) -> bool {
    if pattern.is_exact() {
        return pattern.as_str() == text;
    }
    if text.chars().any(char::is_control) {
        return false;
    }
    if pattern.is_everything() {
        return true;
    }
    let signs: Vec<char> = pattern.as_str().chars().collect();
    !text.split(['/', '\\']).any(|part| part == "..") && wild(&signs, &text.chars().collect::<Vec<_>>())
}

/// Says whether a text as a whole fits a pattern whose wildcards match ordinary characters only.
fn wild(signs: &[char], text: &[char]) -> bool {
    let (mut at, mut read) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while let Some(c) = text.get(read) {
        match signs.get(at) {
            Some('*') => {
                star = Some((at + 1, read));
                at += 1;
            }
            Some('?') if is_ordinary(*c) => (at, read) = (at + 1, read + 1),
            Some(sign) if sign == c => (at, read) = (at + 1, read + 1),
            _ => {
                // Lets the last star match one more character.
                let Some((after, from)) = star.filter(|(_, from)| text.get(*from).is_some_and(|c| is_ordinary(*c)))
                else {
                    return false;
                };
                star = Some((after, from + 1));
                (at, read) = (after, from + 1);
            }
        }
    }
    signs.get(at..).unwrap_or_default().iter().all(|sign| *sign == '*')
}

/// Says whether a character is a letter, a digit, or a sign within names and paths.
fn is_ordinary(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '=' | '#' | '~')
}
