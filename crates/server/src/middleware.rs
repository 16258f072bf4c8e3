//! Middleware of every request: it runs in a span, which is a child of the caller's span if the request has a
//! `traceparent`, and a head that proxies and servers could read in two ways is refused.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use http::header::{AUTHORIZATION, CONTENT_ENCODING, HOST};
use opentelemetry::propagation::Extractor;
use tracing::Instrument;
use tracing::field::Empty;
use tracing_opentelemetry::OpenTelemetrySpanExt;

use crate::error::ApiError;

/// Header of W3C Trace Context.
pub(crate) const TRACEPARENT: &str = "traceparent";
/// Maximum length of that header in bytes.
pub(crate) const LONGEST_TRACEPARENT: usize = 128;

/// Trace of a request, to be stored with the question or action.
#[must_use]
pub fn traceparent(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(TRACEPARENT)?.to_str().ok()?;
    (text.len() <= LONGEST_TRACEPARENT).then(|| text.to_owned())
}

struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(|value| value.to_str().ok())
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(http::HeaderName::as_str).collect()
    }
}

/// Middleware that runs a request in its span and counts it.
pub(crate) async fn traced(request: Request, next: Next) -> Response {
    let route = request.extensions().get::<axum::extract::MatchedPath>().map_or("unmatched", |path| path.as_str());
    let span = tracing::info_span!(
        "request",
        "otel.kind" = "server",
        method = %request.method(),
        route,
        status = Empty,
        interactionId = Empty,
        chatSessionId = Empty,
        interactionStatus = Empty,
    );
    if request.headers().contains_key(TRACEPARENT) {
        let headers = Headers(request.headers());
        let parent = opentelemetry::global::get_text_map_propagator(|propagator| propagator.extract(&headers));
        // Fails only if no exporter is configured, and then there is no trace.
        let _ = span.set_parent(parent);
    }
    let response = next.run(request).instrument(span.clone()).await;
    span.record("status", response.status().as_u16());
    metrics::counter!("holdpoint_requests_total", "status" => status_class(response.status())).increment(1);
    response
}

fn status_class(status: http::StatusCode) -> &'static str {
    match status.as_u16() / 100 {
        1 | 2 => "2xx",
        3 => "3xx",
        4 => "4xx",
        _ => "5xx",
    }
}

/// Refuses a request whose head is ambiguous.
pub(crate) async fn refuse_ambiguous(request: Request, next: Next) -> Response {
    match check_head(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

fn check_head(headers: &HeaderMap) -> Result<(), ApiError> {
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
