//! Messages of the WebSocket under `/v1`, and the tickets that open it.

use std::collections::BTreeMap;

use domain::{SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{EventView, ProblemBody};

/// Ticket that opens one event stream or WebSocket.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "ticket": "hpt_0199c7a46a107cc2b0de7b7c3a3c0a01_5f2b…", "expires_at": "2026-11-15T10:00:30Z" }))]
pub struct TicketView {
    /// The ticket, to be sent once as `?ticket=`.
    pub ticket: String,
    /// Time at which the ticket expires.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

/// Request to subscribe to the events of a session or of the whole project.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "session": "ses_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a00", "after": 2 }))]
pub struct SubscribeBody {
    /// Identifier of the session; the whole project if absent.
    #[schema(value_type = Option<String>)]
    pub session: Option<SessionId>,
    /// Cursor of the last event that the client has seen. If absent, a session starts at its first event and a project at the present.
    pub after: Option<EventCursor>,
}

/// Cursor of an event: a number within a session, or a string.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(untagged)]
#[schema(as = Place)]
pub enum EventCursor {
    /// Number of an event in its session.
    Number(u64),
    /// Number of an event as a string, or a cursor of the project.
    Text(String),
}

impl EventCursor {
    /// Converts the cursor to a string.
    #[must_use]
    pub fn into_text(self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text,
        }
    }
}

/// Request to end a subscription.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "subscription": "1" }))]
pub struct UnsubscribeBody {
    /// The `id` of the `subscribe` request.
    pub subscription: String,
}

/// Message from the server on the WebSocket.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SocketMessage {
    /// Result of a successful request.
    Result(SocketResult),
    /// Error of a refused request.
    Error(SocketError),
    /// Event of a subscription.
    Event(Box<SocketEvent>),
    /// Announcement that the server closes the WebSocket.
    Closing(SocketClosing),
}

/// Result of a successful request.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "id": "1", "status": 200, "result": { "subscription": "1" } }))]
pub struct SocketResult {
    /// The `id` of the request.
    #[schema(value_type = Option<String>)]
    pub id: Option<String>,
    /// Status that the HTTP API would return.
    pub status: u16,
    /// Body that the HTTP API would return.
    #[schema(value_type = Object)]
    pub result: Value,
}

/// Error of a refused request. The WebSocket stays open.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "id": "2", "status": 404, "problem": {
    "type": "urn:holdpoint:problem:not_found", "title": "there is no such session", "status": 404, "code": "not_found"
} }))]
pub struct SocketError {
    /// The `id` of the request; absent if it could not be read.
    #[schema(value_type = Option<String>)]
    pub id: Option<String>,
    /// Status that the HTTP API would return.
    pub status: u16,
    /// Body that the HTTP API would return.
    pub problem: ProblemBody,
}

/// Event of a subscription.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "subscription": "1", "cursor": "2", "event": {
    "id": "evt_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a02", "seq": 2, "type": "interaction.asked", "at": "2026-11-15T10:00:00Z",
    "session": "ses_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a00", "interaction": "int_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01",
    "data": { "kind": "confirmation", "title": "Delete the file?" }
} }))]
pub struct SocketEvent {
    /// The `id` of the `subscribe` request.
    pub subscription: String,
    /// Cursor of this event, to be sent as `after` to continue from here.
    pub cursor: String,
    /// Event, as the HTTP API shows it.
    pub event: EventView,
}

/// Announcement that the server closes the WebSocket. The close frame follows.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "reason": "stopping", "cursors": { "1": "17" } }))]
pub struct SocketClosing {
    /// Reason: `stopping`, `interrupted` or `unauthenticated`. After `stopping` and `interrupted` the client should connect again.
    pub reason: &'static str,
    /// Cursor of each subscription, to be sent as `after` in the next connection.
    pub cursors: BTreeMap<String, String>,
}
