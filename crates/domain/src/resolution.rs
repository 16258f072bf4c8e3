//! How a question ended, and on whose word.

use serde::{Deserialize, Serialize};

use crate::{Actor, Answer};

/// How a question ended. Final.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum Resolution {
    /// People answered.
    Answered {
        /// What they said; with a quorum, the answer that completed it.
        answer: Answer,
        /// With a quorum, everybody's answers, this one included.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        votes: Vec<Answer>,
    },
    /// A policy, or the fallback at the deadline, answered.
    AutoResolved {
        /// What the agent is told.
        answer: Answer,
        /// On whose word.
        source: AutoSource,
        /// Why, for the record.
        reason: String,
    },
    /// Nobody answered in time, and there was no fallback.
    Expired,
    /// Withdrawn, or its session ended.
    Cancelled {
        /// Who cancelled it.
        by: Actor,
        /// Why.
        reason: String,
    },
}

/// What answered in place of a person.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AutoSource {
    /// A rule.
    AutoPolicy,
    /// A deadline, or a service.
    System,
}

impl Resolution {
    /// The status that it gives the question.
    #[must_use]
    pub const fn status(&self) -> Status {
        match self {
            Self::Answered { .. } => Status::Answered,
            Self::AutoResolved { .. } => Status::AutoResolved,
            Self::Expired => Status::Expired,
            Self::Cancelled { .. } => Status::Cancelled,
        }
    }

    /// What the agent goes on with, where there is such a thing.
    #[must_use]
    pub const fn answer(&self) -> Option<&Answer> {
        match self {
            Self::Answered { answer, .. } | Self::AutoResolved { answer, .. } => Some(answer),
            Self::Expired | Self::Cancelled { .. } => None,
        }
    }

    /// The word for who answered.
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

/// What a list shows of a question's state.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Open.
    Pending,
    /// Closed by people.
    Answered,
    /// Closed by a policy or a fallback.
    AutoResolved,
    /// Closed by its deadline.
    Expired,
    /// Closed without an answer.
    Cancelled,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 5] = [Self::Pending, Self::Answered, Self::AutoResolved, Self::Expired, Self::Cancelled];

    /// The word for it on the wire and in the stores.
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
