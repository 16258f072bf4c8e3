//! Questions, their deliveries, and what is sealed with them.

use domain::{Interaction, InteractionId, Scope, SessionId, Timestamp};

use crate::{Bounded, InteractionFilter, Page, Sealed, StoreResult};

/// What can be read of them.
pub trait InteractionReads {
    /// A question, wherever it is kept, the archive included.
    fn interaction(&mut self, scope: &Scope, id: InteractionId) -> StoreResult<Option<Interaction>>;
    /// The session of a question that is not archived: what is locked before the question is read for a change.
    fn session_of(&mut self, scope: &Scope, id: InteractionId) -> StoreResult<Option<SessionId>>;
    /// Questions that are not archived.
    fn interactions(
        &mut self,
        scope: &Scope,
        filter: &InteractionFilter,
        page: Page<InteractionId>,
    ) -> StoreResult<Bounded<Interaction>>;
    /// Questions that are archived, the oldest first.
    fn archived_interactions(&mut self, scope: &Scope, page: Page<InteractionId>) -> StoreResult<Bounded<Interaction>>;
    /// The same, the newest first.
    fn archived_interactions_newest(
        &mut self,
        scope: &Scope,
        page: Page<InteractionId>,
    ) -> StoreResult<Bounded<Interaction>>;
    /// The open questions of a session, the oldest first.
    fn open_interactions(&mut self, scope: &Scope, session: SessionId) -> StoreResult<Vec<InteractionId>>;
    /// The agents for whom answers of a session wait, each once.
    fn delivery_agents(&mut self, scope: &Scope, session: SessionId) -> StoreResult<Vec<String>>;
    /// The questions of a session whose answers nobody has taken, the oldest first.
    fn waiting_deliveries(&mut self, scope: &Scope, session: SessionId) -> StoreResult<Vec<InteractionId>>;
    /// Answers that wait for the agent of this name, the oldest first; none of a session that is paused.
    fn deliveries(
        &mut self,
        scope: &Scope,
        asked_by: &str,
        page: Page<InteractionId>,
    ) -> StoreResult<Bounded<Interaction>>;
    /// A sealed value kept with a question.
    fn sealed_value(&mut self, scope: &Scope, id: InteractionId, name: &str) -> StoreResult<Option<Sealed>>;
}

/// What can be written of them.
pub trait InteractionWrites {
    /// Keeps a new question.
    fn interaction_insert(&mut self, interaction: &Interaction) -> StoreResult<()>;
    /// Writes over the revision before this one, or fails with [`crate::StoreError::Conflict`].
    fn interaction_save(&mut self, interaction: &Interaction) -> StoreResult<()>;
    /// Keeps a sealed value with a question.
    fn sealed_value_insert(&mut self, scope: &Scope, id: InteractionId, name: &str, sealed: &Sealed)
    -> StoreResult<()>;
    /// Forgets the sealed values of a question.
    fn sealed_values_delete(&mut self, scope: &Scope, id: InteractionId) -> StoreResult<()>;
    /// Notes that the session of these answers has ended, so that those which nobody took are only kept from now on.
    fn waiting_deliveries_retire(&mut self, scope: &Scope, session: SessionId) -> StoreResult<()>;
    /// Moves questions that are only kept, and were resolved at a moment or before, to the archive, and says how many.
    fn archive(&mut self, until: Timestamp, limit: u32) -> StoreResult<u64>;
}
