//! The cookies that a browser is given.

use axum_extra::extract::CookieJar;
use axum_extra::extract::cookie::{Cookie, SameSite};
use cookie::time::Duration;
use domain::Visit;

use crate::front::Front;
use crate::oidc::Asked;

/// The cookie that a person is signed in with.
pub(crate) const VISIT: &str = "holdpoint_session";
/// The same where browsers come over TLS. They take a cookie of such a name from the host itself alone, over TLS alone, for all of its
/// paths: no other host of the same domain can set it.
const SECURE_VISIT: &str = "__Host-holdpoint_session";
/// The cookie that remembers what an identity provider was asked.
const ASKED: &str = "holdpoint_oidc";
/// The same over TLS.
const SECURE_ASKED: &str = "__Host-holdpoint_oidc";
/// How long it does.
const ASKED_FOR: Duration = Duration::minutes(10);

/// What the cookie that a person is signed in with is called here.
fn visit_name(front: &Front) -> &'static str {
    if front.secure() { SECURE_VISIT } else { VISIT }
}

/// What a browser says that it is signed in with. Over TLS a cookie of the plain name counts for nothing: anybody in the domain can set it.
pub(crate) fn signed_in_with<'a>(front: &Front, jar: &'a CookieJar) -> Option<&'a str> {
    Some(jar.get(visit_name(front))?.value())
}

/// The cookie that a person is signed in with from now on.
pub(crate) fn visit(front: &Front, value: String) -> Cookie<'static> {
    let longest = Duration::seconds(Visit::LONGEST.as_secs());
    Cookie::build((visit_name(front), value))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Strict)
        .secure(front.secure())
        .max_age(longest)
        .build()
}

/// The same cookie, to be forgotten.
pub(crate) fn gone(front: &Front) -> Cookie<'static> {
    Cookie::build((visit_name(front), ""))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Strict)
        .secure(front.secure())
        .max_age(Duration::ZERO)
        .build()
}

/// Remembers what the provider was asked. It comes back from another site, which a stricter cookie would not survive.
pub(crate) fn asked(front: &Front, asked: &Asked) -> Cookie<'static> {
    let Asked { state, nonce, verifier } = asked;
    of_provider(front, format!("{state}.{nonce}.{verifier}"), ASKED_FOR)
}

/// What the provider was asked by this browser.
pub(crate) fn asked_before(front: &Front, jar: &CookieJar) -> Option<Asked> {
    let mut parts = jar.get(asked_place(front).0)?.value().split('.').map(str::to_owned);
    let asked = Asked { state: parts.next()?, nonce: parts.next()?, verifier: parts.next()? };
    (parts.next().is_none() && !asked.state.is_empty()).then_some(asked)
}

/// The same cookie, to be forgotten.
pub(crate) fn asked_no_more(front: &Front) -> Cookie<'static> {
    of_provider(front, String::new(), Duration::ZERO)
}

/// What that cookie is called, and the paths for which it is sent: browsers take the safer name for all paths alone.
fn asked_place(front: &Front) -> (&'static str, &'static str) {
    if front.secure() { (SECURE_ASKED, "/") } else { (ASKED, "/sign-in/oidc") }
}

fn of_provider(front: &Front, value: String, age: Duration) -> Cookie<'static> {
    let (name, path) = asked_place(front);
    Cookie::build((name, value))
        .path(path)
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(front.secure())
        .max_age(age)
        .build()
}
