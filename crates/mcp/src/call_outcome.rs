//! Determines the outcome of a call.

use std::error::Error;

use rmcp::ServiceError;
use rmcp::model::CallToolResponse;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use serde_json::Value;

use crate::connection::Endpoint;
use crate::content;

/// Outcome of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum CallOutcome {
    /// The tool ran and gave this result.
    Done(Value),
    /// The tool failed, the server refused, or the call was never made.
    Failed {
        /// Reason, as the model will read it.
        message: String,
        /// Partial result of the server; `null` if there is no result.
        result: Value,
    },
    /// The call was made, and its outcome is unknown.
    Unknown {
        /// Reason why the outcome is unknown.
        why: String,
    },
}

impl CallOutcome {
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), result: Value::Null }
    }

    pub(crate) fn unknown(why: impl Into<String>) -> Self {
        Self::Unknown { why: why.into() }
    }

    pub(crate) fn from_response(response: CallToolResponse) -> Self {
        match response {
            CallToolResponse::Complete(result) if result.is_error == Some(true) => {
                let (message, result) = content::failure(result);
                Self::Failed { message, result }
            }
            CallToolResponse::Complete(result) => Self::Done(content::result(result)),
            CallToolResponse::InputRequired(_) => {
                Self::failed("the server wants to ask the user first, which this client does not support")
            }
            // This client does not announce support for tasks. The server continues on its own, and its result is never
            // read.
            _ => Self::unknown("the server continues the call as a task"),
        }
    }

    /// Determines the outcome of a call that ended with an error. The call has failed only if it certainly did not run.
    /// Address and command of the server are for the log only, not for agents and people.
    pub(crate) fn from_error(error: &ServiceError, endpoint: &Endpoint) -> Self {
        match error {
            ServiceError::McpError(error) => Self::failed(content::short(&endpoint.redact(&error.message))),
            ServiceError::UnexpectedResponse => Self::failed("the server answered with a message that is not a result"),
            ServiceError::TransportSend(error) if is_unsent(&*error.error) => {
                tracing::warn!(error = chain(&*error.error), "a call was not made");
                Self::failed("the call was not made: the MCP server cannot be reached, or refused it")
            }
            other => {
                tracing::warn!(error = chain(other), "the outcome of a call is unknown");
                Self::unknown("the connection to the MCP server was lost while it ran")
            }
        }
    }
}

/// Whether a connection cannot be used any more after this error.
pub(crate) fn is_lost(error: &ServiceError) -> bool {
    matches!(error, ServiceError::TransportSend(_) | ServiceError::TransportClosed)
}

/// Whether a request certainly did not reach the server, or was refused by it.
fn is_unsent(error: &(dyn Error + Send + Sync + 'static)) -> bool {
    match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::Client(error)) => error.is_connect() || error.is_builder(),
        Some(
            StreamableHttpError::AuthRequired(_)
            | StreamableHttpError::InsufficientScope(_)
            | StreamableHttpError::SessionExpired
            | StreamableHttpError::ReservedHeaderConflict(_),
        ) => true,
        // Status 408 may come from a proxy that has forwarded the request.
        Some(StreamableHttpError::HttpStatus(error)) => (300..500).contains(&error.status) && error.status != 408,
        _ => false,
    }
}

/// Formats an error with its causes, in one line.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !words.contains(&more) {
            words = format!("{words}: {more}");
        }
        cause = error.source();
    }
    content::short(&words)
}
