//! Whether the agent has taken the answer. Apart from the resolution, which is final before a delivery begins.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Actor, LeaseId, Refusal};

/// How often an answer is offered before its delivery is given up as failed, visibly.
pub const MOST_ATTEMPTS: u32 = 20;

/// Where an answer is on its way to the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Delivery {
    /// Nobody waits for it: a notice that was read, or a question that its asker withdrew.
    NotNeeded,
    /// Kept for the agent.
    Waiting {
        /// How many times it was taken and not completed.
        attempt: u32,
    },
    /// The agent has it, under a lease.
    Processing {
        /// Fences every heartbeat and completion.
        lease: LeaseId,
        /// Who took it.
        by: Actor,
        /// Which attempt this is, from 1.
        attempt: u32,
        /// When the lease runs out.
        until: Timestamp,
    },
    /// The agent has gone on from it.
    Completed {
        /// When.
        at: Timestamp,
        /// On which attempt.
        attempt: u32,
    },
    /// The agent could not go on from it, and will not be offered it again.
    Failed {
        /// When.
        at: Timestamp,
        /// On which attempt.
        attempt: u32,
        /// Why.
        reason: String,
    },
}

impl Delivery {
    /// The word for it on the wire.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NotNeeded => "not_needed",
            Self::Waiting { .. } => "waiting",
            Self::Processing { .. } => "processing",
            Self::Completed { .. } => "completed",
            Self::Failed { .. } => "failed",
        }
    }

    /// Whether it has ended, one way or the other.
    #[must_use]
    pub const fn over(&self) -> bool {
        matches!(self, Self::NotNeeded | Self::Completed { .. } | Self::Failed { .. })
    }

    /// Whether this lease is in force.
    #[must_use]
    pub fn held_by(&self, given: LeaseId, now: Timestamp) -> bool {
        matches!(self, Self::Processing { lease, until, .. } if *lease == given && *until > now)
    }

    /// Hands it out under a lease.
    pub fn take(self, lease: LeaseId, by: Actor, now: Timestamp, until: Timestamp) -> Result<Self, Refusal> {
        match self {
            Self::Waiting { attempt } => Ok(Self::Processing { lease, by, attempt: attempt + 1, until }),
            // The timer has not come round yet, and the lease is over all the same.
            Self::Processing { attempt, until: over, .. } if over <= now && attempt < MOST_ATTEMPTS => {
                Ok(Self::Processing { lease, by, attempt: attempt + 1, until })
            }
            Self::Processing { until: over, .. } if over <= now => Err(Refusal::DeliveryClosed("failed")),
            Self::Processing { until, .. } => Err(Refusal::DeliveryTaken { until }),
            Self::NotNeeded | Self::Completed { .. } | Self::Failed { .. } => Err(Refusal::DeliveryClosed(self.name())),
        }
    }

    /// Holds the lease for longer.
    pub fn heartbeat(self, given: LeaseId, now: Timestamp, longer: Timestamp) -> Result<Self, Refusal> {
        let (lease, by, attempt, until) = self.held(given, now)?;
        Ok(Self::Processing { lease, by, attempt, until: until.max(longer) })
    }

    /// Ends it well.
    pub fn complete(self, given: LeaseId, now: Timestamp) -> Result<Self, Refusal> {
        let (_, _, attempt, _) = self.held(given, now)?;
        Ok(Self::Completed { at: now, attempt })
    }

    /// Ends it well at once: whoever goes on needs no lease.
    pub fn gone_on(self, now: Timestamp) -> Result<Self, Refusal> {
        match self {
            Self::Waiting { attempt } => Ok(Self::Completed { at: now, attempt: attempt + 1 }),
            Self::Processing { until, .. } => Err(Refusal::DeliveryTaken { until }),
            Self::NotNeeded | Self::Completed { .. } | Self::Failed { .. } => Err(Refusal::DeliveryClosed(self.name())),
        }
    }

    /// Ends it because there is nobody left to take it.
    pub fn not_needed(self) -> Result<Self, Refusal> {
        if self.over() { Err(Refusal::DeliveryClosed(self.name())) } else { Ok(Self::NotNeeded) }
    }

    /// Ends it badly, or offers it again.
    pub fn fail(self, given: LeaseId, reason: String, again: bool, now: Timestamp) -> Result<Self, Refusal> {
        let (_, _, attempt, _) = self.held(given, now)?;
        Ok(Self::offered_again(attempt, again, reason, now))
    }

    /// What becomes of it when its lease has run out; `None` while it has not.
    #[must_use]
    pub fn lapse(&self, now: Timestamp) -> Option<Self> {
        match self {
            Self::Processing { attempt, until, .. } if *until <= now => {
                let reason = format!("the lease ran out {attempt} times");
                Some(Self::offered_again(*attempt, true, reason, now))
            }
            _ => None,
        }
    }

    fn offered_again(attempt: u32, again: bool, reason: String, now: Timestamp) -> Self {
        if again && attempt < MOST_ATTEMPTS {
            Self::Waiting { attempt }
        } else {
            Self::Failed { at: now, attempt, reason }
        }
    }

    fn held(self, given: LeaseId, now: Timestamp) -> Result<(LeaseId, Actor, u32, Timestamp), Refusal> {
        match self {
            Self::Processing { lease, by, attempt, until } if lease == given && until > now => {
                Ok((lease, by, attempt, until))
            }
            Self::Processing { .. } | Self::Waiting { .. } => Err(Refusal::LeaseLost),
            Self::NotNeeded | Self::Completed { .. } | Self::Failed { .. } => Err(Refusal::DeliveryClosed(self.name())),
        }
    }
}
