//! The journalled inputs of a step, as far as others than its worker write and read them.
//!
//! The machine of the crate `agent` defines all inputs with their contents (`agent::machine::Input`). The engine, which does not know that
//! crate, writes [`EngineInput`] and reads [`InputHead`]. A test of `agent` checks that their names agree.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

/// Input that the engine writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "input", rename_all = "snake_case")]
pub enum EngineInput {
    /// A message to the agent.
    Message {
        /// Name of the sender.
        by: String,
        /// Text of the message.
        content: String,
        /// Whether a person sent it, or a client on a person's behalf.
        person: bool,
    },
    /// The step was ended from outside.
    Cancelled {
        /// Reason, in words for people.
        reason: String,
    },
    /// The step is tried again.
    #[serde(rename = "again")]
    Retried {
        /// Reason, in words for people.
        reason: String,
        /// Whether the session had ended in between.
        after_end: bool,
    },
}

/// Kind of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalKind {
    /// The step begins its work.
    Begun,
    /// A message to the agent.
    Message,
    /// All messages so far are part of the next request to the model.
    #[serde(rename = "heard")]
    MessagesShown,
    /// The model has produced a turn.
    Turn,
    /// The model cannot be asked.
    ModelFailed,
    /// A question of the step was put to people.
    Asked,
    /// An action waits for people.
    Waiting,
    /// A call has its result.
    Settled,
    /// The question before the step has ended.
    #[serde(rename = "before")]
    BeforeEnded,
    /// The step is cancelled.
    Cancelled,
    /// The step is tried again.
    #[serde(rename = "again")]
    Retried,
    /// The outcome of a call of the previous attempt is known.
    #[serde(rename = "found")]
    CallRecovered,
}

impl JournalKind {
    /// All kinds, in the order of the declaration.
    pub const ALL: [Self; 12] = [
        Self::Begun,
        Self::Message,
        Self::MessagesShown,
        Self::Turn,
        Self::ModelFailed,
        Self::Asked,
        Self::Waiting,
        Self::Settled,
        Self::BeforeEnded,
        Self::Cancelled,
        Self::Retried,
        Self::CallRecovered,
    ];
}

/// Parts of an input that the engine reads.
#[derive(Debug, Deserialize)]
pub struct InputHead {
    /// Kind of the input.
    #[serde(rename = "input")]
    pub kind: JournalKind,
    /// Calls of a turn. Empty for other inputs.
    #[serde(default)]
    calls: Vec<IgnoredAny>,
    /// Whether a message is a note of the worker itself to the model.
    #[serde(default, rename = "note")]
    pub is_note: bool,
}

impl InputHead {
    /// Whether the input is a turn in which the model called tools.
    #[must_use]
    pub const fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }
}
