//! Lineage checks, which SQLite does not need: its log is ordered by its only writer, also in a copied or restored file.

use store::{LineageAdoption, LineageMismatch, LineageReads, LineageWrites, StoreResult};

use crate::connection::Executor;

impl LineageReads for Executor<'_> {
    fn lineage_mismatch(&mut self) -> StoreResult<Option<LineageMismatch>> {
        Ok(None)
    }

    /// Returns 0: positions only grow, and entries are linked in their order.
    fn audit_skipped_count(&mut self) -> StoreResult<u64> {
        Ok(0)
    }
}

impl LineageWrites for Executor<'_> {
    fn lineage_adopt(&mut self) -> StoreResult<LineageAdoption> {
        Ok(LineageAdoption::default())
    }
}
