//! Where an action is, what starts it, and what is reported of it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Actor, Effect, InteractionId, PermitId};

/// Where a proposed action is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ActionState {
    /// It may be started, once, with this permit.
    Allowed {
        /// What starts it.
        permit: Permit,
    },
    /// People are deciding.
    Waiting {
        /// Their question.
        interaction: InteractionId,
    },
    /// Policy says no.
    Denied,
    /// It will not run: a person said so, or nobody said yes.
    Rejected {
        /// Who.
        by: Actor,
        /// Which way, where somebody answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effect: Option<Effect>,
        /// Why, as the model will read it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<String>,
    },
    /// It is running, as far as anybody knows.
    Started {
        /// The permit that it cost.
        permit: PermitId,
        /// Since when.
        since: Timestamp,
        /// Until when its outcome is waited for.
        until: Timestamp,
    },
    /// It ran.
    Done {
        /// What came of it.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        result: Value,
    },
    /// It ran, and failed; or it did not run.
    Failed {
        /// Why.
        message: String,
        /// What came of it all the same.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        result: Value,
    },
    /// It was started, and nobody knows what became of it.
    Unknown {
        /// The question what to do, while it is open.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interaction: Option<InteractionId>,
        /// The permit that this run of it cost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        permit: Option<PermitId>,
    },
}

impl ActionState {
    /// The permit that started the run which a report would end.
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

    /// The word for it, whatever the time.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Allowed { .. } => "allowed",
            Self::Waiting { .. } => "waiting",
            Self::Denied => "denied",
            Self::Rejected { .. } => "rejected",
            Self::Started { .. } => "started",
            Self::Done { .. } => "done",
            Self::Failed { .. } => "failed",
            Self::Unknown { .. } => "unknown",
        }
    }
}

/// Single-use proof that one action with these arguments may run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permit {
    /// Its id.
    pub id: PermitId,
    /// The digest of the tool and the arguments that it is good for.
    pub digest: String,
    /// From when on it is good for nothing.
    pub expires_at: Timestamp,
}

/// What an agent reports of an action that it started.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It ran.
    Done {
        /// What came of it.
        result: Value,
    },
    /// It failed.
    Failed {
        /// Why.
        message: String,
        /// What came of it all the same.
        result: Value,
    },
    /// The agent itself cannot tell.
    Unknown,
}
