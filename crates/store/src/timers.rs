//! The time of a transaction, and the rows that are due.

use domain::{InteractionId, Scope, SessionId, Timestamp};

use crate::{DueAction, StoreResult};

/// A question that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueInteraction {
    /// Project of the question.
    pub scope: Scope,
    /// Session of the question, which is locked before the question is changed.
    pub session: SessionId,
    /// Identifier of the question.
    pub interaction: InteractionId,
}

/// Reads of the time and of due questions.
pub trait TimerReads {
    /// Returns the time of this transaction: the time of the database if it has a clock, otherwise the time of the [`crate::Clock`] of the store.
    fn now(&mut self) -> StoreResult<Timestamp>;
    /// Returns questions that are due at `now`, earliest first.
    fn interactions_due(&mut self, now: Timestamp, limit: u32) -> StoreResult<Vec<DueInteraction>>;
    /// Returns the earliest time at which a question is due.
    fn next_interaction_due(&mut self) -> StoreResult<Option<Timestamp>>;
    /// Returns the time at which the oldest retired question was resolved.
    fn oldest_retired(&mut self) -> StoreResult<Option<Timestamp>>;
}

/// Postpones rows that cannot be processed, so that they do not block other due rows.
pub trait TimerWrites {
    /// Postpones a due question. Its next change sets a new time.
    fn interaction_postpone(&mut self, due: &DueInteraction, until: Timestamp) -> StoreResult<()>;
    /// Postpones a due action. Its next change sets a new time.
    fn action_postpone(&mut self, due: &DueAction, until: Timestamp) -> StoreResult<()>;
    /// Sets the time of the question that would be archived next, among those resolved at `until` or before, to `to`. Returns that
    /// question.
    fn archive_postpone(&mut self, until: Timestamp, to: Timestamp) -> StoreResult<Option<InteractionId>>;
}
