//! Webhooks: subscriptions of a project, and the state of their endpoints.
//!
//! [`delivery`] contains the messages and their state; [`address`] decides to which addresses messages may be sent.

pub mod address;
pub mod delivery;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::audit::kind::{WebhookDisabled, WebhookNamed};
use crate::{Actor, AuditDraft, AuditKind, Refusal, Scope, SessionId, WebhookId};

/// Largest number of webhooks of a project.
pub const MOST: u64 = 2000;
/// Pause of an endpoint in seconds after its first failure. It doubles after each further failure.
const REST: i64 = 5;
/// Longest pause in seconds.
const LONGEST_REST: i64 = 600;

/// A webhook: the subject of its messages and the URL of its endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    /// Identifier of the webhook.
    pub id: WebhookId,
    /// Tenant and project whose events are sent.
    pub scope: Scope,
    /// URL of the endpoint.
    pub url: String,
    /// Subject of the messages.
    pub subject: Subject,
    /// Purpose of the webhook in one line.
    pub description: Option<String>,
    /// Actor that created the webhook.
    pub created_by: Actor,
    /// Time at which the webhook was created.
    pub created_at: Timestamp,
    /// Time and reason, if the webhook is disabled.
    pub disabled: Option<Disabled>,
    /// Number of consecutive failures of the endpoint.
    pub failures: u32,
}

/// Subject of a webhook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// Events of the project.
    Events {
        /// Types of the events, with `*` and `?` as wildcards.
        types: Vec<String>,
        /// Agent to whose sessions the events are limited.
        agent: Option<String>,
        /// Session to which the events are limited.
        session: Option<SessionId>,
    },
    /// Answers that wait for one agent.
    Answers {
        /// Name under which the agent asks.
        agent: String,
    },
}

/// Time and reason of disabling.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disabled {
    /// Time at which the webhook was disabled.
    pub at: Timestamp,
    /// Reason why the webhook was disabled.
    pub reason: String,
}

impl Webhook {
    /// Whether messages are sent.
    #[must_use]
    pub const fn is_enabled(&self) -> bool {
        self.disabled.is_none()
    }

    /// Refuses if the webhook is disabled.
    pub fn require_enabled(&self) -> Result<(), Refusal> {
        if self.is_enabled() { Ok(()) } else { Err(Refusal::WebhookDisabled(self.id)) }
    }

    /// Disables the webhook. Its pending messages are kept.
    #[must_use]
    pub fn disable(self, by: &Actor, reason: String, now: Timestamp) -> (Self, AuditDraft) {
        let disabled = WebhookDisabled { webhook: self.id, reason: reason.clone() };
        let draft = AuditDraft::by(by, AuditKind::WebhookDisabled(disabled));
        (Self { disabled: Some(Disabled { at: now, reason }), ..self }, draft)
    }

    /// Enables the webhook. It continues with the first message that was not sent.
    #[must_use]
    pub fn enable(self, by: &Actor) -> (Self, AuditDraft) {
        let draft = AuditDraft::by(by, AuditKind::WebhookEnabled(WebhookNamed { webhook: self.id }));
        (Self { disabled: None, failures: 0, ..self }, draft)
    }

    /// Records that the endpoint accepted a message.
    #[must_use]
    pub fn record_success(self) -> Self {
        Self { failures: 0, ..self }
    }

    /// Records that the endpoint did not accept a message.
    #[must_use]
    pub fn record_failure(self) -> Self {
        Self { failures: self.failures.saturating_add(1), ..self }
    }

    /// Time until which no message is sent after a failure. An endpoint that is down costs only an occasional attempt, regardless of the
    /// number of messages.
    #[must_use]
    pub fn rests_until(&self, now: Timestamp) -> Timestamp {
        let doublings = self.failures.saturating_sub(1).min(16);
        let rest = (REST << doublings).min(LONGEST_REST);
        now.saturating_add(SignedDuration::from_secs(rest)).unwrap_or(now)
    }
}
