//! Which policy is in force in a project, and which ones were.

use domain::{PolicyState, PolicyVersion, Scope};

use crate::Stored;

/// What can be read of them.
pub trait PolicyReads {
    /// Which policy is in force, where anybody has changed it.
    fn policy_state(&mut self, scope: &Scope) -> Stored<Option<PolicyState>>;
    /// A policy that was in force here.
    fn policy_version(&mut self, scope: &Scope, version: &str) -> Stored<Option<PolicyVersion>>;
    /// The policies that were in force here, the newest first.
    fn policy_versions(&mut self, scope: &Scope, limit: u32) -> Stored<Vec<PolicyVersion>>;
}

/// What can be written of them.
pub trait PolicyWrites {
    /// Writes over the revision before this one, or fails with [`crate::StoreError::Conflict`].
    fn policy_save(&mut self, scope: &Scope, state: &PolicyState) -> Stored<()>;
    /// Keeps a policy that is in force here; `false` if it was known already.
    fn policy_keep(&mut self, scope: &Scope, version: &PolicyVersion) -> Stored<bool>;
}
