//! A browser on its way to the identity provider and back. These are no operations: they redirect, and name nobody.

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
use crate::oidc::{Asked, Oidc, Refused};

/// What the provider has the browser bring back.
#[derive(Deserialize)]
struct Brought {
    code: Option<String>,
    state: Option<String>,
}

/// Why a sign-in was refused before an account was looked for.
struct Denied {
    /// The code that the page is given.
    why: &'static str,
    /// Issuer and subject of a person to whom the provider gives no role.
    without_role: Option<String>,
}

impl From<&'static str> for Denied {
    fn from(why: &'static str) -> Self {
        Self { why, without_role: None }
    }
}

/// `GET /sign-in/oidc/start`
pub(super) async fn start(State(app): State<App>, Base(base): Base, jar: CookieJar) -> Result<Response, ApiError> {
    let oidc = app.front.oidc.as_ref().ok_or(ApiError::NoRoute)?;
    let asked = Asked { state: app.engine.nonce(), nonce: app.engine.nonce(), verifier: app.engine.nonce() };
    match oidc.ask(&base, &asked).await {
        Ok(url) => Ok((jar.add(cookie::asked(&app.front, &asked)), Redirect::to(url.as_str())).into_response()),
        Err(error) => {
            tracing::warn!(%error, "nobody can sign in through the identity provider");
            Ok(back("provider_unavailable").into_response())
        }
    }
}

/// `GET /sign-in/oidc/callback`
pub(super) async fn callback(
    State(app): State<App>,
    RedirectedClient(from): RedirectedClient,
    Base(base): Base,
    jar: CookieJar,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let oidc = app.front.oidc.as_ref().ok_or(ApiError::NoRoute)?;
    app.sign_ins.check_address(network(from))?;
    let asked = cookie::asked_before(&app.front, &jar);
    let jar = jar.add(cookie::asked_no_more(&app.front));
    let identity = identified(&app, oidc, &base, query.as_deref().unwrap_or_default(), asked).await;
    let signed_in = match identity {
        Ok(identity) => app.engine.sign_in_external(identity, from).await.map_err(|error| match error {
            Error::Refused(Refusal::NameTaken(_) | Refusal::UserExists(_)) => "name_taken",
            Error::Refused(_) | Error::SignInFailed => "sign_in_failed",
            error => {
                tracing::error!(%error, "somebody could not be signed in");
                "unavailable"
            }
        }),
        Err(Denied { why, without_role }) => {
            app.engine.sign_in_refused(oidc.place(), without_role, from).await?;
            Err(why)
        }
    };
    Ok(match signed_in {
        Ok(visit) => (jar.add(cookie::visit(&app.front, visit)), Redirect::to("/")).into_response(),
        Err(why) => (jar, back(why)).into_response(),
    })
}

async fn identified(
    app: &App,
    oidc: &Oidc,
    base: &str,
    query: &str,
    asked: Option<Asked>,
) -> Result<engine::Identity, Denied> {
    let brought: Brought = serde_urlencoded::from_str(query).map_err(|_| "sign_in_failed")?;
    let (Some(code), Some(state), Some(asked)) = (brought.code, brought.state, asked) else {
        // The provider has said no, or this browser has not asked, or not lately.
        return Err("sign_in_failed".into());
    };
    if state != asked.state {
        tracing::warn!("somebody came back from the identity provider with what another browser was given");
        return Err("sign_in_failed".into());
    }
    let identity = oidc.answer(base, code, &asked, app.engine.now()).await;
    identity.map_err(|error| {
        tracing::warn!(%error, "the word of the identity provider was not taken");
        match error {
            Refused::NoRole { subject, .. } => Denied { why: "no_role", without_role: Some(subject) },
            Refused::Provider(_) => "provider_unavailable".into(),
            Refused::Exchange(_) | Refused::Token(_) => "sign_in_failed".into(),
        }
    })
}

/// Back to the page, which says what went wrong.
fn back(why: &str) -> Redirect {
    Redirect::to(&format!("/sign-in?error={why}"))
}
