//! Detects a database that was restored from a dump into another cluster, and adopts it on command.

use std::sync::atomic::Ordering;

use domain::audit::kind::DatabaseAdopted;
use domain::{AuditDraft, AuditKind, EntryPoint, Scope};
use store::{Cost, LineageAdoption, LineageMismatch};

use crate::run::transaction::Originator;
use crate::{Engine, Error};

impl Engine {
    /// Returns the mismatch of a database that was restored from a dump into another cluster and not adopted yet. Nothing may be written to such a
    /// database: new rows would not be chained, listed or streamed.
    pub async fn database_misfit(&self) -> Result<Option<LineageMismatch>, Error> {
        self.read(Cost::Point, |reads| Ok(reads.lineage_mismatch()?)).await
    }

    /// Counts audit entries that are not linked into their chain and that the chaining loop will not link. Reads all entries.
    pub async fn audit_skipped_count(&self) -> Result<u64, Error> {
        self.read(Cost::Scan, |reads| Ok(reads.audit_skipped_count()?)).await
    }

    /// Number of unchained audit entries that were found when this process began to chain entries.
    #[must_use]
    pub fn audit_unchained_at_start(&self) -> u64 {
        self.unchained.load(Ordering::Relaxed)
    }

    /// Repairs a restored database and records the repair in the audit trail of every tenant. No other process may use the database meanwhile. Does
    /// nothing if the database needs no repair.
    pub async fn database_adopt(&self) -> Result<LineageAdoption, Error> {
        self.transact_as(Originator::system(EntryPoint::Cli), |work| {
            let adopted = work.tx.lineage_adopt()?;
            if !adopted.has_changes() {
                return Ok(adopted);
            }
            let LineageAdoption { raised, events, entries } = adopted;
            let draft = AuditDraft::plain(AuditKind::DatabaseAdopted(DatabaseAdopted { raised, events, entries }));
            let mut tenants: Vec<_> = work.tx.scopes()?.iter().map(|scope| scope.tenant).collect();
            tenants.sort();
            tenants.dedup();
            for tenant in tenants {
                let Some(project) = work.tx.first_project(tenant)? else { continue };
                work.append_audit(&Scope { tenant, project }, &draft)?;
            }
            Ok(adopted)
        })
        .await
    }
}

/// Counts unchained audit entries once, and logs an error if there are any.
pub(crate) async fn look_for_unchained(engine: &Engine) {
    match engine.audit_skipped_count().await {
        Ok(0) => {}
        Ok(entries) => {
            engine.unchained.store(entries, Ordering::Relaxed);
            tracing::error!(entries, "auditIncomplete: run `holdpoint database adopt` with every node stopped");
        }
        Err(error) => tracing::warn!(%error, "the check for audit entries without a place in their chain failed"),
    }
    // The conversion to `f64` is exact up to 2^53 entries.
    metrics::gauge!("holdpoint_audit_unchained_entries").set(engine.audit_unchained_at_start() as f64);
}
