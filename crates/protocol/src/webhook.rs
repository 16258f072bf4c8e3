//! Request bodies and views of webhooks, and the messages that their endpoints receive.

use domain::webhook::Subject;
use domain::webhook::delivery::{Attempt, Progress};
use domain::{
    Actor, Interaction, LeaseId, SessionId, Timestamp, Webhook, WebhookDelivery, WebhookDeliveryId, WebhookId,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{InteractionView, example};

/// Request to create a webhook.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "url": "https://hooks.example.com/holdpoint", "events": ["interaction.*"], "agent": "release-bot",
                           "description": "Tells the on-call channel" }))]
pub struct WebhookBody {
    /// URL to which messages are posted: `https`, or `http` on a private network.
    pub url: String,
    /// Types of the events to send, with `*` and `?` as wildcards; all events if absent.
    pub events: Option<Vec<String>>,
    /// Name of an agent. Only events of its sessions are sent.
    pub agent: Option<String>,
    /// Identifier of a session. Only its events are sent.
    #[schema(value_type = Option<String>)]
    pub session: Option<SessionId>,
    /// Name of the key of an agent. The webhook then sends the answers that wait for this agent instead of events.
    pub answers_of: Option<String>,
    /// Purpose of the webhook in one line.
    pub description: Option<String>,
    /// Whether the webhook is enabled after its creation; `true` if absent.
    pub enabled: Option<bool>,
}

impl WebhookBody {
    /// Subject of the webhook. `None` if the body combines `answers_of` with a filter for events.
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

/// Request to enable or disable a webhook.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "enabled": false, "reason": "the endpoint moves" }))]
pub struct WebhookEnabledBody {
    /// Whether messages are sent.
    pub enabled: bool,
    /// Reason for disabling the webhook.
    pub reason: Option<String>,
}

/// Request to rotate the secret of a webhook.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "overlap_seconds": 3600 }))]
pub struct WebhookRotateBody {
    /// Time in seconds for which messages are also signed with the old secret; one day if absent.
    #[schema(minimum = 0, maximum = 2_592_000)]
    pub overlap_seconds: Option<i64>,
}

/// A webhook, without its secret.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::webhook)]
pub struct WebhookView {
    /// Identifier of the webhook.
    #[schema(value_type = String)]
    pub id: WebhookId,
    /// URL to which messages are posted.
    pub url: String,
    /// Types of the events that are sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<String>>,
    /// Name of the agent to whose sessions the events are limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Identifier of the session to which the events are limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub session: Option<SessionId>,
    /// Name of the agent whose answers are sent instead of events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers_of: Option<String>,
    /// Purpose of the webhook.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Actor that created the webhook.
    pub created_by: Actor,
    /// Time at which the webhook was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// Whether messages are sent.
    pub enabled: bool,
    /// Time at which the webhook was disabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub disabled_at: Option<Timestamp>,
    /// Reason why the webhook is disabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled_reason: Option<String>,
    /// Number of consecutive failures of the endpoint.
    pub failures: u32,
}

/// A new webhook with its secret.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::webhook_created)]
pub struct WebhookCreatedView {
    /// Webhook that was created.
    #[serde(flatten)]
    pub webhook: WebhookView,
    /// Secret that signs the messages, shown only in this reply: `whsec_` and base64, according to the Standard Webhooks specification.
    pub secret: String,
}

/// A webhook with its new secret.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::webhook_rotated)]
pub struct WebhookRotatedView {
    /// Webhook whose secret was replaced.
    #[serde(flatten)]
    pub webhook: WebhookView,
    /// Secret that signs the messages from now on, shown only in this reply.
    pub secret: String,
    /// Time until which messages are also signed with the old secret.
    #[schema(value_type = String, format = DateTime)]
    pub old_until: Timestamp,
}

/// A page of webhooks.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::webhooks)]
pub struct WebhooksPage {
    /// Webhooks of the page, newest first.
    pub webhooks: Vec<WebhookView>,
    /// Cursor of the next page, to be sent as `cursor`; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// One attempt to deliver a message.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "at": "2026-11-15T10:00:01Z", "status": 503, "note": "try later", "millis": 12 }))]
pub struct WebhookAttemptView {
    /// Time at which the attempt began.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// HTTP status of the response; absent if there was no response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Beginning of the response body, or the reason why there was no response.
    pub note: String,
    /// Duration of the attempt in milliseconds.
    pub millis: u64,
}

/// A webhook delivery: one message to an endpoint.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::webhook_delivery)]
pub struct WebhookDeliveryView {
    /// Identifier of the delivery. Every attempt sends it in the header `webhook-id`.
    #[schema(value_type = String)]
    pub id: WebhookDeliveryId,
    /// Identifier of the webhook.
    #[schema(value_type = String)]
    pub webhook: WebhookId,
    /// Type of the message.
    #[serde(rename = "type")]
    pub name: String,
    /// State of the delivery: `pending`, `delivered`, `dead`, or `dropped` if the message is no longer needed.
    pub state: String,
    /// Time at which the delivery was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// Time of the next attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub due_at: Option<Timestamp>,
    /// Time at which the delivery was settled.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub settled_at: Option<Timestamp>,
    /// Reason, if the delivery is dead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Number of attempts since the delivery was created or replayed.
    pub tries: u32,
    /// The latest attempts, oldest first.
    pub attempts: Vec<WebhookAttemptView>,
}

/// A page of webhook deliveries.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::webhook_deliveries)]
pub struct WebhookDeliveriesPage {
    /// Deliveries of the page, newest first.
    pub deliveries: Vec<WebhookDeliveryView>,
    /// Cursor of the next page, to be sent as `cursor`; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Message that an endpoint receives.
#[derive(Debug, Clone, Serialize)]
pub struct WebhookMessage {
    /// Type of the event, `answer.waiting` or `webhook.test`.
    #[serde(rename = "type")]
    pub name: String,
    /// Time of the event or answer.
    pub timestamp: Timestamp,
    /// The event, or a `WebhookAnswerView`.
    pub data: Value,
}

/// Content of a message that sends an answer to its agent.
#[derive(Debug, Clone, Serialize)]
pub struct WebhookAnswerView {
    /// The question with its resolution.
    pub interaction: InteractionView,
    /// Whether the answer contains sealed data. Such an answer is not taken by this message; the agent must call `take`.
    pub sealed: bool,
    /// Lease under which an endpoint that responds with 202 holds the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<LeaseId>,
}

impl WebhookAnswerView {
    /// Builds the message for a waiting answer. `lease` is the lease under which the answer is offered.
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
            state: progress.state().name().to_owned(),
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
