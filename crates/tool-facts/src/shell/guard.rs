//! What is refused before a parser sees it.

use crate::{Unparsed, text};

/// The longest text of a command, in bytes.
pub(super) const LONGEST: usize = 32 * 1024;

/// Refuses what is too long, and characters that a person does not see or that shells disagree about.
pub(super) fn check(text: &str) -> Result<(), Unparsed> {
    if text.len() > LONGEST {
        return Err(refused(format!("the command is longer than {LONGEST} bytes")));
    }
    match text::unseen(text) {
        Some(c) => Err(refused(format!("{} is in the command", text::described(c)))),
        None => Ok(()),
    }
}

/// Something about a command that cannot be read.
pub(super) fn refused(reason: impl Into<String>) -> Unparsed {
    Unparsed::new("shell", reason)
}
