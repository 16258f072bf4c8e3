//! Steps that workers of this server run, and their journals.

use domain::{InteractionId, Scope, SessionId, Step, StepId, Timestamp};
use serde_json::Value;

use crate::{Bounded, Page, StoreResult};

/// A step that is due for a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueStep {
    /// Project of the step.
    pub scope: Scope,
    /// Session of the step, which is locked before the step is changed.
    pub session: SessionId,
    /// Identifier of the step.
    pub step: StepId,
}

/// An input of a step. Inputs are numbered from 1 without gaps.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalEntry {
    /// Number of the input.
    pub seq: u64,
    /// Time at which the input was written to the journal.
    pub at: Timestamp,
    /// Contents of the input as JSON.
    pub body: Value,
}

/// Snapshot of a step after the inputs up to a number. Only the state machine of the step interprets it.
#[derive(Debug, Clone, PartialEq)]
pub struct StepState {
    /// Number of the last input that the snapshot covers.
    pub upto: u64,
    /// State of the step as JSON.
    pub body: Value,
}

/// Reads of steps and journals.
pub trait StepReads {
    /// Returns a step of the project.
    fn step(&mut self, scope: &Scope, id: StepId) -> StoreResult<Option<Step>>;
    /// Returns steps that are due at `now`, earliest first.
    fn steps_due(&mut self, now: Timestamp, limit: u32) -> StoreResult<Vec<DueStep>>;
    /// Returns the earliest time at which a step is due.
    fn next_step_due(&mut self) -> StoreResult<Option<Timestamp>>;
    /// Returns the last snapshot of a step.
    fn step_state(&mut self, scope: &Scope, id: StepId) -> StoreResult<Option<StepState>>;
    /// Returns the questions of a session that have a sealed value with this name, oldest first.
    fn interactions_with_sealed_value(
        &mut self,
        scope: &Scope,
        session: SessionId,
        name: &str,
    ) -> StoreResult<Vec<InteractionId>>;
    /// Returns the inputs of a step after a number, in order.
    fn journal(&mut self, scope: &Scope, step: StepId, page: Page<u64>) -> StoreResult<Bounded<JournalEntry>>;
}

/// Writes of steps and journals. The caller has locked the session.
pub trait StepWrites {
    /// Appends an input; its number must be the next one.
    fn journal_append(&mut self, scope: &Scope, step: StepId, entry: &JournalEntry) -> StoreResult<()>;
    /// Replaces the snapshot of a step.
    fn step_state_save(&mut self, scope: &Scope, step: StepId, state: &StepState) -> StoreResult<()>;
    /// Sets the time from which the archive may take the questions of a session that have sealed values; `None` keeps them in place.
    fn session_sealed_values_retire(
        &mut self,
        scope: &Scope,
        session: SessionId,
        at: Option<Timestamp>,
    ) -> StoreResult<()>;
    /// Deletes the sealed values of all questions of a session.
    fn session_sealed_values_delete(&mut self, scope: &Scope, session: SessionId) -> StoreResult<()>;
}
