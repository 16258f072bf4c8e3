//! The kinds of questions and their names.

use serde::{Deserialize, Serialize};

/// Kind of a question. The set is open: an unknown name is a custom kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Asks whether an action may run.
    Approval,
    /// Asks for yes or no.
    Confirmation,
    /// Asks to choose one or several options.
    Choice,
    /// Asks for free text, an option, or both.
    Question,
    /// Asks to fill in a form with a JSON Schema.
    Form,
    /// Asks for named values that only the agent receives.
    Secret,
    /// Asks to approve, revise or reject a piece of work.
    Review,
    /// Informs without requiring an answer. It does not block the agent.
    Notice,
    /// Any other kind, with the name that the agent gave it.
    Custom(String),
}

/// Name of a kind. All custom kinds have the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KindName {
    /// Name of the kind [`Kind::Approval`].
    Approval,
    /// Name of the kind [`Kind::Confirmation`].
    Confirmation,
    /// Name of the kind [`Kind::Choice`].
    Choice,
    /// Name of the kind [`Kind::Question`].
    Question,
    /// Name of the kind [`Kind::Form`].
    Form,
    /// Name of the kind [`Kind::Secret`].
    Secret,
    /// Name of the kind [`Kind::Review`].
    Review,
    /// Name of the kind [`Kind::Notice`].
    Notice,
    /// Name of every [`Kind::Custom`].
    Custom,
}

impl KindName {
    /// All names, in the order of the declaration.
    pub const ALL: [Self; 9] = [
        Self::Approval,
        Self::Confirmation,
        Self::Choice,
        Self::Question,
        Self::Form,
        Self::Secret,
        Self::Review,
        Self::Notice,
        Self::Custom,
    ];

    /// Name in JSON and in the stores.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approval => "approval",
            Self::Confirmation => "confirmation",
            Self::Choice => "choice",
            Self::Question => "question",
            Self::Form => "form",
            Self::Secret => "secret",
            Self::Review => "review",
            Self::Notice => "notice",
            Self::Custom => "custom",
        }
    }
}

impl Kind {
    /// Name of the kind.
    #[must_use]
    pub const fn kind_name(&self) -> KindName {
        match self {
            Self::Approval => KindName::Approval,
            Self::Confirmation => KindName::Confirmation,
            Self::Choice => KindName::Choice,
            Self::Question => KindName::Question,
            Self::Form => KindName::Form,
            Self::Secret => KindName::Secret,
            Self::Review => KindName::Review,
            Self::Notice => KindName::Notice,
            Self::Custom(_) => KindName::Custom,
        }
    }

    /// Name of the kind in JSON and in the stores.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.kind_name().as_str()
    }

    /// Kind with this name. An unknown name is a custom kind.
    #[must_use]
    pub fn named(name: &str) -> Self {
        match name {
            "approval" => Self::Approval,
            "confirmation" => Self::Confirmation,
            "choice" => Self::Choice,
            "question" => Self::Question,
            "form" => Self::Form,
            "secret" => Self::Secret,
            "review" => Self::Review,
            "notice" => Self::Notice,
            other => Self::Custom(other.to_owned()),
        }
    }

    /// Name that the agent gave a custom kind. `None` for the other kinds, and for a custom kind that is only named `custom`.
    #[must_use]
    pub fn custom_name(&self) -> Option<&str> {
        match self {
            Self::Custom(name) => Some(name.as_str()).filter(|name| *name != KindName::Custom.as_str()),
            Self::Approval
            | Self::Confirmation
            | Self::Choice
            | Self::Question
            | Self::Form
            | Self::Secret
            | Self::Review
            | Self::Notice => None,
        }
    }

    /// Whether the step of the agent sleeps until the question is answered.
    #[must_use]
    pub const fn blocks(&self) -> bool {
        !matches!(self, Self::Notice)
    }
}
