//! Settings of a project. Everybody in the project reads them, admins change them.

use axum::Json;
use axum::extract::State;
use domain::project::ProjectSettings;

use crate::App;
use crate::caller::Authenticated;
use crate::command::{CommandRequest, IdempotencyKey};
use crate::document::Problems;
use crate::error::ApiError;

/// Returns the settings of the project.
#[utoipa::path(get, path = "/v1/project/settings", tag = "project",
    responses((status = 200, description = "Settings of the project", body = ProjectSettings), Problems))]
pub(super) async fn project_settings_get(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
) -> Result<Json<ProjectSettings>, ApiError> {
    Ok(Json(app.engine.project_settings_get(&caller).await?))
}

/// Changes the settings of the project. `agents_read` is what agents may read: `own`, the sessions that they opened and those that name
/// them; or `project`, all sessions. It does not change in which sessions agents may ask, propose and send messages.
#[utoipa::path(put, path = "/v1/project/settings", tag = "project", request_body = ProjectSettings,
    params(IdempotencyKey),
    responses((status = 200, description = "The settings, as they are now", body = ProjectSettings), Problems))]
pub(super) async fn project_settings_put(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    CommandRequest { body, idempotency }: CommandRequest<ProjectSettings>,
) -> Result<Json<ProjectSettings>, ApiError> {
    Ok(Json(app.engine.project_settings_put(&caller, body, idempotency).await?))
}
