//! The one place that reads the machine's clock.

use jiff::Timestamp;

/// What tells a store the time, where its database does not.
pub trait Clock: Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> Timestamp;
}

/// The machine's own clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the place that everybody else is sent to")]
    fn now(&self) -> Timestamp {
        let now = Timestamp::now();
        // Stores keep microseconds: what is compared later must be what was kept.
        Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now)
    }
}
