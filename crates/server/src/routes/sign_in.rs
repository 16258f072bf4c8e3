//! Routes that sign a person in, by password or by link, and out.

use axum::Json;
use axum::extract::State;
use axum_extra::extract::CookieJar;
use engine::Password;
use http::StatusCode;
use protocol::{LinkSignInBody, PasswordSignInBody, SignInView};

use crate::App;
use crate::caller::{Authenticated, SignInClient, network};
use crate::command::SignInCommand;
use crate::cookie;
use crate::document::Problems;
use crate::error::ApiError;
use crate::oidc::Oidc;

/// Name of the default tenant.
const TENANT: &str = "default";

/// Returns the ways to sign in.
#[utoipa::path(get, path = "/v1/sign-in", tag = "people", security(()),
    responses((status = 200, description = "The ways to sign in", body = SignInView)))]
pub(super) async fn sign_in_get(State(app): State<App>) -> Json<SignInView> {
    Json(SignInView { password: true, oidc: app.front.oidc.as_ref().map(Oidc::view) })
}

/// Signs in with a password; the reply sets the cookie `holdpoint_session`. An unknown name and a wrong password give the same error.
#[utoipa::path(post, path = "/v1/sign-in/password", tag = "people", security(()), request_body = PasswordSignInBody,
    responses((status = 204, description = "The person is signed in"), Problems))]
pub(super) async fn sign_in_password(
    State(app): State<App>,
    SignInClient(from): SignInClient,
    jar: CookieJar,
    SignInCommand(PasswordSignInBody { user, password, tenant }): SignInCommand<PasswordSignInBody>,
) -> Result<(StatusCode, CookieJar), ApiError> {
    let tenant = tenant.as_deref().unwrap_or(TENANT);
    app.sign_ins.check(tenant, &user, network(from))?;
    let visit = app.engine.sign_in_password((tenant, &user), Password::from(password), from).await?;
    Ok((StatusCode::NO_CONTENT, jar.add(cookie::sign_in(&app.front, visit))))
}

/// Signs in with a one-time link; the reply sets the cookie `holdpoint_session`.
#[utoipa::path(post, path = "/v1/sign-in/link", tag = "people", security(()), request_body = LinkSignInBody,
    responses((status = 204, description = "Signed in; the link is used up"), Problems))]
pub(super) async fn sign_in_link(
    State(app): State<App>,
    SignInClient(from): SignInClient,
    jar: CookieJar,
    SignInCommand(LinkSignInBody { token }): SignInCommand<LinkSignInBody>,
) -> Result<(StatusCode, CookieJar), ApiError> {
    app.sign_ins.check_address(network(from))?;
    let visit = app.engine.sign_in_link(&token, from).await?;
    Ok((StatusCode::NO_CONTENT, jar.add(cookie::sign_in(&app.front, visit))))
}

/// Signs out. The cookie is no longer valid.
#[utoipa::path(post, path = "/v1/sign-out", tag = "people",
    responses((status = 204, description = "The person is signed out"), Problems))]
pub(super) async fn sign_out(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    jar: CookieJar,
) -> Result<(StatusCode, CookieJar), ApiError> {
    app.engine.sign_out(&caller).await?;
    Ok((StatusCode::NO_CONTENT, jar.add(cookie::sign_in_removed(&app.front))))
}
