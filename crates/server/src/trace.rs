//! Traces: each request is a span, a child of the caller's span if the request has a `traceparent`.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use opentelemetry::propagation::Extractor;
use tracing::Instrument;
use tracing::field::Empty;
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// Header of W3C Trace Context.
pub(crate) const TRACEPARENT: &str = "traceparent";
/// Maximum length of the header in bytes.
pub(crate) const LONGEST: usize = 128;

/// Trace of a request, to be stored with the question or action.
#[must_use]
pub fn traceparent(headers: &http::HeaderMap) -> Option<String> {
    let text = headers.get(TRACEPARENT)?.to_str().ok()?;
    (text.len() <= LONGEST).then(|| text.to_owned())
}

struct Headers<'a>(&'a http::HeaderMap);

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
