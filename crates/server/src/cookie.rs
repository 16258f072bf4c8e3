//! Cookies of the server: the visit of a signed-in person, and an attempt to sign in.

use axum_extra::extract::CookieJar;
use axum_extra::extract::cookie::{Cookie, SameSite};
use cookie::time::Duration;
use domain::Visit;

use crate::front::Front;
use crate::oidc::SignInAttempt;

/// Name of the sign-in cookie.
pub(crate) const SIGN_IN: &str = "holdpoint_session";
/// Name of the sign-in cookie over TLS. Browsers accept a `__Host-` cookie only from the host itself, over TLS and for
/// all paths, so that no other host of the domain can set it.
const SECURE_SIGN_IN: &str = "__Host-holdpoint_session";
/// Name of the cookie with the state of a sign-in through the identity provider.
const ATTEMPT: &str = "holdpoint_oidc";
/// Name of that cookie over TLS.
const SECURE_ATTEMPT: &str = "__Host-holdpoint_oidc";
/// Lifetime of that cookie.
const ATTEMPT_LIFETIME: Duration = Duration::minutes(10);

/// Name of the sign-in cookie on this server.
fn sign_in_name(front: &Front) -> &'static str {
    if front.is_secure() { SECURE_SIGN_IN } else { SIGN_IN }
}

/// Value of the sign-in cookie. Over TLS the plain name is ignored, because any host of the domain can set it.
pub(crate) fn signed_in_with<'a>(front: &Front, jar: &'a CookieJar) -> Option<&'a str> {
    Some(jar.get(sign_in_name(front))?.value())
}

/// The sign-in cookie with a new value.
pub(crate) fn sign_in(front: &Front, value: String) -> Cookie<'static> {
    let longest = Duration::seconds(Visit::LONGEST.as_secs());
    Cookie::build((sign_in_name(front), value))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Strict)
        .secure(front.is_secure())
        .max_age(longest)
        .build()
}

/// Returns the cookie of a sign-in with an end in the past, so that the browser deletes it.
pub(crate) fn sign_in_removed(front: &Front) -> Cookie<'static> {
    Cookie::build((sign_in_name(front), ""))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Strict)
        .secure(front.is_secure())
        .max_age(Duration::ZERO)
        .build()
}

/// Stores the state of a sign-in attempt. `SameSite=Lax`, because the browser returns from another site.
pub(crate) fn attempt(front: &Front, attempt: &SignInAttempt) -> Cookie<'static> {
    let SignInAttempt { state, nonce, verifier } = attempt;
    of_provider(front, format!("{state}.{nonce}.{verifier}"), ATTEMPT_LIFETIME)
}

/// State of the sign-in attempt of this browser.
pub(crate) fn attempt_of(front: &Front, jar: &CookieJar) -> Option<SignInAttempt> {
    let mut parts = jar.get(attempt_cookie(front).0)?.value().split('.').map(str::to_owned);
    let attempt = SignInAttempt { state: parts.next()?, nonce: parts.next()?, verifier: parts.next()? };
    (parts.next().is_none() && !attempt.state.is_empty()).then_some(attempt)
}

/// Returns the cookie of an attempt with an end in the past, so that the browser deletes it.
pub(crate) fn attempt_removed(front: &Front) -> Cookie<'static> {
    of_provider(front, String::new(), Duration::ZERO)
}

/// Name and path of the cookie of a sign-in attempt: a `__Host-` cookie must have the path `/`.
fn attempt_cookie(front: &Front) -> (&'static str, &'static str) {
    if front.is_secure() { (SECURE_ATTEMPT, "/") } else { (ATTEMPT, "/sign-in/oidc") }
}

fn of_provider(front: &Front, value: String, age: Duration) -> Cookie<'static> {
    let (name, path) = attempt_cookie(front);
    Cookie::build((name, value))
        .path(path)
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(front.is_secure())
        .max_age(age)
        .build()
}
