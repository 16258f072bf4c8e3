//! How long a model may take, and how often it is asked again.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use domain::agent::ModelChoice;

/// How long an attempt may take where the agent's version does not say.
const TOTAL: Duration = Duration::from_secs(600);
/// How long nothing at all may be heard. A model that thinks before it speaks is silent for minutes.
const IDLE: Duration = Duration::from_secs(180);
/// A provider that wants to be left alone for longer than this is not waited for.
const PATIENCE: Duration = Duration::from_secs(300);

/// The time that a turn is given.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// One attempt, from request to end.
    pub(super) total: Duration,
    /// Silence within an attempt.
    pub(super) idle: Duration,
    /// The longest wait that a provider may ask for.
    pub(super) patience: Duration,
    /// The first delay; each is twice the one before, and up to twice as long again by chance.
    pub(super) first: Duration,
    /// How often it is asked again.
    pub(super) retries: usize,
}

impl Pace {
    /// The time that an agent's version gives.
    pub(super) fn of(choice: &ModelChoice) -> Self {
        let total = choice.timeout_seconds.map_or(TOTAL, |seconds| Duration::from_secs(seconds.max(1).into()));
        // A model that is slow enough to be given more time is silent for longer, too.
        let idle = IDLE.max(total * 3 / 10).min(total);
        Self { total, idle, patience: PATIENCE, first: Duration::from_secs(1), retries: 4 }
    }

    /// The delays before each further attempt.
    pub(super) fn delays(&self) -> ExponentialBackoff {
        ExponentialBuilder::new()
            .with_min_delay(self.first)
            .with_max_delay(Duration::from_secs(30))
            .with_max_times(self.retries)
            .with_jitter()
            .build()
    }
}
