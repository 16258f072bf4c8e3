//! How much is open: counted by whoever asked, and by tenant, in the transactions that open and close questions.

use domain::{InteractionId, Scope};

use crate::StoreResult;

/// How many questions are open, and how many bytes they take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenTotal {
    /// How many.
    pub questions: u64,
    /// The bytes of their texts as they are kept, with their resume points.
    pub bytes: u64,
}

/// The totals after a change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenTotals {
    /// Of every asker whose questions were opened or closed, in the order of their names ([`domain::Actor::asker`]). Exact.
    pub askers: Vec<(String, OpenTotal)>,
    /// Of the whole tenant. PostgreSQL does not see here what other transactions have counted and not committed yet.
    pub tenant: OpenTotal,
}

/// What can be read of it.
pub trait BudgetReads {
    /// What is counted as open in a project, by asker. Askers who have nothing open are left out.
    fn open_totals(&mut self, scope: &Scope) -> StoreResult<Vec<(String, OpenTotal)>>;
    /// The same, found by going through the open questions themselves. For tests, and for whoever doubts the counters.
    fn open_totals_computed(&mut self, scope: &Scope) -> StoreResult<Vec<(String, OpenTotal)>>;
}

/// What can be written of it.
pub trait BudgetWrites {
    /// Adds bytes to a question that was inserted in this transaction and is not counted yet: what is kept beside its text.
    fn interaction_add_bytes(&mut self, scope: &Scope, id: InteractionId, more: u64) -> StoreResult<()>;
    /// Counts questions that were opened and closed in this transaction, and gives the new totals. A question that is among both counts as
    /// nothing; one that was opened before there were counters is not counted down.
    fn open_totals_update(
        &mut self,
        scope: &Scope,
        opened: &[InteractionId],
        closed: &[InteractionId],
    ) -> StoreResult<OpenTotals>;
    /// Counts everything that is open anew, in all projects. A server of an earlier version that ran beside the upgrade has closed questions without
    /// counting them.
    fn open_totals_recount(&mut self) -> StoreResult<()>;
}
