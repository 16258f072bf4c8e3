//! The two faces of a store that a use case sees.

use crate::access::{AccessReads, AccessWrites};
use crate::audit::{AuditReads, AuditWrites};
use crate::budget::{BudgetReads, BudgetWrites};
use crate::definition::{DefinitionReads, DefinitionWrites};
use crate::drive::{DriveReads, DriveWrites};
use crate::event::{EventReads, EventWrites};
use crate::grant::{GrantReads, GrantWrites};
use crate::interaction::{InteractionReads, InteractionWrites};
use crate::once::{OnceReads, OnceWrites};
use crate::policy::{PolicyReads, PolicyWrites};
use crate::proposal::{ProposalReads, ProposalWrites};
use crate::secret::{SecretReads, SecretWrites};
use crate::session::{SessionReads, SessionWrites};
use crate::stats::StatsReads;
use crate::timers::TimerReads;
use crate::user::{UserReads, UserWrites};
use crate::webhook::{WebhookReads, WebhookWrites};

/// A face is the sum of its nouns' faces; whoever has them all has it.
macro_rules! face {
    ($(#[$doc:meta])* $name:ident: $first:ident $(+ $part:ident)*) => {
        $(#[$doc])*
        pub trait $name: $first $(+ $part)* {}

        impl<T: $first $(+ $part)*> $name for T {}
    };
}

face! {
    /// Everything that can be read. What is about a project takes its scope.
    Reads: AccessReads
        + SessionReads
        + InteractionReads
        + EventReads
        + ProposalReads
        + GrantReads
        + PolicyReads
        + OnceReads
        + TimerReads
        + StatsReads
        + AuditReads
        + SecretReads
        + DriveReads
        + DefinitionReads
        + UserReads
        + WebhookReads
        + BudgetReads
}

face! {
    /// Everything that can be written. All of a transaction is kept, or nothing.
    Tx: Reads
        + AccessWrites
        + SessionWrites
        + InteractionWrites
        + EventWrites
        + ProposalWrites
        + GrantWrites
        + PolicyWrites
        + OnceWrites
        + AuditWrites
        + SecretWrites
        + DriveWrites
        + DefinitionWrites
        + UserWrites
        + WebhookWrites
        + BudgetWrites
}
