//! Actions that agents proposed.

use domain::{Actor, Proposal, Scope, SessionId, Timestamp};

use crate::{Bounded, StoreResult};

/// An action whose outcome is overdue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueAction {
    /// Whose it is.
    pub scope: Scope,
    /// Its session, which is locked first.
    pub session: SessionId,
    /// The call.
    pub call: String,
}

/// Position of an action among those of its project, by age.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionCursor {
    /// When it was proposed, as the store orders it.
    pub at: Timestamp,
    /// Its session.
    pub session: SessionId,
    /// The call.
    pub call: String,
}

/// An action as it is looked back at.
#[derive(Debug, Clone, PartialEq)]
pub struct PastAction {
    /// Where a list goes on after it.
    pub cursor: ActionCursor,
    /// The action.
    pub proposal: Proposal,
    /// Who started its session.
    pub started_by: Actor,
}

/// Which actions are looked back at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ActionHistoryFilter {
    /// None from before this moment.
    pub since: Option<Timestamp>,
    /// Only those that people were asked about.
    pub asked: bool,
}

/// What can be read of them.
pub trait ActionReads {
    /// The action of this call.
    fn action(&mut self, scope: &Scope, session: SessionId, call: &str) -> StoreResult<Option<Proposal>>;
    /// The actions of a session, by call, after this one.
    fn actions(&mut self, scope: &Scope, session: SessionId, after: &str, limit: u32)
    -> StoreResult<Bounded<Proposal>>;
    /// The actions of a project, the newest first: those before a place.
    fn action_history(
        &mut self,
        scope: &Scope,
        filter: &ActionHistoryFilter,
        before: Option<&ActionCursor>,
        limit: u32,
    ) -> StoreResult<Bounded<PastAction>>;
    /// Actions whose moment has come, the earliest first.
    fn actions_due(&mut self, now: Timestamp, limit: u32) -> StoreResult<Vec<DueAction>>;
    /// The earliest moment of an action that is to come.
    fn next_action_due(&mut self) -> StoreResult<Option<Timestamp>>;
}

/// What can be written of them.
pub trait ActionWrites {
    /// Keeps a new one.
    fn action_insert(&mut self, proposal: &Proposal) -> StoreResult<()>;
    /// Writes over the revision before this one, or fails with [`crate::StoreError::Conflict`].
    fn action_save(&mut self, proposal: &Proposal) -> StoreResult<()>;
}
