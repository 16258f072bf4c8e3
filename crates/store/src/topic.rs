//! Topics that readers wait for, and that a commit rings.

use domain::{ProjectId, SessionId};

/// Something that may have changed. A topic is only a hint: a reader that gets it reads the log from its own cursor.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Topic {
    /// A session with its questions and deliveries.
    Session(SessionId),
    /// A project as a whole.
    Project(ProjectId),
    /// All sessions of a channel, including new ones.
    Channel(ProjectId, String),
    /// The waiting deliveries of one agent, by the name under which it asks.
    Agent(ProjectId, String),
    /// The earliest due time of all timers.
    Timers,
    /// A step that is due for a worker.
    Steps,
    /// Notifications may have been lost: all readers read again.
    Everything,
}
