//! Operations that read a session and its questions, and the long poll.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use domain::{Caller, Event, SessionId};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::example;
use super::interaction::FlowInteractionView;
use super::status::{FlowStatusView, StateView};
use server::App;
use server::handler::{ApiError, Authenticated, LONGEST_WAIT, PathId, Problems, Query, cursor, page};

/// Default page size of the history.
const PAGE: u32 = 20;
/// Maximum number of events in one reply.
const MOST_EVENTS: u32 = 200;
/// Default time that a poll waits.
const WAIT: Duration = Duration::from_secs(25);

/// Query of the list of questions.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct HistoryQuery {
    /// Value of `nextCursor` from the previous page.
    cursor: Option<String>,
    /// Value of `nextActiveCursor` from the previous page.
    #[serde(rename = "activeCursor")]
    active_cursor: Option<String>,
    /// Maximum number of closed questions; 20 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// Questions of a session.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = example::interactions)]
pub(super) struct FlowInteractionsView {
    /// Open questions, oldest first: at most 200, and about 4 MiB.
    active: Vec<FlowInteractionView>,
    /// Value of `activeCursor` for the next page of open questions; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_active_cursor: Option<String>,
    /// A page of closed questions, newest first.
    history: Vec<FlowInteractionView>,
    /// Value of `cursor` for older questions; null on the last page.
    next_cursor: Option<String>,
}

/// Lists the open questions of a session and a page of its closed questions.
#[utoipa::path(get, path = "/api/flows/{sessionId}/interactions", tag = "flows-dialect",
    params(("sessionId" = String, Path, description = "Identifier of the session"), HistoryQuery),
    responses((status = 200, description = "Open questions, and a page of closed ones", body = FlowInteractionsView), Problems))]
pub(super) async fn flows_interactions(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(session): PathId<SessionId>,
    Query(query): Query<HistoryQuery>,
) -> Result<Json<FlowInteractionsView>, ApiError> {
    let page = page(query.cursor.as_deref(), query.limit.or(Some(PAGE)))?;
    let open_after = cursor(query.active_cursor.as_deref())?;
    let found = app.engine.questions(&caller, session, open_after, page).await?;
    Ok(Json(FlowInteractionsView {
        active: found.open.into_iter().map(Into::into).collect(),
        next_active_cursor: found.open_next.map(|id| id.uuid().to_string()),
        history: found.closed.into_iter().map(Into::into).collect(),
        next_cursor: found.next.map(|id| id.uuid().to_string()),
    }))
}

/// Query of the long poll.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct PollQuery {
    /// Only events with a greater number are returned.
    since_event_id: Option<u64>,
    /// State version that the client knows. If the current one differs, the reply comes at once.
    state_version: Option<u64>,
    /// Maximum time to wait in milliseconds; 25,000 if absent. A value below 100 counts as seconds.
    #[param(maximum = 300_000)]
    timeout: Option<u64>,
}

impl PollQuery {
    fn wait(&self) -> Result<Duration, ApiError> {
        let wait = match self.timeout {
            None => WAIT,
            Some(seconds @ 0..100) => Duration::from_secs(seconds),
            Some(milliseconds) => Duration::from_millis(milliseconds),
        };
        if wait > Duration::from_secs(LONGEST_WAIT) {
            return Err(ApiError::QueryInvalid(format!("timeout: at most {LONGEST_WAIT} seconds")));
        }
        Ok(wait)
    }

    fn since(&self) -> Result<u64, ApiError> {
        let since = self.since_event_id.unwrap_or(0);
        match i64::try_from(since) {
            Ok(_) => Ok(since),
            Err(_) => Err(ApiError::QueryInvalid("sinceEventId: not the number of an event".into())),
        }
    }
}

/// Waits for the next event of a session and returns the session with its new events.
#[utoipa::path(get, path = "/api/flows/{sessionId}", tag = "flows-dialect",
    params(("sessionId" = String, Path, description = "Identifier of the session"), PollQuery),
    responses((status = 200, description = "New events, or the session has ended", body = FlowStatusView),
              (status = 204, description = "No event within the timeout"), Problems))]
pub(super) async fn flows_poll(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<SessionId>,
    Query(query): Query<PollQuery>,
) -> Result<Response, ApiError> {
    let (since, wait) = (query.since()?, query.wait()?);
    let (session, ..) = app.engine.session(&caller, id).await?;
    // The session has ended, or it has changed since the version that the client knows.
    let told = session.ended.is_some() || query.state_version.is_some_and(|known| known != session.last_seq);
    let wait = if told { Duration::ZERO } else { wait };
    let found = tokio::select! {
        biased;
        found = app.engine.event_list(&caller, id, since, MOST_EVENTS, wait) => found?,
        () = app.stops() => Vec::new(),
    };
    let caller = app.engine.recheck_caller(&caller).await?;
    if found.is_empty() && !told {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    Ok(Json(status(&app, &caller, id, (since, found)).await?).into_response())
}

/// Returns the current state of a session, with its first events.
#[utoipa::path(get, path = "/api/flows/{sessionId}/snapshot", tag = "flows-dialect",
    params(("sessionId" = String, Path, description = "Identifier of the session")),
    responses((status = 200, description = "State of the session with its first events", body = FlowStatusView), Problems))]
pub(super) async fn flows_snapshot(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<SessionId>,
) -> Result<Json<FlowStatusView>, ApiError> {
    let found = app.engine.event_list(&caller, id, 0, MOST_EVENTS, Duration::ZERO).await?;
    Ok(Json(status(&app, &caller, id, (0, found)).await?))
}

/// Reads the current state of a session and renders it with these events.
pub(super) async fn status(
    app: &App,
    caller: &Caller,
    id: SessionId,
    (since, events): (u64, Vec<Event>),
) -> Result<FlowStatusView, ApiError> {
    let next_since_event_id = events.last().map_or(since, |event| event.seq);
    let state = StateView::read(app, caller, id).await?;
    Ok(FlowStatusView { state, events: events.into_iter().map(Into::into).collect(), next_since_event_id })
}
