//! Approvals that hold for more than one action.

use domain::{Grant, GrantId, Scope, Timestamp};

use crate::{Bounded, Page, StoreResult};

/// What can be read of them.
pub trait GrantReads {
    /// A grant.
    fn grant(&mut self, scope: &Scope, id: GrantId) -> StoreResult<Option<Grant>>;
    /// Grants, the newest first; those that are over too if wanted.
    fn grants(&mut self, scope: &Scope, over: bool, page: Page<GrantId>) -> StoreResult<Bounded<Grant>>;
    /// Grants for a tool that are not over at a moment, the oldest first.
    fn grants_for(
        &mut self,
        scope: &Scope,
        tool: &str,
        now: Timestamp,
        page: Page<GrantId>,
    ) -> StoreResult<Bounded<Grant>>;
}

/// What can be written of them.
pub trait GrantWrites {
    /// Keeps a new one.
    fn grant_insert(&mut self, grant: &Grant) -> StoreResult<()>;
    /// Counts a use of a grant that is not over; `false` if it is.
    fn grant_use(&mut self, scope: &Scope, id: GrantId, now: Timestamp) -> StoreResult<bool>;
    /// Takes back one that was not taken back yet; `false` if it was.
    fn grant_revoke(&mut self, grant: &Grant) -> StoreResult<bool>;
}
