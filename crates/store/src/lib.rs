//! Traits that both stores implement.
//!
//! The traits name all reads and writes in terms of domain types. A use case is one closure over a [`Tx`] that runs in one
//! transaction ([`transact`]): it loads values, calls the domain, and saves the results. Writes are guarded: a change that lost a
//! race fails with [`StoreError::Conflict`] and is never merged.
//!
//! Neither this crate nor a store makes decisions: states are computed in `domain`.
//!
//! Every query about a project takes a [`domain::Scope`], so that a query without its filter does not compile:
//!
//! ```compile_fail
//! fn find(reads: &mut dyn holdpoint_store::Reads, id: domain::InteractionId) {
//!     let _ = reads.interaction(id);
//! }
//! ```
//!
//! Start reading at [`Reads`] and [`Tx`]. [`Store`] runs closures over them. A [`Topic`] names a part of the data that has changed, for the
//! readers that wait for it. [`sql`] has the statements with one text for both stores. The feature `conformance` adds the test suite that
//! every store passes.

#![cfg_attr(not(test), warn(unused_crate_dependencies))]

mod access;
mod action;
mod audit;
mod bounded;
mod budget;
mod clock;
#[cfg(feature = "conformance")]
pub mod conformance;
mod definition;
mod error;
mod event;
mod grant;
mod idempotency;
mod interaction;
mod job;
mod lineage;
mod page;
mod policy;
mod reads;
mod secret;
mod session;
pub mod sql;
mod stats;
mod step;
mod timers;
mod topic;
mod user;
mod webhook;

pub use access::{AccessReads, AccessWrites, KeyRecord};
pub use action::{ActionCursor, ActionHistoryFilter, ActionReads, ActionWrites, DueAction, PastAction};
pub use audit::{AuditFilter, AuditReads, AuditWrites, ChainLink, ChainedEntry, EntryColumns, UnchainedEntry};
pub use bounded::{Bounded, PAGE_BYTES};
pub use budget::{BudgetReads, BudgetWrites, OpenTotal, OpenTotals};
pub use clock::{Clock, SystemClock};
pub use definition::{AnswerSource, DefinitionReads, DefinitionWrites};
pub use error::StoreError;
pub use event::{EventReads, EventWrites};
pub use grant::{GrantReads, GrantWrites};
pub use idempotency::{IdempotencyReads, IdempotencyRecord, IdempotencySecret, IdempotencyWrites};
pub use interaction::{InteractionReads, InteractionWrites};
pub use job::{Cost, Job, JobOutcome, Store, UseCaseError, read, read_while, transact, transact_then};
pub use lineage::{LineageAdoption, LineageMismatch, LineageReads, LineageWrites};
pub use page::{Cursor, InteractionFilter, Page, ProjectEvents, SessionFilter, Sort};
pub use policy::{DifferenceCount, PolicyChangeRecord, PolicyReads, PolicyWrites};
pub use reads::{Reads, Tx};
pub use secret::{DataKey, KeptSecretValue, Sealed, SealedValue, SecretReads, SecretWrites};
pub use session::{SessionReads, SessionWrites};
pub use stats::{ClosedInteraction, OpenCount, Stats, StatsReads, StepCounts, percentile};
pub use step::{DueStep, JournalEntry, StepReads, StepState, StepWrites};
pub use timers::{DueInteraction, TimerReads, TimerWrites};
pub use topic::Topic;
pub use user::{LinkRecord, UserReads, UserRecord, UserWrites, VisitRecord};
pub use webhook::{DueWebhook, WebhookLease, WebhookReads, WebhookSecret, WebhookWrites};

/// Result of a store operation.
pub type StoreResult<T> = Result<T, StoreError>;
