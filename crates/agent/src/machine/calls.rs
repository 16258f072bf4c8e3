//! The calls of the current turn: the effect that each call needs, the question that it waits for, and whether it is
//! settled.

use domain::agent::ASK_USER_TOOLS;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::StepEffect;
use crate::model;

/// Prefix of the tools with which a model asks people.
pub const ASK_USER_PREFIX: &str = "ask_user_";

/// A call that waits for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingCall {
    /// Name of the call.
    pub call: String,
    /// Identifier of the question.
    pub interaction: String,
    /// Whether the step itself asked. The result is then read from the question; for an action it is read from the
    /// action.
    pub is_question: bool,
}

/// A call without a result at the end of its step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnsettledCall {
    /// Name of the call.
    pub call: String,
    /// Identifier of the question that the step asked for this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
}

/// One call of the current turn. A settled call keeps nothing, because its result is in the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "standing", rename_all = "snake_case")]
pub(super) enum PendingCall {
    /// The call has been neither proposed nor asked.
    #[serde(rename = "wanted")]
    New { tool: String, arguments: Value },
    /// The call waits for people.
    Waiting { tool: String, arguments: Value, interaction: String },
    /// The call has its result.
    Settled,
}

impl PendingCall {
    pub(super) fn of(call: &model::ModelCall) -> Self {
        Self::New { tool: call.tool.clone(), arguments: call.arguments.clone() }
    }

    pub(super) const fn is_settled(&self) -> bool {
        matches!(self, Self::Settled)
    }

    pub(super) const fn is_new(&self) -> bool {
        matches!(self, Self::New { .. })
    }

    /// Whether the call is a question of the step to people; `None` for a settled call.
    pub(super) fn is_question(&self) -> Option<bool> {
        match self {
            Self::New { tool, .. } | Self::Waiting { tool, .. } => Some(asks_people(tool).is_some()),
            Self::Settled => None,
        }
    }

    /// Makes the call wait for this question and returns whether that changed it.
    pub(super) fn wait(&mut self, question: &str) -> bool {
        match self {
            Self::New { tool, arguments } => {
                let (tool, arguments) = (std::mem::take(tool), arguments.take());
                *self = Self::Waiting { tool, arguments, interaction: question.to_owned() };
                true
            }
            Self::Waiting { interaction, .. } if interaction != question => {
                question.clone_into(interaction);
                true
            }
            Self::Waiting { .. } | Self::Settled => false,
        }
    }

    /// The unsettled call as it is recorded when the step ends; `None` for a settled call.
    pub(super) fn unsettled(&self, call: String) -> Option<UnsettledCall> {
        match self {
            Self::Settled => None,
            Self::New { .. } => Some(UnsettledCall { call, question: None }),
            Self::Waiting { tool, interaction, .. } => {
                let question = asks_people(tool).map(|_| interaction.clone());
                Some(UnsettledCall { call, question })
            }
        }
    }

    /// Effect that the call needs. A question that was asked is not asked again. A waiting action is proposed again,
    /// which returns its current state.
    pub(super) fn effect(&self, call: String) -> Option<StepEffect> {
        let (tool, arguments, asked) = match self {
            Self::New { tool, arguments } => (tool, arguments, false),
            Self::Waiting { tool, arguments, .. } => (tool, arguments, true),
            Self::Settled => return None,
        };
        let arguments = arguments.clone();
        match asks_people(tool) {
            Some(_) if asked => None,
            Some(tool) => Some(StepEffect::AskUser { call, tool: tool.to_owned(), arguments }),
            None => Some(StepEffect::Act { call, tool: tool.clone(), arguments }),
        }
    }
}

/// Name of an `ask_user` tool without its prefix; `None` for any other tool.
pub(crate) fn asks_people(tool: &str) -> Option<&str> {
    tool.strip_prefix(ASK_USER_PREFIX).filter(|_| ASK_USER_TOOLS.contains(&tool))
}

/// Name of a call: its turn, counted from 1, and its index in the turn, counted from 0.
pub(super) fn name(prefix: &str, turn: u64, index: usize) -> String {
    format!("{prefix}t{turn}c{index}")
}

/// Index of a call in this turn. `None` if its name belongs to another turn.
pub(super) fn index(call: &str, prefix: &str, turn: u64) -> Option<usize> {
    let (before, index) = call.rsplit_once('c')?;
    let index = index.parse().ok()?;
    let known =
        if prefix.is_empty() { call.ends_with(&name("", turn, index)) } else { call == name(prefix, turn, index) };
    (known && before.ends_with(&format!("t{turn}"))).then_some(index)
}
