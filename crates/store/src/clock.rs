//! The only module that reads the system clock.

use jiff::Timestamp;

/// Source of time for a store whose database has no clock of its own.
pub trait Clock: Send + Sync + 'static {
    /// Returns the current time.
    fn now(&self) -> Timestamp;
}

/// Clock of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "all other code gets the time from a `Clock`")]
    fn now(&self) -> Timestamp {
        let now = Timestamp::now();
        // Stores keep microseconds; a value must compare equal to the value that is read back.
        Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now)
    }
}
