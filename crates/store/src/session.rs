//! Reads and writes of sessions and their steps.

use domain::{Scope, Session, SessionId, SessionInput, Step, StepId};

use crate::{Bounded, Page, SessionFilter, StoreResult};

/// Reads of sessions and steps.
pub trait SessionReads {
    /// Returns a session of the project.
    fn session(&mut self, scope: &Scope, id: SessionId) -> StoreResult<Option<Session>>;
    /// Returns the input that a session was started with.
    fn session_input(&mut self, scope: &Scope, id: SessionId) -> StoreResult<Option<SessionInput>>;
    /// Lists sessions, newest first.
    fn sessions(
        &mut self,
        scope: &Scope,
        filter: &SessionFilter,
        page: Page<SessionId>,
    ) -> StoreResult<Bounded<Session>>;
    /// Returns all steps of a session, oldest first.
    fn steps(&mut self, scope: &Scope, session: SessionId) -> StoreResult<Vec<Step>>;
    /// Lists the steps of a session, newest first.
    fn steps_page(&mut self, scope: &Scope, session: SessionId, page: Page<StepId>) -> StoreResult<Bounded<Step>>;
}

/// Writes of sessions and steps.
pub trait SessionWrites {
    /// Inserts a session with its input.
    fn session_insert(&mut self, session: &Session, session_input: &SessionInput) -> StoreResult<()>;
    /// Returns a session and locks it: no other transaction changes the session, or a row that belongs to it, before this one ends.
    fn session_lock(&mut self, scope: &Scope, id: SessionId) -> StoreResult<Option<Session>>;
    /// Saves a session that this transaction has locked.
    fn session_save(&mut self, session: &Session) -> StoreResult<()>;
    /// Inserts a step of a session.
    fn step_insert(&mut self, scope: &Scope, step: &Step) -> StoreResult<()>;
    /// Saves a step of a session that this transaction has locked.
    fn step_save(&mut self, scope: &Scope, step: &Step) -> StoreResult<()>;
}
