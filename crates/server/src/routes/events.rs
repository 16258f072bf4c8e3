//! Events: lists, and streams from a cursor.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use domain::{InteractionId, SessionId};
use http::HeaderMap;
use protocol::EventsPage;
use serde::Deserialize;
use store::Cursor;
use utoipa::IntoParams;

use crate::App;
use crate::caller::{Authenticated, StreamCaller};
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::{PathId, Query, event_number, limit, wait};
use crate::sse::{EventSource, stream};

/// Query of a list of events.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct EventsQuery {
    /// Only events with a greater number.
    after: Option<u64>,
    /// Only events about this question; cannot be combined with `wait`.
    interaction: Option<String>,
    /// Maximum number of entries; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
    /// Seconds to wait for an entry if there is none.
    #[param(maximum = 300)]
    wait: Option<u64>,
}

/// Lists the events of a session in order, or waits for the next event.
#[utoipa::path(get, path = "/v1/sessions/{session}/events", tag = "events",
    params(("session" = String, Path, description = "Identifier of the session, `ses_…`"), EventsQuery),
    responses((status = 200, description = "Page of events", body = EventsPage), Problems))]
pub(super) async fn event_list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(session): PathId<SessionId>,
    Query(query): Query<EventsQuery>,
) -> Result<Json<EventsPage>, ApiError> {
    let (most, wait, after) = (limit(query.limit)?, wait(query.wait)?, event_number(query.after)?);
    let about = query.interaction.map(|text| text.parse::<InteractionId>()).transpose();
    let about = about.map_err(|error| ApiError::QueryInvalid(format!("interaction: {error}")))?;
    let found = match about {
        Some(_) if !wait.is_zero() => {
            return Err(ApiError::QueryInvalid("wait: not together with `interaction`".into()));
        }
        Some(about) => app.engine.event_list_about(&caller, (session, about), after, most).await?,
        None => tokio::select! {
            biased;
            found = app.engine.event_list(&caller, session, after, most, wait) => found?,
            () = app.stops() => Vec::new(),
        },
    };
    app.engine.recheck_caller(&caller).await?;
    let next = found.last().map_or(after, |event| event.seq);
    Ok(Json(EventsPage { events: found.into_iter().map(Into::into).collect(), next }))
}

/// Query of a stream.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct StreamQuery {
    /// Number or cursor after which the stream starts; `Last-Event-ID` takes precedence.
    after: Option<String>,
    /// Ticket from `POST /v1/tickets`, in place of a key, for browsers. It opens one stream.
    #[expect(dead_code, reason = "the authentication extractor reads the ticket from the query")]
    ticket: Option<String>,
}

/// Streams the events of a session as server-sent events: `id` is the number, `event` the type.
#[utoipa::path(get, path = "/v1/sessions/{session}/events/stream", tag = "events",
    params(("session" = String, Path, description = "Identifier of the session, `ses_…`"), StreamQuery,
           ("Last-Event-ID" = Option<String>, Header, description = "Number of the last received event")),
    responses((status = 200, description = "The event stream", content_type = "text/event-stream", body = String,
               example = json!("id: 3\nevent: session.paused\ndata: {…}\n\n")), Problems))]
pub(super) async fn event_stream(
    State(app): State<App>,
    StreamCaller(caller): StreamCaller,
    PathId(session): PathId<SessionId>,
    Query(query): Query<StreamQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let after = begin(&headers, query)?.map_or(Ok(0), |text| session_place(&text))?;
    let follower = app.engine.session_follow(&caller, session, after).await?;
    stream(&app, caller, EventSource::Session(follower))
}

/// Streams the events of the project in commit order; without a cursor, only new events.
#[utoipa::path(get, path = "/v1/events/stream", tag = "events", params(StreamQuery,
           ("Last-Event-ID" = Option<String>, Header, description = "Cursor of the last received event")),
    responses((status = 200, description = "The event stream", content_type = "text/event-stream", body = String,
               example = json!("id: 0-17\nevent: session.paused\ndata: {…}\n\n")), Problems))]
pub(super) async fn project_stream(
    State(app): State<App>,
    StreamCaller(caller): StreamCaller,
    Query(query): Query<StreamQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let after = begin(&headers, query)?.map(|text| project_place(&text)).transpose()?;
    let follower = app.engine.project_follow(&caller, after).await?;
    stream(&app, caller, EventSource::Project(follower))
}

/// Parses the position in a session.
pub(crate) fn session_place(text: &str) -> Result<u64, ApiError> {
    let wrong = || ApiError::QueryInvalid("after or Last-Event-ID: not the number of an event".into());
    event_number(Some(text.parse().map_err(|_| wrong())?))
}

/// Parses the position in a project.
pub(crate) fn project_place(text: &str) -> Result<Cursor, ApiError> {
    let wrong = || ApiError::QueryInvalid("after or Last-Event-ID: not a cursor of this stream".into());
    let cursor: Cursor = text.parse().map_err(|()| wrong())?;
    event_number(Some(cursor.major.max(cursor.minor)))?;
    Ok(cursor)
}

fn begin(headers: &HeaderMap, query: StreamQuery) -> Result<Option<String>, ApiError> {
    match headers.get("last-event-id") {
        None => Ok(query.after),
        Some(value) => {
            let text = value.to_str().map_err(|_| ApiError::HeaderInvalid("Last-Event-ID cannot be read".into()))?;
            Ok(Some(text.to_owned()))
        }
    }
}
