//! Filters, pages and cursors of lists.

use std::fmt;
use std::str::FromStr;

use domain::{Actor, Event, Kind, SessionId, SessionStatus, Status};

/// Position in a project's log, in commit order. A reader that continues from its cursor never misses an event that commits later.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    /// Number of the transaction, where the database numbers transactions; otherwise 0.
    pub major: u64,
    /// Number of the event.
    pub minor: u64,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.major, self.minor)
    }
}

impl FromStr for Cursor {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (major, minor) = text.split_once('-').ok_or(())?;
        Ok(Self { major: major.parse().map_err(|_| ())?, minor: minor.parse().map_err(|_| ())? })
    }
}

/// A page of a project's log.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProjectEvents {
    /// Events after the cursor, each with its own cursor.
    pub events: Vec<(Cursor, Event)>,
    /// Whether reading stopped at a limit, so that further events may follow.
    pub more: bool,
    /// Whether committed events stay hidden until older transactions end; the reader should read again soon.
    pub hidden: bool,
}

/// A page of a list: at most `limit` items after `after`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page<I> {
    /// Last item of the page before; `None` for the first page.
    pub after: Option<I>,
    /// Maximum number of items.
    pub limit: u32,
}

impl<I> Page<I> {
    /// Returns the first page.
    #[must_use]
    pub const fn first(limit: u32) -> Self {
        Self { after: None, limit }
    }
}

/// Order of a list of questions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sort {
    /// By the time of asking, oldest first.
    #[default]
    Oldest,
    /// By the time of asking, newest first.
    Newest,
    /// By deadline, nearest first; questions without a deadline are left out.
    Deadline,
}

/// Filter of a list of questions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InteractionFilter {
    /// Only questions with this status.
    pub status: Option<Status>,
    /// Only questions that are not pending.
    pub closed: bool,
    /// Only questions of this kind.
    pub kind: Option<Kind>,
    /// Only questions of this session.
    pub session: Option<SessionId>,
    /// Only questions routed through this channel.
    pub channel: Option<String>,
    /// Only questions of this agent.
    pub agent: Option<String>,
    /// Only questions of sessions that belong to this agent: sessions that it opened, or that name it and are not hosted.
    pub belongs_to: Option<Actor>,
    /// Only questions past their deadline at this time, in microseconds.
    pub overdue_at: Option<i64>,
    /// Only questions whose search text contains this text, or whose id or session id is this text.
    pub text: Option<String>,
    /// Order of the list.
    pub sort: Sort,
}

/// Filter of sessions. Sessions are listed newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// Only sessions with this status.
    pub status: Option<SessionStatus>,
    /// Only sessions of this agent.
    pub agent: Option<String>,
    /// Only sessions whose questions are routed through this channel.
    pub channel: Option<String>,
    /// Only sessions that have not ended.
    pub live: bool,
    /// Only sessions that belong to this agent: it opened them, or they name it and are not hosted.
    pub belongs_to: Option<Actor>,
}
