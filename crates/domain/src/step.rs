//! One execution of one agent in a session: what sleeps and wakes.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{SessionId, StepId};

/// One execution of one agent in a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Its id.
    pub id: StepId,
    /// The session that it is part of.
    pub session: SessionId,
    /// The agent that it runs.
    pub agent: Option<String>,
    /// Where it is.
    pub phase: StepPhase,
    /// When it was begun.
    pub created_at: Timestamp,
}

/// Where a step is, apart from whether it waits for people: that follows from its open questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum StepPhase {
    /// Not begun.
    Pending,
    /// Begun.
    Running,
    /// Over.
    Ended {
        /// How.
        how: StepEnding,
        /// When.
        at: Timestamp,
    },
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepEnding {
    /// Well.
    Completed,
    /// Badly.
    Failed,
    /// It was not run.
    Skipped,
    /// Its session was cancelled.
    Cancelled,
}

/// What the wire shows.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// Not begun.
    Pending,
    /// Begun.
    Running,
    /// Asleep until people answer.
    BlockedWaitingUser,
    /// Ended well.
    Completed,
    /// Ended badly.
    Failed,
    /// Not run.
    Skipped,
    /// Cancelled with its session.
    Cancelled,
}

impl Step {
    /// A step that has begun.
    #[must_use]
    pub const fn begin(id: StepId, session: SessionId, agent: Option<String>, now: Timestamp) -> Self {
        Self { id, session, agent, phase: StepPhase::Running, created_at: now }
    }

    /// Ends it, unless it has ended: then the first ending stands.
    #[must_use]
    pub fn end(self, how: StepEnding, at: Timestamp) -> Self {
        match self.phase {
            StepPhase::Ended { .. } => self,
            StepPhase::Pending | StepPhase::Running => Self { phase: StepPhase::Ended { how, at }, ..self },
        }
    }

    /// What the wire shows, given how many questions of it are open.
    #[must_use]
    pub const fn status(&self, open: u32) -> StepStatus {
        match self.phase {
            StepPhase::Pending => StepStatus::Pending,
            StepPhase::Running if open > 0 => StepStatus::BlockedWaitingUser,
            StepPhase::Running => StepStatus::Running,
            StepPhase::Ended { how: StepEnding::Completed, .. } => StepStatus::Completed,
            StepPhase::Ended { how: StepEnding::Failed, .. } => StepStatus::Failed,
            StepPhase::Ended { how: StepEnding::Skipped, .. } => StepStatus::Skipped,
            StepPhase::Ended { how: StepEnding::Cancelled, .. } => StepStatus::Cancelled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn check(phase: StepPhase, open: u32, status: StepStatus, after_end: StepStatus) {
        let id = StepId::from_uuid(Uuid::nil());
        let step = Step { phase, ..Step::begin(id, SessionId::from_uuid(Uuid::nil()), None, Timestamp::UNIX_EPOCH) };
        assert_eq!(step.status(open), status, "{phase:?} with {open} open");
        let ended = step.end(StepEnding::Completed, Timestamp::UNIX_EPOCH);
        assert_eq!(ended.status(open), after_end, "{phase:?} ended");
    }

    #[test]
    fn every_phase_with_and_without_questions() {
        let ended = |how| StepPhase::Ended { how, at: Timestamp::UNIX_EPOCH };
        check(StepPhase::Pending, 0, StepStatus::Pending, StepStatus::Completed);
        check(StepPhase::Pending, 1, StepStatus::Pending, StepStatus::Completed);
        check(StepPhase::Running, 0, StepStatus::Running, StepStatus::Completed);
        check(StepPhase::Running, 2, StepStatus::BlockedWaitingUser, StepStatus::Completed);
        check(ended(StepEnding::Completed), 0, StepStatus::Completed, StepStatus::Completed);
        check(ended(StepEnding::Failed), 0, StepStatus::Failed, StepStatus::Failed);
        check(ended(StepEnding::Skipped), 0, StepStatus::Skipped, StepStatus::Skipped);
        check(ended(StepEnding::Cancelled), 0, StepStatus::Cancelled, StepStatus::Cancelled);
    }
}
