//! What may be chosen, and what choosing it does.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The name of an option within its question.
pub type OptionId = String;

/// What choosing an option does to the agent's step. Only `approve` and `edit` ever run the action.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Run the action as it was asked.
    Approve,
    /// Run the action with the arguments of the answer.
    Edit,
    /// Think again, with the feedback.
    Retry,
    /// Do not run the action; the reason is its result.
    Reject,
    /// End the session.
    Terminate,
    /// Go on with the information given.
    Provide,
    /// Go on without it.
    Skip,
    /// Whatever the asking agent means by the option's id and metadata.
    Custom,
}

impl Effect {
    /// Every effect.
    pub const ALL: [Self; 8] = [
        Self::Approve,
        Self::Edit,
        Self::Retry,
        Self::Reject,
        Self::Terminate,
        Self::Provide,
        Self::Skip,
        Self::Custom,
    ];

    /// Whether an answer of this effect lets the action run.
    #[must_use]
    pub const fn runs_action(self) -> bool {
        matches!(self, Self::Approve | Self::Edit)
    }

    /// Whether one person's word is enough whatever the quorum: to hold back is always safe.
    #[must_use]
    pub const fn holds_back(self) -> bool {
        matches!(self, Self::Reject | Self::Retry | Self::Terminate)
    }

    /// Whether an answer of this effect fills in the question's form.
    #[must_use]
    pub const fn carries_form(self) -> bool {
        matches!(self, Self::Approve | Self::Edit | Self::Provide | Self::Custom)
    }

    /// The word for it on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Edit => "edit",
            Self::Retry => "retry",
            Self::Reject => "reject",
            Self::Terminate => "terminate",
            Self::Provide => "provide",
            Self::Skip => "skip",
            Self::Custom => "custom",
        }
    }
}

/// One thing that may be chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// Its name within the question.
    pub id: OptionId,
    /// What the button says.
    pub label: String,
    /// What it means, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What choosing it does.
    pub effect: Effect,
    /// Whether it is the one to fall back to in a client that shows one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub default: bool,
    /// Whether it deserves a warning.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dangerous: bool,
    /// Whether the agent recommends it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recommended: bool,
    /// Whether choosing it needs a text or data as well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub requires_input: bool,
    /// What to ask for then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_prompt: Option<String>,
    /// What could go wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<String>,
    /// What it costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
    /// How long it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<String>,
    /// What the agent wants back with the choice.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
}

impl Choice {
    /// An option with a name, a label and an effect, and nothing else.
    #[must_use]
    pub fn new(id: &str, label: &str, effect: Effect) -> Self {
        Self {
            id: id.into(),
            label: label.into(),
            description: None,
            effect,
            default: false,
            dangerous: false,
            recommended: false,
            requires_input: false,
            input_prompt: None,
            risk: None,
            cost: None,
            duration: None,
            metadata: Value::Null,
        }
    }

    /// The same option, which needs a text as well.
    #[must_use]
    pub fn with_input(mut self, prompt: &str) -> Self {
        self.requires_input = true;
        self.input_prompt = Some(prompt.into());
        self
    }
}
