//! Selects and builds the next messages of a webhook: new events and answers become deliveries, and due deliveries become parcels.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use ::policy::Pattern;
use domain::webhook::Subject;
use domain::webhook::delivery::{ANSWER_MESSAGE, About};
use domain::{
    Delivery, Event, Interaction, InteractionId, Kind, LeaseId, SessionId, SignedDuration, Timestamp, Webhook,
    WebhookDelivery,
};
use store::{Cursor, DueWebhook, WebhookSecret};

use super::courier::{Content, Parcel};
use super::manage::unseal;
use super::send::lease_from_now;
use crate::run::transaction::Work;
use crate::secrets::vault::{RESUME_POINT, SECRETS};
use crate::{Engine, Error};

/// Maximum number of pending deliveries of a webhook. Further events stay in the log.
pub(super) const MOST_PENDING: u64 = 100;
/// Number of messages that are sent to an endpoint at once.
const AT_ONCE: u32 = 8;
/// Number of messages with answers that are sent to an endpoint at once. It is lower, because answers may be large.
const ANSWERS_AT_ONCE: u32 = 2;
/// Number of events or answers that one transaction reads.
const EVENTS: u32 = 100;
/// Delay before an answer of a paused session is tried again.
const PAUSED: SignedDuration = SignedDuration::from_secs(30);

/// Messages to send next.
pub(super) struct Batch {
    /// Messages, each with its delivery.
    pub(super) parcels: Vec<(WebhookDelivery, Parcel)>,
    /// Whether there are more events or answers to read.
    pub(super) more: bool,
}

/// Delivery with the time and the content of its message, before the secrets are unsealed.
type Made = (WebhookDelivery, Timestamp, Content);

/// Builds the next messages. Returns `None` if the lease was lost.
pub(super) async fn build(engine: &Engine, due: DueWebhook, lease: LeaseId) -> Result<Option<Batch>, Error> {
    let length = engine.settings().webhook_lease;
    let found = engine.transact(move |work| {
        let hold = lease_from_now(work, lease, length);
        let Some((webhook, cursor)) = work.tx.webhook_lease_extend(&due, &hold)? else { return Ok(None) };
        if !webhook.is_enabled() {
            return Ok(Some((webhook, Vec::new(), Vec::new(), false, work.now)));
        }
        let more = queue_new(work, &due, &webhook, cursor)?;
        let limit = match webhook.subject {
            // A failing endpoint gets one message at a time.
            _ if webhook.failures > 0 => 1,
            Subject::Events { .. } => AT_ONCE,
            Subject::Answers { .. } => ANSWERS_AT_ONCE,
        };
        let mut made = Vec::new();
        for delivery in work.tx.webhook_deliveries_due(due.webhook, work.now, limit)? {
            made.extend(build_content(work, &due, delivery)?);
        }
        let mut secrets = work.tx.webhook_secrets(&due.scope, due.webhook)?;
        secrets.retain(|secret| secret.until.is_none_or(|until| until > work.now));
        Ok(Some((webhook, made, secrets, more, work.now)))
    });
    let Some((webhook, made, secrets, more, at)) = found.await? else { return Ok(None) };
    let parcels =
        made.into_iter().map(|made| build_parcel(engine, &webhook, made, &secrets, at)).collect::<Result<_, _>>()?;
    Ok(Some(Batch { parcels, more }))
}

fn build_parcel(
    engine: &Engine,
    webhook: &Webhook,
    (delivery, happened_at, content): Made,
    secrets: &[WebhookSecret],
    at: Timestamp,
) -> Result<(WebhookDelivery, Parcel), Error> {
    let vault = Arc::clone(&engine.vault);
    let parcel = Parcel {
        url: webhook.url.clone(),
        id: delivery.id,
        at,
        name: delivery.name.clone(),
        happened_at,
        content,
        secrets: secrets.iter().map(|secret| unseal(&vault, secret)).collect::<Result<_, _>>()?,
        // The time limit is a third of the lease, so that the outcome is recorded while the lease is valid.
        patience: Duration::try_from(engine.settings().webhook_lease).unwrap_or_default() / 3,
    };
    Ok((delivery, parcel))
}

/// Creates deliveries for new events or answers, up to `MOST_PENDING`. Returns whether there are more to read.
fn queue_new(work: &mut Work<'_>, due: &DueWebhook, webhook: &Webhook, cursor: Cursor) -> Result<bool, Error> {
    let (pending, _) = work.tx.webhook_backlog(due.webhook)?;
    let Some(room) = u32::try_from(MOST_PENDING.saturating_sub(pending)).ok().filter(|room| *room > 0) else {
        return Ok(false);
    };
    match &webhook.subject {
        Subject::Answers { agent } => queue_new_answers(work, due, agent, cursor, room),
        Subject::Events { types, agent, session } => {
            let types = types.iter().filter_map(|text| Pattern::new(text).ok()).collect();
            let wanted = EventFilter { types, agent: agent.as_deref(), session: *session, agents: HashMap::new() };
            queue_new_events(work, due, wanted, cursor, room)
        }
    }
}

fn queue_new_events(
    work: &mut Work<'_>,
    due: &DueWebhook,
    mut wanted: EventFilter<'_>,
    cursor: Cursor,
    room: u32,
) -> Result<bool, Error> {
    let limit = room.min(EVENTS);
    let found = work.tx.project_events(&due.scope, cursor, limit)?;
    let Some((last, _)) = found.events.last() else { return Ok(false) };
    work.tx.webhook_cursor_save(due, *last)?;
    let more = found.more;
    for (_, event) in found.events {
        if wanted.is_wanted(work, due, &event)? {
            let about = About::Event { session: event.session, seq: event.seq };
            queue_delivery(work, due, event.name, about)?;
        }
    }
    Ok(more)
}

/// Creates deliveries for waiting answers. The answers are found by their delivery state and not by their events; the event log only says
/// when to search. The log is read first, so that no answer is missed in between.
fn queue_new_answers(
    work: &mut Work<'_>,
    due: &DueWebhook,
    agent: &str,
    cursor: Cursor,
    room: u32,
) -> Result<bool, Error> {
    let head = work.tx.project_head(&due.scope)?;
    if head > cursor {
        work.tx.webhook_cursor_save(due, head)?;
    }
    let found = work.tx.answers_unsent(&due.scope, due.webhook, agent, room.min(EVENTS))?;
    let more = found.more;
    for interaction in found {
        let lease = work.ids.lease(work.now);
        let about = About::Answer { interaction: interaction.id, revision: interaction.revision, lease };
        queue_delivery(work, due, ANSWER_MESSAGE.to_owned(), about)?;
    }
    Ok(more)
}

fn queue_delivery(work: &mut Work<'_>, due: &DueWebhook, name: String, about: About) -> Result<(), Error> {
    let id = work.ids.webhook_delivery(work.now);
    let delivery = WebhookDelivery::new(id, due.webhook, name, about, work.now);
    Ok(work.tx.webhook_delivery_insert(&due.scope, &delivery)?)
}

/// Builds the content of a delivery as of now. Returns `None`, and saves the delivery, if it is obsolete or has to wait.
fn build_content(work: &mut Work<'_>, due: &DueWebhook, delivery: WebhookDelivery) -> Result<Option<Made>, Error> {
    let made = match delivery.about {
        About::Test => Some((delivery.created_at, Content::Test(due.webhook))),
        About::Event { session, seq } => {
            let event = work.tx.events(&due.scope, session, seq.saturating_sub(1), 1)?.pop();
            event.map(|event| (event.at, Content::Event(event)))
        }
        About::Answer { interaction, revision, lease } => {
            let Some(found) = find_waiting_answer(work, due, interaction, revision)? else {
                return save_without_content(work, due, delivery.discard(work.now));
            };
            let session = work.tx.session(&due.scope, found.origin.session)?;
            if session.is_some_and(|session| session.require_not_paused().is_err()) {
                let later = work.now.saturating_add(PAUSED).unwrap_or(work.now);
                return save_without_content(work, due, delivery.postpone(later));
            }
            let sealed = has_sealed(work, due, &found)?;
            let lease = (!sealed).then_some(lease);
            let at = found.resolved_at().unwrap_or(delivery.created_at);
            Some((at, Content::Answer { interaction: Box::new(found), lease }))
        }
    };
    match made {
        Some((at, content)) => Ok(Some((delivery, at, content))),
        None => save_without_content(work, due, delivery.discard(work.now)),
    }
}

fn save_without_content(
    work: &mut Work<'_>,
    due: &DueWebhook,
    delivery: WebhookDelivery,
) -> Result<Option<Made>, Error> {
    work.tx.webhook_delivery_save(&due.scope, &delivery)?;
    Ok(None)
}

/// Returns the question if its answer still waits, unchanged since the delivery was created.
pub(crate) fn find_waiting_answer(
    work: &mut Work<'_>,
    due: &DueWebhook,
    id: InteractionId,
    revision: u64,
) -> Result<Option<Interaction>, Error> {
    let found = work.tx.interaction(&due.scope, id)?;
    let waits =
        |found: &Interaction| found.revision == revision && matches!(found.delivery(), Some(Delivery::Waiting { .. }));
    Ok(found.filter(waits))
}

/// Whether the store has sealed values for a question. Only `take` hands out sealed values.
pub(crate) fn has_sealed(work: &mut Work<'_>, due: &DueWebhook, interaction: &Interaction) -> Result<bool, Error> {
    let secret = interaction.question.kind == Kind::Secret;
    let values = secret && work.tx.sealed_value(&due.scope, interaction.id, SECRETS)?.is_some();
    Ok(values || work.tx.sealed_value(&due.scope, interaction.id, RESUME_POINT)?.is_some())
}

/// Filter for the events of a webhook.
struct EventFilter<'a> {
    types: Vec<Pattern>,
    agent: Option<&'a str>,
    session: Option<SessionId>,
    /// Cache of the agents of sessions.
    agents: HashMap<SessionId, Option<String>>,
}

impl EventFilter<'_> {
    fn is_wanted(&mut self, work: &mut Work<'_>, due: &DueWebhook, event: &Event) -> Result<bool, Error> {
        if self.session.is_some_and(|session| session != event.session) {
            return Ok(false);
        }
        if !self.types.iter().any(|pattern| pattern.matches(&event.name)) {
            return Ok(false);
        }
        let Some(agent) = self.agent else { return Ok(true) };
        let known = match self.agents.entry(event.session) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let session = work.tx.session(&due.scope, event.session)?;
                unknown.insert(session.and_then(|session| session.head.agent))
            }
        };
        Ok(known.as_deref() == Some(agent))
    }
}
