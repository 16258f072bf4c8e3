//! HTTP client for the identity provider: no redirects, so that only the configured host is asked, with a time limit
//! and a size limit.

use std::pin::Pin;
use std::time::Duration;

use openidconnect::{AsyncHttpClient, HttpRequest, HttpResponse};

/// Timeout of a request to the provider.
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum size of a response in bytes.
const MOST: usize = 1024 * 1024;

/// Reason why a request to the provider failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FetchError {
    #[error(transparent)]
    Http(#[from] reqwest::Error),
    #[error(transparent)]
    Malformed(#[from] http::Error),
    #[error("its reply is larger than {MOST} bytes")]
    TooMuch,
}

/// HTTP client for the provider.
pub(super) struct Fetch(reqwest::Client);

impl Fetch {
    pub(super) fn new() -> reqwest::Result<Self> {
        // No proxy from the environment: it would see the client secret and the tokens.
        let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
        client.timeout(PATIENCE).build().map(Self)
    }

    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, FetchError> {
        let mut response = self.0.execute(request.try_into()?).await?;
        let mut reply = http::Response::builder().status(response.status());
        for (name, value) in response.headers() {
            reply = reply.header(name, value);
        }
        let mut body = Vec::new();
        while let Some(part) = response.chunk().await? {
            body.extend_from_slice(&part);
            if body.len() > MOST {
                return Err(FetchError::TooMuch);
            }
        }
        Ok(reply.body(body)?)
    }
}

impl<'c> AsyncHttpClient<'c> for Fetch {
    type Error = FetchError;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, FetchError>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(self.send(request))
    }
}
