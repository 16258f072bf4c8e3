//! Lists and calls the tools of one MCP server.

use std::sync::Arc;
use std::time::Duration;

use confine::Programs;
use domain::agent::McpServer;
use rmcp::model::CallToolRequestParams;
use serde_json::Value;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

use crate::call_outcome::{CallOutcome, chain, is_lost};
use crate::connection::{Connection, Endpoint, with_reason};
use crate::error::McpError;
use crate::listing::{self, McpTool, ToolFilter};

/// Default `PATH` of a server's program.
const USUAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Time that a server has to list its tools.
const LISTING: Duration = Duration::from_secs(30);

/// Client of one MCP server. It connects at its first use, and again after the connection was lost.
pub struct McpClient {
    name: String,
    endpoint: Endpoint,
    filter: ToolFilter,
    connection: Mutex<Option<Arc<Connection>>>,
}

impl McpClient {
    /// Creates a client that is not connected yet. Over HTTP the token is sent as a bearer token; a program receives it
    /// in the environment variable `token_env`. `programs` determines how the program is started.
    pub fn new(server: &McpServer, token: Option<Zeroizing<String>>, programs: Programs) -> Result<Self, McpError> {
        let wrong = |why: &str| McpError::Definition { server: server.name.clone(), why: why.to_owned() };
        let endpoint = match (&server.command[..], &server.url) {
            ([], Some(url)) if url.starts_with("https://") || url.starts_with("http://") => {
                Endpoint::Url { url: url.clone(), token }
            }
            ([], Some(_)) => return Err(wrong("its url is neither http nor https")),
            ([_, ..], None) => {
                let mut variables = vec![("PATH".to_owned(), USUAL_PATH.to_owned())];
                if let (Some(name), Some(token)) = (&server.token_env, &token) {
                    variables.push((name.clone(), token.as_str().to_owned()));
                }
                Endpoint::Command { programs, command: server.command.clone(), variables }
            }
            ([], None) => return Err(wrong("it has neither a command nor a url")),
            ([_, ..], Some(_)) => return Err(wrong("it has both a command and a url")),
        };
        let filter = ToolFilter::new(&server.tools);
        Ok(Self { name: server.name.clone(), endpoint, filter, connection: Mutex::new(None) })
    }

    /// Adds environment variables for the program and replaces those with the same name (such as `PATH`).
    #[must_use]
    pub fn with_variables(mut self, more: impl IntoIterator<Item = (String, String)>) -> Self {
        if let Endpoint::Command { variables, .. } = &mut self.endpoint {
            for (name, value) in more {
                variables.retain(|(known, _)| *known != name);
                variables.push((name, value));
            }
        }
        self
    }

    /// Connects to a server whose program runs unconfined, with the rights of this process.
    pub async fn connect(server: &McpServer, token: Option<Zeroizing<String>>) -> Result<Self, McpError> {
        let client = Self::new(server, token, Programs::Unconfined)?;
        client.connection().await?;
        Ok(client)
    }

    /// Name of the server.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Lists the tools of the server as they are now.
    pub async fn tools(&self) -> Result<Vec<McpTool>, McpError> {
        let failed = |why: String| McpError::Listing { server: self.name.clone(), why };
        let connection = self.connection().await?;
        match tokio::time::timeout(LISTING, listing::list(connection.peer(), &self.name, &self.filter)).await {
            Ok(Ok(tools)) => Ok(tools),
            Ok(Err(error)) => {
                if is_lost(&error) {
                    self.forget(&connection).await;
                }
                Err(failed(with_reason(chain(&error), connection.last_words().await)))
            }
            Err(_) => {
                self.forget(&connection).await;
                Err(failed("it does not answer".to_owned()))
            }
        }
    }

    /// Calls a tool by its full name, once. If the call is cancelled or takes longer than `time`, the client stops waiting and sends the server a
    /// cancellation.
    pub async fn call(&self, tool: &str, arguments: &Value, time: Duration, cancel: &CancellationToken) -> CallOutcome {
        let known = tool.strip_prefix(&self.name).and_then(|rest| rest.strip_prefix('.'));
        let Some(known) = known.filter(|known| self.filter.has(known)) else {
            return CallOutcome::failed(format!("`{tool}` is not a tool of `{}`", self.name));
        };
        let Value::Object(arguments) = arguments else {
            return CallOutcome::failed("the arguments are not an object");
        };
        let connection = tokio::select! {
            biased;
            () = cancel.cancelled() => return CallOutcome::failed("it was cancelled before it was called"),
            connection = self.connection() => match connection {
                Ok(connection) => connection,
                Err(error) => {
                    // The error may contain the command or address of the server, which are not for agents and people.
                    tracing::warn!(%error, "a call was not made");
                    return CallOutcome::failed(format!("the call was not made: MCP server `{}` cannot be reached", self.name));
                }
            },
        };
        let request = CallToolRequestParams::new(known.to_owned()).with_arguments(arguments.clone());
        connection.count_call();
        // Dropping the call sends a cancellation to the server.
        let answer = tokio::select! {
            biased;
            () = cancel.cancelled() => return CallOutcome::unknown("it was cancelled while it ran"),
            answer = tokio::time::timeout(time, connection.peer().call_tool_once(request)) => answer,
        };
        match answer {
            Ok(Ok(response)) => {
                connection.count_answer();
                CallOutcome::from_response(response)
            }
            Ok(Err(error)) => {
                if is_lost(&error) {
                    self.forget(&connection).await;
                }
                if connection.has_exceeded_limit() && !connection.had_parallel_calls() {
                    return CallOutcome::failed("it ran, but the server's answer is larger than 8 MiB");
                }
                connection.count_answer();
                match CallOutcome::from_error(&error, &self.endpoint) {
                    CallOutcome::Unknown { why } => {
                        CallOutcome::unknown(with_reason(why, self.endpoint.redact(&connection.last_words().await)))
                    }
                    called => called,
                }
            }
            Err(_) => CallOutcome::unknown(format!("the server did not answer within {} seconds", time.as_secs())),
        }
    }

    /// Closes the connection and ends a child process.
    pub async fn close(&self) {
        let connection = self.connection.lock().await.take();
        // A call in progress keeps the connection open until it ends.
        if let Some(connection) = connection.and_then(Arc::into_inner) {
            connection.close().await;
        }
    }

    /// Returns the open connection, or opens a new one.
    async fn connection(&self) -> Result<Arc<Connection>, McpError> {
        let mut kept = self.connection.lock().await;
        if let Some(connection) = kept.as_ref().filter(|connection| !connection.is_closed()) {
            return Ok(connection.clone());
        }
        *kept = None;
        let connection = Connection::open(&self.endpoint)
            .await
            .map_err(|why| McpError::Unreachable { server: self.name.clone(), why })?;
        Ok(kept.insert(Arc::new(connection)).clone())
    }

    /// Forgets a lost connection, unless it was replaced already.
    async fn forget(&self, lost: &Arc<Connection>) {
        let mut kept = self.connection.lock().await;
        if kept.as_ref().is_some_and(|kept| Arc::ptr_eq(kept, lost)) {
            *kept = None;
        }
    }
}
