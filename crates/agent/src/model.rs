//! The interface of a model: a request for one turn, and the turn. The formats of the providers are in `models`.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tool::ToolSpec;

/// A model that can be asked for its next turn.
pub trait Model: Send + Sync {
    /// Asks for the next turn. Text that arrives meanwhile goes to `on_delta`; only the returned turn counts.
    fn turn<'a>(
        &'a self,
        request: Request<'a>,
        on_delta: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, Result<Turn, ModelError>>;
}

/// Request for one turn.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Instructions of the agent.
    pub instructions: &'a str,
    /// Messages so far, oldest first. Every call has exactly one result.
    pub history: &'a [Message],
    /// Tools that the model may call.
    pub tools: &'a [ToolSpec],
}

/// One message of the history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// Message of a person, or the input of the step.
    User {
        /// Text of the message.
        content: String,
    },
    /// Turn of the model.
    Assistant {
        /// Text of the turn.
        text: String,
        /// Calls in their order.
        calls: Vec<ModelCall>,
        /// Data that the provider expects back with the next request, unchanged.
        provider: Value,
    },
    /// Result of one call.
    Result {
        /// Identifier that the model gave the call.
        call: String,
        /// Name of the tool.
        tool: String,
        /// Text that the model reads.
        content: String,
        /// Whether the model should treat it as an error.
        failed: bool,
    },
}

/// One call of a model's turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelCall {
    /// Identifier that the model gave the call; unique within its turn only.
    pub id: String,
    /// Name of the tool.
    pub tool: String,
    /// Arguments of the call. A value that is not an object is kept as it came and refused when the call is proposed.
    pub arguments: Value,
}

/// One turn of a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// Text of the turn.
    #[serde(default)]
    pub text: String,
    /// Reasoning text, if the provider shows it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub thinking: String,
    /// Calls in their order.
    #[serde(default)]
    pub calls: Vec<ModelCall>,
    /// Tokens of the turn and their cost.
    #[serde(default)]
    pub usage: Usage,
    /// Data that the provider expects back with the next request, unchanged (for example signatures of reasoning).
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub provider: Value,
}

/// Tokens and cost of a turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Number of input tokens.
    pub input_tokens: u64,
    /// Number of output tokens.
    pub output_tokens: u64,
    /// Cost in the currency of the agent's price list, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// Part of a turn, published while the model is still producing it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    /// More text of the reply.
    Text(String),
    /// More text of the model's reasoning.
    Thinking(String),
    /// The turn starts over; earlier deltas of it do not count.
    Again {
        /// Reason, in words for people.
        why: String,
    },
}

/// Reason why there is no turn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Retrying would not help: a wrong key, an unknown model, a refused request.
    #[error("{0}")]
    Refused(String),
    /// All retries failed: the provider is overloaded, unreachable, too slow, or cuts its answers off.
    #[error("{0}")]
    Unavailable(String),
}
