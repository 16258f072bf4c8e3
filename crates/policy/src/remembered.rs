//! What a grant needs to know of an action: whether an argument fits a pattern, and whether a tool may be run again.

use serde_json::Value;

use crate::{Parsed, Pattern, Policy};

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
/// A path is compared in its canonical form. What is read as a command, an address or SQL has more meanings than a pattern can
/// see, and fits none; neither does anything of an action that could not be read.
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
        return path.as_ref().is_ok_and(|path| pattern.matches(&path.canonical));
    }
    // Also what only means something beside a command or an address: further words, variables, a method.
    let others = arguments.as_object().into_iter().flatten().filter(|(other, _)| *other != name);
    let others: Value = others.map(|(other, value)| (other.clone(), value.clone())).collect();
    let rest = Parsed::of(tool, &others);
    let read = (&parsed.shell, &parsed.url, &parsed.sql) != (&rest.shell, &rest.url, &rest.sql);
    !read && pattern.matches(text)
}
