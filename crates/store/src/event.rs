//! The event log of sessions and projects.

use domain::{Event, InteractionId, Scope, SessionId};

use crate::{Bounded, Cursor, Page, ProjectEvents, StoreResult, Topic};

/// Reads of the event log.
pub trait EventReads {
    /// Lists the events of a session after a number.
    fn events(&mut self, scope: &Scope, session: SessionId, after: u64, limit: u32) -> StoreResult<Bounded<Event>>;
    /// Lists the events of a session that are about a question, after a number.
    fn events_about(
        &mut self,
        scope: &Scope,
        session: SessionId,
        about: InteractionId,
        page: Page<u64>,
    ) -> StoreResult<Bounded<Event>>;
    /// Lists the events of a project after a cursor, in commit order.
    fn project_events(&mut self, scope: &Scope, after: Cursor, limit: u32) -> StoreResult<ProjectEvents>;
    /// Returns the cursor of the last event of a project that readers can see.
    fn project_head(&mut self, scope: &Scope) -> StoreResult<Cursor>;
    /// Returns the topics of all events after a cursor, and the new cursor. A node learns the commits of other nodes from it.
    fn changed_topics(&mut self, after: Option<Cursor>) -> StoreResult<(Vec<Topic>, Cursor)>;
}

/// Writes of the event log.
pub trait EventWrites {
    /// Appends an event that [`domain::Session`] has numbered.
    fn event_append(&mut self, scope: &Scope, event: &Event) -> StoreResult<()>;
}
