//! Sessions: open, list, read, message, control.

use axum::Json;
use axum::extract::State;
use domain::{Caller, Session, SessionId, SessionInput, SessionStatus};
use engine::{Idempotency, Start, StepCommand};
use http::StatusCode;
use protocol::{ControlBody, ControlCommand, MessageBody, SessionView, SessionsPage, StartBody};
use serde::Deserialize;
use serde_json::Value;
use store::SessionFilter;
use utoipa::IntoParams;

use crate::App;
use crate::caller::Authenticated;
use crate::command::{CommandRequest, IdempotencyKey};
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::{PathId, Query, cursor, page};

/// Opens a session of the caller.
#[utoipa::path(post, path = "/v1/sessions", tag = "sessions", request_body = StartBody,
    params(IdempotencyKey),
    responses((status = 201, description = "Session that was opened", body = SessionView), Problems))]
pub(super) async fn session_start(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    CommandRequest { body, idempotency }: CommandRequest<StartBody>,
) -> Result<(StatusCode, Json<SessionView>), ApiError> {
    let StartBody { agent, agent_version, flow, flow_version, channel, title, input, metadata } = body;
    let session_input = SessionInput { input, metadata, ..SessionInput::default() };
    let start = Start { channel, agent, agent_version, flow, flow_version, title, session_input, ..Start::default() };
    let session = app.engine.session_start(&caller, start, idempotency).await?;
    Ok((StatusCode::CREATED, Json(session.into())))
}

/// Query of the list of sessions.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct SessionsQuery {
    /// Only entries with this status.
    #[param(inline)]
    status: Option<SessionStatus>,
    /// Only entries of this agent.
    agent: Option<String>,
    /// Value of `next` from the previous page.
    cursor: Option<String>,
    /// Maximum number of entries; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// Lists sessions, newest first.
#[utoipa::path(get, path = "/v1/sessions", tag = "sessions", params(SessionsQuery),
    responses((status = 200, description = "Page of sessions", body = SessionsPage), Problems))]
pub(super) async fn session_list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<SessionsQuery>,
) -> Result<Json<SessionsPage>, ApiError> {
    let page = page(query.cursor.as_deref(), query.limit)?;
    let filter = SessionFilter { status: query.status, agent: query.agent, ..SessionFilter::default() };
    let found = app.engine.session_list(&caller, filter, page).await?;
    let next = found.last().filter(|_| found.more).map(|session| session.id.to_string());
    Ok(Json(SessionsPage { sessions: found.into_iter().map(Into::into).collect(), next }))
}

/// Query of one session.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct StepsQuery {
    /// Returns the steps before this one: the value of `steps_next` from the previous reply.
    steps_cursor: Option<String>,
}

/// Returns a session with its last steps: at most 200, and about 4 MiB.
#[utoipa::path(get, path = "/v1/sessions/{session}", tag = "sessions",
    params(("session" = String, Path, description = "Identifier of the session, `ses_…`"), StepsQuery),
    responses((status = 200, description = "Session with its last steps", body = SessionView), Problems))]
pub(super) async fn session_get(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<SessionId>,
    Query(query): Query<StepsQuery>,
) -> Result<Json<SessionView>, ApiError> {
    let before = cursor(query.steps_cursor.as_deref())?;
    let (session, session_input, steps, next) = app.engine.session_get(&caller, id, before).await?;
    Ok(Json(SessionView::whole(session, session_input, (&steps, next))))
}

/// Sends a message to a hosted agent. An agent that sends it in a session of its own sends it to people.
#[utoipa::path(post, path = "/v1/sessions/{session}/messages", tag = "sessions", request_body = MessageBody,
    params(("session" = String, Path, description = "Identifier of the session, `ses_…`"), IdempotencyKey),
    responses((status = 202, description = "The message was sent", body = SessionView), Problems))]
pub(super) async fn session_message(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<SessionId>,
    CommandRequest { body: MessageBody { content, requires_reply }, idempotency }: CommandRequest<MessageBody>,
) -> Result<(StatusCode, Json<SessionView>), ApiError> {
    let session = app.engine.session_message(&caller, id, content, requires_reply, idempotency).await?;
    Ok((StatusCode::ACCEPTED, Json(session.into())))
}

/// Pauses, resumes or ends a session, or retries, skips or approves a hosted step. Ending a session closes its open questions.
#[utoipa::path(post, path = "/v1/sessions/{session}/control", tag = "sessions", request_body = ControlBody,
    params(("session" = String, Path, description = "Identifier of the session, `ses_…`"), IdempotencyKey),
    responses((status = 200, description = "Session after the command", body = SessionView), Problems))]
pub(super) async fn session_control(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<SessionId>,
    CommandRequest { body, idempotency }: CommandRequest<ControlBody>,
) -> Result<Json<SessionView>, ApiError> {
    Ok(Json(control_session(&app, &caller, id, body, idempotency).await?.into()))
}

/// Carries out a command on a session or a step.
pub async fn control_session(
    app: &App,
    caller: &Caller,
    id: SessionId,
    ControlBody { command, step, reason, output }: ControlBody,
    idempotency: Option<Idempotency>,
) -> Result<Session, ApiError> {
    match control_target(command, output)? {
        ControlTarget::Step(command) => {
            Ok(app.engine.step_control(caller, (id, step), command, reason, idempotency).await?)
        }
        ControlTarget::Session(_) if step.is_some() => {
            Err(ApiError::invalid("/step", "is only for commands about a step"))
        }
        ControlTarget::Session(command) => {
            Ok(app.engine.session_control(caller, id, command, reason, idempotency).await?)
        }
    }
}

/// Target of a command.
enum ControlTarget {
    Session(domain::Command),
    Step(StepCommand),
}

fn control_target(command: ControlCommand, output: Option<Value>) -> Result<ControlTarget, ApiError> {
    if output.is_some() && command != ControlCommand::ApproveStep {
        return Err(ApiError::invalid("/output", "is only for the command `approve_step`"));
    }
    Ok(match command {
        ControlCommand::Pause => ControlTarget::Session(domain::Command::Pause),
        ControlCommand::Resume => ControlTarget::Session(domain::Command::Resume),
        ControlCommand::Cancel => ControlTarget::Session(domain::Command::Cancel),
        ControlCommand::Complete => ControlTarget::Session(domain::Command::Complete),
        ControlCommand::Fail => ControlTarget::Session(domain::Command::Fail),
        ControlCommand::RetryStep => ControlTarget::Step(StepCommand::Retry),
        ControlCommand::SkipStep => ControlTarget::Step(StepCommand::Skip),
        ControlCommand::ApproveStep => ControlTarget::Step(StepCommand::Approve(output.unwrap_or_default())),
    })
}
