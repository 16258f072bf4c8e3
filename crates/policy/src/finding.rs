//! What is wrong with a policy file, and where.

use std::fmt;

use serde::Serialize;

/// How bad a finding is. An error refuses the file; a warning does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The file means something, but perhaps not what its author thinks.
    Warning,
    /// The file is refused.
    Error,
}

impl Severity {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One thing found in a policy file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The file's name, as the caller gave it.
    pub file: String,
    /// The line, counted from one.
    pub line: usize,
    /// The column in characters, counted from one.
    pub column: usize,
    /// A stable name for this sort of finding.
    pub code: &'static str,
    /// Whether it refuses the file.
    pub severity: Severity,
    /// What is wrong and what to write instead.
    pub message: String,
}

impl Finding {
    /// A file of which nothing can be said but that it could not be read.
    #[must_use]
    pub fn unreadable(file: &str, why: String) -> Self {
        let (line, column) = (1, 1);
        Self { file: file.to_owned(), line, column, code: "unreadable", severity: Severity::Error, message: why }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, code, severity, message } = self;
        write!(f, "{file}:{line}:{column}: {}[{code}]: {message}", severity.name())
    }
}

/// The findings of one file, gathered while it is read.
#[derive(Debug)]
pub(crate) struct Findings<'t> {
    file: &'t str,
    text: &'t str,
    lines: Vec<usize>,
    found: Vec<Finding>,
}

impl<'t> Findings<'t> {
    /// How many are listed before the rest is left out.
    const MOST: usize = 1_000;

    pub(crate) fn new(file: &'t str, text: &'t str) -> Self {
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { file, text, lines, found: Vec::new() }
    }

    /// Notes something that refuses the file, at a byte of its text.
    pub(crate) fn error(&mut self, at: usize, code: &'static str, message: impl Into<String>) {
        self.push(at, code, Severity::Error, message.into());
    }

    /// Notes something that its author should look at again.
    pub(crate) fn warning(&mut self, at: usize, code: &'static str, message: impl Into<String>) {
        self.push(at, code, Severity::Warning, message.into());
    }

    /// The line of a byte, counted from one.
    pub(crate) fn line(&self, at: usize) -> usize {
        self.lines.partition_point(|start| *start <= at)
    }

    /// Whether anything refuses the file so far.
    pub(crate) fn refused(&self) -> bool {
        self.found.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// Everything found, in the order of the file.
    pub(crate) fn into_sorted(mut self) -> Vec<Finding> {
        self.found.sort_by(|a, b| (a.line, a.column, a.code).cmp(&(b.line, b.column, b.code)));
        self.found
    }

    fn push(&mut self, at: usize, code: &'static str, severity: Severity, message: String) {
        if self.found.len() >= Self::MOST && (severity == Severity::Warning || self.refused()) {
            return;
        }
        let line = self.line(at);
        let start = self.lines.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let column = self.text.get(start..at).map_or(0, |before| before.chars().count()) + 1;
        self.found.push(Finding { file: self.file.to_owned(), line, column, code, severity, message });
    }
}
