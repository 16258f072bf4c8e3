//! The cookies that a browser is given.

use axum_extra::extract::cookie::{Cookie, SameSite};
use cookie::time::Duration;
use domain::Visit;

use crate::front::Front;

/// The cookie that a person is signed in with.
pub(crate) const VISIT: &str = "holdpoint_session";

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
