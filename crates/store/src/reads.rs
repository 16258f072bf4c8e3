//! The two faces of a store that a use case sees.

use crate::access::{AccessReads, AccessWrites};
use crate::audit::{AuditReads, AuditWrites};
use crate::event::{EventReads, EventWrites};
use crate::interaction::{InteractionReads, InteractionWrites};
use crate::once::{OnceReads, OnceWrites};
use crate::session::{SessionReads, SessionWrites};
use crate::stats::StatsReads;
use crate::timers::TimerReads;

/// Everything that can be read. What is about a project takes its scope.
pub trait Reads:
    AccessReads + SessionReads + InteractionReads + EventReads + OnceReads + TimerReads + StatsReads + AuditReads
{
}

/// Everything that can be written. All of a transaction is kept, or nothing.
pub trait Tx:
    Reads + AccessWrites + SessionWrites + InteractionWrites + EventWrites + OnceWrites + AuditWrites
{
}

impl<T: AccessReads + SessionReads + InteractionReads + EventReads + OnceReads + TimerReads + StatsReads + AuditReads>
    Reads for T
{
}

impl<T: Reads + AccessWrites + SessionWrites + InteractionWrites + EventWrites + OnceWrites + AuditWrites> Tx for T {}
