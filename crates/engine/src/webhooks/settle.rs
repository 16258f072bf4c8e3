//! Records the outcome of an attempt, under the lease under which the message was sent.

use domain::webhook::delivery::{About, Attempt, AttemptVerdict, Progress};
use domain::{Actor, EntryPoint, LeaseId, Refusal, Timestamp, WebhookDelivery};
use store::DueWebhook;

use super::courier::Receipt;
use super::send::lease_from_now;
use crate::interactions;
use crate::run::transaction::{Originator, Work};
use crate::sessions;
use crate::{Engine, Error};

/// Recorded outcome of an attempt, for the metrics and the log.
struct AttemptReport {
    accepted: bool,
    result: &'static str,
    /// Reason why no further attempt is made.
    dead: Option<String>,
    /// Whether the endpoint replied that it wants no more messages.
    gone: bool,
}

/// Records an attempt and returns whether the endpoint accepted the message. If the lease was lost, nothing is recorded and the next
/// node sends the message again.
pub(super) async fn settle(
    engine: &Engine,
    due: DueWebhook,
    lease: LeaseId,
    delivery: WebhookDelivery,
    at: Timestamp,
    receipt: Receipt,
) -> Result<bool, Error> {
    let length = engine.settings().webhook_lease;
    let id = delivery.id;
    let noted = engine.transact_as(Originator::system(EntryPoint::Webhook), move |work| {
        let hold = lease_from_now(work, lease, length);
        let Some((webhook, _)) = work.tx.webhook_lease_extend(&due, &hold)? else { return Ok(None) };
        let Some(found) = work.tx.webhook_delivery(&due.scope, due.webhook, delivery.id)? else { return Ok(None) };
        let Receipt { status, note, wait, took } = receipt.clone();
        let attempt = Attempt { at, status, note, millis: u64::try_from(took.as_millis()).unwrap_or(u64::MAX) };
        let verdict = attempt.verdict();
        let [jitter] = work.ids.random();
        let found = found.record_attempt(attempt, wait, jitter, work.now);
        work.tx.webhook_delivery_save(&due.scope, &found)?;
        let accepted = matches!(verdict, AttemptVerdict::Accepted { .. });
        let mut webhook = if accepted { webhook.record_success() } else { webhook };
        let gone = verdict == AttemptVerdict::Gone && webhook.is_enabled();
        if gone {
            let reason = "the endpoint is gone (410)".to_owned();
            let (disabled, told) = webhook.disable(&Actor::system(), reason, work.now);
            work.append_audit(&due.scope, &told)?;
            webhook = disabled;
        }
        work.tx.webhook_save(&webhook)?;
        if let (AttemptVerdict::Accepted { done }, About::Answer { .. }) = (verdict, &found.about) {
            take_answer(work, &due, &found.about, done)?;
        }
        let (result, dead) = match &found.progress {
            Progress::Dead { reason, .. } => ("dead", Some(reason.clone())),
            Progress::Pending { .. } => ("failed", None),
            Progress::Delivered { .. } | Progress::Dropped { .. } => ("delivered", None),
        };
        Ok(Some(AttemptReport { accepted, result, dead, gone }))
    });
    let Some(AttemptReport { accepted, result, dead, gone }) = noted.await? else {
        tracing::info!(webhook = %due.webhook, delivery = %id, "webhookLeaseLost");
        return Ok(false);
    };
    metrics::counter!("flow_webhook_attempts_total", "result" => result).increment(1);
    if let Some(reason) = dead {
        tracing::warn!(webhook = %due.webhook, delivery = %id, reason, "webhookDead");
    }
    if gone {
        tracing::warn!(webhook = %due.webhook, "webhookDisabled");
    }
    Ok(accepted)
}

/// Marks the answer as accepted by the endpoint: completed, or leased to it. An answer with sealed values stays as it is, because the
/// message only announced it.
fn take_answer(work: &mut Work<'_>, due: &DueWebhook, about: &About, done: bool) -> Result<(), Error> {
    let About::Answer { interaction: id, revision, lease } = *about else { return Ok(()) };
    let (mut session, found) = match interactions::lock(work, &due.scope, id) {
        Err(Error::Refused(Refusal::AlreadyResolved(_) | Refusal::NotFound(_))) => return Ok(()),
        found => found?,
    };
    // The agent may have accepted the answer meanwhile.
    if super::batch::find_waiting_answer(work, due, id, revision)?.is_none()
        || super::batch::has_sealed(work, due, &found)?
    {
        return Ok(());
    }
    let (was, by) = (found.status(), found.origin.asked_by.clone());
    let until = work.now.saturating_add(work.settings.lease).unwrap_or(work.now);
    let change = found.take(&by, lease, work.now, until)?;
    let accepted = interactions::apply_change(work, &mut session, was, change)?;
    work.effects.taken_after = accepted.resolved_at().map(|at| work.now.duration_since(at));
    if done {
        let change = accepted.complete(lease, work.now)?;
        interactions::apply_change(work, &mut session, was, change)?;
    }
    sessions::save(work, &session)
}
