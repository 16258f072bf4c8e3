//! Steps that our own workers run, and their journals.

use domain::{InteractionId, Scope, SessionId, Step, StepId, Timestamp};
use serde_json::Value;

use crate::StoreResult;

/// A step that a worker should look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueStep {
    /// Whose it is.
    pub scope: Scope,
    /// Its session, which is locked first.
    pub session: SessionId,
    /// Which one.
    pub step: StepId,
}

/// One input of a step, numbered from 1 without gaps.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalEntry {
    /// Its number.
    pub seq: u64,
    /// When it was journalled.
    pub at: Timestamp,
    /// The input.
    pub body: Value,
}

/// What a step had become when it had taken the inputs up to a number. What its machine makes of it is for the machine alone.
#[derive(Debug, Clone, PartialEq)]
pub struct StepState {
    /// The number of the last input that it has taken.
    pub upto: u64,
    /// The state.
    pub body: Value,
}

/// What can be read of them.
pub trait StepReads {
    /// A step.
    fn step(&mut self, scope: &Scope, id: StepId) -> StoreResult<Option<Step>>;
    /// Steps that a worker should look at, the earliest first.
    fn steps_due(&mut self, now: Timestamp, limit: u32) -> StoreResult<Vec<DueStep>>;
    /// The earliest moment at which a worker should look at one.
    fn next_step_due(&mut self) -> StoreResult<Option<Timestamp>>;
    /// What a step had become.
    fn step_state(&mut self, scope: &Scope, id: StepId) -> StoreResult<Option<StepState>>;
    /// The questions of a session for which something of this name is sealed, the oldest first.
    fn interactions_with_sealed_value(
        &mut self,
        scope: &Scope,
        session: SessionId,
        name: &str,
    ) -> StoreResult<Vec<InteractionId>>;
    /// The inputs of a step after this number, in order.
    fn journal(&mut self, scope: &Scope, step: StepId, after: u64, limit: u32) -> StoreResult<Vec<JournalEntry>>;
}

/// What can be written of them. Their session is locked.
pub trait StepWrites {
    /// Adds an input; its number must be the next one.
    fn journal_append(&mut self, scope: &Scope, step: StepId, entry: &JournalEntry) -> StoreResult<()>;
    /// Keeps what a step has become in place of what it was.
    fn step_state_save(&mut self, scope: &Scope, step: StepId, state: &StepState) -> StoreResult<()>;
    /// Questions of a session for which something is sealed are only kept from this moment on; without one, they stay with their session.
    fn session_sealed_values_retire(
        &mut self,
        scope: &Scope,
        session: SessionId,
        at: Option<Timestamp>,
    ) -> StoreResult<()>;
    /// Forgets what was sealed for the questions of a session.
    fn session_sealed_values_delete(&mut self, scope: &Scope, session: SessionId) -> StoreResult<()>;
}
