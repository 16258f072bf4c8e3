//! Time, and what it is due for.

use domain::{InteractionId, Scope, SessionId, Timestamp};

use crate::{DueAction, Stored};

/// A question for which a moment has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// Whose it is.
    pub scope: Scope,
    /// Its session, which is locked first.
    pub session: SessionId,
    /// Which one.
    pub interaction: InteractionId,
}

/// What can be read of them.
pub trait TimerReads {
    /// The time of this transaction: the database's where it has one, else the clock that the store was given.
    fn now(&mut self) -> Stored<Timestamp>;
    /// Questions whose moment has come, the earliest first.
    fn due(&mut self, now: Timestamp, limit: u32) -> Stored<Vec<Due>>;
    /// The earliest moment that is to come.
    fn next_due(&mut self) -> Stored<Option<Timestamp>>;
    /// When the oldest of the questions that are only kept was resolved.
    fn oldest_retired(&mut self) -> Stored<Option<Timestamp>>;
}

/// What is done with a row that cannot be acted on: it is put off, so that it does not stand in the way of others.
pub trait TimerWrites {
    /// Has a question that is due looked at again at a later moment. Its next change sets the moment anew.
    fn due_put_off(&mut self, due: &Due, until: Timestamp) -> Stored<()>;
    /// The same for an action.
    fn action_put_off(&mut self, due: &DueAction, until: Timestamp) -> Stored<()>;
    /// Has the question that would be archived next, of those resolved at `until` or before, count as resolved at `to`. Says
    /// which one it was.
    fn archive_put_off(&mut self, until: Timestamp, to: Timestamp) -> Stored<Option<InteractionId>>;
}
