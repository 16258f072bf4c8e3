//! What is done now and then: old idempotency keys, visits, links, tickets and differences forgotten, the use of keys and visits written down.

use std::time::Duration;

use domain::Visit;

use crate::policy::shadow::KEPT;
use crate::{Engine, Error};

/// How often.
const EVERY: Duration = Duration::from_secs(30);
/// How much in one transaction, so that nobody waits for it.
const BATCH: u32 = 200;

impl Engine {
    /// Runs for ever.
    pub async fn run_housekeeping(&self) {
        loop {
            if let Err(error) = self.tidy().await {
                tracing::warn!(%error, "housekeeping was put off");
            }
            tokio::time::sleep(EVERY).await;
        }
    }

    /// Does all of it once.
    ///
    /// One part that fails keeps no other from being done.
    pub async fn tidy(&self) -> Result<(), Error> {
        let parts = [
            self.forget_once().await,
            self.note_used().await,
            self.forget_visits().await,
            self.forget_differences().await,
            self.forget_webhooks().await,
        ];
        for error in parts.iter().filter_map(|part| part.as_ref().err()).skip(1) {
            tracing::warn!(%error, "another part of housekeeping was put off");
        }
        parts.into_iter().collect()
    }

    /// Forgets idempotency keys that are old enough, with what was sealed under them.
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

    /// Writes down when keys and visits were last used.
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

    /// Forgets where drafts differed once there is enough that is newer.
    async fn forget_differences(&self) -> Result<(), Error> {
        loop {
            let forgotten = self.transact(move |work| Ok(work.tx.differences_purge(KEPT, BATCH)?));
            if forgotten.await? < u64::from(BATCH) {
                return Ok(());
            }
        }
    }

    /// Forgets what was sent long ago, and secrets that have ended.
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

    /// Forgets visits, links and tickets that have ended by themselves.
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
