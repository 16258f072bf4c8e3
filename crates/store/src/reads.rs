//! The two faces of a store that a use case sees.

use crate::access::{AccessReads, AccessWrites};
use crate::action::{ActionReads, ActionWrites};
use crate::audit::{AuditReads, AuditWrites};
use crate::budget::{BudgetReads, BudgetWrites};
use crate::definition::{DefinitionReads, DefinitionWrites};
use crate::event::{EventReads, EventWrites};
use crate::grant::{GrantReads, GrantWrites};
use crate::idempotency::{IdempotencyReads, IdempotencyWrites};
use crate::interaction::{InteractionReads, InteractionWrites};
use crate::lineage::{LineageReads, LineageWrites};
use crate::policy::{PolicyReads, PolicyWrites};
use crate::secret::{SecretReads, SecretWrites};
use crate::session::{SessionReads, SessionWrites};
use crate::stats::StatsReads;
use crate::step::{StepReads, StepWrites};
use crate::timers::{TimerReads, TimerWrites};
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
        + ActionReads
        + GrantReads
        + PolicyReads
        + IdempotencyReads
        + TimerReads
        + StatsReads
        + AuditReads
        + SecretReads
        + StepReads
        + DefinitionReads
        + UserReads
        + WebhookReads
        + LineageReads
        + BudgetReads
}

face! {
    /// Everything that can be written. All of a transaction is kept, or nothing.
    Tx: Reads
        + AccessWrites
        + SessionWrites
        + InteractionWrites
        + EventWrites
        + ActionWrites
        + GrantWrites
        + PolicyWrites
        + IdempotencyWrites
        + AuditWrites
        + SecretWrites
        + StepWrites
        + DefinitionWrites
        + UserWrites
        + WebhookWrites
        + TimerWrites
        + LineageWrites
        + BudgetWrites
}
