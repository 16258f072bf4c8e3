//! What is said on the WebSocket of `/v1`, and the tickets that open it.

use std::collections::BTreeMap;

use domain::{SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{EventView, ProblemBody};

/// What opens one stream or socket.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "ticket": "hpt_0199c7a46a107cc2b0de7b7c3a3c0a01_5f2b…", "expires_at": "2026-11-15T10:00:30Z" }))]
pub struct TicketView {
    /// Sent as `?ticket=`, once.
    pub ticket: String,
    /// From when on it is refused.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

/// Wants to be told what happens in a session, or in the whole project.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "session": "ses_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a00", "after": 2 }))]
pub struct SubscribeBody {
    /// The session; the whole project if absent.
    #[schema(value_type = Option<String>)]
    pub session: Option<SessionId>,
    /// The cursor of the last event seen. If absent: a session from its first event, a project from now on.
    pub after: Option<EventCursor>,
}

/// A cursor: the number of a session's event, or a text.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(untagged)]
#[schema(as = Place)]
pub enum EventCursor {
    /// The number of an event in its session.
    Number(u64),
    /// The same as text, or a cursor of the project.
    Text(String),
}

impl EventCursor {
    /// As text.
    #[must_use]
    pub fn into_text(self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text,
        }
    }
}

/// Wants to be told no more.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "subscription": "1" }))]
pub struct UnsubscribeBody {
    /// The `id` of the `subscribe`.
    pub subscription: String,
}

/// What the server says on the socket.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SocketMessage {
    /// What was asked for was done.
    Result(SocketResult),
    /// It was not.
    Error(SocketError),
    /// Something happened.
    Event(Box<SocketEvent>),
    /// The server ends the socket.
    Closing(SocketClosing),
}

/// What came of a request.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "id": "1", "status": 200, "result": { "subscription": "1" } }))]
pub struct SocketResult {
    /// The `id` of the request.
    #[schema(value_type = Option<String>)]
    pub id: Option<String>,
    /// The status that HTTP would have.
    pub status: u16,
    /// The body that HTTP would have.
    #[schema(value_type = Object)]
    pub result: Value,
}

/// Why a request was not carried out. The socket stays.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "id": "2", "status": 404, "problem": {
    "type": "urn:holdpoint:problem:not_found", "title": "there is no such session", "status": 404, "code": "not_found"
} }))]
pub struct SocketError {
    /// The `id` of the request, where it could be read.
    #[schema(value_type = Option<String>)]
    pub id: Option<String>,
    /// The status that HTTP would have.
    pub status: u16,
    /// The body that HTTP would have.
    pub problem: ProblemBody,
}

/// Something happened.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "subscription": "1", "cursor": "2", "event": {
    "id": "evt_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a02", "seq": 2, "type": "interaction.asked", "at": "2026-11-15T10:00:00Z",
    "session": "ses_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a00", "interaction": "int_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01",
    "data": { "kind": "confirmation", "title": "Delete the file?" }
} }))]
pub struct SocketEvent {
    /// The `id` of the `subscribe` that it belongs to.
    pub subscription: String,
    /// Give it as `after` to go on from here.
    pub cursor: String,
    /// What happened.
    pub event: EventView,
}

/// The server ends the socket; the frame that closes it follows.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "reason": "stopping", "cursors": { "1": "17" } }))]
pub struct SocketClosing {
    /// `stopping`, `interrupted` or `unauthenticated`. After the first two connect again.
    pub reason: &'static str,
    /// Where each subscription is: give it as `after`.
    pub cursors: BTreeMap<String, String>,
}
