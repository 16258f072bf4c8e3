//! The settings of a project: read by everybody in it, changed by its admins.

use axum::Json;
use axum::extract::State;
use domain::project::ProjectSettings;

use crate::App;
use crate::caller::Authenticated;
use crate::command::Command;
use crate::document::Problems;
use crate::error::ApiError;

/// Reads the settings of the project.
#[utoipa::path(get, path = "/v1/project/settings", tag = "project",
    responses((status = 200, description = "The settings", body = ProjectSettings), Problems))]
pub(super) async fn project_settings_get(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
) -> Result<Json<ProjectSettings>, ApiError> {
    Ok(Json(app.engine.project_settings(&caller).await?))
}

/// Changes the settings of the project. `agents_read` says what agents read: `own`, the sessions that they opened and those that name
/// them; or `project`, every session. In which sessions agents ask, propose and send messages does not depend on it.
#[utoipa::path(put, path = "/v1/project/settings", tag = "project", request_body = ProjectSettings,
    params(("Idempotency-Key" = Option<String>, Header, description = "One key with one body gives one result")),
    responses((status = 200, description = "The settings, as they are now", body = ProjectSettings), Problems))]
pub(super) async fn project_settings_put(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Command { body, idempotency }: Command<ProjectSettings>,
) -> Result<Json<ProjectSettings>, ApiError> {
    Ok(Json(app.engine.project_settings_put(&caller, body, idempotency).await?))
}
