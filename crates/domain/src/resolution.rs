//! Resolution of a question: the way in which it ended, and its source.

use serde::{Deserialize, Serialize};

use crate::{Actor, Answer, Interaction, State};

/// Resolution of a question. It is final.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum Resolution {
    /// People answered the question.
    Answered {
        /// The answer; with a quorum, the answer that completed it.
        answer: Answer,
        /// With a quorum: all answers, including this one.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        votes: Vec<Answer>,
    },
    /// A policy, or the fallback at the deadline, answered.
    AutoResolved {
        /// Answer that the agent receives.
        answer: Answer,
        /// Source of the answer.
        source: AutoSource,
        /// Reason, which is recorded.
        reason: String,
    },
    /// The deadline passed without an answer, and there was no fallback.
    Expired,
    /// The question was withdrawn, or its session ended.
    Cancelled {
        /// Actor that cancelled the question.
        by: Actor,
        /// Reason for the cancellation.
        reason: String,
    },
}

/// Source of an automatic answer.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AutoSource {
    /// A rule of the policy.
    AutoPolicy,
    /// A deadline, or a service.
    System,
}

impl Resolution {
    /// Status of the question after this resolution.
    #[must_use]
    pub const fn status(&self) -> Status {
        match self {
            Self::Answered { .. } => Status::Answered,
            Self::AutoResolved { .. } => Status::AutoResolved,
            Self::Expired => Status::Expired,
            Self::Cancelled { .. } => Status::Cancelled,
        }
    }

    /// Answer with which the agent continues. `None` if the question expired or was cancelled.
    #[must_use]
    pub const fn answer(&self) -> Option<&Answer> {
        match self {
            Self::Answered { answer, .. } | Self::AutoResolved { answer, .. } => Some(answer),
            Self::Expired | Self::Cancelled { .. } => None,
        }
    }

    /// Name of the source in the API.
    #[must_use]
    pub const fn source(&self) -> Option<&'static str> {
        match self {
            Self::Answered { .. } => Some("user"),
            Self::AutoResolved { source: AutoSource::AutoPolicy, .. } => Some("auto_policy"),
            Self::AutoResolved { source: AutoSource::System, .. } | Self::Expired => Some("system"),
            Self::Cancelled { .. } => None,
        }
    }
}

impl Interaction {
    /// Answer with which the question ended. `None` while the question is open, and if it expired or was cancelled.
    #[must_use]
    pub const fn final_answer(&self) -> Option<&Answer> {
        match &self.state {
            State::Pending(_) => None,
            State::Resolved { resolution, .. } => resolution.answer(),
        }
    }
}

/// Status of a question.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The question is open.
    Pending,
    /// People answered the question.
    Answered,
    /// A policy or a fallback answered the question.
    AutoResolved,
    /// The deadline passed without an answer.
    Expired,
    /// The question was closed without an answer.
    Cancelled,
}

impl Status {
    /// All variants of this enum.
    pub const ALL: [Self; 5] = [Self::Pending, Self::Answered, Self::AutoResolved, Self::Expired, Self::Cancelled];

    /// Name of the status in JSON and in the stores.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Answered => "answered",
            Self::AutoResolved => "auto_resolved",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
        }
    }
}
