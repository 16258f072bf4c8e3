//! Sessions.

use axum::Json;
use axum::extract::State;
use domain::{Luggage, SessionId, SessionStatus};
use engine::Start;
use http::StatusCode;
use protocol::{ControlBody, SessionView, SessionsPage, StartBody};
use serde::Deserialize;
use store::{Page, SessionFilter};
use utoipa::IntoParams;

use crate::App;
use crate::caller::Who;
use crate::command::Command;
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::{Id, Query, cursor, limit};

/// Opens a session.
#[utoipa::path(post, path = "/v1/sessions", tag = "sessions", request_body = StartBody,
    params(("Idempotency-Key" = Option<String>, Header, description = "One key with one body gives one result")),
    responses((status = 201, description = "The session", body = SessionView), Problems))]
pub(super) async fn session_start(
    State(app): State<App>,
    Who(caller): Who,
    Command { body, once }: Command<StartBody>,
) -> Result<(StatusCode, Json<SessionView>), ApiError> {
    let StartBody { agent, agent_version, channel, title, input, metadata } = body;
    let start =
        Start { channel, agent, agent_version, title, luggage: Luggage { input, metadata, ..Luggage::default() } };
    let session = app.engine.start(&caller, start, once).await?;
    Ok((StatusCode::CREATED, Json(session.into())))
}

/// Which sessions.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct SessionsQuery {
    /// In this state.
    #[param(inline)]
    status: Option<SessionStatus>,
    /// Of this agent.
    agent: Option<String>,
    /// Where the page before ended.
    cursor: Option<String>,
    /// At most so many; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// Lists sessions, the newest first.
#[utoipa::path(get, path = "/v1/sessions", tag = "sessions", params(SessionsQuery),
    responses((status = 200, description = "A page", body = SessionsPage), Problems))]
pub(super) async fn session_list(
    State(app): State<App>,
    Who(caller): Who,
    Query(query): Query<SessionsQuery>,
) -> Result<Json<SessionsPage>, ApiError> {
    let page = Page { after: cursor(query.cursor.as_deref())?, limit: limit(query.limit)? };
    let filter = SessionFilter { status: query.status, agent: query.agent };
    let found = app.engine.sessions(&caller, filter, page).await?;
    let full = found.len() == page.limit as usize;
    let next = found.last().filter(|_| full).map(|session| session.id.to_string());
    Ok(Json(SessionsPage { sessions: found.into_iter().map(Into::into).collect(), next }))
}

/// Reads a session with its steps.
#[utoipa::path(get, path = "/v1/sessions/{session}", tag = "sessions",
    params(("session" = String, Path, description = "`ses_…`")),
    responses((status = 200, description = "The session", body = SessionView), Problems))]
pub(super) async fn session_get(
    State(app): State<App>,
    Who(caller): Who,
    Id(id): Id<SessionId>,
) -> Result<Json<SessionView>, ApiError> {
    let (session, luggage, steps) = app.engine.session(&caller, id).await?;
    Ok(Json(SessionView::whole(session, luggage, &steps)))
}

/// Pauses, resumes or ends a session. Ending it closes its open questions.
#[utoipa::path(post, path = "/v1/sessions/{session}/control", tag = "sessions", request_body = ControlBody,
    params(("session" = String, Path, description = "`ses_…`"),
           ("Idempotency-Key" = Option<String>, Header, description = "One key with one body gives one result")),
    responses((status = 200, description = "The session", body = SessionView), Problems))]
pub(super) async fn session_control(
    State(app): State<App>,
    Who(caller): Who,
    Id(id): Id<SessionId>,
    Command { body: ControlBody { command, reason }, once }: Command<ControlBody>,
) -> Result<Json<SessionView>, ApiError> {
    let session = app.engine.control(&caller, id, command, reason, once).await?;
    Ok(Json(session.into()))
}
