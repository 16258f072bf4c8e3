//! Grants: approvals that cover more than one action.

use domain::{Grant, GrantId, Scope, Timestamp};

use crate::{Bounded, Page, StoreResult};

/// Reads of grants of a project.
pub trait GrantReads {
    /// Returns a grant of the project.
    fn grant(&mut self, scope: &Scope, id: GrantId) -> StoreResult<Option<Grant>>;
    /// Lists the grants of a project, newest first; includes those that have ended if `over` is set.
    fn grants(&mut self, scope: &Scope, over: bool, page: Page<GrantId>) -> StoreResult<Bounded<Grant>>;
    /// Lists the grants for a tool that are valid at `now`, oldest first.
    fn grants_for(
        &mut self,
        scope: &Scope,
        tool: &str,
        now: Timestamp,
        page: Page<GrantId>,
    ) -> StoreResult<Bounded<Grant>>;
}

/// Writes of grants and their uses.
pub trait GrantWrites {
    /// Inserts a grant of a project.
    fn grant_insert(&mut self, grant: &Grant) -> StoreResult<()>;
    /// Counts a use of a grant that is valid at `now`; `false` if the grant has ended.
    fn grant_use(&mut self, scope: &Scope, id: GrantId, now: Timestamp) -> StoreResult<bool>;
    /// Revokes a grant; `false` if it was revoked already.
    fn grant_revoke(&mut self, grant: &Grant) -> StoreResult<bool>;
}
