//! Deletes expired data at intervals (idempotency keys, visits, links, tickets, differences of drafts, webhook deliveries) and saves times of last
//! use.

use std::time::Duration;

use domain::Visit;

use crate::policy::shadow::KEPT;
use crate::{Engine, Error};

/// Pause between two runs.
const EVERY: Duration = Duration::from_secs(30);
/// Number of rows that one transaction deletes: few, so that other transactions do not wait long.
const BATCH: u32 = 200;

impl Engine {
    /// Runs housekeeping at intervals and never returns.
    pub async fn run_housekeeping(&self) {
        loop {
            if let Err(error) = self.tidy().await {
                tracing::warn!(%error, "housekeeping failed; the next pass tries again");
            }
            tokio::time::sleep(EVERY).await;
        }
    }

    /// Runs every part of housekeeping once.
    ///
    /// A part that fails does not keep the others from running. The first error is returned, the others are logged.
    pub async fn tidy(&self) -> Result<(), Error> {
        let parts = [
            self.forget_once().await,
            self.note_used().await,
            self.forget_visits().await,
            self.forget_differences().await,
            self.forget_webhooks().await,
        ];
        for error in parts.iter().filter_map(|part| part.as_ref().err()).skip(1) {
            tracing::warn!(%error, "a part of housekeeping failed; the next pass tries again");
        }
        parts.into_iter().collect()
    }

    /// Deletes old idempotency keys with the secrets that are sealed under them.
    async fn forget_once(&self) -> Result<(), Error> {
        let kept = self.settings().once_kept;
        loop {
            let forgotten = self.transact(move |work| {
                Ok(work.tx.idempotency_purge(work.now.saturating_sub(kept).unwrap_or(work.now), BATCH)?)
            });
            if forgotten.await? < u64::from(BATCH) {
                return Ok(());
            }
        }
    }

    /// Saves the times at which keys and visits were last used.
    pub async fn note_used(&self) -> Result<(), Error> {
        let used: Vec<_> = self.used.lock().drain().collect();
        let visited: Vec<_> = self.visited.lock().drain().collect();
        if used.is_empty() && visited.is_empty() {
            return Ok(());
        }
        self.transact(move |work| {
            for (key, at) in &used {
                work.tx.key_mark_used(*key, *at)?;
            }
            visited.iter().try_for_each(|(visit, at)| Ok(work.tx.visit_mark_used(*visit, *at)?))
        })
        .await
    }

    /// Deletes the older differences of shadow drafts beyond the number that is kept.
    async fn forget_differences(&self) -> Result<(), Error> {
        loop {
            let forgotten = self.transact(move |work| Ok(work.tx.differences_purge(KEPT, BATCH)?));
            if forgotten.await? < u64::from(BATCH) {
                return Ok(());
            }
        }
    }

    /// Deletes webhook deliveries that are older than the retention period, and webhook secrets that have expired.
    async fn forget_webhooks(&self) -> Result<(), Error> {
        let retention = self.settings().retention;
        loop {
            let forgotten = self.transact(move |work| {
                let before = work.now.saturating_sub(retention).unwrap_or(work.now);
                let sent = work.tx.webhook_deliveries_purge(before, BATCH)?;
                Ok(sent + work.tx.webhook_secrets_purge(work.now, BATCH)?)
            });
            if forgotten.await? < u64::from(BATCH) {
                return Ok(());
            }
        }
    }

    /// Deletes visits, links and tickets that have expired.
    async fn forget_visits(&self) -> Result<(), Error> {
        loop {
            let forgotten = self.transact(move |work| {
                let before = |age| work.now.saturating_sub(age).unwrap_or(work.now);
                let visits = work.tx.visits_purge(before(Visit::IDLE), before(Visit::LONGEST), BATCH)?;
                let tickets = work.tx.tickets_purge(work.now, BATCH)?;
                Ok(visits + tickets + work.tx.links_purge(work.now, BATCH)?)
            });
            if forgotten.await? < u64::from(BATCH) {
                return Ok(());
            }
        }
    }
}
