//! Which step comes next: a pure function of the definition and of how the last one ended.

use jiff::SignedDuration;

use super::{END, FlowStep, FlowVersion};
use crate::agent::tools::stands_for;

/// How many steps one session may run, repeated ones counted each time: what goes round for ever ends here.
pub const MOST_RUNS: u32 = 100;
/// The longest rest before another attempt.
const LONGEST_DELAY: SignedDuration = SignedDuration::from_hours(1);
/// The rest before the second attempt where the step does not say.
const USUAL_DELAY: u32 = 1;

/// How a step of a flow ended, as far as the way on depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepWay {
    /// Well.
    Succeeded,
    /// Every attempt failed.
    Failed,
    /// The question before it was rejected.
    Rejected,
    /// It was not run, because people said so. The flow goes on as if it had succeeded.
    Skipped,
}

impl StepWay {
    /// Every way.
    pub const ALL: [Self; 4] = [Self::Succeeded, Self::Failed, Self::Rejected, Self::Skipped];
}

/// Where a session goes from a step.
#[derive(Debug, Clone, PartialEq)]
pub enum Next<'f> {
    /// To this step.
    Step(&'f FlowStep),
    /// It is completed.
    End,
    /// It has failed.
    Failed(String),
}

impl FlowVersion {
    /// The step that begins.
    #[must_use]
    pub fn first(&self) -> Option<&FlowStep> {
        self.steps.first()
    }

    /// The step of this name.
    #[must_use]
    pub fn step(&self, name: &str) -> Option<&FlowStep> {
        self.steps.iter().find(|step| step.name == name)
    }

    /// Where to go from a step that ended so, however many steps have run.
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

    /// Where a session goes that has run so many steps, this one included: no session runs more than [`MOST_RUNS`].
    #[must_use]
    pub fn next_after(&self, step: &str, how: StepWay, ran: u32) -> Next<'_> {
        match self.next(step, how) {
            Next::Step(_) if ran >= MOST_RUNS => {
                Next::Failed(format!("this session has run {MOST_RUNS} steps: its flow goes round in circles"))
            }
            next => next,
        }
    }
}

impl FlowStep {
    /// Whether it may be tried again after so many attempts.
    #[must_use]
    pub const fn again(&self, attempts: u32) -> bool {
        attempts < self.attempts
    }

    /// How long it rests before an attempt, the first being 1: twice as long before each further one, and at most an hour.
    #[must_use]
    pub fn delay_before(&self, attempt: u32) -> SignedDuration {
        let Some(doublings) = attempt.checked_sub(2) else { return SignedDuration::ZERO };
        let factor = 1_i64.checked_shl(doublings).filter(|factor| *factor > 0).unwrap_or(i64::MAX);
        let seconds = i64::from(self.delay_seconds.unwrap_or(USUAL_DELAY)).saturating_mul(factor);
        SignedDuration::from_secs(seconds).min(LONGEST_DELAY)
    }

    /// Whether its agent may use this tool of its own here.
    #[must_use]
    pub fn allows(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|listed| listed.iter().any(|listed| stands_for(listed, tool)))
    }
}
