//! Routes of flows: add, list, read and retire.

use axum::Json;
use axum::extract::State;
use domain::{DefinitionKind, FlowVersion};
use http::StatusCode;
use protocol::{DefinitionView, FlowsPage};

use crate::App;
use crate::caller::Authenticated;
use crate::command::{CommandRequest, IdempotencyKey};
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::Query;
use crate::version::{Version, VersionsQuery, added_reply};

const KIND: DefinitionKind = DefinitionKind::Flow;

/// Lists the flows of the project and of the server's files, by name and version.
#[utoipa::path(get, path = "/v1/flows", tag = "flows", params(VersionsQuery),
    responses((status = 200, description = "Page of flows", body = FlowsPage), Problems))]
pub(super) async fn flow_list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<VersionsQuery>,
) -> Result<Json<FlowsPage>, ApiError> {
    let (found, next) = query.list(&app, &caller, KIND).await?;
    Ok(Json(FlowsPage { flows: found, next }))
}

/// Adds a version of a flow to the project. A version is immutable: other content needs another version.
#[utoipa::path(post, path = "/v1/flows", tag = "flows", request_body = FlowVersion,
    params(IdempotencyKey),
    responses((status = 201, description = "The version was added", body = DefinitionView), Problems))]
pub(super) async fn flow_add(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    CommandRequest { body, idempotency }: CommandRequest<FlowVersion>,
) -> Result<(StatusCode, Json<DefinitionView>), ApiError> {
    Ok(added_reply(app.engine.flow_add(&caller, body, idempotency).await?))
}

/// Reads a version of a flow.
#[utoipa::path(get, path = "/v1/flows/{name}/{version}", tag = "flows",
    params(("name" = String, Path, description = "Name of the flow"), ("version" = String, Path, description = "Version of the flow")),
    responses((status = 200, description = "Version of the flow", body = DefinitionView), Problems))]
pub(super) async fn flow_get(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    version: Version,
) -> Result<Json<DefinitionView>, ApiError> {
    version.get(&app, &caller, KIND).await
}

/// Retires a version: new sessions cannot use it, running sessions continue with it.
#[utoipa::path(delete, path = "/v1/flows/{name}/{version}", tag = "flows",
    params(("name" = String, Path, description = "Name of the flow"), ("version" = String, Path, description = "Version of the flow")),
    responses((status = 204, description = "The version was retired"), Problems))]
pub(super) async fn flow_retire(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    version: Version,
) -> Result<StatusCode, ApiError> {
    version.retire(&app, &caller, KIND).await
}
