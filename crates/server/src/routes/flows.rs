//! Flows: brought into the project, listed, read, retired.

use axum::Json;
use axum::extract::State;
use domain::{DefinitionKind, FlowVersion};
use http::StatusCode;
use protocol::{DefinitionView, FlowsPage};

use crate::App;
use crate::caller::Authenticated;
use crate::command::Command;
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::Query;
use crate::version::{Version, VersionsQuery, added};

const KIND: DefinitionKind = DefinitionKind::Flow;

/// Lists the flows of the project and of the server's files, by name and version.
#[utoipa::path(get, path = "/v1/flows", tag = "flows", params(VersionsQuery),
    responses((status = 200, description = "A page", body = FlowsPage), Problems))]
pub(super) async fn flow_list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<VersionsQuery>,
) -> Result<Json<FlowsPage>, ApiError> {
    let (found, next) = query.found(&app, &caller, KIND).await?;
    Ok(Json(FlowsPage { flows: found, next }))
}

/// Brings a version of a flow into the project. It never changes: other contents need another version.
#[utoipa::path(post, path = "/v1/flows", tag = "flows", request_body = FlowVersion,
    params(("Idempotency-Key" = Option<String>, Header, description = "One key with one body gives one result")),
    responses((status = 201, description = "It is there", body = DefinitionView), Problems))]
pub(super) async fn flow_add(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Command { body, idempotency }: Command<FlowVersion>,
) -> Result<(StatusCode, Json<DefinitionView>), ApiError> {
    Ok(added(app.engine.flow_add(&caller, body, idempotency).await?))
}

/// Reads a version of a flow.
#[utoipa::path(get, path = "/v1/flows/{name}/{version}", tag = "flows",
    params(("name" = String, Path, description = "Its name"), ("version" = String, Path, description = "Its version")),
    responses((status = 200, description = "The flow", body = DefinitionView), Problems))]
pub(super) async fn flow_get(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    version: Version,
) -> Result<Json<DefinitionView>, ApiError> {
    version.found(&app, &caller, KIND).await
}

/// Has no new session use a version. Sessions that do go on with it.
#[utoipa::path(delete, path = "/v1/flows/{name}/{version}", tag = "flows",
    params(("name" = String, Path, description = "Its name"), ("version" = String, Path, description = "Its version")),
    responses((status = 204, description = "It is retired"), Problems))]
pub(super) async fn flow_retire(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    version: Version,
) -> Result<StatusCode, ApiError> {
    version.retired(&app, &caller, KIND).await
}
