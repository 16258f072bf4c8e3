//! How long the work of a tool may go on, and why it did not come to its end.

use std::io;
use std::time::{Duration, Instant};

use engine::Redactor;
use tokio_util::sync::CancellationToken;

/// What the work on files is bounded by.
#[derive(Debug)]
pub(super) struct Bounds {
    until: Instant,
    stop: CancellationToken,
    /// What must not be shown.
    pub(super) secrets: Redactor,
    /// The mark of what may be replaced.
    pub(super) seen: Option<String>,
}

impl Bounds {
    pub(super) fn new(time: Duration, stop: CancellationToken, secrets: Redactor) -> Self {
        Self { until: Instant::now() + time, stop, secrets, seen: None }
    }

    /// The same for work that may replace only what has this mark.
    pub(super) fn replacing(self, seen: Option<String>) -> Self {
        Self { seen, ..self }
    }

    /// Says whether there is time left. Readers that find none show what they have.
    pub(super) fn in_time(&self) -> bool {
        Instant::now() < self.until
    }

    /// Refuses to go on once nobody waits for it, or its time is over. Writers look here right before the one thing that they do.
    pub(super) fn go_on(&self) -> Result<(), Trouble> {
        if self.stop.is_cancelled() {
            return Err(Trouble::new("it was cancelled before it was done"));
        }
        if !self.in_time() {
            return Err(Trouble::new("it took too long, and was given up before it was done"));
        }
        Ok(())
    }
}

/// Why a tool did not do what it was asked, as the model will read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trouble(pub(super) String);

impl Trouble {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// Says what went wrong with a path, in words that do not depend on the system.
    pub(super) fn with(path: &str, error: &io::Error) -> Self {
        let why = match error.kind() {
            io::ErrorKind::NotFound => "there is no such file or directory".to_owned(),
            io::ErrorKind::AlreadyExists => "something is there already".to_owned(),
            io::ErrorKind::NotADirectory => "it is not a directory, or one on the way to it is not".to_owned(),
            io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
            io::ErrorKind::DirectoryNotEmpty => "the directory is not empty".to_owned(),
            io::ErrorKind::PermissionDenied => "that is not permitted to the server".to_owned(),
            io::ErrorKind::StorageFull => "there is no space left".to_owned(),
            _ => error.to_string(),
        };
        Self(format!("`{path}`: {why}"))
    }
}
