//! Checks that the order of the event log fits the database cluster.
//!
//! A store that orders its log by the transaction ids of the database relies on each new id being higher than all recorded ones. A dump
//! that is restored into another cluster breaks this, because the ids of that cluster may be lower.

use crate::StoreResult;

/// The log has a transaction id that this database has not reached: the data comes from another cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineageMismatch {
    /// Highest recorded transaction id.
    pub recorded: u64,
    /// Transaction id that this database would record next.
    pub next: u64,
}

/// Changes made by the adoption of a restored database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineageAdoption {
    /// Number by which recorded transaction ids are raised from now on, in addition to earlier adoptions.
    pub raised: u64,
    /// Number of events that were moved to the end of the log.
    pub events: u64,
    /// Number of audit entries that were moved behind the end of the chain, to be linked there.
    pub entries: u64,
}

impl LineageAdoption {
    /// Returns whether the adoption changed anything.
    #[must_use]
    pub fn has_changes(&self) -> bool {
        *self != Self::default()
    }
}

/// Reads about the lineage of the database.
pub trait LineageReads {
    /// Returns the mismatch between log and cluster, if there is one.
    fn lineage_mismatch(&mut self) -> StoreResult<Option<LineageMismatch>>;
    /// Counts audit entries that are not linked although later entries are. Reads all entries.
    fn audit_skipped_count(&mut self) -> StoreResult<u64>;
}

/// Writes about the lineage of the database.
pub trait LineageWrites {
    /// Repairs a mismatch: raises the transaction ids that are recorded from now on above all recorded ones, and moves events and entries
    /// written since the restore behind them. Changes nothing if there is no mismatch.
    fn lineage_adopt(&mut self) -> StoreResult<LineageAdoption>;
}
