//! Checks on the text of a command before it is parsed.

use crate::{Unparsed, text};

/// Longest text of a command, in bytes.
pub(super) const LONGEST: usize = 32 * 1024;

/// Refuses a text that is too long, or has characters that are invisible or that shells read differently.
pub(super) fn check(text: &str) -> Result<(), Unparsed> {
    check_with(text, text::find_invisible(text))
}

/// Like [`check`], for a text in a declared language, which may contain emoji.
pub(super) fn check_declared(text: &str) -> Result<(), Unparsed> {
    check_with(text, text::find_invisible_beside_emoji(text))
}

fn check_with(text: &str, invisible: Option<char>) -> Result<(), Unparsed> {
    if text.len() > LONGEST {
        return Err(refused(format!("the command is longer than {LONGEST} bytes")));
    }
    match invisible {
        Some(c) => Err(refused(format!("{} is in the command", text::describe(c)))),
        None => Ok(()),
    }
}

/// A reason why a command cannot be parsed.
pub(super) fn refused(reason: impl Into<String>) -> Unparsed {
    Unparsed::new("shell", reason)
}
