//! Webhooks on the wire, and what their endpoints are sent.

use domain::webhook::Subject;
use domain::webhook::delivery::{Attempt, Progress};
use domain::{
    Actor, Interaction, LeaseId, SessionId, Timestamp, Webhook, WebhookDelivery, WebhookDeliveryId, WebhookId,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{InteractionView, example};

/// Makes a webhook.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "url": "https://hooks.example.com/holdpoint", "events": ["interaction.*"], "agent": "release-bot",
                           "description": "Tells the on-call channel" }))]
pub struct WebhookBody {
    /// Where messages are posted to: https, or http where the way is private.
    pub url: String,
    /// The types of events that are sent, with `*` and `?` as wildcards; all if absent.
    pub events: Option<Vec<String>>,
    /// Only of sessions of this agent.
    pub agent: Option<String>,
    /// Only of this session.
    #[schema(value_type = Option<String>)]
    pub session: Option<SessionId>,
    /// In place of events: the answers that wait for the agent whose key has this name.
    pub answers_of: Option<String>,
    /// What it is for, in a line.
    pub description: Option<String>,
    /// Whether anything is sent from the beginning; so if absent.
    pub enabled: Option<bool>,
}

impl WebhookBody {
    /// What it is about; `None` where it asks for answers and narrows down events.
    #[must_use]
    pub fn subject(&self) -> Option<Subject> {
        let narrowed = self.events.is_some() || self.agent.is_some() || self.session.is_some();
        match &self.answers_of {
            Some(_) if narrowed => None,
            Some(agent) => Some(Subject::Answers { agent: agent.clone() }),
            None => {
                let types = self.events.clone().unwrap_or_else(|| vec!["*".to_owned()]);
                Some(Subject::Events { types, agent: self.agent.clone(), session: self.session })
            }
        }
    }
}

/// Switches a webhook on or off.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "enabled": false, "reason": "the endpoint moves" }))]
pub struct WebhookEnabledBody {
    /// Whether messages are sent.
    pub enabled: bool,
    /// Why not.
    pub reason: Option<String>,
}

/// Makes a new secret.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "overlap_seconds": 3600 }))]
pub struct WebhookRotateBody {
    /// How long messages are signed with the old one too; a day if absent.
    #[schema(minimum = 0, maximum = 2_592_000)]
    pub overlap_seconds: Option<i64>,
}

/// A webhook without its secret.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::webhook)]
pub struct WebhookView {
    /// Its id.
    #[schema(value_type = String)]
    pub id: WebhookId,
    /// Where messages are posted to.
    pub url: String,
    /// The types of events that are sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<String>>,
    /// Only of sessions of this agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Only of this session.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub session: Option<SessionId>,
    /// In place of events: the agent whose answers are sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers_of: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Who made it.
    pub created_by: Actor,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// Whether messages are sent.
    pub enabled: bool,
    /// Since when not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub disabled_at: Option<Timestamp>,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled_reason: Option<String>,
    /// How many times in a row the endpoint has failed.
    pub failures: u32,
}

/// A webhook that was just made.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::webhook_created)]
pub struct WebhookCreatedView {
    /// What it is.
    #[serde(flatten)]
    pub webhook: WebhookView,
    /// What messages are signed with, shown this once: `whsec_` and base64, as the Standard Webhooks specification has it.
    pub secret: String,
}

/// A secret that was just made.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::webhook_rotated)]
pub struct WebhookRotatedView {
    /// What it is.
    #[serde(flatten)]
    pub webhook: WebhookView,
    /// What messages are signed with from now on, shown this once.
    pub secret: String,
    /// Until when they are signed with the old one too.
    #[schema(value_type = String, format = DateTime)]
    pub old_until: Timestamp,
}

/// A page of webhooks.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::webhooks)]
pub struct WebhooksPage {
    /// The newest first.
    pub webhooks: Vec<WebhookView>,
    /// Give it as `cursor` for the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// One attempt to deliver.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "at": "2026-11-15T10:00:01Z", "status": 503, "note": "try later", "millis": 12 }))]
pub struct WebhookAttemptView {
    /// When it began.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// The status that came back; absent if nothing did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The beginning of what came back, or why nothing did.
    pub note: String,
    /// How long it took, in milliseconds.
    pub millis: u64,
}

/// One message to an endpoint.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::webhook_delivery)]
pub struct WebhookDeliveryView {
    /// Its id, which the endpoint gets as `webhook-id` with every attempt.
    #[schema(value_type = String)]
    pub id: WebhookDeliveryId,
    /// To which endpoint.
    #[schema(value_type = String)]
    pub webhook: WebhookId,
    /// The type that it is sent as.
    #[serde(rename = "type")]
    pub name: String,
    /// `pending`, `delivered`, `dead`, or `dropped`: not wanted any more.
    pub state: String,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it is tried next.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub due_at: Option<Timestamp>,
    /// When it was settled.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub settled_at: Option<Timestamp>,
    /// Why it is dead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How often it was tried since it was made, or replayed.
    pub tries: u32,
    /// The last attempts, the oldest first.
    pub attempts: Vec<WebhookAttemptView>,
}

/// A page of messages.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::webhook_deliveries)]
pub struct WebhookDeliveriesPage {
    /// The newest first.
    pub deliveries: Vec<WebhookDeliveryView>,
    /// Give it as `cursor` for the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// What an endpoint is sent.
#[derive(Debug, Clone, Serialize)]
pub struct WebhookMessage {
    /// The type of the event, `answer.waiting`, or `webhook.test`.
    #[serde(rename = "type")]
    pub name: String,
    /// When that which it is about happened.
    pub timestamp: Timestamp,
    /// The event, or a [`WebhookAnswerView`].
    pub data: Value,
}

/// An answer that is sent to its agent.
#[derive(Debug, Clone, Serialize)]
pub struct WebhookAnswerView {
    /// The question with its resolution.
    pub interaction: InteractionView,
    /// Whether something is sealed for the agent. Then the answer is not taken by this message, but by `take`.
    pub sealed: bool,
    /// The lease under which an endpoint that replies 202 has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<LeaseId>,
}

impl WebhookAnswerView {
    /// A question whose answer waits, with the lease that it is offered under.
    #[must_use]
    pub fn new(interaction: Interaction, lease: Option<LeaseId>) -> Self {
        Self { interaction: interaction.into(), sealed: lease.is_none(), lease }
    }
}

impl From<Webhook> for WebhookView {
    fn from(webhook: Webhook) -> Self {
        let Webhook { id, url, subject, description, created_by, created_at, disabled, failures, .. } = webhook;
        let (events, agent, session, answers_of) = match subject {
            Subject::Events { types, agent, session } => (Some(types), agent, session, None),
            Subject::Answers { agent } => (None, None, None, Some(agent)),
        };
        let enabled = disabled.is_none();
        let (disabled_at, disabled_reason) = disabled.map(|disabled| (disabled.at, disabled.reason)).unzip();
        Self {
            id,
            url,
            events,
            agent,
            session,
            answers_of,
            description,
            created_by,
            created_at,
            enabled,
            disabled_at,
            disabled_reason,
            failures,
        }
    }
}

impl From<Attempt> for WebhookAttemptView {
    fn from(Attempt { at, status, note, millis }: Attempt) -> Self {
        Self { at, status, note, millis }
    }
}

impl From<WebhookDelivery> for WebhookDeliveryView {
    fn from(delivery: WebhookDelivery) -> Self {
        let WebhookDelivery { id, webhook, name, created_at, progress, tries, attempts, .. } = delivery;
        Self {
            id,
            webhook,
            name,
            state: progress.name().to_owned(),
            created_at,
            due_at: progress.due(),
            settled_at: progress.settled_at(),
            reason: match progress {
                Progress::Dead { reason, .. } => Some(reason),
                Progress::Pending { .. } | Progress::Delivered { .. } | Progress::Dropped { .. } => None,
            },
            tries,
            attempts: attempts.into_iter().map(Into::into).collect(),
        }
    }
}
