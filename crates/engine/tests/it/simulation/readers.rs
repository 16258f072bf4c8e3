//! Readers that follow the log and continue from their position.

use domain::SessionId;
use store::Cursor;

/// A reader of a project's log.
#[derive(Debug, Clone)]
pub(crate) struct ProjectReader {
    pub tenant: usize,
    pub cursor: Cursor,
    /// Number of events that the reader has seen.
    pub seen: usize,
}

/// A reader of a session's log.
#[derive(Debug, Clone)]
pub(crate) struct SessionReader {
    pub tenant: usize,
    pub session: SessionId,
    pub after: u64,
}

/// All readers of the simulation.
#[derive(Debug, Default)]
pub(crate) struct Readers {
    pub projects: Vec<ProjectReader>,
    pub sessions: Vec<SessionReader>,
}
