//! Totals of open questions by asker and by tenant, updated by the transactions that open and close questions.

use domain::{InteractionId, Scope};

use crate::StoreResult;

/// Number and size of open questions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenTotal {
    /// Number of open questions.
    pub questions: u64,
    /// Bytes of their stored texts and resume points.
    pub bytes: u64,
}

/// Totals after a change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenTotals {
    /// Exact totals of each asker ([`domain::Actor::asker`]) whose questions were opened or closed, sorted by name.
    pub askers: Vec<(String, OpenTotal)>,
    /// Total of the tenant. PostgreSQL leaves out the counts of other transactions that have not committed yet.
    pub tenant: OpenTotal,
}

/// Reads of the totals.
pub trait BudgetReads {
    /// Returns the counters of a project by asker. Askers without open questions are left out.
    fn open_totals(&mut self, scope: &Scope) -> StoreResult<Vec<(String, OpenTotal)>>;
    /// Computes the totals of a project from its open questions, to check the counters.
    fn open_totals_computed(&mut self, scope: &Scope) -> StoreResult<Vec<(String, OpenTotal)>>;
}

/// Writes of the totals.
pub trait BudgetWrites {
    /// Adds the bytes of a value stored beside the text to a question that this transaction inserted and has not counted yet.
    fn interaction_add_bytes(&mut self, scope: &Scope, id: InteractionId, more: u64) -> StoreResult<()>;
    /// Counts the questions that this transaction opened and closed, and returns the new totals. A question in both lists changes no total;
    /// a question that was opened before the counters existed is not subtracted.
    fn open_totals_update(
        &mut self,
        scope: &Scope,
        opened: &[InteractionId],
        closed: &[InteractionId],
    ) -> StoreResult<OpenTotals>;
    /// Recomputes the counters of all projects. A server of an earlier version that ran during an upgrade may have closed questions without
    /// counting them.
    fn open_totals_recount(&mut self) -> StoreResult<()>;
}
