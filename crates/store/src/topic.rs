//! What a reader can wait for.

use domain::{ProjectId, SessionId};

/// Something that may have changed. A hint: whoever hears it reads the log from their own cursor.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Topic {
    /// A session, its questions and their deliveries included.
    Session(SessionId),
    /// Anything in a project.
    Project(ProjectId),
    /// Any session of a channel, also one that begins.
    Channel(ProjectId, String),
    /// The deliveries that wait for one agent, by the name that it asks under.
    Agent(ProjectId, String),
    /// The earliest due moment.
    Timers,
    /// A step that a worker should look at.
    Steps,
    /// Bells may have been lost: everybody looks.
    Everything,
}
