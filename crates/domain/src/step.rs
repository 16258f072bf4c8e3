//! Steps: one execution of one agent in a session. A step sleeps while its questions are open, and a worker wakes it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::{StepBegun, StepEnded, StepTroubled};
use crate::{Actor, AnsweredBy, EventDraft, EventKind, InteractionId, Refusal, SessionId, StepId};

/// Largest number of claims in a row that journal nothing. A step with more of them is the likely cause of its workers' crashes.
const MOST_IDLE: u32 = 5;

/// One execution of one agent in a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Identifier of the step.
    pub id: StepId,
    /// Session of the step.
    pub session: SessionId,
    /// Name of the agent.
    pub agent: Option<String>,
    /// Version of the agent, if a worker of this server runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// Name of the step in its flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Number of the attempt at this step of the flow, from 1.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub attempt: u32,
    /// Phase of the step.
    pub phase: StepPhase,
    /// Time at which the step was created.
    pub created_at: Timestamp,
    /// Data that the earlier steps of the flow left for later ones.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub shared: Value,
    /// Question that must be answered before the step begins. It is asked once, even if the step is tried several times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<InteractionId>,
    /// Feedback of the people who sent the work of this step back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<Revision>,
    /// Step at which the session had failed before it was revived. Secrets that people gave up to that step are hidden and no longer
    /// delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld_upto: Option<StepId>,
    /// Lease of the workers on the step. `None` if an agent with a key of its own runs it.
    #[serde(rename = "drive", default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<StepLease>,
}

const fn first() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_first(attempt: &u32) -> bool {
    *attempt == 1
}

/// The claims of workers on a step of a hosted agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepLease {
    /// Claim number; a write under an older claim is refused.
    pub claims: u64,
    /// Number of the latest claims in a row that journalled nothing.
    #[serde(default)]
    pub idle: u32,
    /// Worker that holds the lease.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// Time at which a worker should claim the step: the end of the current lease, or `None` while the step sleeps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Timestamp>,
    /// Number of entries in the journal of the step.
    pub journal: u64,
    /// Error with which the last worker released the step; before the first claim, the error of the previous attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// Feedback of people who sent the work of a step back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    /// Author of the answer that sent the step back.
    pub by: AnsweredBy,
    /// Change that people asked for, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    /// Step before which the question was asked.
    pub asked_before: String,
    /// Output of the step that was sent back.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub output: Value,
}

/// End of a step: its kind, its output and the reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepEnd {
    /// Kind of the end.
    pub how: StepEnding,
    /// Output of the step.
    pub output: Value,
    /// Reason, unless the step completed.
    pub reason: Option<String>,
}

impl StepEnd {
    /// The step completed with this output.
    #[must_use]
    pub const fn completed(output: Value) -> Self {
        Self { how: StepEnding::Completed, output, reason: None }
    }

    /// The step ended in another way, for this reason.
    #[must_use]
    pub const fn because(how: StepEnding, reason: String) -> Self {
        Self { how, output: Value::Null, reason: Some(reason) }
    }
}

/// Phase of a step. Whether it waits for people follows from its open questions and is not stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum StepPhase {
    /// The step has not begun.
    Pending,
    /// The step has begun.
    Running,
    /// The step has ended.
    Ended {
        /// Kind of the end.
        how: StepEnding,
        /// Time of the end.
        at: Timestamp,
        /// Output of the step.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        output: Value,
        /// Reason, unless the step completed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// Kind of the end of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepEnding {
    /// The step ended as completed.
    Completed,
    /// The step ended as failed.
    Failed,
    /// The question before the step was answered with a rejection.
    Rejected,
    /// The answer to the question before the step sent the earlier work back.
    SentBack,
    /// The step was skipped.
    Skipped,
    /// The session was cancelled.
    Cancelled,
}

/// Status of a step in the API.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// The step has not begun.
    Pending,
    /// The step has begun.
    Running,
    /// The step sleeps until people answer.
    BlockedWaitingUser,
    /// The step ended as completed.
    Completed,
    /// The step ended as failed.
    Failed,
    /// The step was skipped.
    Skipped,
    /// The step was cancelled with its session.
    Cancelled,
}

impl Step {
    /// A running step of an agent with a key of its own.
    #[must_use]
    pub const fn begin(id: StepId, session: SessionId, agent: Option<String>, now: Timestamp) -> Self {
        Self {
            id,
            session,
            agent,
            agent_version: None,
            name: None,
            attempt: 1,
            phase: StepPhase::Running,
            created_at: now,
            shared: Value::Null,
            before: None,
            revision: None,
            withheld_upto: None,
            lease: None,
        }
    }

    /// A pending step of a hosted agent, which a worker may claim from `due` on.
    #[must_use]
    pub fn hosted(id: StepId, session: SessionId, now: Timestamp, due: Timestamp) -> Self {
        let lease = StepLease { due: Some(due), ..StepLease::default() };
        Self { phase: StepPhase::Pending, lease: Some(lease), ..Self::begin(id, session, None, now) }
    }

    /// Whether the step has not ended.
    #[must_use]
    pub const fn is_alive(&self) -> bool {
        !matches!(self.phase, StepPhase::Ended { .. })
    }

    /// Time at which a worker should claim the step.
    #[must_use]
    pub fn due(&self) -> Option<Timestamp> {
        self.lease.as_ref().filter(|_| self.is_alive()).and_then(|lease| lease.due)
    }

    /// Gives the lease to a worker until `until` and ends the previous claim.
    pub fn claim(mut self, worker: &str, now: Timestamp, until: Timestamp) -> Result<Self, Refusal> {
        if self.due().is_none_or(|due| due > now) {
            return Err(Refusal::StepLost);
        }
        let lease = self.lease.as_mut().ok_or(Refusal::StepLost)?;
        if lease.claims == 0 {
            // The error was that of the previous attempt.
            lease.trouble = None;
        }
        lease.claims += 1;
        lease.idle += 1;
        lease.worker = Some(worker.to_owned());
        lease.due = Some(until);
        self.phase = StepPhase::Running;
        Ok(self)
    }

    /// Whether more than `MOST_IDLE` claims in a row journalled nothing.
    #[must_use]
    pub fn is_hopeless(&self) -> bool {
        self.lease.as_ref().is_some_and(|lease| lease.idle > MOST_IDLE)
    }

    /// Lease of the claim with this number. Refuses a worker that no longer holds it; a lease that has run out counts until the next claim.
    pub fn require_claim(&self, claim: u64) -> Result<&StepLease, Refusal> {
        let lease = self.lease.as_ref().filter(|_| self.is_alive());
        lease.filter(|lease| lease.claims == claim && lease.worker.is_some()).ok_or(Refusal::StepLost)
    }

    /// Extends the lease to `until`.
    #[must_use]
    pub fn extend_lease(mut self, until: Timestamp) -> Self {
        if let Some(lease) = &mut self.lease {
            lease.due = Some(until);
        }
        self
    }

    /// Counts one more journal entry, of any writer.
    #[must_use]
    pub const fn enter(mut self) -> Self {
        if let Some(lease) = &mut self.lease {
            lease.journal += 1;
        }
        self
    }

    /// Counts journal entries of the worker, which show progress, and clears the error.
    #[must_use]
    pub fn add_journal_entries(mut self, entries: u64) -> Self {
        if let Some(lease) = &mut self.lease {
            lease.journal += entries;
            lease.idle = 0;
            lease.trouble = None;
        }
        self
    }

    /// Ends the lease. The step sleeps until it is woken or until `due`.
    #[must_use]
    pub fn release(mut self, due: Option<Timestamp>) -> Self {
        if let Some(lease) = &mut self.lease {
            lease.worker = None;
            lease.due = due;
        }
        self
    }

    /// Ends the lease in good order, so that the claim does not count as idle. The step sleeps until it is woken or until `due`.
    #[must_use]
    pub fn sleep(mut self, due: Option<Timestamp>) -> Self {
        if let Some(lease) = &mut self.lease {
            lease.idle = 0;
        }
        self.release(due)
    }

    /// Ends the lease because of an error. The step is tried again at `due`.
    #[must_use]
    pub fn record_trouble(mut self, trouble: String, due: Timestamp) -> Self {
        if let Some(lease) = &mut self.lease {
            lease.trouble = Some(trouble);
        }
        self.release(Some(due))
    }

    /// Error of the last claim and the time of the next try. `None` without an error.
    #[must_use]
    pub fn in_trouble(&self) -> Option<(&str, Option<Timestamp>)> {
        let lease = self.lease.as_ref().filter(|_| self.is_alive())?;
        let again = lease.due.filter(|_| lease.worker.is_none());
        lease.trouble.as_deref().map(|trouble| (trouble, again))
    }

    /// Event that records the error of the last claim. `None` without an error.
    #[must_use]
    pub fn trouble_event(&self, by: &Actor) -> Option<EventDraft> {
        let (reason, again) = self.in_trouble()?;
        let troubled = StepTroubled {
            name: self.name.clone(),
            agent: self.agent.clone(),
            attempt: self.attempt,
            reason: reason.to_owned(),
            retry_at: again,
        };
        Some(EventDraft::by(by, EventKind::StepTroubled(troubled)))
    }

    /// Makes a sleeping step due now. `None` if it does not sleep: a worker that holds the lease sees the change itself.
    #[must_use]
    pub fn wake(self, now: Timestamp) -> Option<Self> {
        let lease = self.lease.as_ref().filter(|_| self.is_alive())?;
        let sleeps = lease.worker.is_none() && lease.due.is_none();
        sleeps.then(|| self.release(Some(now)))
    }

    /// Ends the step. An earlier end stays.
    #[must_use]
    pub fn end(self, end: StepEnd, at: Timestamp) -> Self {
        if !self.is_alive() {
            return self;
        }
        let StepEnd { how, output, reason } = end;
        Self { phase: StepPhase::Ended { how, at, output, reason }, ..self }.release(None)
    }

    /// Event that records the beginning or the end of the step.
    #[must_use]
    pub fn status_event(&self, by: &Actor) -> EventDraft {
        let (name, agent, attempt) = (self.name.clone(), self.agent.clone(), self.attempt);
        let kind = match &self.phase {
            StepPhase::Pending | StepPhase::Running => {
                let agent_version = self.agent_version.clone();
                EventKind::StepBegun(StepBegun { name, agent, agent_version, attempt })
            }
            StepPhase::Ended { how, output, reason, .. } => {
                let ended = StepEnded { name, agent, attempt, reason: reason.clone(), output: output.clone() };
                match how {
                    StepEnding::Completed => EventKind::StepCompleted(ended),
                    StepEnding::Failed => EventKind::StepFailed(ended),
                    StepEnding::Rejected => EventKind::StepRejected(ended),
                    StepEnding::SentBack => EventKind::StepSentBack(ended),
                    StepEnding::Skipped => EventKind::StepSkipped(ended),
                    StepEnding::Cancelled => EventKind::StepCancelled(ended),
                }
            }
        };
        EventDraft::by(by, kind)
    }

    /// Status in the API. `open` is the number of open questions of the step.
    #[must_use]
    pub const fn status(&self, open: u32) -> StepStatus {
        match &self.phase {
            StepPhase::Pending => StepStatus::Pending,
            StepPhase::Running if open > 0 => StepStatus::BlockedWaitingUser,
            StepPhase::Running => StepStatus::Running,
            StepPhase::Ended { how, .. } => match how {
                StepEnding::Completed => StepStatus::Completed,
                StepEnding::Failed | StepEnding::Rejected => StepStatus::Failed,
                // People decided that neither of these steps runs.
                StepEnding::Skipped | StepEnding::SentBack => StepStatus::Skipped,
                StepEnding::Cancelled => StepStatus::Cancelled,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn step(phase: StepPhase) -> Step {
        let id = StepId::from_uuid(Uuid::nil());
        Step { phase, ..Step::begin(id, SessionId::from_uuid(Uuid::nil()), None, Timestamp::UNIX_EPOCH) }
    }

    fn check(phase: StepPhase, open: u32, status: StepStatus, after_end: StepStatus) {
        let step = step(phase);
        assert_eq!(step.status(open), status, "{step:?} with {open} open");
        let ended = step.end(StepEnd::completed(Value::Null), Timestamp::UNIX_EPOCH);
        assert_eq!(ended.status(open), after_end, "{ended:?} ended");
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn status_of_every_phase_with_and_without_questions() {
        let ended = |how| StepPhase::Ended { how, at: Timestamp::UNIX_EPOCH, output: Value::Null, reason: None };
        check(StepPhase::Pending, 0, StepStatus::Pending, StepStatus::Completed);
        check(StepPhase::Pending, 1, StepStatus::Pending, StepStatus::Completed);
        check(StepPhase::Running, 0, StepStatus::Running, StepStatus::Completed);
        check(StepPhase::Running, 2, StepStatus::BlockedWaitingUser, StepStatus::Completed);
        check(ended(StepEnding::Completed), 0, StepStatus::Completed, StepStatus::Completed);
        check(ended(StepEnding::Failed), 0, StepStatus::Failed, StepStatus::Failed);
        check(ended(StepEnding::Rejected), 0, StepStatus::Failed, StepStatus::Failed);
        check(ended(StepEnding::SentBack), 0, StepStatus::Skipped, StepStatus::Skipped);
        check(ended(StepEnding::Skipped), 0, StepStatus::Skipped, StepStatus::Skipped);
        check(ended(StepEnding::Cancelled), 0, StepStatus::Cancelled, StepStatus::Cancelled);
    }

    fn hosted_step() -> Step {
        Step::hosted(StepId::from_uuid(Uuid::nil()), SessionId::from_uuid(Uuid::nil()), at(0), at(0))
    }

    #[test]
    fn new_claim_invalidates_the_previous_claim() {
        assert_eq!(hosted_step().claim("a", at(-1), at(30)), Err(Refusal::StepLost));
        let first = hosted_step().claim("a", at(1), at(30)).unwrap();
        assert_eq!(first.due(), Some(at(30)));
        assert!(first.require_claim(1).is_ok());
        assert_eq!(first.clone().claim("b", at(29), at(60)), Err(Refusal::StepLost));
        let second = first.claim("b", at(30), at(60)).unwrap();
        assert_eq!(second.require_claim(1), Err(Refusal::StepLost));
        assert!(second.require_claim(2).is_ok());
        assert_eq!(second.clone().release(None).require_claim(2), Err(Refusal::StepLost));
        assert_eq!(second.end(StepEnd::completed(Value::Null), at(31)).require_claim(2), Err(Refusal::StepLost));
    }

    #[test]
    fn only_a_sleeping_step_is_woken() {
        assert_eq!(hosted_step().wake(at(5)), None, "the step is already due");
        let claimed = hosted_step().claim("a", at(1), at(30)).unwrap();
        assert_eq!(claimed.clone().wake(at(5)), None, "the worker that holds the lease sees the change");
        let asleep = claimed.release(None);
        assert_eq!(asleep.due(), None);
        assert_eq!(asleep.clone().wake(at(5)).unwrap().due(), Some(at(5)));
        assert_eq!(asleep.end(StepEnd::completed(Value::Null), at(6)).wake(at(7)), None);
        assert_eq!(step(StepPhase::Running).wake(at(5)), None, "an agent with a key of its own runs the step");
    }

    #[test]
    fn step_in_trouble_shows_its_reason_and_the_next_attempt() {
        let claimed = hosted_step().claim("a", at(1), at(30)).unwrap();
        assert_eq!(claimed.in_trouble(), None);
        let troubled = claimed.record_trouble("no tools".into(), at(5));
        assert_eq!(troubled.in_trouble(), Some(("no tools", Some(at(5)))));
        let again = troubled.clone().claim("b", at(5), at(30)).unwrap();
        assert_eq!(again.in_trouble(), Some(("no tools", None)), "a claimed step has no time of a next try");
        assert_eq!(again.add_journal_entries(1).in_trouble(), None);
        let mut fresh = hosted_step();
        fresh.lease.as_mut().unwrap().trouble = Some("the attempt before".into());
        assert_eq!(fresh.in_trouble(), Some(("the attempt before", Some(at(0)))));
        assert_eq!(fresh.claim("a", at(1), at(30)).unwrap().in_trouble(), None);
    }

    #[test]
    fn step_is_hopeless_after_six_claims_without_progress() {
        let mut step = hosted_step();
        for second in 0..5 {
            step = step.claim("a", at(second), at(second + 1)).unwrap();
            assert!(!step.is_hopeless());
        }
        assert!(step.clone().claim("a", at(5), at(6)).unwrap().is_hopeless());
        assert!(!step.clone().add_journal_entries(1).claim("a", at(5), at(6)).unwrap().is_hopeless());
        assert!(!step.clone().sleep(Some(at(5))).claim("a", at(5), at(6)).unwrap().is_hopeless());
        assert!(step.record_trouble("no tools".into(), at(5)).claim("a", at(5), at(6)).unwrap().is_hopeless());
    }
}
