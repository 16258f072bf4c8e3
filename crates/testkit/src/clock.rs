//! A clock that tests set by hand.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use store::Clock;

/// A clock that stands still until it is moved, forwards or backwards.
#[derive(Debug, Clone)]
pub struct ManualClock(Arc<Mutex<Timestamp>>);

impl ManualClock {
    /// Creates a clock that stands at this time.
    #[must_use]
    pub fn at(start: Timestamp) -> Self {
        Self(Arc::new(Mutex::new(start)))
    }

    /// Moves the clock by a duration, with microsecond precision.
    pub fn advance(&self, by: SignedDuration) {
        let mut now = self.0.lock();
        *now = now.saturating_add(by).unwrap_or(*now);
    }
}

impl Default for ManualClock {
    /// Creates a clock that stands at the beginning of 2026.
    fn default() -> Self {
        Self::at(
            Timestamp::UNIX_EPOCH.saturating_add(SignedDuration::from_hours(490_896)).unwrap_or(Timestamp::UNIX_EPOCH),
        )
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.0.lock()
    }
}
