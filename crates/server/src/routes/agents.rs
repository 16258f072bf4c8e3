//! Routes of agents: add, list, read and retire.

use axum::Json;
use axum::extract::State;
use domain::{AgentVersion, DefinitionKind};
use http::StatusCode;
use protocol::{AgentsPage, DefinitionView};

use crate::App;
use crate::caller::Authenticated;
use crate::command::{CommandRequest, IdempotencyKey};
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::Query;
use crate::version::{Version, VersionsQuery, added_reply};

const KIND: DefinitionKind = DefinitionKind::Agent;

/// Lists the agents of the project and of the server's files, by name and version.
#[utoipa::path(get, path = "/v1/agents", tag = "agents", params(VersionsQuery),
    responses((status = 200, description = "Page of agents", body = AgentsPage), Problems))]
pub(super) async fn agent_list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<VersionsQuery>,
) -> Result<Json<AgentsPage>, ApiError> {
    let (found, next) = query.list(&app, &caller, KIND).await?;
    Ok(Json(AgentsPage { agents: found, next }))
}

/// Adds a version of an agent to the project. A version is immutable: other content needs another version.
#[utoipa::path(post, path = "/v1/agents", tag = "agents", request_body = AgentVersion,
    params(IdempotencyKey),
    responses((status = 201, description = "The version was added", body = DefinitionView), Problems))]
pub(super) async fn agent_add(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    CommandRequest { body, idempotency }: CommandRequest<AgentVersion>,
) -> Result<(StatusCode, Json<DefinitionView>), ApiError> {
    Ok(added_reply(app.engine.agent_add(&caller, body, idempotency).await?))
}

/// Reads a version of an agent.
#[utoipa::path(get, path = "/v1/agents/{name}/{version}", tag = "agents",
    params(("name" = String, Path, description = "Name of the agent"), ("version" = String, Path, description = "Version of the agent")),
    responses((status = 200, description = "Version of the agent", body = DefinitionView), Problems))]
pub(super) async fn agent_get(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    version: Version,
) -> Result<Json<DefinitionView>, ApiError> {
    version.get(&app, &caller, KIND).await
}

/// Retires a version: new sessions cannot use it, running sessions continue with it.
#[utoipa::path(delete, path = "/v1/agents/{name}/{version}", tag = "agents",
    params(("name" = String, Path, description = "Name of the agent"), ("version" = String, Path, description = "Version of the agent")),
    responses((status = 204, description = "The version was retired"), Problems))]
pub(super) async fn agent_retire(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    version: Version,
) -> Result<StatusCode, ApiError> {
    version.retire(&app, &caller, KIND).await
}
