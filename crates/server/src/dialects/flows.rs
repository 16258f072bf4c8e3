//! Flows with people in them: the wire of the system that calls a session a flow and a question an interaction request.
//!
//! Names are in camel case, statuses in capitals, ids are bare UUIDs. `X-Chat-Session-Id` must be the channel of the question, beside a
//! credential and never instead of one.

mod answering;
mod example;
mod item;
mod payload;
mod reading;
mod status;
mod stream;
mod words;

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
use crate::App;
use crate::caller::Who;
use crate::command::Command;
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::Id;
use crate::routes::sessions::steered;

/// The operations of this wire.
pub(super) fn operations() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(flows_start))
        .routes(routes!(flows_control))
        .routes(routes!(reading::flows_poll))
        .routes(routes!(reading::flows_snapshot))
        .routes(routes!(reading::flows_interactions))
        .routes(routes!(stream::flows_stream))
        .routes(routes!(answering::flows_respond))
        .routes(routes!(answering::flows_auto))
        .routes(routes!(answering::flows_expire))
        .routes(routes!(answering::flows_skip))
}

/// Starts a flow, or an agent.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "parameters": { "version": "1.5" }, "chatSessionId": "0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a09" }))]
struct FlowStartBody {
    /// What it works on.
    #[serde(default)]
    parameters: Value,
    /// What its steps share from the beginning, an object.
    #[serde(default)]
    shared_context: Value,
    /// The channel of its questions; the session's own id if absent.
    chat_session_id: Option<String>,
    /// Not taken: the versions of agents say how their models are called.
    #[serde(default)]
    overrides: Value,
}

/// A flow that was started.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = example::started)]
struct FlowStartedView {
    /// The session.
    #[schema(value_type = String)]
    session_id: Uuid,
    /// `NEW`, `RUNNING` …
    status: &'static str,
    /// When it was started.
    #[schema(value_type = String, format = DateTime)]
    started_at: domain::Timestamp,
    /// What it works on.
    launch_parameters: Value,
    /// What its steps share from the beginning.
    shared_context: Value,
    /// The channel of its questions.
    chat_session_id: String,
}

/// Starts a flow, or an agent where no flow has the name.
#[utoipa::path(post, path = "/api/flows/{flowId}/start", tag = "flows-wire", request_body = FlowStartBody,
    params(("flowId" = String, Path, description = "The name of a flow, or of an agent"),
           ("Idempotency-Key" = Option<String>, Header, description = "One key with one body gives one result")),
    responses((status = 202, description = "It was started", body = FlowStartedView), Problems))]
async fn flows_start(
    State(app): State<App>,
    Who(caller): Who,
    Id(name): Id<String>,
    Command { body, once }: Command<FlowStartBody>,
) -> Result<(StatusCode, Json<FlowStartedView>), ApiError> {
    let FlowStartBody { parameters, shared_context, chat_session_id, overrides } = body;
    if !overrides.is_null() {
        let why = "are not taken: the version of the agent says how its model is called";
        return Err(ApiError::wrong("/overrides", why));
    }
    let start = Start { channel: chat_session_id, ..Start::default() };
    let start = if defined(&app, &caller, DefinitionKind::Flow, &name).await? {
        let luggage = SessionInput { input: parameters.clone(), ..SessionInput::default() };
        Start { flow: Some(name), luggage, shared: shared_context.clone(), ..start }
    } else if defined(&app, &caller, DefinitionKind::Agent, &name).await? {
        let luggage = SessionInput { input: given(&parameters, &shared_context), ..SessionInput::default() };
        Start { agent: Some(name), luggage, ..start }
    } else {
        return Err(Refusal::NotFound("flow").into());
    };
    let started = app.engine.start(&caller, start, once).await.map_err(|error| {
        ApiError::from(error).at(|pointer| match pointer.as_str() {
            "/channel" => "/chatSessionId".to_owned(),
            "/shared" => "/sharedContext".to_owned(),
            "/input" => "/parameters".to_owned(),
            _ => pointer,
        })
    })?;
    let view = FlowStartedView {
        session_id: started.id.uuid(),
        status: words::session(started.status()),
        started_at: started.created_at,
        launch_parameters: parameters,
        shared_context,
        chat_session_id: started.head.channel,
    };
    Ok((StatusCode::ACCEPTED, Json(view)))
}

/// Whether a definition of this name is here.
async fn defined(app: &App, caller: &Caller, kind: DefinitionKind, name: &str) -> Result<bool, ApiError> {
    let page = Page { after: Some((name.to_owned(), String::new())), limit: 1 };
    let (found, _) = app.engine.definitions(caller, kind, page).await?;
    Ok(found.first().is_some_and(|found| found.definition.name == name))
}

/// What an agent works on, which has no steps that could share something.
fn given(parameters: &Value, shared: &Value) -> Value {
    if shared.is_null() { parameters.clone() } else { json!({ "parameters": parameters, "sharedContext": shared }) }
}

/// A command for a flow.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "command": "pause" }))]
struct FlowControlBody {
    /// What to do.
    command: FlowCommand,
    /// The step that is meant, beside a command about a step.
    #[schema(value_type = Option<String>)]
    step_execution_id: Option<StepId>,
    /// Why.
    reason: Option<String>,
}

/// What can be done to a flow.
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

/// Pauses, resumes or cancels a flow, or does something about one of its steps.
#[utoipa::path(post, path = "/api/flows/{sessionId}/control", tag = "flows-wire", request_body = FlowControlBody,
    params(("sessionId" = String, Path, description = "The session"),
           ("Idempotency-Key" = Option<String>, Header, description = "One key with one body gives one result")),
    responses((status = 202, description = "The flow as it is now", body = StateView), Problems))]
async fn flows_control(
    State(app): State<App>,
    Who(caller): Who,
    Id(id): Id<SessionId>,
    Command { body: FlowControlBody { command, step_execution_id, reason }, once }: Command<FlowControlBody>,
) -> Result<(StatusCode, Json<StateView>), ApiError> {
    let body = ControlBody { command: command.into(), step: step_execution_id, reason, output: None };
    let Session { id, .. } = steered(&app, &caller, id, body, once).await.map_err(|error| {
        error.at(|pointer| if pointer == "/step" { "/stepExecutionId".to_owned() } else { pointer })
    })?;
    Ok((StatusCode::ACCEPTED, Json(StateView::read(&app, &caller, id).await?)))
}
