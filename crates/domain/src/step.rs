//! One execution of one agent in a session: what sleeps and wakes.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{Actor, EventDraft, InteractionId, Refusal, SessionId, StepId};

/// How many workers may claim a step in a row without anything being journalled: then it is what ends them.
const MOST_IDLE: u32 = 5;

/// One execution of one agent in a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Its id.
    pub id: StepId,
    /// The session that it is part of.
    pub session: SessionId,
    /// The agent that it runs.
    pub agent: Option<String>,
    /// Which version of it, where we run it ourselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// Its name in the flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Which attempt at that step of the flow it is, from 1.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub attempt: u32,
    /// Where it is.
    pub phase: StepPhase,
    /// When it was begun.
    pub created_at: Timestamp,
    /// What the steps of the flow before it left to those that come after them.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub shared: Value,
    /// The question before it. It is asked once, however often the step is tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<InteractionId>,
    /// Why it is done again, where people wanted what came of it otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<Revision>,
    /// The step at which its session had failed before it was taken up again: what people gave up to then in secret is hidden from everybody, and
    /// handed to nobody any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld_upto: Option<StepId>,
    /// Where it is with the workers; none where a foreign agent runs it.
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

/// Where a step that we run ourselves is with the workers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepLease {
    /// How often it was claimed. The number of a claim fences everything that is done under it.
    pub claims: u64,
    /// How many of them in a row left nothing in the journal.
    #[serde(default)]
    pub idle: u32,
    /// Who has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// When a worker should look at it: at once, when the lease of the one that has it runs out, or never while it sleeps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Timestamp>,
    /// How many inputs its journal has.
    pub journal: u64,
    /// What the last worker that let go of it could not get over; or what the attempt before it failed with, until it is begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// What people said to the work of a step that they sent back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    /// Who; `system` where nobody in person did.
    pub by: String,
    /// What should be different.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    /// The step before which they were asked.
    pub asked_before: String,
    /// What had come of it.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub output: Value,
}

/// How a step came to its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepEnd {
    /// How.
    pub how: StepEnding,
    /// What came of it.
    pub output: Value,
    /// Why, where it did not end well.
    pub reason: Option<String>,
}

impl StepEnd {
    /// It came to its end as it should.
    #[must_use]
    pub const fn completed(output: Value) -> Self {
        Self { how: StepEnding::Completed, output, reason: None }
    }

    /// It did not.
    #[must_use]
    pub const fn because(how: StepEnding, reason: String) -> Self {
        Self { how, output: Value::Null, reason: Some(reason) }
    }
}

/// Where a step is, apart from whether it waits for people: that follows from its open questions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
        /// What came of it.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        output: Value,
        /// Why, where it did not end well.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
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
    /// The question before it was answered with no.
    Rejected,
    /// The question before it was answered with the wish that the work before it be done again.
    SentBack,
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
    /// A step that a foreign agent has begun.
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

    /// A step that a worker is to run, from `due` on.
    #[must_use]
    pub fn hosted(id: StepId, session: SessionId, now: Timestamp, due: Timestamp) -> Self {
        let lease = StepLease { due: Some(due), ..StepLease::default() };
        Self { phase: StepPhase::Pending, lease: Some(lease), ..Self::begin(id, session, None, now) }
    }

    /// Whether it has not ended.
    #[must_use]
    pub const fn alive(&self) -> bool {
        !matches!(self.phase, StepPhase::Ended { .. })
    }

    /// When a worker should look at it.
    #[must_use]
    pub fn due(&self) -> Option<Timestamp> {
        self.lease.as_ref().filter(|_| self.alive()).and_then(|lease| lease.due)
    }

    /// A worker takes it. The claim before, if there was one, is over.
    pub fn claim(mut self, worker: &str, now: Timestamp, until: Timestamp) -> Result<Self, Refusal> {
        if self.due().is_none_or(|due| due > now) {
            return Err(Refusal::StepLost);
        }
        let lease = self.lease.as_mut().ok_or(Refusal::StepLost)?;
        if lease.claims == 0 {
            // That was the attempt before.
            lease.trouble = None;
        }
        lease.claims += 1;
        lease.idle += 1;
        lease.worker = Some(worker.to_owned());
        lease.due = Some(until);
        self.phase = StepPhase::Running;
        Ok(self)
    }

    /// Whether workers keep dying of it.
    #[must_use]
    pub fn hopeless(&self) -> bool {
        self.lease.as_ref().is_some_and(|lease| lease.idle > MOST_IDLE)
    }

    /// Refuses a worker that no longer has it. A lease that has run out is in force until somebody else claims the step.
    pub fn held(&self, claim: u64) -> Result<&StepLease, Refusal> {
        let lease = self.lease.as_ref().filter(|_| self.alive());
        lease.filter(|lease| lease.claims == claim && lease.worker.is_some()).ok_or(Refusal::StepLost)
    }

    /// The same worker keeps it until then.
    #[must_use]
    pub fn kept(mut self, until: Timestamp) -> Self {
        if let Some(lease) = &mut self.lease {
            lease.due = Some(until);
        }
        self
    }

    /// Its journal has grown by an entry, whoever made it.
    #[must_use]
    pub const fn entered(mut self) -> Self {
        if let Some(lease) = &mut self.lease {
            lease.journal += 1;
        }
        self
    }

    /// Its worker has journalled so many entries: it gets on.
    #[must_use]
    pub fn journalled(mut self, entries: u64) -> Self {
        if let Some(lease) = &mut self.lease {
            lease.journal += entries;
            lease.idle = 0;
            lease.trouble = None;
        }
        self
    }

    /// Its worker lets go of it, until something happens or until `due`.
    #[must_use]
    pub fn let_go(mut self, due: Option<Timestamp>) -> Self {
        if let Some(lease) = &mut self.lease {
            lease.worker = None;
            lease.due = due;
        }
        self
    }

    /// Its worker lets go of it in good order, until something happens or until `due`: whatever comes of it, no worker has died of it.
    #[must_use]
    pub fn rests(mut self, due: Option<Timestamp>) -> Self {
        if let Some(lease) = &mut self.lease {
            lease.idle = 0;
        }
        self.let_go(due)
    }

    /// Its worker lets go of it until `due` because of something that it could not get over.
    #[must_use]
    pub fn troubled(mut self, trouble: String, due: Timestamp) -> Self {
        if let Some(lease) = &mut self.lease {
            lease.trouble = Some(trouble);
        }
        self.let_go(Some(due))
    }

    /// What it could not get over the last time, and when it is tried again; nothing while it gets on.
    #[must_use]
    pub fn in_trouble(&self) -> Option<(&str, Option<Timestamp>)> {
        let lease = self.lease.as_ref().filter(|_| self.alive())?;
        let again = lease.due.filter(|_| lease.worker.is_none());
        lease.trouble.as_deref().map(|trouble| (trouble, again))
    }

    /// What everybody is told when it has to be tried again; nothing where it gets on.
    #[must_use]
    pub fn troubles(&self, by: &Actor) -> Option<EventDraft> {
        let (reason, again) = self.in_trouble()?;
        let data = json!({
            "name": self.name, "agent": self.agent, "attempt": self.attempt, "reason": reason, "retry_at": again,
        });
        Some(EventDraft::by("step.troubled", by, data))
    }

    /// Something has happened that it may have slept on. A worker that has it will see for itself.
    #[must_use]
    pub fn woken(self, now: Timestamp) -> Option<Self> {
        let lease = self.lease.as_ref().filter(|_| self.alive())?;
        let sleeps = lease.worker.is_none() && lease.due.is_none();
        sleeps.then(|| self.let_go(Some(now)))
    }

    /// Ends it, unless it has ended: then the first ending stands.
    #[must_use]
    pub fn end(self, end: StepEnd, at: Timestamp) -> Self {
        if !self.alive() {
            return self;
        }
        let StepEnd { how, output, reason } = end;
        Self { phase: StepPhase::Ended { how, at, output, reason }, ..self }.let_go(None)
    }

    /// What everybody is told of its beginning or its end.
    #[must_use]
    pub fn told(&self, by: &Actor) -> EventDraft {
        let mut data = json!({ "name": self.name, "agent": self.agent, "attempt": self.attempt });
        let name = match &self.phase {
            StepPhase::Pending | StepPhase::Running => {
                data["agent_version"] = json!(self.agent_version);
                "step.begun"
            }
            StepPhase::Ended { how, output, reason, .. } => {
                data["reason"] = json!(reason);
                data["output"] = output.clone();
                match how {
                    StepEnding::Completed => "step.completed",
                    StepEnding::Failed => "step.failed",
                    StepEnding::Rejected => "step.rejected",
                    StepEnding::SentBack => "step.sent_back",
                    StepEnding::Skipped => "step.skipped",
                    StepEnding::Cancelled => "step.cancelled",
                }
            }
        };
        EventDraft::by(name, by, data)
    }

    /// What the wire shows, given how many questions of it are open.
    #[must_use]
    pub const fn status(&self, open: u32) -> StepStatus {
        match &self.phase {
            StepPhase::Pending => StepStatus::Pending,
            StepPhase::Running if open > 0 => StepStatus::BlockedWaitingUser,
            StepPhase::Running => StepStatus::Running,
            StepPhase::Ended { how, .. } => match how {
                StepEnding::Completed => StepStatus::Completed,
                StepEnding::Failed | StepEnding::Rejected => StepStatus::Failed,
                // Neither was run, because people said so.
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
    fn every_phase_with_and_without_questions() {
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

    fn driven() -> Step {
        Step::hosted(StepId::from_uuid(Uuid::nil()), SessionId::from_uuid(Uuid::nil()), at(0), at(0))
    }

    #[test]
    fn a_claim_fences_the_one_before_it() {
        assert_eq!(driven().claim("a", at(-1), at(30)), Err(Refusal::StepLost));
        let first = driven().claim("a", at(1), at(30)).unwrap();
        assert_eq!(first.due(), Some(at(30)));
        assert!(first.held(1).is_ok());
        assert_eq!(first.clone().claim("b", at(29), at(60)), Err(Refusal::StepLost));
        let second = first.claim("b", at(30), at(60)).unwrap();
        assert_eq!(second.held(1), Err(Refusal::StepLost));
        assert!(second.held(2).is_ok());
        assert_eq!(second.clone().let_go(None).held(2), Err(Refusal::StepLost));
        assert_eq!(second.end(StepEnd::completed(Value::Null), at(31)).held(2), Err(Refusal::StepLost));
    }

    #[test]
    fn only_what_sleeps_is_woken() {
        assert_eq!(driven().woken(at(5)), None, "it is due already");
        let claimed = driven().claim("a", at(1), at(30)).unwrap();
        assert_eq!(claimed.clone().woken(at(5)), None, "its worker sees for itself");
        let asleep = claimed.let_go(None);
        assert_eq!(asleep.due(), None);
        assert_eq!(asleep.clone().woken(at(5)).unwrap().due(), Some(at(5)));
        assert_eq!(asleep.end(StepEnd::completed(Value::Null), at(6)).woken(at(7)), None);
        assert_eq!(step(StepPhase::Running).woken(at(5)), None, "a foreign agent runs it");
    }

    #[test]
    fn a_step_in_trouble_says_why_and_when_it_is_tried_again() {
        let claimed = driven().claim("a", at(1), at(30)).unwrap();
        assert_eq!(claimed.in_trouble(), None);
        let troubled = claimed.troubled("no tools".into(), at(5));
        assert_eq!(troubled.in_trouble(), Some(("no tools", Some(at(5)))));
        let again = troubled.clone().claim("b", at(5), at(30)).unwrap();
        assert_eq!(again.in_trouble(), Some(("no tools", None)), "it is being tried");
        assert_eq!(again.journalled(1).in_trouble(), None);
        let mut fresh = driven();
        fresh.lease.as_mut().unwrap().trouble = Some("the attempt before".into());
        assert_eq!(fresh.in_trouble(), Some(("the attempt before", Some(at(0)))));
        assert_eq!(fresh.claim("a", at(1), at(30)).unwrap().in_trouble(), None);
    }

    #[test]
    fn a_step_that_ends_its_workers_is_given_up_and_one_that_gets_on_is_not() {
        let mut step = driven();
        for second in 0..5 {
            step = step.claim("a", at(second), at(second + 1)).unwrap();
            assert!(!step.hopeless());
        }
        assert!(step.clone().claim("a", at(5), at(6)).unwrap().hopeless());
        assert!(!step.clone().journalled(1).claim("a", at(5), at(6)).unwrap().hopeless());
        assert!(!step.clone().rests(Some(at(5))).claim("a", at(5), at(6)).unwrap().hopeless());
        assert!(step.troubled("no tools".into(), at(5)).claim("a", at(5), at(6)).unwrap().hopeless());
    }
}
