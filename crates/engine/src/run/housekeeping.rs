//! Deletes expired data at intervals (idempotency keys, visits, links, tickets, differences of drafts, webhook deliveries) and saves times of last
//! use. Recounts the open questions when a server starts.

use std::time::Duration;

use domain::{SignedDuration, Timestamp, Visit};

use crate::policy::shadow::KEPT;
use crate::run::transaction::Work;
use crate::{Engine, Error};

/// Pause between two runs.
const EVERY: Duration = Duration::from_secs(30);
/// Number of rows that one transaction deletes: few, so that other transactions do not wait long.
const BATCH: u32 = 200;
/// Number of attempts to recount the open questions when a server starts.
const RECOUNTS: u32 = 5;
/// Pause between two attempts to recount.
const RECOUNT_PAUSE: Duration = Duration::from_secs(5);

impl Engine {
    /// Runs housekeeping at intervals and never returns.
    pub async fn run_housekeeping(&self) {
        loop {
            if let Err(error) = self.run_housekeeping_once().await {
                tracing::warn!(%error, "housekeeping failed; the next pass tries again");
            }
            tokio::time::sleep(EVERY).await;
        }
    }

    /// Runs every part of housekeeping once.
    ///
    /// A part that fails does not keep the others from running. The first error is returned, the others are logged.
    pub async fn run_housekeeping_once(&self) -> Result<(), Error> {
        let parts = [
            forget_idempotency(self).await,
            self.save_last_uses().await,
            forget_visits(self).await,
            forget_differences(self).await,
            forget_webhooks(self).await,
        ];
        for error in parts.iter().filter_map(|part| part.as_ref().err()).skip(1) {
            tracing::warn!(%error, "a part of housekeeping failed; the next pass tries again");
        }
        parts.into_iter().collect()
    }

    /// Recounts the open questions when a server starts. A failed attempt, for example because another node has locked the totals, is repeated a few
    /// times and then left to the next start. Until then the budgets may be enforced wrongly; the rest of the server
    /// works.
    pub async fn run_recount(&self) {
        for left in (0..RECOUNTS).rev() {
            match self.recount_open().await {
                Ok(()) => return,
                Err(error) => tracing::warn!(%error, tries_left = left, "openQuestionsNotRecounted"),
            }
            if left > 0 {
                tokio::time::sleep(RECOUNT_PAUSE).await;
            }
        }
    }

    /// Recounts the open questions once.
    pub async fn recount_open(&self) -> Result<(), Error> {
        self.transact(|work| Ok(work.tx.open_totals_recount()?)).await
    }

    /// Saves the times at which keys and visits were last used.
    pub async fn save_last_uses(&self) -> Result<(), Error> {
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
}

/// Deletes rows in one transaction after another until a transaction finds fewer than `BATCH`.
async fn purge<F>(engine: &Engine, delete: F) -> Result<(), Error>
where
    F: FnMut(&mut Work<'_>) -> Result<u64, Error> + Clone + Send + 'static,
{
    while engine.transact(delete.clone()).await? >= u64::from(BATCH) {}
    Ok(())
}

/// Deletes old idempotency keys with the secrets that are sealed under them.
async fn forget_idempotency(engine: &Engine) -> Result<(), Error> {
    let kept = engine.settings().idempotency_kept;
    purge(engine, move |work| Ok(work.tx.idempotency_purge(before(work, kept), BATCH)?)).await
}

/// Deletes the older differences of shadow drafts beyond the number that is kept.
async fn forget_differences(engine: &Engine) -> Result<(), Error> {
    purge(engine, |work| Ok(work.tx.differences_purge(KEPT, BATCH)?)).await
}

/// Deletes webhook deliveries that are older than the retention period, and webhook secrets that have expired.
async fn forget_webhooks(engine: &Engine) -> Result<(), Error> {
    let retention = engine.settings().retention;
    purge(engine, move |work| {
        let sent = work.tx.webhook_deliveries_purge(before(work, retention), BATCH)?;
        Ok(sent + work.tx.webhook_secrets_purge(work.now, BATCH)?)
    })
    .await
}

/// Deletes visits, links and tickets that have expired.
async fn forget_visits(engine: &Engine) -> Result<(), Error> {
    purge(engine, |work| {
        let visits = work.tx.visits_purge(before(work, Visit::IDLE), before(work, Visit::LONGEST), BATCH)?;
        let tickets = work.tx.tickets_purge(work.now, BATCH)?;
        Ok(visits + tickets + work.tx.links_purge(work.now, BATCH)?)
    })
    .await
}

/// Time of the transaction less an age.
fn before(work: &Work<'_>, age: SignedDuration) -> Timestamp {
    work.now.saturating_sub(age).unwrap_or(work.now)
}
