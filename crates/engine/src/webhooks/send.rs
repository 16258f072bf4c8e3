//! Sends what there is to send: at least once, from the store, on every node, by one at a time for each webhook.
//!
//! Whoever has the lease of a webhook turns new events into deliveries and moves its cursor in one transaction (`batch.rs`), sends what
//! is due, and notes what became of each (`settle.rs`). A node that dies leaves what it did not note to the next one, which sends it
//! again under the same id. An endpoint that is down is tried now and then with one message; what is meant for it stays in the log.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use domain::SignedDuration;
use futures::future::join_all;
use store::{Cost, DueWebhook, WebhookLease};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::batch::{Batch, MOST_PENDING};
use super::courier::Courier;
use crate::run::timers::count_failure;
use crate::run::transaction::Work;
use crate::{Engine, Error};

/// How many webhooks this node sends for at once.
const MOST_AT_ONCE: usize = 128;
/// How often somebody looks for what is to be sent.
const EVERY: Duration = Duration::from_millis(500);
/// How many batches are sent for one webhook before others have their turn.
const MOST_BATCHES: usize = 50;
/// How long is waited, at the end, for what is on its way.
const LAST_WAIT: Duration = Duration::from_secs(5);

impl Engine {
    /// Runs until it is told to stop: then what is on its way is waited for a little.
    pub async fn run_webhooks(&self, courier: Arc<dyn Courier>, stop: impl Future<Output = ()>) {
        let (told, stopping) = watch::channel(false);
        let mut turns = JoinSet::new();
        tokio::pin!(stop);
        loop {
            while turns.try_join_next().is_some() {}
            match self.webhooks_due(MOST_AT_ONCE - turns.len()).await {
                Ok(due) => {
                    for due in due {
                        let (engine, courier, stopping) = (self.clone(), Arc::clone(&courier), stopping.clone());
                        turns.spawn(async move { engine.webhook_turn(due, &*courier, &stopping).await });
                    }
                }
                Err(error) => tracing::warn!(%error, "webhooks were put off"),
            }
            tokio::select! {
                () = &mut stop => break,
                () = tokio::time::sleep(EVERY) => {}
                Some(_) = turns.join_next(), if turns.len() >= MOST_AT_ONCE => {}
            }
        }
        // Whoever has gone need not be told.
        let _ = told.send(true);
        let all = async { while turns.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(LAST_WAIT, all).await;
    }

    /// Sends everything that can be sent now, once.
    pub async fn send_webhooks(&self, courier: &dyn Courier) -> Result<(), Error> {
        let (_told, stopping) = watch::channel(false);
        for due in self.webhooks_due(MOST_AT_ONCE).await? {
            self.webhook_turn(due, courier, &stopping).await;
        }
        Ok(())
    }

    async fn webhooks_due(&self, limit: usize) -> Result<Vec<DueWebhook>, Error> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        self.read(Cost::Point, move |reads| {
            let now = reads.now()?;
            Ok(reads.webhooks_due(now, u32::try_from(limit).unwrap_or(u32::MAX))?)
        })
        .await
    }

    /// One node's turn with one webhook.
    async fn webhook_turn(&self, due: DueWebhook, courier: &dyn Courier, stopping: &watch::Receiver<bool>) {
        if let Err(error) = self.webhook_sent(due, courier, stopping).await {
            count_failure("webhook");
            tracing::warn!(webhook = %due.webhook, %error, "a webhook was put off");
        }
    }

    async fn webhook_sent(
        &self,
        due: DueWebhook,
        courier: &dyn Courier,
        stopping: &watch::Receiver<bool>,
    ) -> Result<(), Error> {
        let length = self.settings().webhook_lease;
        let claimed = self.transact(move |work| {
            let hold = held(work, work.ids.lease(work.now), length);
            Ok(work.tx.webhook_claim(&due, &hold, work.now)?.then_some(hold.lease))
        });
        let Some(lease) = claimed.await? else { return Ok(()) };
        let mut failed = false;
        for _ in 0..MOST_BATCHES {
            let Some(Batch { parcels, more }) = self.webhook_batch(due, lease).await? else { return Ok(()) };
            let sent = parcels.iter().map(async |(delivery, parcel)| {
                let receipt = courier.post(parcel).await;
                self.webhook_settle(due, lease, delivery.clone(), parcel.at, receipt).await
            });
            for taken in join_all(sent).await {
                failed |= !taken?;
            }
            if failed || *stopping.borrow() || (parcels.is_empty() && !more) {
                break;
            }
        }
        self.transact(move |work| {
            let hold = held(work, lease, length);
            let Some((webhook, _)) = work.tx.webhook_lease_extend(&due, &hold)? else { return Ok(()) };
            let (pending, first) = work.tx.webhook_backlog(due.webhook)?;
            if !failed {
                return Ok(work.tx.webhook_release(&due, lease, first, pending >= MOST_PENDING)?);
            }
            // One that failed rests whatever happens, and no longer than that, whenever its messages are tried again.
            let webhook = webhook.failed();
            work.tx.webhook_save(&webhook)?;
            Ok(work.tx.webhook_release(&due, lease, Some(webhook.rests_until(work.now)), true)?)
        })
        .await
    }
}

/// A lease from now on.
pub(super) fn held(work: &Work<'_>, lease: domain::LeaseId, length: SignedDuration) -> WebhookLease {
    WebhookLease { lease, until: work.now.saturating_add(length).unwrap_or(work.now) }
}
