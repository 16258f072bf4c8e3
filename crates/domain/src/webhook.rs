//! Webhooks: a subscription of a project, and where it stands with its endpoint.
//!
//! What is sent, and what became of it, is in [`delivery`]; where nothing is sent to, in [`address`].

pub mod address;
pub mod delivery;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{Actor, EventDraft, Refusal, Scope, SessionId, WebhookId};

/// How many subscriptions a project may have.
pub const MOST: u64 = 2000;
/// How long an endpoint rests after its first failure; twice as long after each further one.
const REST: i64 = 5;
/// The longest rest, in seconds.
const LONGEST_REST: i64 = 600;

/// A subscription: what is sent, and to where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    /// Its id.
    pub id: WebhookId,
    /// Whose events.
    pub scope: Scope,
    /// Where they are sent.
    pub url: String,
    /// Which.
    pub subject: Subject,
    /// What it is for, in a line.
    pub description: Option<String>,
    /// Who made it.
    pub created_by: Actor,
    /// When.
    pub created_at: Timestamp,
    /// Since when, and why, nothing is sent.
    pub disabled: Option<Disabled>,
    /// How many times in a row its endpoint has failed.
    pub failures: u32,
}

/// What a subscription is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// Events of the project.
    Events {
        /// Of these types; `*` and `?` stand for what they usually do.
        types: Vec<String>,
        /// Of sessions of this agent.
        agent: Option<String>,
        /// Of this session.
        session: Option<SessionId>,
    },
    /// Answers that wait for the agent that asks under this name.
    Answers {
        /// The agent.
        agent: String,
    },
}

/// Why nothing is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disabled {
    /// Since when.
    pub at: Timestamp,
    /// Why.
    pub reason: String,
}

impl Webhook {
    /// Whether anything is sent.
    #[must_use]
    pub const fn enabled(&self) -> bool {
        self.disabled.is_none()
    }

    /// Refuses if nothing is sent.
    pub fn sends(&self) -> Result<(), Refusal> {
        if self.enabled() { Ok(()) } else { Err(Refusal::WebhookDisabled(self.id)) }
    }

    /// Stops sending. Nothing is forgotten.
    #[must_use]
    pub fn disable(self, by: &Actor, reason: String, now: Timestamp) -> (Self, EventDraft) {
        let told = EventDraft::by("webhook.disabled", by, json!({ "webhook": self.id, "reason": reason }));
        (Self { disabled: Some(Disabled { at: now, reason }), ..self }, told)
    }

    /// Sends again, from where it stopped.
    #[must_use]
    pub fn enable(self, by: &Actor) -> (Self, EventDraft) {
        let told = EventDraft::by("webhook.enabled", by, json!({ "webhook": self.id }));
        (Self { disabled: None, failures: 0, ..self }, told)
    }

    /// Its endpoint has taken something.
    #[must_use]
    pub fn succeeded(self) -> Self {
        Self { failures: 0, ..self }
    }

    /// Its endpoint has not taken what it was sent.
    #[must_use]
    pub fn failed(self) -> Self {
        Self { failures: self.failures.saturating_add(1), ..self }
    }

    /// Until when its endpoint is left alone after a failure. One that is down costs one attempt now and then, however much there
    /// is to send.
    #[must_use]
    pub fn rests_until(&self, now: Timestamp) -> Timestamp {
        let doublings = self.failures.saturating_sub(1).min(16);
        let rest = (REST << doublings).min(LONGEST_REST);
        now.saturating_add(SignedDuration::from_secs(rest)).unwrap_or(now)
    }
}
