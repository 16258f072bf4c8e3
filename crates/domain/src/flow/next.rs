//! Selection of the next step of a flow: a pure function of the definition and of the end of the last step.

use jiff::SignedDuration;

use super::{END, FlowStep, FlowVersion};
use crate::agent::tools::stands_for;

/// Largest number of steps that one session may run, counting repetitions. It ends flows that would repeat forever.
pub const MOST_RUNS: u32 = 100;
/// Longest delay before another attempt.
const LONGEST_DELAY: SignedDuration = SignedDuration::from_hours(1);
/// Delay in seconds before the second attempt, if the step does not set one.
const USUAL_DELAY: u32 = 1;

/// End of a step, as far as the next step depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepWay {
    /// The step of the flow completed.
    Succeeded,
    /// All attempts at the step failed.
    Failed,
    /// The question before the step was rejected.
    Rejected,
    /// People skipped the step. The flow continues as if the step had succeeded.
    Skipped,
}

impl StepWay {
    /// All variants of this enum.
    pub const ALL: [Self; 4] = [Self::Succeeded, Self::Failed, Self::Rejected, Self::Skipped];
}

/// Continuation of a session after a step.
#[derive(Debug, Clone, PartialEq)]
pub enum Next<'f> {
    /// The session continues with this step.
    Step(&'f FlowStep),
    /// The session is completed.
    End,
    /// The session has failed for this reason.
    Failed(String),
}

impl FlowVersion {
    /// First step of the flow.
    #[must_use]
    pub fn first(&self) -> Option<&FlowStep> {
        self.steps.first()
    }

    /// Step with this name.
    #[must_use]
    pub fn step(&self, name: &str) -> Option<&FlowStep> {
        self.steps.iter().find(|step| step.name == name)
    }

    /// Continuation after a step that ended in this way, regardless of the number of steps so far.
    #[must_use]
    pub fn next(&self, step: &str, how: StepWay) -> Next<'_> {
        let Some(index) = self.steps.iter().position(|known| known.name == step) else {
            return Next::Failed(format!("this flow has no step `{step}`"));
        };
        let ended = &self.steps[index];
        let target = match how {
            StepWay::Succeeded | StepWay::Skipped => match &ended.on_success {
                Some(target) => target,
                None => return self.steps.get(index + 1).map_or(Next::End, Next::Step),
            },
            StepWay::Failed => match &ended.on_failure {
                Some(target) => target,
                None => return Next::Failed(format!("step `{step}` failed")),
            },
            StepWay::Rejected => match &ended.on_rejection {
                Some(target) => target,
                None => return Next::Failed(format!("step `{step}` was rejected")),
            },
        };
        if target == END {
            return Next::End;
        }
        self.step(target).map_or_else(|| Next::Failed(format!("this flow has no step `{target}`")), Next::Step)
    }

    /// Continuation of a session that has run `ran` steps, including this one. A session never runs more than [`MOST_RUNS`] steps.
    #[must_use]
    pub fn next_after(&self, step: &str, how: StepWay, ran: u32) -> Next<'_> {
        let next = self.next(step, how);
        if ran >= MOST_RUNS && matches!(next, Next::Step(_)) {
            return Next::Failed(format!(
                "this session has run {MOST_RUNS} steps, the limit of a session: its flow repeats"
            ));
        }
        next
    }
}

impl FlowStep {
    /// Whether another attempt is allowed after this number of attempts.
    #[must_use]
    pub const fn may_retry(&self, attempts: u32) -> bool {
        attempts < self.attempts
    }

    /// Delay before an attempt, where the first attempt is 1. The delay doubles before each further attempt, up to one hour.
    #[must_use]
    pub fn delay_before(&self, attempt: u32) -> SignedDuration {
        let Some(doublings) = attempt.checked_sub(2) else { return SignedDuration::ZERO };
        let factor = 1_i64.checked_shl(doublings).filter(|factor| *factor > 0).unwrap_or(i64::MAX);
        let seconds = i64::from(self.delay_seconds.unwrap_or(USUAL_DELAY)).saturating_mul(factor);
        SignedDuration::from_secs(seconds).min(LONGEST_DELAY)
    }

    /// Whether the agent may use this tool in this step.
    #[must_use]
    pub fn allows(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|listed| listed.iter().any(|listed| stands_for(listed, tool)))
    }
}
