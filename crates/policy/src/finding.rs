//! Errors and warnings about a policy file, with their positions.

use std::fmt;

use serde::Serialize;

/// Severity of a finding. An error refuses the file; a warning does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The file is valid, but may not mean what its author thinks.
    Warning,
    /// The file is refused.
    Error,
}

impl Severity {
    /// Name of the severity.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// An error or a warning about a policy file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Name of the file, as given by the caller.
    pub file: String,
    /// The line, counted from one.
    pub line: usize,
    /// The column in characters, counted from one.
    pub column: usize,
    /// Stable name of this kind of finding.
    pub code: &'static str,
    /// An error refuses the file, a warning does not.
    pub severity: Severity,
    /// Description of the problem and of its correction.
    pub message: String,
}

impl Finding {
    /// The finding for a file that could not be read.
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

/// The findings of one file, collected while it is read.
#[derive(Debug)]
pub(crate) struct Findings<'t> {
    file: &'t str,
    text: &'t str,
    lines: Vec<usize>,
    found: Vec<Finding>,
    /// The file is in force already: an unsafe rule is disarmed instead of refused.
    tolerant: bool,
}

impl<'t> Findings<'t> {
    /// Largest number of findings; further ones are left out.
    const MOST: usize = 1_000;

    pub(crate) fn new(file: &'t str, text: &'t str) -> Self {
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { file, text, lines, found: Vec::new(), tolerant: false }
    }

    /// Adds an error at a byte of the text.
    pub(crate) fn error(&mut self, at: usize, code: &'static str, message: impl Into<String>) {
        self.push(at, code, Severity::Error, message.into());
    }

    /// Adds a finding about a rule that means something else than it says: an error, or a warning if the file is in force already.
    pub(crate) fn refusal(&mut self, at: usize, code: &'static str, message: impl Into<String>) {
        let severity = if self.tolerant { Severity::Warning } else { Severity::Error };
        self.push(at, code, severity, message.into());
    }

    /// Makes refusals of rules warnings, because the file is in force already.
    pub(crate) const fn tolerate(&mut self) {
        self.tolerant = true;
    }

    /// Adds a warning at a byte of the text.
    pub(crate) fn warning(&mut self, at: usize, code: &'static str, message: impl Into<String>) {
        self.push(at, code, Severity::Warning, message.into());
    }

    /// Line of a byte, counted from one.
    pub(crate) fn line(&self, at: usize) -> usize {
        self.lines.partition_point(|start| *start <= at)
    }

    /// Says whether there is an error so far.
    pub(crate) fn has_error(&self) -> bool {
        self.found.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// All findings, in the order of the file.
    pub(crate) fn into_sorted(mut self) -> Vec<Finding> {
        self.found.sort_by(|a, b| (a.line, a.column, a.code).cmp(&(b.line, b.column, b.code)));
        self.found
    }

    fn push(&mut self, at: usize, code: &'static str, severity: Severity, message: String) {
        if self.found.len() >= Self::MOST && (severity == Severity::Warning || self.has_error()) {
            return;
        }
        let line = self.line(at);
        let start = self.lines.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let column = self.text.get(start..at).map_or(0, |before| before.chars().count()) + 1;
        self.found.push(Finding { file: self.file.to_owned(), line, column, code, severity, message });
    }
}
