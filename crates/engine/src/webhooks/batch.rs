//! What is sent next for a webhook: new events become deliveries, and those that are due are put together.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use domain::webhook::Subject;
use domain::webhook::delivery::About;
use domain::{
    Delivery, Event, Interaction, InteractionId, Kind, LeaseId, SessionId, SignedDuration, Timestamp, Webhook,
    WebhookDelivery,
};
use policy::Pattern;
use store::{Cursor, DueWebhook, WebhookSecret};

use super::courier::{Content, Parcel};
use super::opened;
use super::send::held;
use crate::vault::{RESUME_POINT, SECRETS};
use crate::work::Work;
use crate::{Engine, Error};

/// How much may be waiting for one endpoint. What comes then stays in the log.
pub(super) const MOST_PENDING: u64 = 100;
/// How much is sent to one endpoint at once.
const AT_ONCE: u32 = 8;
/// The same of answers, which may be large.
const ANSWERS_AT_ONCE: u32 = 2;
/// How many events are looked at in one transaction.
const EVENTS: u32 = 100;
/// The type of a message with an answer.
const ANSWER: &str = "answer.waiting";
/// How long an answer of a paused session is put off.
const PAUSED: SignedDuration = SignedDuration::from_secs(30);

/// What is sent next.
pub(super) struct Batch {
    /// The messages, each with what it was made of.
    pub(super) parcels: Vec<(WebhookDelivery, Parcel)>,
    /// Whether there is more to look at.
    pub(super) more: bool,
}

/// A message before its secrets are opened.
type Made = (WebhookDelivery, Timestamp, Content);

impl Engine {
    /// The next messages; none if the lease was lost.
    pub(super) async fn webhook_batch(&self, due: DueWebhook, lease: LeaseId) -> Result<Option<Batch>, Error> {
        let length = self.settings().webhook_lease;
        let found = self.transact(move |work| {
            let hold = held(work, lease, length);
            let Some((webhook, cursor)) = work.tx.webhook_hold(&due, &hold)? else { return Ok(None) };
            if !webhook.enabled() {
                return Ok(Some((webhook, Vec::new(), Vec::new(), false, work.now)));
            }
            let more = work.gathered(&due, &webhook, cursor)?;
            let limit = match webhook.subject {
                // An endpoint that has just failed is tried with one.
                _ if webhook.failures > 0 => 1,
                Subject::Events { .. } => AT_ONCE,
                Subject::Answers { .. } => ANSWERS_AT_ONCE,
            };
            let mut made = Vec::new();
            for delivery in work.tx.webhook_deliveries_due(due.webhook, work.now, limit)? {
                made.extend(work.put_together(&due, delivery)?);
            }
            let mut secrets = work.tx.webhook_secrets(&due.scope, due.webhook)?;
            secrets.retain(|secret| secret.until.is_none_or(|until| until > work.now));
            Ok(Some((webhook, made, secrets, more, work.now)))
        });
        let Some((webhook, made, secrets, more, at)) = found.await? else { return Ok(None) };
        let parcels =
            made.into_iter().map(|made| self.parcel(&webhook, made, &secrets, at)).collect::<Result<_, _>>()?;
        Ok(Some(Batch { parcels, more }))
    }

    fn parcel(
        &self,
        webhook: &Webhook,
        (delivery, happened_at, content): Made,
        secrets: &[WebhookSecret],
        at: Timestamp,
    ) -> Result<(WebhookDelivery, Parcel), Error> {
        let vault = Arc::clone(&self.vault);
        let parcel = Parcel {
            url: webhook.url.clone(),
            id: delivery.id,
            at,
            name: delivery.name.clone(),
            happened_at,
            content,
            secrets: secrets.iter().map(|secret| opened(&vault, secret)).collect::<Result<_, _>>()?,
            // A third of the lease, so that what came back is noted while the lease lasts.
            patience: Duration::try_from(self.settings().webhook_lease).unwrap_or_default() / 3,
        };
        Ok((delivery, parcel))
    }
}

impl Work<'_> {
    /// Makes deliveries of what is new, as far as there is room; says whether there is more to look at.
    fn gathered(&mut self, due: &DueWebhook, webhook: &Webhook, cursor: Cursor) -> Result<bool, Error> {
        let (pending, _) = self.tx.webhook_backlog(due.webhook)?;
        let Some(room) = u32::try_from(MOST_PENDING.saturating_sub(pending)).ok().filter(|room| *room > 0) else {
            return Ok(false);
        };
        match &webhook.subject {
            Subject::Answers { agent } => self.gathered_answers(due, agent, cursor, room),
            Subject::Events { types, agent, session } => {
                let types = types.iter().filter_map(|text| Pattern::new(text).ok()).collect();
                let wanted = Wanted { types, agent: agent.as_deref(), session: *session, agents: HashMap::new() };
                self.gathered_events(due, wanted, cursor, room)
            }
        }
    }

    fn gathered_events(
        &mut self,
        due: &DueWebhook,
        mut wanted: Wanted<'_>,
        cursor: Cursor,
        room: u32,
    ) -> Result<bool, Error> {
        let limit = room.min(EVENTS);
        let found = self.tx.project_events(&due.scope, cursor, limit)?;
        let Some((last, _)) = found.events.last() else { return Ok(false) };
        self.tx.webhook_move(due, *last)?;
        let more = found.more;
        for (_, event) in found.events {
            if wanted.wants(self, due, &event)? {
                let about = About::Event { session: event.session, seq: event.seq };
                self.queued(due, event.name, about)?;
            }
        }
        Ok(more)
    }

    /// Answers are found by where they are, not by what was told of them; the log says when to look. It is read first, so that
    /// nothing can come between.
    fn gathered_answers(&mut self, due: &DueWebhook, agent: &str, cursor: Cursor, room: u32) -> Result<bool, Error> {
        let head = self.tx.project_head(&due.scope)?;
        if head > cursor {
            self.tx.webhook_move(due, head)?;
        }
        let found = self.tx.answers_unsent(&due.scope, due.webhook, agent, room.min(EVENTS))?;
        let more = found.more;
        for interaction in found {
            let lease = self.ids.lease(self.now);
            let about = About::Answer { interaction: interaction.id, revision: interaction.revision, lease };
            self.queued(due, ANSWER.to_owned(), about)?;
        }
        Ok(more)
    }

    fn queued(&mut self, due: &DueWebhook, name: String, about: About) -> Result<(), Error> {
        let id = self.ids.webhook_delivery(self.now);
        let delivery = WebhookDelivery::new(id, due.webhook, name, about, self.now);
        Ok(self.tx.webhook_delivery_insert(&due.scope, &delivery)?)
    }

    /// What a delivery says now; nothing where it is not wanted any more, or not now.
    fn put_together(&mut self, due: &DueWebhook, delivery: WebhookDelivery) -> Result<Option<Made>, Error> {
        let made = match delivery.about {
            About::Test => Some((delivery.created_at, Content::Test(due.webhook))),
            About::Event { session, seq } => {
                let event = self.tx.events(&due.scope, session, seq.saturating_sub(1), 1)?.pop();
                event.map(|event| (event.at, Content::Event(event)))
            }
            About::Answer { interaction, revision, lease } => {
                let Some(found) = self.answer_waiting(due, interaction, revision)? else {
                    return self.settled_as(due, delivery.drop_it(self.now));
                };
                let session = self.tx.session(&due.scope, found.origin.session)?;
                if session.is_some_and(|session| session.going_on().is_err()) {
                    let later = self.now.saturating_add(PAUSED).unwrap_or(self.now);
                    return self.settled_as(due, delivery.put_off(later));
                }
                let sealed = self.has_sealed(due, &found)?;
                let lease = (!sealed).then_some(lease);
                let at = found.resolved_at().unwrap_or(delivery.created_at);
                Some((at, Content::Answer { interaction: Box::new(found), lease }))
            }
        };
        match made {
            Some((at, content)) => Ok(Some((delivery, at, content))),
            None => self.settled_as(due, delivery.drop_it(self.now)),
        }
    }

    fn settled_as(&mut self, due: &DueWebhook, delivery: WebhookDelivery) -> Result<Option<Made>, Error> {
        self.tx.webhook_delivery_save(&due.scope, &delivery)?;
        Ok(None)
    }

    /// The question, if its answer still waits as it did when the delivery was made.
    pub(super) fn answer_waiting(
        &mut self,
        due: &DueWebhook,
        id: InteractionId,
        revision: u64,
    ) -> Result<Option<Interaction>, Error> {
        let found = self.tx.interaction(&due.scope, id)?;
        let waits = |found: &Interaction| {
            found.revision == revision && matches!(found.delivery(), Some(Delivery::Waiting { .. }))
        };
        Ok(found.filter(waits))
    }

    /// Whether something is sealed for a question: that is handed out by `take`, and by nothing else.
    pub(super) fn has_sealed(&mut self, due: &DueWebhook, interaction: &Interaction) -> Result<bool, Error> {
        let secret = interaction.question.kind == Kind::Secret;
        let values = secret && self.tx.sealed(&due.scope, interaction.id, SECRETS)?.is_some();
        Ok(values || self.tx.sealed(&due.scope, interaction.id, RESUME_POINT)?.is_some())
    }
}

/// Which events a webhook wants.
struct Wanted<'a> {
    types: Vec<Pattern>,
    agent: Option<&'a str>,
    session: Option<SessionId>,
    /// The agents of sessions that were looked up.
    agents: HashMap<SessionId, Option<String>>,
}

impl Wanted<'_> {
    fn wants(&mut self, work: &mut Work<'_>, due: &DueWebhook, event: &Event) -> Result<bool, Error> {
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
