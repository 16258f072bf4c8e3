//! Time, and what it is due for.

use domain::{InteractionId, Scope, SessionId, Timestamp};

use crate::{DueAction, StoreResult};

/// A question for which a moment has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueInteraction {
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
    fn now(&mut self) -> StoreResult<Timestamp>;
    /// Questions whose moment has come, the earliest first.
    fn interactions_due(&mut self, now: Timestamp, limit: u32) -> StoreResult<Vec<DueInteraction>>;
    /// The earliest moment that is to come.
    fn next_interaction_due(&mut self) -> StoreResult<Option<Timestamp>>;
    /// When the oldest of the questions that are only kept was resolved.
    fn oldest_retired(&mut self) -> StoreResult<Option<Timestamp>>;
}

/// What is done with a row that cannot be acted on: it is put off, so that it does not stand in the way of others.
pub trait TimerWrites {
    /// Has a question that is due looked at again at a later moment. Its next change sets the moment anew.
    fn interaction_postpone(&mut self, due: &DueInteraction, until: Timestamp) -> StoreResult<()>;
    /// The same for an action.
    fn action_postpone(&mut self, due: &DueAction, until: Timestamp) -> StoreResult<()>;
    /// Has the question that would be archived next, of those resolved at `until` or before, count as resolved at `to`. Says
    /// which one it was.
    fn archive_postpone(&mut self, until: Timestamp, to: Timestamp) -> StoreResult<Option<InteractionId>>;
}
