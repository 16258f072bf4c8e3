//! Events: one numbered record for each change in a session, sent to everybody who watches.
//!
//! [`EventKind`] lists all kinds of events with their payloads. A transition returns an [`EventDraft`]; the session numbers it, which gives
//! an [`Event`]. Events are stored and sent as a dotted name with JSON, and [`Event::kind`] reads them back.

mod kind;
mod payload;

pub(crate) use kind::kinds;
pub use kind::{EventKind, SessionChange};
pub use payload::*;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::audit::AuditDetails;
use crate::{Actor, EventId, InteractionId, SessionId, StepId};

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

impl Event {
    /// Kind of the event with its payload. `None` if a later version wrote an event that this one does not know.
    #[must_use]
    pub fn kind(&self) -> Option<EventKind> {
        EventKind::read(&self.name, &self.data)
    }

    /// Actor who caused the event, if one did.
    #[must_use]
    pub fn by(&self) -> Option<Actor> {
        Actor::deserialize(self.data.get("by")?).ok()
    }
}

/// An event before the session has given it a number.
#[derive(Debug, Clone, PartialEq)]
pub struct EventDraft {
    /// Kind of the event with its payload.
    pub kind: EventKind,
    /// Actor who caused the event, if one did.
    pub by: Option<Actor>,
    /// Question whose answer closed this one, if this one was handed over.
    pub through: Option<InteractionId>,
    /// Data that only the audit trail records: arguments, form data and free text. Never a secret value.
    pub details: Option<AuditDetails>,
}

impl EventDraft {
    /// An event that an actor caused.
    #[must_use]
    pub fn by(actor: &Actor, kind: EventKind) -> Self {
        Self { by: Some(actor.clone()), ..Self::plain(kind) }
    }

    /// An event without an actor.
    #[must_use]
    pub const fn plain(kind: EventKind) -> Self {
        Self { kind, by: None, through: None, details: None }
    }

    /// Marks the event as decided by the question `second`, to which the question had been handed over.
    #[must_use]
    pub fn through(self, second: InteractionId) -> Self {
        Self { through: Some(second), ..self }
    }

    /// Adds the data that only the audit trail records.
    #[must_use]
    pub fn recording(self, details: AuditDetails) -> Self {
        Self { details: Some(details), ..self }
    }

    /// Returns the payload as it is stored and sent: the payload of the kind, with the actor as `by` and the deciding question as `through`.
    #[must_use]
    pub fn data(&self) -> Value {
        let mut data = self.audit_data();
        if let Some(by) = &self.by {
            data["by"] = json!(by);
        }
        data
    }

    /// Payload as the audit trail records it, which names the actor elsewhere.
    pub(crate) fn audit_data(&self) -> Value {
        let mut data = self.kind.data();
        if let Some(second) = self.through {
            data["through"] = json!(second);
        }
        data
    }
}
