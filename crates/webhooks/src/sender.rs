//! Posts one message: without redirects or proxies, with a time limit, and reading only the beginning of the response.

use std::error::Error as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::SignedDuration;
use domain::webhook::address::Networks;
use engine::{Courier, Parcel, Receipt};
use futures::future::BoxFuture;
use jiff::fmt::rfc2822::DateTimeParser;
use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, RETRY_AFTER};
use reqwest::{Client, Response, redirect};
use standardwebhooks::{HEADER_WEBHOOK_ID, HEADER_WEBHOOK_SIGNATURE, HEADER_WEBHOOK_TIMESTAMP};
use url::Url;

use crate::message::{SignedMessage, sign_message};
use crate::resolver::{CheckedResolver, Resolver, Unreachable, check_literal};

/// Number of bytes of a response that are read.
const READ: usize = 4096;
/// Number of characters of a response that are kept.
const KEPT: usize = 200;
/// Number of idle connections kept for each endpoint.
const IDLE: usize = 2;

/// Posts messages over HTTP.
pub struct WebhookSender {
    client: Client,
    networks: Networks,
}

/// Reason why there is no response.
#[derive(Debug, thiserror::Error)]
enum SendError {
    #[error("the URL cannot be used")]
    Url,
    #[error(transparent)]
    Unreachable(#[from] Unreachable),
    #[error(transparent)]
    MessageError(#[from] crate::message::MessageError),
    #[error("{}", describe(.0))]
    Http(#[from] reqwest::Error),
    #[error("no reply in time")]
    Late,
}

impl WebhookSender {
    /// Creates a sender that reaches public addresses and these networks.
    pub fn new(networks: Networks, lookup: Arc<dyn Resolver>) -> Result<Self, reqwest::Error> {
        let guard = CheckedResolver { networks: networks.clone(), lookup };
        let client = Client::builder()
            .dns_resolver(Arc::new(guard))
            .redirect(redirect::Policy::none())
            // A proxy could connect to any address on behalf of this server.
            .no_proxy()
            .pool_max_idle_per_host(IDLE)
            .user_agent(concat!("holdpoint/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(Self { client, networks })
    }

    async fn send(&self, parcel: &Parcel) -> Result<Receipt, SendError> {
        let url = Url::parse(&parcel.url).map_err(|_| SendError::Url)?;
        check_literal(&self.networks, &url)?;
        let SignedMessage { body, timestamp, signatures } = sign_message(parcel)?;
        let request = self
            .client
            .post(url)
            .header(CONTENT_TYPE, "application/json")
            .header(HEADER_WEBHOOK_ID, parcel.id.to_string())
            .header(HEADER_WEBHOOK_TIMESTAMP, timestamp)
            .header(HEADER_WEBHOOK_SIGNATURE, signatures)
            .body(body);
        let response = tokio::time::timeout(parcel.patience, request.send()).await.map_err(|_| SendError::Late)??;
        let (status, wait) = (Some(response.status().as_u16()), requested_wait(response.headers()));
        // The status decides, so a slow body is waited for only a part of the time limit.
        let note = tokio::time::timeout(parcel.patience / 4, beginning(response)).await.unwrap_or_default();
        Ok(Receipt { status, note, wait, took: Duration::ZERO })
    }
}

impl Courier for WebhookSender {
    fn post<'a>(&'a self, parcel: &'a Parcel) -> BoxFuture<'a, Receipt> {
        Box::pin(async move {
            let began = Instant::now();
            let receipt = self.send(parcel).await.unwrap_or_else(|failed| {
                let note = one_line(&failed.to_string());
                Receipt { status: None, note, wait: None, took: Duration::ZERO }
            });
            Receipt { took: began.elapsed(), ..receipt }
        })
    }
}

/// Reads the beginning of the body. The status counts even if the body cannot be read.
async fn beginning(mut response: Response) -> String {
    let mut read = Vec::new();
    while read.len() < READ {
        match response.chunk().await {
            Ok(Some(part)) => read.extend_from_slice(&part[..part.len().min(READ - read.len())]),
            Ok(None) | Err(_) => break,
        }
    }
    one_line(&String::from_utf8_lossy(&read))
}

/// Puts a text on one line, without control characters.
fn one_line(text: &str) -> String {
    let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    plain.take(KEPT).collect::<String>().trim().to_owned()
}

/// Reads the time that the endpoint wants to pass before the next attempt: seconds, or a time by its own clock.
fn requested_wait(headers: &HeaderMap) -> Option<SignedDuration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let after = text(RETRY_AFTER)?.trim();
    if let Ok(seconds) = after.parse::<u32>() {
        return Some(SignedDuration::from_secs(i64::from(seconds)));
    }
    let moment = |text| DateTimeParser::new().parse_timestamp(text).ok();
    let (until, now) = (moment(after)?, moment(text(DATE)?)?);
    Some(until.duration_since(now).max(SignedDuration::ZERO))
}

/// Describes an error with its causes. The address is left out, because the reader knows it.
fn describe(error: &reqwest::Error) -> String {
    let mut words = vec![if error.is_connect() { "no connection".to_owned() } else { "no reply".to_owned() }];
    let mut cause = error.source();
    while let Some(error) = cause {
        words.push(error.to_string());
        cause = error.source();
    }
    words.join(": ")
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn check(after: &str, date: Option<&str>, expected: Option<i64>) {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, HeaderValue::from_str(after).unwrap());
        if let Some(date) = date {
            headers.insert(DATE, HeaderValue::from_str(date).unwrap());
        }
        assert_eq!(requested_wait(&headers), expected.map(SignedDuration::from_secs), "{after}");
    }

    #[test]
    fn retry_after_is_parsed_as_seconds_or_date() {
        let now = Some("Wed, 21 Oct 2026 07:28:00 GMT");
        check("120", None, Some(120));
        check(" 0 ", None, Some(0));
        check("Wed, 21 Oct 2026 07:30:00 GMT", now, Some(120));
        check("Wed, 21 Oct 2026 07:20:00 GMT", now, Some(0));
        check("Wed, 21 Oct 2026 07:30:00 GMT", None, None);
        check("-5", now, None);
        check("soon", now, None);
    }

    #[test]
    fn response_body_is_shortened_to_one_line() {
        assert_eq!(one_line("a\r\n\u{1b}[31mb"), "a   [31mb");
        assert_eq!(one_line(&"x".repeat(10_000)).len(), KEPT);
    }
}
