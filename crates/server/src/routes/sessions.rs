//! Sessions.

use axum::Json;
use axum::extract::State;
use domain::{Caller, Session, SessionId, SessionInput, SessionStatus};
use engine::{Idempotency, Start, StepCommand};
use http::StatusCode;
use protocol::{ControlBody, ControlCommand, MessageBody, SessionView, SessionsPage, StartBody};
use serde::Deserialize;
use serde_json::Value;
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
    let StartBody { agent, agent_version, flow, flow_version, channel, title, input, metadata } = body;
    let luggage = SessionInput { input, metadata, ..SessionInput::default() };
    let start = Start { channel, agent, agent_version, flow, flow_version, title, luggage, ..Start::default() };
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
    let filter = SessionFilter { status: query.status, agent: query.agent, ..SessionFilter::default() };
    let found = app.engine.sessions(&caller, filter, page).await?;
    let next = found.last().filter(|_| found.more).map(|session| session.id.to_string());
    Ok(Json(SessionsPage { sessions: found.into_iter().map(Into::into).collect(), next }))
}

/// Which of its steps.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct StepsQuery {
    /// The steps before this one: the `steps_next` of the reply before.
    steps_cursor: Option<String>,
}

/// Reads a session with its steps: the last 200, and about 4 MiB.
#[utoipa::path(get, path = "/v1/sessions/{session}", tag = "sessions",
    params(("session" = String, Path, description = "`ses_…`"), StepsQuery),
    responses((status = 200, description = "The session", body = SessionView), Problems))]
pub(super) async fn session_get(
    State(app): State<App>,
    Who(caller): Who,
    Id(id): Id<SessionId>,
    Query(query): Query<StepsQuery>,
) -> Result<Json<SessionView>, ApiError> {
    let before = cursor(query.steps_cursor.as_deref())?;
    let (session, luggage, steps, next) = app.engine.session_before(&caller, id, before).await?;
    Ok(Json(SessionView::whole(session, luggage, (&steps, next))))
}

/// Says something to an agent that this server runs; or, where an agent speaks in a session of its own, to people.
#[utoipa::path(post, path = "/v1/sessions/{session}/messages", tag = "sessions", request_body = MessageBody,
    params(("session" = String, Path, description = "`ses_…`"),
           ("Idempotency-Key" = Option<String>, Header, description = "One key with one body gives one result")),
    responses((status = 202, description = "It was said", body = SessionView), Problems))]
pub(super) async fn session_message(
    State(app): State<App>,
    Who(caller): Who,
    Id(id): Id<SessionId>,
    Command { body: MessageBody { content, requires_reply }, once }: Command<MessageBody>,
) -> Result<(StatusCode, Json<SessionView>), ApiError> {
    let session = app.engine.message(&caller, id, (content, requires_reply), once).await?;
    Ok((StatusCode::ACCEPTED, Json(session.into())))
}

/// Pauses, resumes or ends a session, which closes its open questions; or does something about a step that this server runs.
#[utoipa::path(post, path = "/v1/sessions/{session}/control", tag = "sessions", request_body = ControlBody,
    params(("session" = String, Path, description = "`ses_…`"),
           ("Idempotency-Key" = Option<String>, Header, description = "One key with one body gives one result")),
    responses((status = 200, description = "The session", body = SessionView), Problems))]
pub(super) async fn session_control(
    State(app): State<App>,
    Who(caller): Who,
    Id(id): Id<SessionId>,
    Command { body, once }: Command<ControlBody>,
) -> Result<Json<SessionView>, ApiError> {
    Ok(Json(steered(&app, &caller, id, body, once).await?.into()))
}

/// Carries out a command, whichever wire it came by.
pub(crate) async fn steered(
    app: &App,
    caller: &Caller,
    id: SessionId,
    ControlBody { command, step, reason, output }: ControlBody,
    once: Option<Idempotency>,
) -> Result<Session, ApiError> {
    match meant(command, output)? {
        Meant::Step(command) => Ok(app.engine.control_step(caller, (id, step), command, reason, once).await?),
        Meant::Session(_) if step.is_some() => {
            Err(ApiError::wrong("/step", "stands beside a command that is not about a step"))
        }
        Meant::Session(command) => Ok(app.engine.control(caller, id, command, reason, once).await?),
    }
}

/// What a command is about.
enum Meant {
    Session(domain::Command),
    Step(StepCommand),
}

fn meant(command: ControlCommand, output: Option<Value>) -> Result<Meant, ApiError> {
    if output.is_some() && command != ControlCommand::ApproveStep {
        return Err(ApiError::wrong("/output", "stands beside a command that gives a step none"));
    }
    Ok(match command {
        ControlCommand::Pause => Meant::Session(domain::Command::Pause),
        ControlCommand::Resume => Meant::Session(domain::Command::Resume),
        ControlCommand::Cancel => Meant::Session(domain::Command::Cancel),
        ControlCommand::Complete => Meant::Session(domain::Command::Complete),
        ControlCommand::Fail => Meant::Session(domain::Command::Fail),
        ControlCommand::RetryStep => Meant::Step(StepCommand::Retry),
        ControlCommand::SkipStep => Meant::Step(StepCommand::Skip),
        ControlCommand::ApproveStep => Meant::Step(StepCommand::Approve(output.unwrap_or_default())),
    })
}
