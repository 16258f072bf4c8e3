//! A problem of a definition file with its line.

use std::fmt;
use std::path::Path;

/// One problem of a file. Any problem refuses the file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileFinding {
    /// Path of the file, as the caller named it.
    pub file: String,
    /// Line, counted from one.
    pub line: usize,
    /// Description of the problem and of its correction.
    pub message: String,
}

impl FileFinding {
    /// A problem of a file as a whole.
    pub(super) fn whole(file: &Path, message: impl Into<String>) -> Self {
        Self { file: file.display().to_string(), line: 1, message: message.into() }
    }
}

impl fmt::Display for FileFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}
