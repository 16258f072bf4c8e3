//! JSON views of events, and the pages that list them.

use domain::{Event, EventId, InteractionId, SessionId, StepId, Timestamp};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// An event of a session.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "evt_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a02", "seq": 2, "type": "interaction.asked", "at": "2026-11-15T10:00:00Z",
    "session": "ses_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a00", "step": "stp_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a00",
    "interaction": "int_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01", "data": { "kind": "confirmation", "title": "Delete the file?" }
}))]
pub struct EventView {
    /// Identifier of the event.
    #[schema(value_type = String)]
    pub id: EventId,
    /// Number of the event in the session, from 1 without gaps.
    pub seq: u64,
    /// Type of the event, a dotted name.
    #[serde(rename = "type")]
    pub name: String,
    /// Time of the event.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// Identifier of the session.
    #[schema(value_type = String)]
    pub session: SessionId,
    /// Identifier of the step that the event concerns.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub step: Option<StepId>,
    /// Identifier of the question that the event concerns.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub interaction: Option<InteractionId>,
    /// Details of the event.
    #[schema(value_type = Object)]
    pub data: Value,
}

/// A page of the events of a session.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "next": 1, "events": [{
    "id": "evt_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a02", "seq": 1, "type": "session.started", "at": "2026-11-15T10:00:00Z",
    "session": "ses_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a00", "data": { "agent": "release-bot" }
}] }))]
pub struct EventsPage {
    /// Events, in order of `seq`.
    pub events: Vec<EventView>,
    /// Value of `after` for the next request.
    pub next: u64,
}

impl From<Event> for EventView {
    fn from(Event { id, session, seq, name, at, step, interaction, data }: Event) -> Self {
        Self { id, seq, name, at, session, step, interaction, data }
    }
}
