//! The order of the log is that of its one writer, whatever file it lies in: a copied or restored file always fits.

use store::{Adopted, LineageReads, LineageWrites, Misfit, Stored};

use crate::connection::Face;

impl LineageReads for Face<'_> {
    fn misfit(&mut self) -> Stored<Option<Misfit>> {
        Ok(None)
    }

    /// Positions only grow, and the chain is written in their order.
    fn audit_unchained(&mut self) -> Stored<u64> {
        Ok(0)
    }
}

impl LineageWrites for Face<'_> {
    fn adopt(&mut self) -> Stored<Adopted> {
        Ok(Adopted::default())
    }
}
