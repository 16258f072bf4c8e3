//! The order of the log is that of its one writer, whatever file it lies in: a copied or restored file always fits.

use store::{LineageAdoption, LineageMismatch, LineageReads, LineageWrites, StoreResult};

use crate::connection::Executor;

impl LineageReads for Executor<'_> {
    fn lineage_mismatch(&mut self) -> StoreResult<Option<LineageMismatch>> {
        Ok(None)
    }

    /// Positions only grow, and the chain is written in their order.
    fn audit_skipped_count(&mut self) -> StoreResult<u64> {
        Ok(0)
    }
}

impl LineageWrites for Executor<'_> {
    fn lineage_adopt(&mut self) -> StoreResult<LineageAdoption> {
        Ok(LineageAdoption::default())
    }
}
