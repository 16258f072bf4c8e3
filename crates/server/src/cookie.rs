//! The cookies that a browser is given.

use axum_extra::extract::CookieJar;
use axum_extra::extract::cookie::{Cookie, SameSite};
use cookie::time::Duration;
use domain::Visit;

use crate::front::Front;
use crate::oidc::Asked;

/// The cookie that a person is signed in with.
pub(crate) const VISIT: &str = "holdpoint_session";
/// The cookie that remembers what an identity provider was asked.
const ASKED: &str = "holdpoint_oidc";
/// How long it does.
const ASKED_FOR: Duration = Duration::minutes(10);

/// The cookie that a person is signed in with from now on.
pub(crate) fn visit(front: &Front, value: String) -> Cookie<'static> {
    let longest = Duration::seconds(Visit::LONGEST.as_secs());
    Cookie::build((VISIT, value))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Strict)
        .secure(front.secure())
        .max_age(longest)
        .build()
}

/// The same cookie, to be forgotten.
pub(crate) fn gone(front: &Front) -> Cookie<'static> {
    Cookie::build((VISIT, ""))
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
pub(crate) fn asked_before(jar: &CookieJar) -> Option<Asked> {
    let mut parts = jar.get(ASKED)?.value().split('.').map(str::to_owned);
    let asked = Asked { state: parts.next()?, nonce: parts.next()?, verifier: parts.next()? };
    (parts.next().is_none() && !asked.state.is_empty()).then_some(asked)
}

/// The same cookie, to be forgotten.
pub(crate) fn asked_no_more(front: &Front) -> Cookie<'static> {
    of_provider(front, String::new(), Duration::ZERO)
}

fn of_provider(front: &Front, value: String, age: Duration) -> Cookie<'static> {
    Cookie::build((ASKED, value))
        .path("/sign-in/oidc")
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(front.secure())
        .max_age(age)
        .build()
}
