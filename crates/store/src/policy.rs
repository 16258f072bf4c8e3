//! Which policy is in force in a project, and which ones were.

use domain::{Difference, PolicyChange, PolicyState, PolicyVersion, Scope, Shadow};

use crate::{Bounded, Page, StoreResult};

/// What can be read of them.
pub trait PolicyReads {
    /// Which policy is in force, where anybody has changed it.
    fn policy_state(&mut self, scope: &Scope) -> StoreResult<Option<PolicyState>>;
    /// The same of several places, in their order, as they were at one moment.
    fn policy_states(&mut self, places: &[Scope]) -> StoreResult<Vec<Option<PolicyState>>>;
    /// A policy that was in force here, as it first was.
    fn policy_version(&mut self, scope: &Scope, version: &str) -> StoreResult<Option<PolicyVersion>>;
    /// The changes of the policy, the newest first; where a version is named, those that put it in force.
    fn policy_changes(
        &mut self,
        scope: &Scope,
        version: Option<&str>,
        page: Page<u64>,
    ) -> StoreResult<Bounded<PolicyChangeRecord>>;
    /// The text of the draft that is judged beside it under this number.
    fn shadow_text(&mut self, scope: &Scope, number: u64) -> StoreResult<Option<String>>;
    /// The differences of a draft, the newest first.
    fn differences(&mut self, scope: &Scope, number: u64, limit: u32) -> StoreResult<Bounded<Difference>>;
    /// How many differences of each sort a draft has had, those included that are not kept any more.
    fn difference_counts(&mut self, scope: &Scope, number: u64) -> StoreResult<Vec<DifferenceCount>>;
}

/// One change of the policy, with the text that is in force by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyChangeRecord {
    /// Which one of its project it is, counted from 1.
    pub number: u64,
    /// What was changed, by whom, when and why.
    pub change: PolicyChange,
    /// The text.
    pub text: String,
}

/// How often a draft would have said this instead of that.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DifferenceCount {
    /// The word for what was said.
    pub given: String,
    /// The word for what the draft would have said, or `failed`.
    pub drafted: String,
    /// How often.
    pub count: u64,
}

/// What can be written of them.
pub trait PolicyWrites {
    /// Which policy is in force, where anybody has changed it. Nobody changes it until this transaction has ended; many may hold it at once.
    /// Whoever then writes it is sure that what its holders wrote can be read.
    fn policy_lock_shared(&mut self, scope: &Scope) -> StoreResult<Option<PolicyState>>;
    /// Writes over the revision before this one, or fails with [`crate::StoreError::Conflict`].
    fn policy_save(&mut self, scope: &Scope, state: &PolicyState) -> StoreResult<()>;
    /// Keeps a policy that is in force here; `false` if it was known already.
    fn policy_version_insert(&mut self, scope: &Scope, version: &PolicyVersion) -> StoreResult<bool>;
    /// Adds a change to a version that is kept, after every other of its project: whoever comes at the same time waits.
    fn policy_change_insert(&mut self, scope: &Scope, change: &PolicyChange) -> StoreResult<()>;
    /// Keeps the text of a draft in place of the one before, and forgets the differences of that one.
    fn shadow_save(&mut self, scope: &Scope, shadow: &Shadow, text: &str) -> StoreResult<()>;
    /// Forgets the draft and its differences.
    fn shadow_delete(&mut self, scope: &Scope) -> StoreResult<()>;
    /// Keeps a difference of the draft of this number, and counts it.
    fn difference_insert(&mut self, scope: &Scope, number: u64, difference: &Difference) -> StoreResult<()>;
    /// Forgets differences of which a draft has more than `most` newer ones: at most so many at once, and says how many.
    fn differences_purge(&mut self, most: u32, limit: u32) -> StoreResult<u64>;
}
