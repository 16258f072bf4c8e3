//! Checks on the head of every request: a head that proxies and servers could read in two ways is refused.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use http::header::{AUTHORIZATION, CONTENT_ENCODING, HOST};

use crate::error::ApiError;

/// Refuses a request whose head is ambiguous.
pub(crate) async fn refuse_ambiguous(request: Request, next: Next) -> Response {
    match check(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

fn check(headers: &HeaderMap) -> Result<(), ApiError> {
    let invalid = |words: &str| Err(ApiError::HeaderInvalid(words.to_owned()));
    match headers.get_all(HOST).iter().count() {
        0 => return invalid("a request must have the header Host"),
        1 => {}
        _ => return invalid("Host must be sent once"),
    }
    if headers.get_all(AUTHORIZATION).iter().count() > 1 {
        return invalid("Authorization must be sent once");
    }
    let plain = |value: &http::HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity") || value.is_empty();
    if headers.get_all(CONTENT_ENCODING).iter().all(plain) { Ok(()) } else { Err(ApiError::EncodingUnsupported) }
}
