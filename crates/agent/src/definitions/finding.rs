//! What is wrong with a file, and in which line.

use std::fmt;
use std::path::Path;

/// One thing that is wrong with a file. Any of them refuses it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file, as the caller named it.
    pub file: String,
    /// The line, counted from one.
    pub line: usize,
    /// What is wrong, and what to write instead.
    pub message: String,
}

impl Finding {
    /// Something wrong with a file as a whole.
    pub(super) fn whole(file: &Path, message: impl Into<String>) -> Self {
        Self { file: file.display().to_string(), line: 1, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}
