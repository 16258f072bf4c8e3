//! Events: one numbered record for each change in a session, sent to everybody who watches.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{Actor, Answer, EventId, InteractionId, SessionId, StepId};

/// A recorded change in a session. Events of a session are numbered from 1 without gaps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Identifier of the event.
    pub id: EventId,
    /// Session in which the change happened.
    pub session: SessionId,
    /// Number of the event in its session.
    pub seq: u64,
    /// Dotted name of the event, such as `interaction.answered`.
    #[serde(rename = "type")]
    pub name: String,
    /// Time of the change.
    pub at: Timestamp,
    /// Step that the event concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
    /// Question that the event concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interaction: Option<InteractionId>,
    /// Payload of the event. Never contains a secret, form data or arguments; clients read those from the question.
    pub data: Value,
}

/// An event before the session has given it a number.
#[derive(Debug, Clone, PartialEq)]
pub struct EventDraft {
    /// Dotted name of the event, such as `interaction.answered`.
    pub name: &'static str,
    /// Payload that everybody who watches receives.
    pub data: Value,
    /// Data that only the audit trail records: arguments, form data and free text. Never a secret value.
    pub record: Value,
}

impl EventDraft {
    /// An event that an actor caused. Adds the actor to the payload as `by`.
    #[must_use]
    pub fn by(name: &'static str, actor: &Actor, mut data: Value) -> Self {
        data["by"] = json!(actor);
        Self::plain(name, data)
    }

    /// An event without an actor.
    #[must_use]
    pub const fn plain(name: &'static str, data: Value) -> Self {
        Self { name, data, record: Value::Null }
    }

    /// Marks the event as decided by the question `second`, to which the question had been handed over.
    #[must_use]
    pub fn through(mut self, second: InteractionId) -> Self {
        self.data["through"] = json!(second);
        self
    }

    /// Adds the data that only the audit trail records.
    #[must_use]
    pub fn recording(self, record: Value) -> Self {
        Self { record, ..self }
    }
}

/// Payload of an answer in an event: its effect and its options, never its data.
pub(crate) fn of_answer(answer: &Answer) -> Value {
    json!({ "effect": answer.effect, "options": answer.options })
}
