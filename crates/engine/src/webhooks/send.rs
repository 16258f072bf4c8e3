//! Sends webhook messages at least once.
//!
//! The job runs on every node and reads from the store; a lease ensures that one node at a time sends for a webhook. In one transaction,
//! the holder of the lease turns new events into deliveries and moves the cursor of the webhook (`batch.rs`). It then posts the due
//! deliveries and records the outcome of each (`settle.rs`). If a node dies, the next holder sends the unrecorded deliveries again under
//! their ids. A failing endpoint is tried with one message at growing intervals, while its events stay in the log.

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
use crate::run;
use crate::run::transaction::Work;
use crate::webhooks;
use crate::{Engine, Error};

/// Number of webhooks that this node sends for at once.
const MOST_AT_ONCE: usize = 128;
/// Interval at which due webhooks are looked for.
const EVERY: Duration = Duration::from_millis(500);
/// Number of batches that are sent for a webhook before its lease is released, so that others are served too.
const MOST_BATCHES: usize = 50;
/// Time to wait at shutdown for messages that are being sent.
const LAST_WAIT: Duration = Duration::from_secs(5);

impl Engine {
    /// Sends messages until `stop` completes, then waits up to `LAST_WAIT` for messages that are being sent.
    pub async fn run_webhooks(&self, courier: Arc<dyn Courier>, stop: impl Future<Output = ()>) {
        let (told, stopping) = watch::channel(false);
        let mut sending = JoinSet::new();
        tokio::pin!(stop);
        loop {
            while sending.try_join_next().is_some() {}
            match read_due(self, MOST_AT_ONCE - sending.len()).await {
                Ok(due) => {
                    for due in due {
                        let (engine, courier, stopping) = (self.clone(), Arc::clone(&courier), stopping.clone());
                        sending.spawn(async move { send_and_log(&engine, due, &*courier, &stopping).await });
                    }
                }
                Err(error) => tracing::warn!(%error, "due webhooks could not be read; the next pass tries again"),
            }
            tokio::select! {
                () = &mut stop => break,
                () = tokio::time::sleep(EVERY) => {}
                Some(_) = sending.join_next(), if sending.len() >= MOST_AT_ONCE => {}
            }
        }
        // The send fails only if no receiver is left, and then nobody needs the signal.
        let _ = told.send(true);
        let all = async { while sending.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(LAST_WAIT, all).await;
    }

    /// Sends all due messages once.
    pub async fn send_webhooks(&self, courier: &dyn Courier) -> Result<(), Error> {
        let (_told, stopping) = watch::channel(false);
        for due in read_due(self, MOST_AT_ONCE).await? {
            send_and_log(self, due, courier, &stopping).await;
        }
        Ok(())
    }
}

async fn read_due(engine: &Engine, limit: usize) -> Result<Vec<DueWebhook>, Error> {
    if limit == 0 {
        return Ok(Vec::new());
    }
    engine
        .read(Cost::Point, move |reads| {
            let now = reads.now()?;
            Ok(reads.webhooks_due(now, u32::try_from(limit).unwrap_or(u32::MAX))?)
        })
        .await
}

/// Sends the due messages of one webhook, and logs a failure.
async fn send_and_log(engine: &Engine, due: DueWebhook, courier: &dyn Courier, stopping: &watch::Receiver<bool>) {
    if let Err(error) = send_due(engine, due, courier, stopping).await {
        run::timers::count_failure("webhook");
        tracing::warn!(webhook = %due.webhook, %error, "a webhook could not be served; the next pass tries again");
    }
}

async fn send_due(
    engine: &Engine,
    due: DueWebhook,
    courier: &dyn Courier,
    stopping: &watch::Receiver<bool>,
) -> Result<(), Error> {
    let length = engine.settings().webhook_lease;
    let claimed = engine.transact(move |work| {
        let hold = lease_from_now(work, work.ids.lease(work.now), length);
        Ok(work.tx.webhook_claim(&due, &hold, work.now)?.then_some(hold.lease))
    });
    let Some(lease) = claimed.await? else { return Ok(()) };
    let mut failed = false;
    for _ in 0..MOST_BATCHES {
        let Some(Batch { parcels, more }) = webhooks::batch::build(engine, due, lease).await? else { return Ok(()) };
        let sent = parcels.iter().map(async |(delivery, parcel)| {
            let receipt = courier.post(parcel).await;
            webhooks::settle::settle(engine, due, lease, delivery.clone(), parcel.at, receipt).await
        });
        for taken in join_all(sent).await {
            failed |= !taken?;
        }
        if failed || *stopping.borrow() || (parcels.is_empty() && !more) {
            break;
        }
    }
    engine
        .transact(move |work| {
            let hold = lease_from_now(work, lease, length);
            let Some((webhook, _)) = work.tx.webhook_lease_extend(&due, &hold)? else { return Ok(()) };
            let (pending, first) = work.tx.webhook_backlog(due.webhook)?;
            if !failed {
                return Ok(work.tx.webhook_release(&due, lease, first, pending >= MOST_PENDING)?);
            }
            // A failed webhook rests until `rests_until`, even if new events occur or its deliveries are due at another time.
            let webhook = webhook.record_failure();
            work.tx.webhook_save(&webhook)?;
            Ok(work.tx.webhook_release(&due, lease, Some(webhook.rests_until(work.now)), true)?)
        })
        .await
}

/// Lease that begins now.
pub(super) fn lease_from_now(work: &Work<'_>, lease: domain::LeaseId, length: SignedDuration) -> WebhookLease {
    WebhookLease { lease, until: work.now.saturating_add(length).unwrap_or(work.now) }
}
