//! The log.

use domain::{Event, InteractionId, Scope, SessionId};

use crate::{Bounded, Cursor, Page, ProjectEvents, StoreResult, Topic};

/// What can be read of them.
pub trait EventReads {
    /// Events of a session after a number.
    fn events(&mut self, scope: &Scope, session: SessionId, after: u64, limit: u32) -> StoreResult<Bounded<Event>>;
    /// The events of a session that are about a question, after a number.
    fn events_about(
        &mut self,
        scope: &Scope,
        session: SessionId,
        about: InteractionId,
        page: Page<u64>,
    ) -> StoreResult<Bounded<Event>>;
    /// Events of a project after a cursor, in commit order.
    fn project_events(&mut self, scope: &Scope, after: Cursor, limit: u32) -> StoreResult<ProjectEvents>;
    /// The cursor behind the last event of a project that can be shown now.
    fn project_head(&mut self, scope: &Scope) -> StoreResult<Cursor>;
    /// What has changed anywhere since a cursor, and the cursor behind it: how one node hears of another's commits.
    fn changed_topics(&mut self, after: Option<Cursor>) -> StoreResult<(Vec<Topic>, Cursor)>;
}

/// What can be written of them.
pub trait EventWrites {
    /// Appends an event that its session has numbered.
    fn event_append(&mut self, scope: &Scope, event: &Event) -> StoreResult<()>;
}
