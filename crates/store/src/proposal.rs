//! Actions that agents proposed.

use domain::{Action, Actor, Scope, SessionId, Timestamp};

use crate::{Bounded, Stored};

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

/// The place of an action among those of its project, by age.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionPlace {
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
    pub place: ActionPlace,
    /// The action.
    pub proposal: Action,
    /// Who started its session.
    pub started_by: Actor,
}

/// Which actions are looked back at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PastFilter {
    /// None from before this moment.
    pub since: Option<Timestamp>,
    /// Only those that people were asked about.
    pub asked: bool,
}

/// What can be read of them.
pub trait ProposalReads {
    /// The action of this call.
    fn proposal(&mut self, scope: &Scope, session: SessionId, call: &str) -> Stored<Option<Action>>;
    /// The actions of a session, by call, after this one.
    fn proposals(&mut self, scope: &Scope, session: SessionId, after: &str, limit: u32) -> Stored<Bounded<Action>>;
    /// The actions of a project, the newest first: those before a place.
    fn past_actions(
        &mut self,
        scope: &Scope,
        filter: &PastFilter,
        before: Option<&ActionPlace>,
        limit: u32,
    ) -> Stored<Bounded<PastAction>>;
    /// Actions whose moment has come, the earliest first.
    fn actions_due(&mut self, now: Timestamp, limit: u32) -> Stored<Vec<DueAction>>;
    /// The earliest moment of an action that is to come.
    fn next_action_due(&mut self) -> Stored<Option<Timestamp>>;
}

/// What can be written of them.
pub trait ProposalWrites {
    /// Keeps a new one.
    fn proposal_insert(&mut self, proposal: &Action) -> Stored<()>;
    /// Writes over the revision before this one, or fails with [`crate::StoreError::Conflict`].
    fn proposal_save(&mut self, proposal: &Action) -> Stored<()>;
}
