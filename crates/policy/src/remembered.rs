//! What a grant needs to know of an action: whether an argument fits a pattern, and whether a tool may be run again.

use serde_json::Value;
use tool_facts::{Parsed, PathFacts};

use crate::{Pattern, Policy};

impl Policy {
    /// Whether a tool says that it may be run again when nobody knows whether it ran.
    #[must_use]
    pub fn repeatable(&self, tool: &str) -> bool {
        self.tools.get(tool).is_some_and(|tool| tool.idempotent)
    }

    /// The schemas that it declares, by tool.
    pub fn schemas(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.tools.iter().filter_map(|(name, tool)| Some((name.as_str(), tool.schema.as_ref()?)))
    }
}

/// Whether the whole of an argument fits a pattern.
///
/// A path is compared in its canonical form. Wildcards stand for nothing by which a tool could find a second thing in a text: no blanks,
/// separators, quotes or `@`, and no `..`; a lone `*` stands for one line of anything. What is read as a command, an address or SQL has
/// more meanings than a pattern can see, and fits none; neither does anything of an action that could not be read. A path that decides what
/// runs later, such as a git hook, fits only the pattern that spells it out: nobody who remembers `/srv/notes/*` means `/srv/notes/.git/hooks/x`.
#[must_use]
pub fn fits(tool: &str, arguments: &Value, name: &str, pattern: &str) -> bool {
    let (Some(text), Ok(pattern)) = (arguments.get(name).and_then(Value::as_str), Pattern::new(pattern)) else {
        return false;
    };
    let parsed = Parsed::of(tool, arguments);
    if parsed.failed().is_some() {
        return false;
    }
    if let Some((_, path)) = parsed.paths.iter().find(|(argument, _)| argument == name) {
        let climbs = |path: &PathFacts| path.escapes && !pattern.is_exact() && !pattern.is_everything();
        let steers = |path: &PathFacts| path.steers && !pattern.is_exact();
        return path.as_ref().is_ok_and(|path| !climbs(path) && !steers(path) && matches(&pattern, &path.canonical));
    }
    // Also what only means something beside a command or an address: further words, variables, a method.
    let others = arguments.as_object().into_iter().flatten().filter(|(other, _)| *other != name);
    let others: Value = others.map(|(other, value)| (other.clone(), value.clone())).collect();
    let rest = Parsed::of(tool, &others);
    let read = (&parsed.shell, &parsed.url, &parsed.sql) != (&rest.shell, &rest.url, &rest.sql);
    !read && matches(&pattern, text)
}

/// Whether a path of an action decides what runs later: a git hook, a start file of a shell, a task of an editor.
#[must_use]
pub fn steers(tool: &str, arguments: &Value) -> bool {
    let parsed = Parsed::of(tool, arguments);
    parsed.paths.iter().any(|(_, path)| path.as_ref().is_ok_and(|path| path.steers))
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

/// Says whether the whole of a text fits, where wildcards stand for ordinary characters alone.
fn wild(signs: &[char], text: &[char]) -> bool {
    let (mut at, mut taken) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while let Some(c) = text.get(taken) {
        match signs.get(at) {
            Some('*') => {
                star = Some((at + 1, taken));
                at += 1;
            }
            Some('?') if is_ordinary(*c) => (at, taken) = (at + 1, taken + 1),
            Some(sign) if sign == c => (at, taken) = (at + 1, taken + 1),
            _ => {
                // The last star takes one more.
                let Some((after, from)) = star.filter(|(_, from)| text.get(*from).is_some_and(|c| is_ordinary(*c)))
                else {
                    return false;
                };
                star = Some((after, from + 1));
                (at, taken) = (after, from + 1);
            }
        }
    }
    signs.get(at..).unwrap_or_default().iter().all(|sign| *sign == '*')
}

/// Letters and digits, and the signs that hold the parts of one name together.
fn is_ordinary(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '=' | '#' | '~')
}
