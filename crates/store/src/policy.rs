//! The policy in force in each project, its history, and the draft that runs in its shadow.

use domain::{Difference, PolicyChange, PolicyState, PolicyVersion, Scope, Shadow};

use crate::{Bounded, Page, StoreResult};

/// Reads of policies, their history and drafts.
pub trait PolicyReads {
    /// Returns the state of the policy of a project; `None` if nobody has changed it.
    fn policy_state(&mut self, scope: &Scope) -> StoreResult<Option<PolicyState>>;
    /// Returns the states of several projects in order, as of one point in time.
    fn policy_states(&mut self, places: &[Scope]) -> StoreResult<Vec<Option<PolicyState>>>;
    /// Returns a version of the policy of a project, as it was when it first came into force.
    fn policy_version(&mut self, scope: &Scope, version: &str) -> StoreResult<Option<PolicyVersion>>;
    /// Lists the changes of the policy, newest first; only those that put `version` in force if it is given.
    fn policy_changes(
        &mut self,
        scope: &Scope,
        version: Option<&str>,
        page: Page<u64>,
    ) -> StoreResult<Bounded<PolicyChangeRecord>>;
    /// Returns the text of the shadow draft with this number.
    fn shadow_text(&mut self, scope: &Scope, number: u64) -> StoreResult<Option<String>>;
    /// Lists the differences between a draft and the policy in force, newest first.
    fn differences(&mut self, scope: &Scope, number: u64, limit: u32) -> StoreResult<Bounded<Difference>>;
    /// Returns the number of differences of each sort, including differences that were deleted since.
    fn difference_counts(&mut self, scope: &Scope, number: u64) -> StoreResult<Vec<DifferenceCount>>;
}

/// A change of the policy, with the text that it put in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyChangeRecord {
    /// Number of the change in its project, from 1.
    pub number: u64,
    /// The change: version, actor, time and reason.
    pub change: PolicyChange,
    /// Text of the policy.
    pub text: String,
}

/// Number of differences with the same pair of verdicts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DifferenceCount {
    /// Verdict of the policy in force.
    pub given: String,
    /// Verdict of the draft, or `failed`.
    pub drafted: String,
    /// Number of differences of this sort.
    pub count: u64,
}

/// Writes of policies, their history and drafts.
pub trait PolicyWrites {
    /// Returns the state of the policy and locks it in shared mode: it cannot change before this transaction ends. A transaction that then
    /// changes the policy sees the writes of all transactions that held the lock.
    fn policy_lock_shared(&mut self, scope: &Scope) -> StoreResult<Option<PolicyState>>;
    /// Saves the state over its previous revision, or fails with [`crate::StoreError::Conflict`].
    fn policy_save(&mut self, scope: &Scope, state: &PolicyState) -> StoreResult<()>;
    /// Inserts a version of the policy; `false` if the project has it already.
    fn policy_version_insert(&mut self, scope: &Scope, version: &PolicyVersion) -> StoreResult<bool>;
    /// Appends a change to the history of a project. Its version must exist. A concurrent change of the project waits.
    fn policy_change_insert(&mut self, scope: &Scope, change: &PolicyChange) -> StoreResult<()>;
    /// Replaces the shadow draft, and deletes the differences of the draft before it.
    fn shadow_save(&mut self, scope: &Scope, shadow: &Shadow, text: &str) -> StoreResult<()>;
    /// Deletes the shadow draft and its differences.
    fn shadow_delete(&mut self, scope: &Scope) -> StoreResult<()>;
    /// Inserts a difference of the draft with this number, and counts it.
    fn difference_insert(&mut self, scope: &Scope, number: u64, difference: &Difference) -> StoreResult<()>;
    /// Deletes differences of a draft beyond its newest `most`, at most `limit` at once, and returns how many.
    fn differences_purge(&mut self, most: u32, limit: u32) -> StoreResult<u64>;
}
