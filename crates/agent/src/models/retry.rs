//! Time limits and retries of a turn.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use domain::agent::ModelChoice;

/// Default time limit of an attempt.
const TOTAL: Duration = Duration::from_mins(10);
/// Longest silence of a provider. A model that reasons before it answers is silent for minutes.
const IDLE: Duration = Duration::from_mins(3);
/// Longest wait that a provider may ask for; a longer one ends the turn.
const PATIENCE: Duration = Duration::from_mins(5);

/// Time limits of a turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeLimits {
    /// Limit of one attempt, from request to end.
    pub(super) total: Duration,
    /// Longest silence within an attempt.
    pub(super) idle: Duration,
    /// Longest wait that a provider may ask for.
    pub(super) patience: Duration,
    /// Delay before the first retry. Each further delay is twice the one before, plus a random part of up to its own
    /// length.
    pub(super) first: Duration,
    /// Number of retries after the first attempt.
    pub(super) retries: usize,
}

impl TimeLimits {
    /// Limits that an agent's version sets.
    pub(super) fn of(choice: &ModelChoice) -> Self {
        let total = choice.timeout_seconds.map_or(TOTAL, |seconds| Duration::from_secs(seconds.max(1).into()));
        // A model that is given more time may also be silent for longer.
        let idle = IDLE.max(total * 3 / 10).min(total);
        Self { total, idle, patience: PATIENCE, first: Duration::from_secs(1), retries: 4 }
    }

    /// Delays before the retries.
    pub(super) fn delays(&self) -> ExponentialBackoff {
        ExponentialBuilder::new()
            .with_min_delay(self.first)
            .with_max_delay(Duration::from_secs(30))
            .with_max_times(self.retries)
            .with_jitter()
            .build()
    }
}
