//! `flows`: the API of a system that calls a session a flow and a question an interaction request.
//!
//! Field names are in camel case, statuses in capitals, ids are bare UUIDs. `X-Chat-Session-Id` must name the channel
//! of the question; it is checked in addition to the credential and never replaces it.
//!
//! This module starts and controls flows. `read.rs` reads and polls a flow, `stream.rs` streams it, `answer.rs` answers
//! its questions; `interaction.rs`, `status.rs`, `payload.rs` and `names.rs` translate questions, sessions, answers and
//! enum values.

mod answer;
mod example;
mod interaction;
mod names;
mod payload;
mod read;
mod status;
mod stream;

use axum::Json;
use axum::extract::State;
use domain::{Caller, DefinitionKind, Refusal, Session, SessionId, SessionInput, StepId};
use engine::Start;
use http::StatusCode;
use protocol::{ControlBody, ControlCommand};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::Page;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use self::status::StateView;
use server::App;
use server::handler::{ApiError, Authenticated, CommandRequest, IdempotencyKey, PathId, Problems, control_session};

/// Operations of this dialect.
pub(super) fn operations() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(flows_start))
        .routes(routes!(flows_control))
        .routes(routes!(read::flows_poll))
        .routes(routes!(read::flows_snapshot))
        .routes(routes!(read::flows_interactions))
        .routes(routes!(stream::flows_stream))
        .routes(routes!(answer::flows_respond))
        .routes(routes!(answer::flows_auto))
        .routes(routes!(answer::flows_expire))
        .routes(routes!(answer::flows_skip))
}

/// Body that starts a flow or an agent.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "parameters": { "version": "1.5" }, "chatSessionId": "0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a09" }))]
struct FlowStartBody {
    /// Input of the flow or agent.
    #[serde(default)]
    parameters: Value,
    /// Initial value of the context that the steps share; an object.
    #[serde(default)]
    shared_context: Value,
    /// Channel of the questions; the id of the session if absent.
    chat_session_id: Option<String>,
    /// Refused if present: the version of an agent defines how its model is called.
    #[serde(default)]
    overrides: Value,
}

/// The session of a flow that was started.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = example::started)]
struct FlowStartedView {
    /// Identifier of the session.
    #[schema(value_type = String)]
    session_id: Uuid,
    /// Status of the session, such as `NEW` or `RUNNING`.
    status: &'static str,
    /// Time at which the session was opened.
    #[schema(value_type = String, format = DateTime)]
    started_at: domain::Timestamp,
    /// Input of the flow or agent.
    launch_parameters: Value,
    /// Initial value of the context that the steps share.
    shared_context: Value,
    /// Channel of the questions.
    chat_session_id: String,
}

/// Starts a flow, or an agent if no flow has this name.
#[utoipa::path(post, path = "/api/flows/{flowId}/start", tag = "flows-dialect", request_body = FlowStartBody,
    params(("flowId" = String, Path, description = "The name of a flow, or of an agent"), IdempotencyKey),
    responses((status = 202, description = "The flow was started", body = FlowStartedView), Problems))]
async fn flows_start(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(name): PathId<String>,
    CommandRequest { body, idempotency }: CommandRequest<FlowStartBody>,
) -> Result<(StatusCode, Json<FlowStartedView>), ApiError> {
    let FlowStartBody { parameters, shared_context, chat_session_id, overrides } = body;
    if !overrides.is_null() {
        let why = "are not accepted: the version of the agent has the settings of its model";
        return Err(ApiError::invalid("/overrides", why));
    }
    let start = Start { channel: chat_session_id, ..Start::default() };
    let start = if is_defined(&app, &caller, DefinitionKind::Flow, &name).await? {
        let session_input = SessionInput { input: parameters.clone(), ..SessionInput::default() };
        Start { flow: Some(name), session_input, shared: shared_context.clone(), ..start }
    } else if is_defined(&app, &caller, DefinitionKind::Agent, &name).await? {
        let session_input =
            SessionInput { input: agent_input(&parameters, &shared_context), ..SessionInput::default() };
        Start { agent: Some(name), session_input, ..start }
    } else {
        return Err(Refusal::NotFound("flow").into());
    };
    let started = app.engine.session_start(&caller, start, idempotency).await.map_err(|error| {
        ApiError::from(error).map_pointers(|pointer| match pointer.as_str() {
            "/channel" => "/chatSessionId".to_owned(),
            "/shared" => "/sharedContext".to_owned(),
            "/input" => "/parameters".to_owned(),
            _ => pointer,
        })
    })?;
    let view = FlowStartedView {
        session_id: started.id.uuid(),
        status: names::session(started.status()),
        started_at: started.created_at,
        launch_parameters: parameters,
        shared_context,
        chat_session_id: started.head.channel,
    };
    Ok((StatusCode::ACCEPTED, Json(view)))
}

/// Whether the project has a definition with this name.
async fn is_defined(app: &App, caller: &Caller, kind: DefinitionKind, name: &str) -> Result<bool, ApiError> {
    let page = Page { after: Some((name.to_owned(), String::new())), limit: 1 };
    let (found, _) = app.engine.definition_list(caller, kind, page).await?;
    Ok(found.first().is_some_and(|found| found.definition.name == name))
}

/// Input of an agent, which has no steps to share a context: the context becomes part of the input.
fn agent_input(parameters: &Value, shared: &Value) -> Value {
    if shared.is_null() { parameters.clone() } else { json!({ "parameters": parameters, "sharedContext": shared }) }
}

/// Body of a command to a flow.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "command": "pause" }))]
struct FlowControlBody {
    /// Command to the flow or to a step.
    command: FlowCommand,
    /// Identifier of the step, with a command about a step.
    #[schema(value_type = Option<String>)]
    step_execution_id: Option<StepId>,
    /// Reason, which is recorded and shown to the agent.
    reason: Option<String>,
}

/// Commands to a flow.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
enum FlowCommand {
    #[serde(alias = "PAUSE")]
    Pause,
    #[serde(alias = "RESUME")]
    Resume,
    #[serde(alias = "CANCEL")]
    Cancel,
    #[serde(alias = "retry_step", alias = "RETRY_STEP")]
    RetryStep,
    #[serde(alias = "skip_step", alias = "SKIP_STEP")]
    SkipStep,
    #[serde(alias = "approve_step", alias = "APPROVE_STEP")]
    ApproveStep,
}

impl From<FlowCommand> for ControlCommand {
    fn from(command: FlowCommand) -> Self {
        match command {
            FlowCommand::Pause => Self::Pause,
            FlowCommand::Resume => Self::Resume,
            FlowCommand::Cancel => Self::Cancel,
            FlowCommand::RetryStep => Self::RetryStep,
            FlowCommand::SkipStep => Self::SkipStep,
            FlowCommand::ApproveStep => Self::ApproveStep,
        }
    }
}

/// Pauses, resumes or cancels a flow, or retries, skips or approves one of its steps.
#[utoipa::path(post, path = "/api/flows/{sessionId}/control", tag = "flows-dialect", request_body = FlowControlBody,
    params(("sessionId" = String, Path, description = "Identifier of the session"), IdempotencyKey),
    responses((status = 202, description = "The current state of the flow", body = StateView), Problems))]
async fn flows_control(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<SessionId>,
    CommandRequest { body: FlowControlBody { command, step_execution_id, reason }, idempotency }: CommandRequest<
        FlowControlBody,
    >,
) -> Result<(StatusCode, Json<StateView>), ApiError> {
    let body = ControlBody { command: command.into(), step: step_execution_id, reason, output: None };
    let Session { id, .. } = control_session(&app, &caller, id, body, idempotency).await.map_err(|error| {
        error.map_pointers(|pointer| if pointer == "/step" { "/stepExecutionId".to_owned() } else { pointer })
    })?;
    Ok((StatusCode::ACCEPTED, Json(StateView::read(&app, &caller, id).await?)))
}
