//! Filters, pages and cursors of lists.

use std::fmt;
use std::str::FromStr;

use domain::{Actor, Event, Kind, SessionId, SessionStatus, Status};

/// A place in a project's log, in commit order. Whoever has read up to it never misses what commits later.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    /// The transaction, where the database numbers them.
    pub major: u64,
    /// The event within it.
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

/// Part of a project's log.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProjectEvents {
    /// What comes after the cursor, each with its own.
    pub events: Vec<(Cursor, Event)>,
    /// Whether reading stopped at a bound, in number or in bytes: what comes after the last one was not looked at.
    pub more: bool,
    /// Whether more is committed already and can be shown only when older transactions have ended: look again soon.
    pub hidden: bool,
}

/// Which part of a list is wanted: so many after the one named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page<I> {
    /// The last one of the page before.
    pub after: Option<I>,
    /// At most so many.
    pub limit: u32,
}

impl<I> Page<I> {
    /// The first page, of at most so many.
    #[must_use]
    pub const fn first(limit: u32) -> Self {
        Self { after: None, limit }
    }
}

/// In which order questions are listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sort {
    /// By when they were asked, the oldest first.
    #[default]
    Oldest,
    /// By when they were asked, the newest first.
    Newest,
    /// By deadline, the nearest first; only those that have one.
    Deadline,
}

/// Which questions are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InteractionFilter {
    /// In this state.
    pub status: Option<Status>,
    /// Closed, whichever way.
    pub closed: bool,
    /// Of this kind.
    pub kind: Option<Kind>,
    /// Of this session.
    pub session: Option<SessionId>,
    /// Routed through this channel.
    pub channel: Option<String>,
    /// Asked by this agent.
    pub agent: Option<String>,
    /// Of a session that belongs to this agent: one that it opened, or that names it and is not run by our workers.
    pub belongs_to: Option<Actor>,
    /// Past their deadline at this moment, in microseconds.
    pub overdue_at: Option<i64>,
    /// With this text in its words (`domain::said`), or this id, its own or its session's.
    pub text: Option<String>,
    /// In this order.
    pub sort: Sort,
}

/// Which sessions are wanted; the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// In this state.
    pub status: Option<SessionStatus>,
    /// Of this agent.
    pub agent: Option<String>,
    /// Whose questions are routed through this channel.
    pub channel: Option<String>,
    /// Only those that have not ended.
    pub live: bool,
    /// That belong to this agent: it opened them, or they name it and are not run by our workers.
    pub belongs_to: Option<Actor>,
}
