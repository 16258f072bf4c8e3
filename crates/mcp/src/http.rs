//! A server that is called: streamable HTTP.

use std::sync::Arc;
use std::time::Duration;

use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::SseRetryPolicy;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use crate::bounded::Bounded;
use crate::child::LONGEST;

/// Gives the way to a server. Redirects are not followed: the address is the one that its operator wrote.
pub(crate) fn transport(
    url: &str,
    token: Option<&str>,
) -> Result<StreamableHttpClientTransport<Bounded>, reqwest::Error> {
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        // A proxy out of the environment would see the token and every call: nobody named it to this server.
        .no_proxy()
        .connect_timeout(Duration::from_secs(10))
        // A connection that was kept may be closed by the server at the moment of a call, which nobody could tell from one that was made.
        .pool_max_idle_per_host(0)
        .build()?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(url).max_sse_event_size(LONGEST);
    // A stream that breaks is taken up again where it was, but not for ever: the call would wait for nobody.
    config.retry_config = Arc::new(ThreeTimes);
    if let Some(token) = token {
        config = config.auth_header(token);
    }
    Ok(StreamableHttpClientTransport::with_client(Bounded(client), config))
}

#[derive(Debug)]
struct ThreeTimes;

impl SseRetryPolicy for ThreeTimes {
    fn retry(&self, tried: usize) -> Option<Duration> {
        (tried < 3).then_some(Duration::from_millis(500))
    }
}
