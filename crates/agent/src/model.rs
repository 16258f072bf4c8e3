//! What thinks: one turn of a model, whoever speaks its wire format.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tool::ToolSpec;

/// A model that can be asked for its next turn.
pub trait Model: Send + Sync {
    /// Asks for the next turn. What it says meanwhile goes to `said` as it comes; only the turn that is returned counts.
    fn turn<'a>(
        &'a self,
        request: Request<'a>,
        said: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, Result<Turn, ModelError>>;
}

/// What a model is asked.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// What it is told before anything else.
    pub instructions: &'a str,
    /// What was said and done so far, the oldest first. Every call has exactly one result.
    pub history: &'a [Message],
    /// What it may call.
    pub tools: &'a [ToolSpec],
}

/// One message of the history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// What a person, or the step's input, says.
    User {
        /// The text.
        content: String,
    },
    /// What the model said and called.
    Assistant {
        /// The text.
        text: String,
        /// The calls, in order.
        calls: Vec<Call>,
        /// What the provider wants back with the next request, untouched.
        provider: Value,
    },
    /// What came of one call.
    Result {
        /// The model's own id of the call.
        call: String,
        /// The tool.
        tool: String,
        /// What the model reads.
        content: String,
        /// Whether it is to be taken as an error.
        failed: bool,
    },
}

/// One call of a model's turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The model's own id for it; not unique beyond its turn.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// Its arguments; what is no object is kept as it came, and refused when it is proposed.
    pub arguments: Value,
}

/// One turn of a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// What it said.
    #[serde(default)]
    pub text: String,
    /// What it thought aloud, where the provider shows that.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub thinking: String,
    /// What it wants to call, in order.
    #[serde(default)]
    pub calls: Vec<Call>,
    /// What it cost.
    #[serde(default)]
    pub usage: Usage,
    /// What the provider wants back with the next request, untouched (signatures of thoughts, for one).
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub provider: Value,
}

/// What a turn cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// In the currency of the agent's price list, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// What is heard while a model speaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    /// More of what it says.
    Text(String),
    /// More of what it thinks aloud.
    Thinking(String),
    /// The turn is tried again from its beginning: what was heard of it does not count.
    Again {
        /// Why.
        why: String,
    },
}

/// Why there is no turn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Asking again would not help: a wrong key, a model that does not exist, a request that is refused.
    #[error("{0}")]
    Refused(String),
    /// It was asked as often as it may be: overloaded, unreachable, too slow, cut off.
    #[error("{0}")]
    Unavailable(String),
}
