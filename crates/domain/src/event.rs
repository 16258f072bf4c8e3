//! What everybody else is told: one numbered event for each thing that happened.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{Actor, Answer, EventId, InteractionId, SessionId, StepId};

/// Something that happened in a session, numbered without gaps from 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Its id.
    pub id: EventId,
    /// The session it happened in.
    pub session: SessionId,
    /// Its number there.
    pub seq: u64,
    /// What happened, as a dotted name.
    #[serde(rename = "type")]
    pub name: String,
    /// When.
    pub at: Timestamp,
    /// The step that it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
    /// The question that it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interaction: Option<InteractionId>,
    /// The particulars. Never a secret, a form or an argument: those are read from the question itself.
    pub data: Value,
}

/// The name and the particulars of something that happened, before it has a number.
#[derive(Debug, Clone, PartialEq)]
pub struct EventDraft {
    /// A dotted name, `interaction.answered`.
    pub name: &'static str,
    /// The particulars that everybody is told.
    pub data: Value,
    /// The particulars that only the audit trail keeps: arguments, forms, what was said. Never a secret value.
    pub record: Value,
}

impl EventDraft {
    /// Something that somebody did.
    #[must_use]
    pub fn by(name: &'static str, actor: &Actor, mut data: Value) -> Self {
        data["by"] = json!(actor);
        Self::plain(name, data)
    }

    /// Something that nobody in particular did.
    #[must_use]
    pub const fn plain(name: &'static str, data: Value) -> Self {
        Self { name, data, record: Value::Null }
    }

    /// The same, decided where the question had been handed over to.
    #[must_use]
    pub fn through(mut self, second: InteractionId) -> Self {
        self.data["through"] = json!(second);
        self
    }

    /// The same, with what only the audit trail keeps.
    #[must_use]
    pub fn recording(self, record: Value) -> Self {
        Self { record, ..self }
    }
}

/// What an event says of an answer: who and which way, never what was filled in.
pub(crate) fn of_answer(answer: &Answer) -> Value {
    json!({ "effect": answer.effect, "options": answer.options })
}
