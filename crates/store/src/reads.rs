//! The two faces of a store that a use case sees.

use crate::access::{AccessReads, AccessWrites};
use crate::event::{EventReads, EventWrites};
use crate::interaction::{InteractionReads, InteractionWrites};
use crate::once::{OnceReads, OnceWrites};
use crate::secret::{SecretReads, SecretWrites};
use crate::session::{SessionReads, SessionWrites};
use crate::stats::StatsReads;
use crate::timers::TimerReads;

/// Everything that can be read. What is about a project takes its scope.
pub trait Reads:
    AccessReads + SessionReads + InteractionReads + EventReads + OnceReads + TimerReads + StatsReads + SecretReads
{
}

/// Everything that can be written. All of a transaction is kept, or nothing.
pub trait Tx:
    Reads + AccessWrites + SessionWrites + InteractionWrites + EventWrites + OnceWrites + SecretWrites
{
}

impl<T> Reads for T where
    T: AccessReads + SessionReads + InteractionReads + EventReads + OnceReads + TimerReads + StatsReads + SecretReads
{
}

impl<T> Tx for T where
    T: Reads + AccessWrites + SessionWrites + InteractionWrites + EventWrites + OnceWrites + SecretWrites
{
}
