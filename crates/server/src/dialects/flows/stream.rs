//! A session is followed as server-sent events.

use axum::extract::State;
use axum::response::Response;
use axum::response::sse::{Event as Frame, KeepAlive};
use domain::{Caller, Event, SessionId};
use http::HeaderMap;
use serde_json::{Value, json};

use super::item::FlowInteractionView;
use super::reading::status;
use super::words;
use crate::App;
use crate::caller::Who;
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::{Id, number};
use crate::sse::{HEARTBEAT, Shows, Source, stream_as};

/// Streams a session as server-sent events.
///
/// `humanInteractionRequired` and `humanInteractionStatusChanged` carry the question, `flow` everything else; `heartbeat` comes when
/// nothing happens.
#[utoipa::path(get, path = "/api/flows/{sessionId}/events/stream", tag = "wires",
    params(("sessionId" = String, Path, description = "The session"),
           ("Last-Event-ID" = Option<String>, Header, description = "The last number seen")),
    responses((status = 200, description = "Events", content_type = "text/event-stream", body = String,
               example = json!("id: 3\nevent: humanInteractionRequired\ndata: {…}\n\n")), Problems))]
pub(super) async fn flows_stream(
    State(app): State<App>,
    Who(caller): Who,
    Id(session): Id<SessionId>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let wrong = || ApiError::HeaderInvalid("Last-Event-ID is not the number of an event".into());
    let after = match headers.get("last-event-id") {
        None => 0,
        Some(value) => number(Some(value.to_str().ok().and_then(|text| text.parse().ok()).ok_or_else(wrong)?))?,
    };
    let follower = app.engine.follow(&caller, session, after).await?;
    stream_as(&app, caller, Source::Session(follower), Flow(session))
}

/// The session that is shown.
struct Flow(SessionId);

impl Shows for Flow {
    async fn frames(&self, app: &App, caller: &Caller, events: Vec<(String, Event)>) -> Result<Vec<Frame>, ApiError> {
        let (mut frames, mut plain) = (Vec::new(), Vec::new());
        for (_, event) in events {
            let Some(name) = words::streamed(&event.name) else {
                plain.push(event);
                continue;
            };
            // What came before it goes out before it: each number is passed once, in order.
            frames.extend(self.flow(app, caller, std::mem::take(&mut plain)).await?);
            frames.push(self.question(app, caller, name, event).await?);
        }
        frames.extend(self.flow(app, caller, plain).await?);
        Ok(frames)
    }

    fn heartbeat() -> KeepAlive {
        KeepAlive::new().interval(HEARTBEAT).event(Frame::default().event("heartbeat").data("keep-alive"))
    }
}

impl Flow {
    async fn flow(&self, app: &App, caller: &Caller, events: Vec<Event>) -> Result<Option<Frame>, ApiError> {
        let Some(last) = events.last().map(|event| event.seq) else { return Ok(None) };
        let shown = status(app, caller, self.0, (last, events)).await?;
        Ok(Some(framed("flow", last, &serde_json::to_value(shown).unwrap_or_default())))
    }

    /// The question is shown as it is now: whoever reads old events is not told that it is open when it is not.
    async fn question(&self, app: &App, caller: &Caller, name: &str, event: Event) -> Result<Frame, ApiError> {
        let Some(id) = event.interaction else { return Ok(framed(name, event.seq, &event.data)) };
        let placed = app.engine.question(caller, self.0, id).await?;
        let mut shown = serde_json::to_value(FlowInteractionView::from(placed)).unwrap_or_default();
        shown["eventId"] = json!(event.seq);
        shown["eventType"] = json!(words::event(&event.name));
        shown["sessionId"] = json!(self.0.uuid());
        Ok(framed(name, event.seq, &shown))
    }
}

fn framed(name: &str, seq: u64, data: &Value) -> Frame {
    Frame::default().id(seq.to_string()).event(name).data(data.to_string())
}
