//! The caller: who they are, the project of their browser, their password.

use axum::Json;
use axum::extract::State;
use domain::Credential;
use engine::{Password, PasswordState, ProjectMembership};
use http::StatusCode;
use protocol::{AuthenticationMethodView, MeView, PasswordBody, PasswordView, PlaceView, ProjectBody};

use crate::App;
use crate::caller::Authenticated;
use crate::command::CommandRequest;
use crate::document::Problems;
use crate::error::ApiError;

/// Returns the caller of the request.
#[utoipa::path(get, path = "/v1/me", tag = "people",
    responses((status = 200, description = "Caller with the rights in the project", body = MeView), Problems))]
pub(super) async fn me_get(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
) -> Result<Json<MeView>, ApiError> {
    let me = app.engine.me_get(&caller).await?;
    let place = |ProjectMembership { project, name, role }| PlaceView { project, name, role };
    let password = me.password.map(|state| match state {
        PasswordState::Known => PasswordView::Known,
        PasswordState::Settable => PasswordView::Settable,
        PasswordState::None => PasswordView::None,
    });
    Ok(Json(MeView {
        name: caller.actor.name,
        display: me.user.and_then(|user| user.display),
        role: caller.role,
        groups: caller.groups,
        tenant: me.tenant,
        project: caller.scope.project,
        projects: me.projects.into_iter().map(place).collect(),
        via: match caller.credential {
            Credential::Visit(_) => AuthenticationMethodView::Cookie,
            Credential::Key(_) | Credential::Worker => AuthenticationMethodView::Key,
        },
        password,
        unconfined_commands: app.front.unconfined && caller.role != domain::Role::Agent,
    }))
}

/// Switches the browser to another project of the person.
#[utoipa::path(put, path = "/v1/me/project", tag = "people", request_body = ProjectBody,
    responses((status = 204, description = "The browser uses this project"), Problems))]
pub(super) async fn me_project(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    CommandRequest { body: ProjectBody { project }, .. }: CommandRequest<ProjectBody>,
) -> Result<StatusCode, ApiError> {
    app.engine.me_project(&caller, project).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Sets the password of the signed-in person and signs out their other browsers.
#[utoipa::path(put, path = "/v1/me/password", tag = "people", request_body = PasswordBody,
    responses((status = 204, description = "The password was set"), Problems))]
pub(super) async fn me_password(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    CommandRequest { body: PasswordBody { old, new }, .. }: CommandRequest<PasswordBody>,
) -> Result<StatusCode, ApiError> {
    // Limits guessing of the current password from an unattended browser.
    app.sign_ins.check(&caller.scope.tenant.to_string(), &caller.actor.name, caller.from)?;
    app.engine.me_password(&caller, old.map(Password::from), new.into()).await?;
    Ok(StatusCode::NO_CONTENT)
}
