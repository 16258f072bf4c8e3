//! Manages one connection to an MCP server, from handshake to close.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use confine::Programs;
use rmcp::Peer;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, RoleClient, RunningService, serve_client_with_lifecycle,
};
use zeroize::Zeroizing;

use crate::call_outcome::chain;
use crate::child::Child;
use crate::http;

/// Time that a server has for the handshake.
const INTRODUCTION: Duration = Duration::from_secs(30);

/// Way in which a server is reached.
pub(crate) enum Endpoint {
    /// A program, how it is started, and its environment variables.
    Command { programs: Programs, command: Vec<String>, variables: Vec<(String, String)> },
    /// A URL with an optional bearer token.
    Url { url: String, token: Option<Zeroizing<String>> },
}

impl Endpoint {
    /// Removes the URL, token, command and variable values of the server from a text, if they are longer than three
    /// bytes.
    pub(crate) fn redact(&self, text: &str) -> String {
        let mut private: Vec<String> = match self {
            Self::Command { command, variables, .. } => {
                command.iter().chain(variables.iter().map(|(_, value)| value)).cloned().collect()
            }
            Self::Url { url, token } => {
                let parsed = reqwest::Url::parse(url).ok();
                let parts = parsed.iter().flat_map(|url| {
                    [
                        Some(url.as_str()),
                        url.host_str(),
                        Some(url.path()),
                        url.query(),
                        Some(url.username()),
                        url.password(),
                    ]
                });
                let token = token.as_ref().map(|token| token.as_str());
                parts.chain([Some(url.as_str()), token]).flatten().map(str::to_owned).collect()
            }
        };
        private.retain(|part| part.len() > 3);
        // Longer parts come first, because a URL contains its host.
        private.sort_by_key(|part| std::cmp::Reverse(part.len()));
        private.iter().fold(text.to_owned(), |text, part| text.replace(part, "…"))
    }
}

/// A connection that is open or was lost.
pub(crate) struct Connection {
    service: RunningService<RoleClient, ClientConfig>,
    child: Option<Child>,
    /// Number of calls without an answer.
    calls: AtomicUsize,
    /// Whether there were ever several calls at once.
    parallel: AtomicBool,
}

impl Connection {
    /// Opens a connection. Tries the common handshake first, then the one of servers that know only the older form.
    pub(crate) async fn open(endpoint: &Endpoint) -> Result<Self, String> {
        let modern = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::LATEST] };
        match Self::attempt(endpoint, ClientLifecycleMode::Initialize).await {
            Ok(connection) => Ok(connection),
            Err(why) if why.answered => Self::attempt(endpoint, modern).await.map_err(|_| why.words),
            Err(why) => Err(why.words),
        }
    }

    async fn attempt(endpoint: &Endpoint, lifecycle: ClientLifecycleMode) -> Result<Self, HandshakeError> {
        let us = ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("holdpoint", env!("CARGO_PKG_VERSION")),
        );
        let (child, service) = match endpoint {
            Endpoint::Command { programs, command, variables } => {
                let (child, streams) = Child::start(programs, command, variables)
                    .map_err(|error| HandshakeError::silent(chain(&error)))?;
                (
                    Some(child),
                    tokio::time::timeout(INTRODUCTION, serve_client_with_lifecycle(us, streams, lifecycle)).await,
                )
            }
            Endpoint::Url { url, token } => {
                let token = token.as_ref().map(|token| token.as_str());
                let transport = http::transport(url, token).map_err(|error| HandshakeError::silent(chain(&error)))?;
                (None, tokio::time::timeout(INTRODUCTION, serve_client_with_lifecycle(us, transport, lifecycle)).await)
            }
        };
        match service {
            Ok(Ok(service)) => {
                Ok(Self { service, child, calls: AtomicUsize::new(0), parallel: AtomicBool::new(false) })
            }
            Ok(Err(error)) => {
                let answered = matches!(error, ClientInitializeError::JsonRpcError(_));
                let words = with_last_words(chain(&error), child.as_ref()).await;
                Err(HandshakeError { words, answered })
            }
            Err(_) => {
                let words = with_last_words("it does not answer the initialization".to_owned(), child.as_ref()).await;
                Err(HandshakeError::silent(words))
            }
        }
    }

    /// Handle that sends requests to the server.
    pub(crate) fn peer(&self) -> &Peer<RoleClient> {
        self.service.peer()
    }

    /// Whether the connection cannot be used any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.service.is_closed() || self.service.peer().is_transport_closed()
    }

    /// Whether the connection ended because of a message that was too large.
    pub(crate) fn has_exceeded_limit(&self) -> bool {
        self.child.as_ref().is_some_and(|child| child.exceeded.load(Ordering::Relaxed))
    }

    /// Counts a call that is about to be made.
    pub(crate) fn count_call(&self) {
        if self.calls.fetch_add(1, Ordering::Relaxed) > 0 {
            self.parallel.store(true, Ordering::Relaxed);
        }
    }

    /// Counts an answered call. A call for which the client stopped waiting stays counted, because it may still be answered.
    pub(crate) fn count_answer(&self) {
        self.calls.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether there were ever several calls at once; the message that was too large may then belong to any of them.
    pub(crate) fn had_parallel_calls(&self) -> bool {
        self.parallel.load(Ordering::Relaxed)
    }

    /// Returns the end of the server's error output.
    pub(crate) async fn last_words(&self) -> String {
        match &self.child {
            Some(child) => child.last_words().await,
            None => String::new(),
        }
    }

    /// Closes the connection and ends a child process that does not end by itself.
    pub(crate) async fn close(self) {
        if let Err(error) = self.service.cancel().await {
            tracing::debug!(%error, "a connection to an MCP server could not be closed");
        }
        if let Some(child) = self.child {
            child.end().await;
        }
    }
}

/// Reason why a connection could not be opened.
struct HandshakeError {
    words: String,
    /// Whether the server answered with a refusal, rather than not at all.
    answered: bool,
}

impl HandshakeError {
    fn silent(words: String) -> Self {
        Self { words, answered: false }
    }
}

async fn with_last_words(why: String, child: Option<&Child>) -> String {
    match child {
        Some(child) => with_reason(why, child.last_words().await),
        None => why,
    }
}

/// Appends the end of the server's error output to a reason.
pub(crate) fn with_reason(why: String, last_words: String) -> String {
    if last_words.is_empty() { why } else { format!("{why}; end of its error output: {last_words}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_texts_contain_no_address_command_or_token() {
        let url = "https://ann:pass-word@mcp.internal.example:8443/hidden/path?key=abcd".to_owned();
        let endpoint = Endpoint::Url { url: url.clone(), token: Some(Zeroizing::new("tok-123".to_owned())) };
        for (said, expected) in [
            (format!("no answer from {url}"), "no answer from …"),
            ("POST /hidden/path at mcp.internal.example:8443 failed".to_owned(), "POST … at …:8443 failed"),
            ("Bearer tok-123 is refused, key=abcd too, and pass-word".to_owned(), "Bearer … is refused, … too, and …"),
            ("no such row".to_owned(), "no such row"),
        ] {
            assert_eq!(endpoint.redact(&said), expected);
        }
        let command = ["/opt/tools/server", "--db", "postgres://x@db/y", "-v"].map(str::to_owned).to_vec();
        let variables = vec![("API_TOKEN".to_owned(), "tok-456".to_owned()), ("N".to_owned(), "1".to_owned())];
        let endpoint = Endpoint::Command { programs: Programs::Unconfined, command, variables };
        assert_eq!(
            endpoint.redact("/opt/tools/server -v: 1 error at postgres://x@db/y with tok-456"),
            "… -v: 1 error at … with …"
        );
    }
}
