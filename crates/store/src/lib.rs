//! What must be kept: the traits that both stores implement.
//!
//! Duty: say what can be read and written, in the words of the domain. A use case runs as one closure over a [`Tx`] in one
//! transaction ([`transact`]): it loads, lets the domain decide, and saves. Writes are guarded, so that a change which lost a
//! race is a [`StoreError::Conflict`] and never a merge.
//!
//! This crate, and every store, must never decide anything: no state is computed here.
//!
//! Every query about a project takes its [`domain::Scope`], so that a query without its filter does not compile:
//!
//! ```compile_fail
//! fn find(reads: &mut dyn holdpoint_store::Reads, id: domain::InteractionId) {
//!     let _ = reads.interaction(id);
//! }
//! ```
//!
//! Start reading at [`Reads`] and [`Tx`]; [`Store`] is how a closure gets to them; [`Topic`] is how waiting readers hear of a
//! commit. `conformance` (a feature) is the suite that every store passes.

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

/// What a store gives back.
pub type StoreResult<T> = Result<T, StoreError>;
