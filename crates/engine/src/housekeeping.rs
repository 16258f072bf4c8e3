//! What is done now and then: old idempotency keys forgotten, old questions archived, the use of keys written down.

use std::time::Duration;

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
    pub async fn tidy(&self) -> Result<(), Error> {
        let (kept, retention) = (self.settings().once_kept, self.settings().retention);
        loop {
            let done = self.transact(move |work| {
                let forgotten = work.tx.once_purge(work.now.saturating_sub(kept).unwrap_or(work.now), BATCH)?;
                let archived = work.tx.archive(work.now.saturating_sub(retention).unwrap_or(work.now), BATCH)?;
                Ok(forgotten.max(archived))
            });
            if done.await? < u64::from(BATCH) {
                break;
            }
        }
        self.note_used().await
    }

    /// Writes down when keys were last used.
    pub async fn note_used(&self) -> Result<(), Error> {
        let used: Vec<_> = self.used.lock().drain().collect();
        if used.is_empty() {
            return Ok(());
        }
        self.transact(move |work| {
            for (key, at) in &used {
                work.tx.key_used(*key, *at)?;
            }
            Ok(())
        })
        .await
    }
}
