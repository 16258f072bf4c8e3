//! The event stream of a session.

use axum::extract::State;
use axum::response::Response;
use axum::response::sse::{Event as Frame, KeepAlive};
use domain::{Caller, Event, SessionId};
use http::HeaderMap;
use serde_json::{Value, json};

use super::interaction::FlowInteractionView;
use super::names;
use super::read::status;
use server::App;
use server::handler::{
    ApiError, EventRenderer, EventSource, PathId, Problems, Rendered, StreamCaller, TicketQuery, event_number,
    stream_events,
};

/// Streams a session as server-sent events.
///
/// `humanInteractionRequired` and `humanInteractionStatusChanged` carry the question, `flow` everything else; `heartbeat` comes when
/// nothing happens.
#[utoipa::path(get, path = "/api/flows/{sessionId}/events/stream", tag = "flows-dialect",
    params(("sessionId" = String, Path, description = "Identifier of the session"), TicketQuery,
           ("Last-Event-ID" = Option<String>, Header, description = "Number of the last received event")),
    responses((status = 200, description = "The event stream", content_type = "text/event-stream", body = String,
               example = json!("id: 3\nevent: humanInteractionRequired\ndata: {…}\n\n")), Problems))]
pub(super) async fn flows_stream(
    State(app): State<App>,
    StreamCaller(caller): StreamCaller,
    PathId(session): PathId<SessionId>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let wrong = || ApiError::HeaderInvalid("Last-Event-ID is not the number of an event".into());
    let after = match headers.get("last-event-id") {
        None => 0,
        Some(value) => event_number(Some(value.to_str().ok().and_then(|text| text.parse().ok()).ok_or_else(wrong)?))?,
    };
    let follower = app.engine.session_follow(&caller, session, after).await?;
    stream_events(Flow(session), &app, caller, EventSource::Session(follower))
}

/// Renders the events of one session.
struct Flow(SessionId);

impl EventRenderer for Flow {
    async fn render(&mut self, app: &App, caller: &Caller, (_, event): (String, Event)) -> Result<Rendered, ApiError> {
        let frame = match event.kind().as_ref().and_then(names::stream_event) {
            Some(name) => self.question(app, caller, name, event).await?,
            None => self.flow(app, caller, event).await?,
        };
        Ok(Rendered { frames: vec![frame], last: false })
    }

    fn heartbeat() -> KeepAlive {
        KeepAlive::new().event(Frame::default().event("heartbeat").data("keep-alive"))
    }
}

impl Flow {
    async fn flow(&self, app: &App, caller: &Caller, event: Event) -> Result<Frame, ApiError> {
        let seq = event.seq;
        let shown = status(app, caller, self.0, (seq, vec![event])).await?;
        Ok(frame("flow", seq, &serde_json::to_value(shown).unwrap_or_default()))
    }

    /// Renders the current state of the question, so that a reader of old events does not take a closed question for an
    /// open one.
    async fn question(&self, app: &App, caller: &Caller, name: &str, event: Event) -> Result<Frame, ApiError> {
        let Some(id) = event.interaction else { return Ok(frame(name, event.seq, &event.data)) };
        let placed = app.engine.question(caller, self.0, id).await?;
        let mut shown = serde_json::to_value(FlowInteractionView::from(placed)).unwrap_or_default();
        shown["eventId"] = json!(event.seq);
        shown["eventType"] = json!(names::event(&event));
        shown["sessionId"] = json!(self.0.uuid());
        Ok(frame(name, event.seq, &shown))
    }
}

fn frame(name: &str, seq: u64, data: &Value) -> Frame {
    Frame::default().id(seq.to_string()).event(name).data(data.to_string())
}
