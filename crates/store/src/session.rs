//! Sessions and their steps.

use domain::{Luggage, Scope, Session, SessionId, Step, StepId};

use crate::{Bounded, Page, SessionFilter, StoreResult};

/// What can be read of them.
pub trait SessionReads {
    /// A session.
    fn session(&mut self, scope: &Scope, id: SessionId) -> StoreResult<Option<Session>>;
    /// What a session was started with.
    fn session_input(&mut self, scope: &Scope, id: SessionId) -> StoreResult<Option<Luggage>>;
    /// Sessions, the newest first.
    fn sessions(
        &mut self,
        scope: &Scope,
        filter: &SessionFilter,
        page: Page<SessionId>,
    ) -> StoreResult<Bounded<Session>>;
    /// The steps of a session, the oldest first.
    fn steps(&mut self, scope: &Scope, session: SessionId) -> StoreResult<Vec<Step>>;
    /// Part of the steps of a session, the newest first.
    fn steps_page(&mut self, scope: &Scope, session: SessionId, page: Page<StepId>) -> StoreResult<Bounded<Step>>;
}

/// What can be written of them.
pub trait SessionWrites {
    /// Keeps a new session.
    fn session_insert(&mut self, session: &Session, luggage: &Luggage) -> StoreResult<()>;
    /// Reads a session and keeps everybody else from changing it, or anything in it, until the end of the transaction.
    fn session_lock(&mut self, scope: &Scope, id: SessionId) -> StoreResult<Option<Session>>;
    /// Writes a session that was locked.
    fn session_save(&mut self, session: &Session) -> StoreResult<()>;
    /// Keeps a new step.
    fn step_insert(&mut self, scope: &Scope, step: &Step) -> StoreResult<()>;
    /// Writes a step of a session that was locked.
    fn step_save(&mut self, scope: &Scope, step: &Step) -> StoreResult<()>;
}
