//! Options of a question and their effects.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Identifier of an option within its question.
pub type OptionId = String;

/// Effect of an option on the step of the agent. Only `approve` and `edit` ever run the action.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Runs the action as proposed.
    Approve,
    /// Runs the action with the arguments of the answer.
    Edit,
    /// Sends the agent back to reconsider, with the feedback.
    Retry,
    /// Does not run the action. The agent receives the reason as the result.
    Reject,
    /// Ends the session of the question.
    Terminate,
    /// Continues with the given information.
    Provide,
    /// Continues without the information.
    Skip,
    /// An effect that the asking agent defines by the identifier and metadata of the option.
    Custom,
}

impl Effect {
    /// Every effect, in the order of the declaration.
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

    /// Whether an answer with this effect lets the action run.
    #[must_use]
    pub const fn runs_action(self) -> bool {
        match self {
            Self::Approve | Self::Edit => true,
            Self::Retry | Self::Reject | Self::Terminate | Self::Provide | Self::Skip | Self::Custom => false,
        }
    }

    /// Whether the answer of one person is enough regardless of the quorum, because the effect prevents the action and is always safe.
    #[must_use]
    pub const fn holds_back(self) -> bool {
        match self {
            Self::Reject | Self::Retry | Self::Terminate => true,
            Self::Approve | Self::Edit | Self::Provide | Self::Skip | Self::Custom => false,
        }
    }

    /// Whether an answer with this effect fills in the form of the question.
    #[must_use]
    pub const fn carries_form(self) -> bool {
        match self {
            Self::Approve | Self::Edit | Self::Provide | Self::Custom => true,
            Self::Retry | Self::Reject | Self::Terminate | Self::Skip => false,
        }
    }

    /// Whether the step runs if the question before it is answered with this effect.
    #[must_use]
    pub const fn lets_step_run(self) -> bool {
        match self {
            Self::Approve | Self::Edit | Self::Provide | Self::Custom => true,
            Self::Retry | Self::Reject | Self::Terminate | Self::Skip => false,
        }
    }

    /// Name of the effect in JSON.
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

/// An option of a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// Identifier of the option, unique within the question.
    pub id: OptionId,
    /// Label of the button.
    pub label: String,
    /// Explanation of the option in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Effect of choosing the option.
    pub effect: Effect,
    /// Whether clients preselect the option.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub default: bool,
    /// Whether clients warn before the option is chosen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dangerous: bool,
    /// Whether the agent recommends the option.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recommended: bool,
    /// Whether the option requires a text or data in addition.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub requires_input: bool,
    /// Prompt for the additional input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_prompt: Option<String>,
    /// Risk of the option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<String>,
    /// Cost of the option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
    /// Duration of the option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<String>,
    /// Metadata of the option, returned with the answer.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
}

impl Choice {
    /// Creates an option with an identifier, a label and an effect.
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

    /// Makes the option require an additional text.
    #[must_use]
    pub fn with_input(mut self, prompt: &str) -> Self {
        self.requires_input = true;
        self.input_prompt = Some(prompt.into());
        self
    }
}
