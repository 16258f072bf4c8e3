//! The calls of the turn that is under way: what each wants, what it waits for, and that it is settled.

use domain::agent::ASK_USER_TOOLS;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Effect;
use crate::model;

/// What the names of the tools begin with by which a model asks people.
pub const ASK_USER_PREFIX: &str = "ask_user_";

/// Something that waits for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Our name for the call.
    pub call: String,
    /// The question.
    pub interaction: String,
    /// Whether the step itself asked: then what became of it is read from the question. Of an action it is read from the proposal.
    pub own: bool,
}

/// A call that the end of its step left without a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    /// Our name for the call.
    pub call: String,
    /// The question that the step itself had put to people for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
}

/// One call of the turn that is under way. What is settled keeps nothing: its result is in the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "standing", rename_all = "snake_case")]
pub(super) enum Call {
    /// Nothing is known of it yet.
    Wanted { tool: String, arguments: Value },
    /// People are asked.
    Waiting { tool: String, arguments: Value, interaction: String },
    /// It has its one result.
    Settled,
}

impl Call {
    pub(super) fn of(call: &model::Call) -> Self {
        Self::Wanted { tool: call.tool.clone(), arguments: call.arguments.clone() }
    }

    pub(super) const fn settled(&self) -> bool {
        matches!(self, Self::Settled)
    }

    pub(super) const fn wanted(&self) -> bool {
        matches!(self, Self::Wanted { .. })
    }

    /// Whether the step itself asks it of people; nothing where it is settled.
    pub(super) fn own(&self) -> Option<bool> {
        match self {
            Self::Wanted { tool, .. } | Self::Waiting { tool, .. } => Some(asks_people(tool).is_some()),
            Self::Settled => None,
        }
    }

    /// Lets it wait for this question. Whether it changed.
    pub(super) fn wait(&mut self, question: &str) -> bool {
        match self {
            Self::Wanted { tool, arguments } => {
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

    /// What is left of it where the step ends; nothing where it is settled.
    pub(super) fn left(&self, call: String) -> Option<Left> {
        match self {
            Self::Settled => None,
            Self::Wanted { .. } => Some(Left { call, question: None }),
            Self::Waiting { tool, interaction, .. } => {
                let question = asks_people(tool).map(|_| interaction.clone());
                Some(Left { call, question })
            }
        }
    }

    /// What is to be done about it. A question of the step's own that was asked is not asked again; an action that waits is proposed again,
    /// which finds what became of it.
    pub(super) fn effect(&self, call: String) -> Option<Effect> {
        let (tool, arguments, asked) = match self {
            Self::Wanted { tool, arguments } => (tool, arguments, false),
            Self::Waiting { tool, arguments, .. } => (tool, arguments, true),
            Self::Settled => return None,
        };
        let arguments = arguments.clone();
        match asks_people(tool) {
            Some(_) if asked => None,
            Some(tool) => Some(Effect::AskUser { call, tool: tool.to_owned(), arguments }),
            None => Some(Effect::Act { call, tool: tool.clone(), arguments }),
        }
    }
}

/// Which of the `ask_user` tools this is.
pub(crate) fn asks_people(tool: &str) -> Option<&str> {
    tool.strip_prefix(ASK_USER_PREFIX).filter(|_| ASK_USER_TOOLS.contains(&tool))
}

/// Our name for a call: its turn, counted from 1, and its place in it, counted from 0.
pub(super) fn name(prefix: &str, turn: u64, index: usize) -> String {
    format!("{prefix}t{turn}c{index}")
}

/// The place in its turn of a call of this name, where it is one of this turn's.
pub(super) fn index(call: &str, prefix: &str, turn: u64) -> Option<usize> {
    let (before, index) = call.rsplit_once('c')?;
    let index = index.parse().ok()?;
    let known =
        if prefix.is_empty() { call.ends_with(&name("", turn, index)) } else { call == name(prefix, turn, index) };
    (known && before.ends_with(&format!("t{turn}"))).then_some(index)
}
