//! Whether the order of the log fits the database that it lies in.
//!
//! A store that orders its log by the database's transaction ids relies on each new id being higher than all recorded ones. That
//! is not so when a dump was restored into another cluster, whose ids may be lower.

use crate::StoreResult;

/// The log records a transaction that this database has not reached yet: the data comes from another cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineageMismatch {
    /// The highest transaction that is recorded.
    pub recorded: u64,
    /// The transaction that this database would record next.
    pub next: u64,
}

/// What adopting a restored database has changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineageAdoption {
    /// By how much transaction ids are raised from now on, beyond what they were raised by before.
    pub raised: u64,
    /// How many events were moved to the end of the log.
    pub events: u64,
    /// How many audit entries were moved behind the end of the chain, where they get their place.
    pub entries: u64,
}

impl LineageAdoption {
    /// Whether anything was changed.
    #[must_use]
    pub fn changed(&self) -> bool {
        *self != Self::default()
    }
}

/// What can be read of it.
pub trait LineageReads {
    /// The misfit, if there is one.
    fn lineage_mismatch(&mut self) -> StoreResult<Option<LineageMismatch>>;
    /// How many audit entries have no place in a chain although the chains have been written past them. Reads all of them.
    fn audit_skipped_count(&mut self) -> StoreResult<u64>;
}

/// What can be written of it.
pub trait LineageWrites {
    /// Puts a misfit right: what is recorded from now on comes after everything that is recorded, and what was recorded since
    /// the dump was restored is moved there. Changes nothing where nothing is wrong.
    fn lineage_adopt(&mut self) -> StoreResult<LineageAdoption>;
}
