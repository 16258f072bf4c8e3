//! The states of an action, the permit that starts it, and the outcome that ends it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Actor, Effect, InteractionId, PermitId};

/// State of an action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ActionState {
    /// The action may be started once, with this permit.
    Allowed {
        /// Permit that starts the action.
        permit: Permit,
    },
    /// A question about the action is open.
    Waiting {
        /// Identifier of the open question.
        interaction: InteractionId,
    },
    /// The policy denied the action.
    Denied,
    /// The action will not run: a person rejected it, or the question ended without an approval.
    Rejected {
        /// Actor who ended the question.
        by: Actor,
        /// Effect of the answer. Absent if nobody answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effect: Option<Effect>,
        /// Reason, as the model reads it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<String>,
    },
    /// The agent has started the action and has not reported its outcome.
    Started {
        /// Permit that was spent.
        permit: PermitId,
        /// Time of the start.
        since: Timestamp,
        /// End of the lease. The outcome is unknown if it was not reported by then.
        until: Timestamp,
    },
    /// The action ran and succeeded.
    Done {
        /// Result that the agent reported.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        result: Value,
    },
    /// The action ran and failed, or was allowed and never started.
    Failed {
        /// Reason of the failure.
        message: String,
        /// Reported result, if there is one in spite of the failure.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        result: Value,
    },
    /// The action was started and its outcome is not known.
    Unknown {
        /// Open question about the outcome.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interaction: Option<InteractionId>,
        /// Permit that was spent on this run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        permit: Option<PermitId>,
    },
}

impl ActionState {
    /// Permit of the run that is under way, or whose outcome is unknown. A report refers to this run.
    #[must_use]
    pub const fn run(&self) -> Option<PermitId> {
        match self {
            Self::Started { permit, .. } => Some(*permit),
            Self::Unknown { permit, .. } => *permit,
            Self::Allowed { .. }
            | Self::Waiting { .. }
            | Self::Denied
            | Self::Rejected { .. }
            | Self::Done { .. }
            | Self::Failed { .. } => None,
        }
    }

    /// State without its data, without regard to the expiry of a permit.
    #[must_use]
    pub const fn status(&self) -> ActionStatus {
        match self {
            Self::Allowed { .. } => ActionStatus::Allowed,
            Self::Waiting { .. } => ActionStatus::Waiting,
            Self::Denied => ActionStatus::Denied,
            Self::Rejected { .. } => ActionStatus::Rejected,
            Self::Started { .. } => ActionStatus::Started,
            Self::Done { .. } => ActionStatus::Done,
            Self::Failed { .. } => ActionStatus::Failed,
            Self::Unknown { .. } => ActionStatus::Unknown,
        }
    }
}

/// Status of an action: its [`ActionState`] without the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionStatus {
    /// The action may be started once.
    Allowed,
    /// A question about the action is open.
    Waiting,
    /// The policy denied the action.
    Denied,
    /// The action will not run.
    Rejected,
    /// The agent has started the action and has not reported its outcome.
    Started,
    /// The action ran and succeeded.
    Done,
    /// The action ran and failed, or was allowed and never started.
    Failed,
    /// The action was started and its outcome is not known.
    Unknown,
}

impl ActionStatus {
    /// Name of the status in the API and in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Waiting => "waiting",
            Self::Denied => "denied",
            Self::Rejected => "rejected",
            Self::Started => "started",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

/// Single-use token that lets one action run with exactly these arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permit {
    /// Identifier of the permit.
    pub id: PermitId,
    /// Digest of the call that the permit is valid for.
    pub digest: String,
    /// Time from which the permit is no longer valid.
    pub expires_at: Timestamp,
}

/// Report of an agent on an action that it started.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The action ran and succeeded.
    Done {
        /// Result of the tool.
        result: Value,
    },
    /// The action ran and failed.
    Failed {
        /// Reason of the failure.
        message: String,
        /// Reported result, if there is one in spite of the failure.
        result: Value,
    },
    /// The agent does not know the outcome.
    Unknown,
}
