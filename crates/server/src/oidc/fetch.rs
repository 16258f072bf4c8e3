//! Asks the provider: no redirects, so that it is the one that was configured; not for long, and not without end.

use std::pin::Pin;
use std::time::Duration;

use openidconnect::{AsyncHttpClient, HttpRequest, HttpResponse};

/// How long the provider may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How much it may say, in bytes.
const MOST: usize = 1024 * 1024;

/// Why it was not asked, or did not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failed {
    #[error(transparent)]
    Http(#[from] reqwest::Error),
    #[error(transparent)]
    Malformed(#[from] http::Error),
    #[error("it says more than {MOST} bytes")]
    TooMuch,
}

/// A client of the provider.
pub(super) struct Fetch(reqwest::Client);

impl Fetch {
    pub(super) fn new() -> reqwest::Result<Self> {
        // A proxy out of the environment would see the client's secret and the tokens: nobody named it to this server.
        let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
        client.timeout(PATIENCE).build().map(Self)
    }

    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, Failed> {
        let mut response = self.0.execute(request.try_into()?).await?;
        let mut reply = http::Response::builder().status(response.status());
        for (name, value) in response.headers() {
            reply = reply.header(name, value);
        }
        let mut body = Vec::new();
        while let Some(part) = response.chunk().await? {
            body.extend_from_slice(&part);
            if body.len() > MOST {
                return Err(Failed::TooMuch);
            }
        }
        Ok(reply.body(body)?)
    }
}

impl<'c> AsyncHttpClient<'c> for Fetch {
    type Error = Failed;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, Failed>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(self.send(request))
    }
}
