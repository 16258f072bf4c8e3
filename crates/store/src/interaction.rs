//! Questions, their deliveries, and the values that are sealed with them.

use domain::{Interaction, InteractionId, Scope, SessionId, Timestamp};

use crate::{Bounded, InteractionFilter, Page, Sealed, StoreResult};

/// Reads of questions and deliveries.
pub trait InteractionReads {
    /// Returns a question, also from the archive.
    fn interaction(&mut self, scope: &Scope, id: InteractionId) -> StoreResult<Option<Interaction>>;
    /// Returns the session of a question that is not archived. The session is locked before the question is read for a change.
    fn session_of(&mut self, scope: &Scope, id: InteractionId) -> StoreResult<Option<SessionId>>;
    /// Lists questions that are not archived.
    fn interactions(
        &mut self,
        scope: &Scope,
        filter: &InteractionFilter,
        page: Page<InteractionId>,
    ) -> StoreResult<Bounded<Interaction>>;
    /// Lists archived questions, oldest first.
    fn archived_interactions(&mut self, scope: &Scope, page: Page<InteractionId>) -> StoreResult<Bounded<Interaction>>;
    /// Lists archived questions, newest first.
    fn archived_interactions_newest(
        &mut self,
        scope: &Scope,
        page: Page<InteractionId>,
    ) -> StoreResult<Bounded<Interaction>>;
    /// Returns the open questions of a session, oldest first.
    fn open_interactions(&mut self, scope: &Scope, session: SessionId) -> StoreResult<Vec<InteractionId>>;
    /// Returns the names of the agents that have waiting deliveries in a session, without repeats.
    fn delivery_agents(&mut self, scope: &Scope, session: SessionId) -> StoreResult<Vec<String>>;
    /// Returns the questions of a session whose delivery is waiting, oldest first.
    fn waiting_deliveries(&mut self, scope: &Scope, session: SessionId) -> StoreResult<Vec<InteractionId>>;
    /// Lists the waiting deliveries of an agent, oldest first. Deliveries of paused sessions are left out.
    fn deliveries(
        &mut self,
        scope: &Scope,
        asked_by: &str,
        page: Page<InteractionId>,
    ) -> StoreResult<Bounded<Interaction>>;
    /// Returns a value that is sealed with a question.
    fn sealed_value(&mut self, scope: &Scope, id: InteractionId, name: &str) -> StoreResult<Option<Sealed>>;
}

/// Writes of questions and deliveries.
pub trait InteractionWrites {
    /// Inserts a question in its first revision.
    fn interaction_insert(&mut self, interaction: &Interaction) -> StoreResult<()>;
    /// Saves a question over its previous revision, or fails with [`crate::StoreError::Conflict`].
    fn interaction_save(&mut self, interaction: &Interaction) -> StoreResult<()>;
    /// Inserts a value that is sealed with a question.
    fn sealed_value_insert(&mut self, scope: &Scope, id: InteractionId, name: &str, sealed: &Sealed)
    -> StoreResult<()>;
    /// Deletes the sealed values of a question.
    fn sealed_values_delete(&mut self, scope: &Scope, id: InteractionId) -> StoreResult<()>;
    /// Lets the archive take the waiting deliveries of a session that has ended.
    fn waiting_deliveries_retire(&mut self, scope: &Scope, session: SessionId) -> StoreResult<()>;
    /// Moves up to `limit` retired questions that were resolved at `until` or before to the archive, and returns how many.
    fn archive(&mut self, until: Timestamp, limit: u32) -> StoreResult<u64>;
}
