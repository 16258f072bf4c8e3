//! Creates the transport to a server over streamable HTTP.

use std::sync::Arc;
use std::time::Duration;

use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::SseRetryPolicy;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use crate::bounded_http::BoundedHttpClient;
use crate::child::LONGEST;

/// Creates the transport. Redirects are not followed: the address is the one that the operator configured.
pub(crate) fn transport(
    url: &str,
    token: Option<&str>,
) -> Result<StreamableHttpClientTransport<BoundedHttpClient>, reqwest::Error> {
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        // A proxy from the environment would see the token and every call, although the operator did not configure it
        // here.
        .no_proxy()
        .connect_timeout(Duration::from_secs(10))
        // The server may close a kept connection at the moment of a call; the client could not tell whether the call
        // was made.
        .pool_max_idle_per_host(0)
        .build()?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(url).max_sse_event_size(LONGEST);
    // A broken stream is resumed, but only a few times: otherwise the call would wait for ever.
    config.retry_config = Arc::new(ThreeTimes);
    if let Some(token) = token {
        config = config.auth_header(token);
    }
    Ok(StreamableHttpClientTransport::with_client(BoundedHttpClient(client), config))
}

#[derive(Debug)]
struct ThreeTimes;

impl SseRetryPolicy for ThreeTimes {
    fn retry(&self, tried: usize) -> Option<Duration> {
        (tried < 3).then_some(Duration::from_millis(500))
    }
}
