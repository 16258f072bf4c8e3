//! Redirects to the identity provider and back. These routes are not part of the OpenAPI document; they reveal no
//! names.

use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum_extra::extract::CookieJar;
use domain::Refusal;
use engine::Error;
use serde::Deserialize;

use crate::App;
use crate::caller::{Base, RedirectedClient, network};
use crate::cookie;
use crate::error::ApiError;
use crate::oidc::{Oidc, OidcError, SignInAttempt};

/// Query of the callback.
#[derive(Deserialize)]
struct CallbackQuery {
    code: Option<String>,
    state: Option<String>,
}

/// Reason why a sign-in was refused before an account was looked up.
struct Denied {
    /// Error code for the page.
    why: &'static str,
    /// Issuer and subject of a person without a role.
    without_role: Option<String>,
}

impl From<&'static str> for Denied {
    fn from(why: &'static str) -> Self {
        Self { why, without_role: None }
    }
}

/// `GET /sign-in/oidc/start` sends the browser to the identity provider.
pub(super) async fn start(State(app): State<App>, Base(base): Base, jar: CookieJar) -> Result<Response, ApiError> {
    let oidc = app.front.oidc.as_ref().ok_or(ApiError::NoRoute)?;
    let attempt = SignInAttempt { state: app.engine.nonce(), nonce: app.engine.nonce(), verifier: app.engine.nonce() };
    match oidc.authorization_url(&base, &attempt).await {
        Ok(url) => Ok((jar.add(cookie::attempt(&app.front, &attempt)), Redirect::to(url.as_str())).into_response()),
        Err(error) => {
            tracing::warn!(%error, "sign-in through the identity provider is unavailable");
            Ok(back("provider_unavailable").into_response())
        }
    }
}

/// `GET /sign-in/oidc/callback` signs in the person who returns from the identity provider.
pub(super) async fn callback(
    State(app): State<App>,
    RedirectedClient(from): RedirectedClient,
    Base(base): Base,
    jar: CookieJar,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let oidc = app.front.oidc.as_ref().ok_or(ApiError::NoRoute)?;
    app.sign_ins.check_address(network(from))?;
    let attempt = cookie::attempt_of(&app.front, &jar);
    let jar = jar.add(cookie::attempt_removed(&app.front));
    let identity = identify(&app, oidc, &base, query.as_deref().unwrap_or_default(), attempt).await;
    let signed_in = match identity {
        Ok(identity) => app.engine.sign_in_external(identity, from).await.map_err(|error| match error {
            Error::Refused(Refusal::NameTaken(_) | Refusal::UserExists(_)) => "name_taken",
            Error::Refused(_) | Error::SignInFailed => "sign_in_failed",
            error => {
                tracing::error!(%error, "a person could not be signed in");
                "unavailable"
            }
        }),
        Err(Denied { why, without_role }) => {
            app.engine.record_refused_sign_in(oidc.project(), without_role, from).await?;
            Err(why)
        }
    };
    Ok(match signed_in {
        Ok(visit) => (jar.add(cookie::sign_in(&app.front, visit)), Redirect::to("/")).into_response(),
        Err(why) => (jar, back(why)).into_response(),
    })
}

async fn identify(
    app: &App,
    oidc: &Oidc,
    base: &str,
    query: &str,
    attempt: Option<SignInAttempt>,
) -> Result<engine::Identity, Denied> {
    let brought: CallbackQuery = serde_urlencoded::from_str(query).map_err(|_| "sign_in_failed")?;
    let (Some(code), Some(state), Some(attempt)) = (brought.code, brought.state, attempt) else {
        // The provider refused, or this browser has no recent sign-in attempt.
        return Err("sign_in_failed".into());
    };
    if state != attempt.state {
        tracing::warn!("a response of the identity provider belongs to the sign-in of another browser");
        return Err("sign_in_failed".into());
    }
    let identity = oidc.exchange_code(base, code, &attempt, app.engine.now()).await;
    identity.map_err(|error| {
        tracing::warn!(%error, "the response of the identity provider was refused");
        match error {
            OidcError::NoRole { subject, .. } => Denied { why: "no_role", without_role: Some(subject) },
            OidcError::Provider(_) => "provider_unavailable".into(),
            OidcError::Exchange(_) | OidcError::Token(_) => "sign_in_failed".into(),
        }
    })
}

/// Redirects to the page with an error code.
fn back(why: &str) -> Redirect {
    Redirect::to(&format!("/sign-in?error={why}"))
}
