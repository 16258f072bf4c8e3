//! Time limit and failure of the work of a tool.

use std::io;
use std::time::{Duration, Instant};

use engine::Redactor;
use tokio_util::sync::CancellationToken;

/// Limits of a file operation.
#[derive(Debug)]
pub(super) struct Bounds {
    until: Instant,
    stop: CancellationToken,
    /// Values that must not be shown.
    pub(super) secrets: Redactor,
    /// Hash of the content that may be replaced.
    pub(super) expected_content: Option<String>,
}

impl Bounds {
    pub(super) fn new(time: Duration, stop: CancellationToken, secrets: Redactor) -> Self {
        Self { until: Instant::now() + time, stop, secrets, expected_content: None }
    }

    /// Limits for an operation that may replace only content with this hash.
    pub(super) fn replacing(self, expected_content: Option<String>) -> Self {
        Self { expected_content, ..self }
    }

    /// Whether there is time left. A reader that is out of time returns the results that it has.
    pub(super) fn is_in_time(&self) -> bool {
        Instant::now() < self.until
    }

    /// Fails if the operation was cancelled or its time limit has passed. Writers call it directly before their one
    /// change.
    pub(super) fn go_on(&self) -> Result<(), ToolFailure> {
        if self.stop.is_cancelled() {
            return Err(ToolFailure::new("it was cancelled before it was done"));
        }
        if !self.is_in_time() {
            return Err(ToolFailure::new("it took too long and was stopped before it was done"));
        }
        Ok(())
    }
}

/// Reason why a tool failed, as the model will read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToolFailure(pub(super) String);

impl ToolFailure {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// Failure of an operation on a path, in words that do not depend on the operating system.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the standard library may add kinds")]
    pub(super) fn with(path: &str, error: &io::Error) -> Self {
        let why = match error.kind() {
            io::ErrorKind::NotFound => "there is no such file or directory".to_owned(),
            io::ErrorKind::AlreadyExists => "it already exists".to_owned(),
            io::ErrorKind::NotADirectory => "it or one of its parents is not a directory".to_owned(),
            io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
            io::ErrorKind::DirectoryNotEmpty => "the directory is not empty".to_owned(),
            io::ErrorKind::PermissionDenied => "the server has no permission for that".to_owned(),
            io::ErrorKind::StorageFull => "there is no space left".to_owned(),
            _ => error.to_string(),
        };
        Self(format!("`{path}`: {why}"))
    }
}
