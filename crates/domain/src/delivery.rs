//! Delivery of an answer to the agent that asked. It is separate from the resolution, which is final before a delivery begins.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Actor, LeaseId, Refusal};

/// Number of times that an answer is offered before its delivery fails.
pub const MOST_ATTEMPTS: u32 = 20;

/// State of the delivery of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Delivery {
    /// No agent waits for the answer: the question was a notice, or its asker withdrew it.
    NotNeeded,
    /// The answer waits for the agent.
    Waiting {
        /// Number of times that the answer was taken and not completed.
        attempt: u32,
    },
    /// The agent has taken the answer under a lease.
    Processing {
        /// Identifier of the lease, which every heartbeat and completion must give.
        lease: LeaseId,
        /// Actor that took the answer.
        by: Actor,
        /// Number of the attempt, from 1.
        attempt: u32,
        /// Time at which the lease expires.
        until: Timestamp,
    },
    /// The agent has continued with the answer.
    Completed {
        /// Time of the completion.
        at: Timestamp,
        /// Number of the attempt that completed.
        attempt: u32,
    },
    /// The agent could not continue with the answer, which is not offered again.
    Failed {
        /// Time of the failure.
        at: Timestamp,
        /// Number of the last attempt.
        attempt: u32,
        /// Reason for the failure.
        reason: String,
    },
}

/// Status of a delivery: its state without the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryStatus {
    /// No agent waits for the answer.
    NotNeeded,
    /// The answer waits for the agent.
    Waiting,
    /// The agent has taken the answer.
    Processing,
    /// The agent has continued with the answer.
    Completed,
    /// The delivery failed for good.
    Failed,
}

impl DeliveryStatus {
    /// Name of the status in JSON and in the stores.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotNeeded => "not_needed",
            Self::Waiting => "waiting",
            Self::Processing => "processing",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }
}

impl Delivery {
    /// Status of the delivery in the API.
    #[must_use]
    pub const fn status(&self) -> DeliveryStatus {
        match self {
            Self::NotNeeded => DeliveryStatus::NotNeeded,
            Self::Waiting { .. } => DeliveryStatus::Waiting,
            Self::Processing { .. } => DeliveryStatus::Processing,
            Self::Completed { .. } => DeliveryStatus::Completed,
            Self::Failed { .. } => DeliveryStatus::Failed,
        }
    }

    /// Name of the status in the stores.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.status().name()
    }

    /// Whether the delivery has ended.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        matches!(self, Self::NotNeeded | Self::Completed { .. } | Self::Failed { .. })
    }

    /// Whether this lease is in force.
    #[must_use]
    pub fn is_held_by(&self, given: LeaseId, now: Timestamp) -> bool {
        matches!(self, Self::Processing { lease, until, .. } if *lease == given && *until > now)
    }

    /// Hands the answer out under a lease.
    pub fn take(self, lease: LeaseId, by: Actor, now: Timestamp, until: Timestamp) -> Result<Self, Refusal> {
        match self {
            Self::Waiting { attempt } => Ok(Self::Processing { lease, by, attempt: attempt + 1, until }),
            // The lease has expired, although its timer has not run yet.
            Self::Processing { attempt, until: over, .. } if over <= now && attempt < MOST_ATTEMPTS => {
                Ok(Self::Processing { lease, by, attempt: attempt + 1, until })
            }
            Self::Processing { until: over, .. } if over <= now => {
                Err(Refusal::DeliveryClosed(DeliveryStatus::Failed.name()))
            }
            Self::Processing { until, .. } => Err(Refusal::DeliveryTaken { until }),
            Self::NotNeeded | Self::Completed { .. } | Self::Failed { .. } => Err(Refusal::DeliveryClosed(self.name())),
        }
    }

    /// Extends the lease of the delivery.
    pub fn heartbeat(self, given: LeaseId, now: Timestamp, longer: Timestamp) -> Result<Self, Refusal> {
        let (lease, by, attempt, until) = self.require_lease(given, now)?;
        Ok(Self::Processing { lease, by, attempt, until: until.max(longer) })
    }

    /// Completes the delivery under its lease.
    pub fn complete(self, given: LeaseId, now: Timestamp) -> Result<Self, Refusal> {
        let (_, _, attempt, _) = self.require_lease(given, now)?;
        Ok(Self::Completed { at: now, attempt })
    }

    /// Completes the delivery without a lease, for a hosted step that continues with the answer in this transaction.
    pub fn skip_delivery(self, now: Timestamp) -> Result<Self, Refusal> {
        match self {
            Self::Waiting { attempt } => Ok(Self::Completed { at: now, attempt: attempt + 1 }),
            Self::Processing { until, .. } => Err(Refusal::DeliveryTaken { until }),
            Self::NotNeeded | Self::Completed { .. } | Self::Failed { .. } => Err(Refusal::DeliveryClosed(self.name())),
        }
    }

    /// Ends the delivery because no agent is left to take the answer.
    pub fn cancel_delivery(self) -> Result<Self, Refusal> {
        if self.is_over() { Err(Refusal::DeliveryClosed(self.name())) } else { Ok(Self::NotNeeded) }
    }

    /// Ends the delivery as failed, or offers the answer again.
    pub fn fail(self, given: LeaseId, reason: String, again: bool, now: Timestamp) -> Result<Self, Refusal> {
        let (_, _, attempt, _) = self.require_lease(given, now)?;
        Ok(Self::offered_again(attempt, again, reason, now))
    }

    /// State of the delivery after its lease has expired. `None` if the lease has not expired.
    #[must_use]
    pub fn lapse(&self, now: Timestamp) -> Option<Self> {
        if let Self::Processing { attempt, until, .. } = self
            && *until <= now
        {
            let reason = format!("the lease ran out {attempt} times");
            return Some(Self::offered_again(*attempt, true, reason, now));
        }
        None
    }

    fn offered_again(attempt: u32, again: bool, reason: String, now: Timestamp) -> Self {
        if again && attempt < MOST_ATTEMPTS {
            Self::Waiting { attempt }
        } else {
            Self::Failed { at: now, attempt, reason }
        }
    }

    fn require_lease(self, given: LeaseId, now: Timestamp) -> Result<(LeaseId, Actor, u32, Timestamp), Refusal> {
        match self {
            Self::Processing { lease, by, attempt, until } if lease == given && until > now => {
                Ok((lease, by, attempt, until))
            }
            Self::Processing { .. } | Self::Waiting { .. } => Err(Refusal::LeaseLost),
            Self::NotNeeded | Self::Completed { .. } | Self::Failed { .. } => Err(Refusal::DeliveryClosed(self.name())),
        }
    }
}
