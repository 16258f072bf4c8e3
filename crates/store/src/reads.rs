//! The two traits of a store that a use case sees: [`Reads`] and [`Tx`].

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

/// Declares a trait that combines the traits of all nouns, and implements it for each type that implements those.
macro_rules! combined_trait {
    ($(#[$doc:meta])* $name:ident: $first:ident $(+ $part:ident)*) => {
        $(#[$doc])*
        pub trait $name: $first $(+ $part)* {}

        impl<T: $first $(+ $part)*> $name for T {}
    };
}

combined_trait! {
    /// All reads of a store. A read about a project takes its scope.
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

combined_trait! {
    /// All reads and writes of a store, in one transaction.
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
