//! Sessions and their steps.

use domain::{Scope, Session, SessionId, SessionInput, Step, StepId};

use crate::{Bounded, Page, SessionFilter, Stored};

/// What can be read of them.
pub trait SessionReads {
    /// A session.
    fn session(&mut self, scope: &Scope, id: SessionId) -> Stored<Option<Session>>;
    /// What a session was started with.
    fn luggage(&mut self, scope: &Scope, id: SessionId) -> Stored<Option<SessionInput>>;
    /// Sessions, the newest first.
    fn sessions(&mut self, scope: &Scope, filter: &SessionFilter, page: Page<SessionId>) -> Stored<Bounded<Session>>;
    /// The steps of a session, the oldest first.
    fn steps(&mut self, scope: &Scope, session: SessionId) -> Stored<Vec<Step>>;
    /// Part of the steps of a session, the newest first.
    fn steps_page(&mut self, scope: &Scope, session: SessionId, page: Page<StepId>) -> Stored<Bounded<Step>>;
}

/// What can be written of them.
pub trait SessionWrites {
    /// Keeps a new session.
    fn session_insert(&mut self, session: &Session, luggage: &SessionInput) -> Stored<()>;
    /// Reads a session and keeps everybody else from changing it, or anything in it, until the end of the transaction.
    fn session_lock(&mut self, scope: &Scope, id: SessionId) -> Stored<Option<Session>>;
    /// Writes a session that was locked.
    fn session_save(&mut self, session: &Session) -> Stored<()>;
    /// Keeps a new step.
    fn step_insert(&mut self, scope: &Scope, step: &Step) -> Stored<()>;
    /// Writes a step of a session that was locked.
    fn step_save(&mut self, scope: &Scope, step: &Step) -> Stored<()>;
}
