//! Reads and writes of the actions that agents have proposed.

use domain::{Action, Actor, Scope, SessionId, Timestamp};

use crate::{Bounded, StoreResult};

/// An action whose wake-up time has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueAction {
    /// Project of the action.
    pub scope: Scope,
    /// Session of the action, which is locked before the action is changed.
    pub session: SessionId,
    /// Identifier of the call in its session.
    pub call: String,
}

/// Position of an action in the history of its project, which is ordered by age.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionCursor {
    /// Time of the proposal, as stored.
    pub at: Timestamp,
    /// Session of the action.
    pub session: SessionId,
    /// Identifier of the call in its session.
    pub call: String,
}

/// An action in the history of its project.
#[derive(Debug, Clone, PartialEq)]
pub struct PastAction {
    /// Position of the action, from which the next page continues.
    pub cursor: ActionCursor,
    /// Action with its call and state.
    pub action: Action,
    /// Actor who started the session.
    pub started_by: Actor,
}

/// Filter of the history of actions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ActionHistoryFilter {
    /// Only actions proposed at this time or later.
    pub since: Option<Timestamp>,
    /// Only actions that people were asked about.
    pub asked: bool,
}

/// Reads of actions and their history.
pub trait ActionReads {
    /// Returns the action of a call.
    fn action(&mut self, scope: &Scope, session: SessionId, call: &str) -> StoreResult<Option<Action>>;
    /// Lists the actions of a session in the order of their calls, after the given call.
    fn actions(&mut self, scope: &Scope, session: SessionId, after: &str, limit: u32) -> StoreResult<Bounded<Action>>;
    /// Lists the actions of a project before a position, newest first.
    fn action_history(
        &mut self,
        scope: &Scope,
        filter: &ActionHistoryFilter,
        before: Option<&ActionCursor>,
        limit: u32,
    ) -> StoreResult<Bounded<PastAction>>;
    /// Returns actions that are due at `now`, earliest first.
    fn actions_due(&mut self, now: Timestamp, limit: u32) -> StoreResult<Vec<DueAction>>;
    /// Returns the earliest time at which an action is due.
    fn next_action_due(&mut self) -> StoreResult<Option<Timestamp>>;
}

/// Writes of actions and their states.
pub trait ActionWrites {
    /// Inserts a newly proposed action.
    fn action_insert(&mut self, action: &Action) -> StoreResult<()>;
    /// Saves an action over its previous revision, or fails with [`crate::StoreError::Conflict`].
    fn action_save(&mut self, action: &Action) -> StoreResult<()>;
}
