//! Sends requests to a provider over HTTP.

use std::error::Error;
use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use domain::agent::{ModelChoice, Provider};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use jiff::fmt::rfc2822;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Client, redirect};
use url::Url;
use zeroize::Zeroizing;

use super::address;
use super::events::Body;
use super::fault::{Fault, Reason, readable};
use crate::model::ModelError;

const CONNECT: Duration = Duration::from_secs(20);

/// Transport of requests to a provider; tests replace it.
pub(super) trait Transport: Send + Sync {
    /// Sends one request and returns when the answer begins.
    fn send(&self, body: Bytes) -> BoxFuture<'_, Result<HttpResponse, Fault>>;
}

/// Response of a provider.
pub(super) struct HttpResponse {
    pub(super) status: u16,
    pub(super) content_type: String,
    /// Time that the provider wants to pass before the next request.
    pub(super) after: Option<Duration>,
    pub(super) body: Body,
}

/// HTTP with TLS, or without it if the endpoint says so.
pub(super) struct Http {
    client: Client,
    url: Url,
    headers: HeaderMap,
}

impl Http {
    /// Transport to the endpoint of a model choice, with its key.
    pub(super) fn new(choice: &ModelChoice, key: Option<&Zeroizing<String>>) -> Result<Self, ModelError> {
        if choice.name.is_empty() {
            return Err(ModelError::Refused("the model has no name".to_owned()));
        }
        let url = address::of(choice)?;
        let key = key.map(|key| key.trim()).filter(|key| !key.is_empty());
        if key.is_none() && choice.endpoint.is_none() {
            return Err(ModelError::Refused(
                "the provider of the model needs a key, and none is configured".to_owned(),
            ));
        }
        Ok(Self { client: client()?, url, headers: headers(choice.provider, key)? })
    }
}

impl Transport for Http {
    fn send(&self, body: Bytes) -> BoxFuture<'_, Result<HttpResponse, Fault>> {
        let request = self.client.post(self.url.clone()).headers(self.headers.clone()).body(body);
        async move {
            let answer = request.send().await.map_err(|error| lost("cannot be reached", error))?;
            let headers = answer.headers();
            let content_type = headers
                .get(CONTENT_TYPE)
                .and_then(|value| value.to_str().ok())
                .unwrap_or_default()
                .to_ascii_lowercase();
            Ok(HttpResponse {
                status: answer.status().as_u16(),
                content_type,
                after: requested_wait(headers),
                body: answer.bytes_stream().map(|piece| piece.map_err(|error| lost("was cut off", error))).boxed(),
            })
        }
        .boxed()
    }
}

/// One client for all models, so that connections are reused. It follows no redirect, which would receive the key, and
/// ignores proxy variables of the environment.
fn client() -> Result<Client, ModelError> {
    static CLIENT: OnceLock<Client> = OnceLock::new();
    if let Some(client) = CLIENT.get() {
        return Ok(client.clone());
    }
    let client = Client::builder()
        .redirect(redirect::Policy::none())
        .no_proxy()
        .connect_timeout(CONNECT)
        .tcp_nodelay(true)
        .user_agent(concat!("holdpoint/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| {
            tracing::warn!(error = readable(&cause(&error), None), "TLS cannot be set up for models");
            ModelError::Unavailable("TLS cannot be set up".to_owned())
        })?;
    Ok(CLIENT.get_or_init(|| client).clone())
}

fn headers(provider: Provider, key: Option<&str>) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
    if provider == Provider::Anthropic {
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    }
    if let Some(key) = key {
        let (name, value) = match provider {
            Provider::Anthropic => (HeaderName::from_static("x-api-key"), Zeroizing::new(key.to_owned())),
            Provider::Openai | Provider::Scripted => (AUTHORIZATION, Zeroizing::new(format!("Bearer {key}"))),
        };
        let mut value = HeaderValue::from_str(&value)
            .map_err(|_| ModelError::Refused("the key of the model has invalid characters".to_owned()))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// Time that a provider wants to pass before the next request: in milliseconds, in seconds, or until a date, which is
/// compared with the provider's own clock.
fn requested_wait(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    let seconds = |text: &str| Duration::try_from_secs_f64(text.trim().parse().ok()?).ok();
    if let Some(wait) = text("retry-after-ms").and_then(|millis| seconds(millis)?.checked_div(1000)) {
        return Some(wait);
    }
    let wanted = text(RETRY_AFTER.as_str())?;
    seconds(wanted).or_else(|| {
        let until = rfc2822::parse(wanted).ok()?.timestamp();
        let now = rfc2822::parse(text(DATE.as_str())?).ok()?.timestamp();
        Some(Duration::try_from(until.duration_since(now)).unwrap_or_default())
    })
}

/// Fault of a connection. The cause may name the host and goes to the log. The URL is left out even there, because it
/// may contain a key.
fn lost(what: &str, error: reqwest::Error) -> Fault {
    Fault::again(Reason { text: format!("the provider {what}"), detail: cause(&error.without_url()) })
}

fn cause(error: &dyn Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_parsed_in_all_formats() {
        let date = ("date", "Sun, 15 Nov 2026 10:00:00 GMT");
        for (given, expected) in [
            (vec![("retry-after", "7")], Some(7_000)),
            (vec![("retry-after", " 0.5 ")], Some(500)),
            (vec![("retry-after-ms", "250"), ("retry-after", "1")], Some(250)),
            (vec![("retry-after", "Sun, 15 Nov 2026 10:01:30 GMT"), date], Some(90_000)),
            (vec![("retry-after", "Sun, 15 Nov 2026 09:00:00 GMT"), date], Some(0)),
            (vec![("retry-after", "Sun, 15 Nov 2026 10:01:30 GMT")], None),
            (vec![("retry-after", "-3"), date], None),
            (vec![("retry-after", "soon")], None),
            (vec![], None),
        ] {
            let headers = given
                .iter()
                .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
                .collect::<HeaderMap>();
            assert_eq!(requested_wait(&headers), expected.map(Duration::from_millis), "{given:?}");
        }
    }

    #[test]
    fn api_key_is_not_in_debug_output_or_errors() {
        let headers = headers(Provider::Anthropic, Some("sk-secret")).unwrap();
        assert!(!format!("{headers:?}").contains("secret"));
        let ModelError::Refused(message) = super::headers(Provider::Openai, Some("sk-\nsecret")).unwrap_err() else {
            panic!()
        };
        assert!(!message.contains("secret"));
    }
}
