//! Those who follow the log and come back to where they were.

use domain::SessionId;
use store::Cursor;

/// Somebody who follows a project.
#[derive(Debug, Clone)]
pub(crate) struct ProjectReader {
    pub tenant: usize,
    pub cursor: Cursor,
    /// How many events they have seen.
    pub seen: usize,
}

/// Somebody who follows a session.
#[derive(Debug, Clone)]
pub(crate) struct SessionReader {
    pub tenant: usize,
    pub session: SessionId,
    pub after: u64,
}

/// Everybody who follows something.
#[derive(Debug, Default)]
pub(crate) struct Readers {
    pub projects: Vec<ProjectReader>,
    pub sessions: Vec<SessionReader>,
}
