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
mod audit;
mod bounded;
mod budget;
mod clock;
#[cfg(feature = "conformance")]
pub mod conformance;
mod definition;
mod drive;
mod error;
mod event;
mod grant;
mod interaction;
mod job;
mod once;
mod page;
mod policy;
mod proposal;
mod reads;
mod secret;
mod session;
mod stats;
mod timers;
mod topic;
mod user;
mod webhook;

pub use access::{AccessReads, AccessWrites, KeyRecord};
pub use audit::{AuditFilter, AuditReads, AuditWrites, Chained, Filed, Link, Loose};
pub use bounded::{Bounded, PAGE_BYTES};
pub use budget::{BudgetReads, BudgetWrites, OpenTotal, OpenTotals};
pub use clock::{Clock, SystemClock};
pub use definition::{AnswerPlace, DefinitionReads, DefinitionWrites};
pub use drive::{DriveReads, DriveWrites, DueStep, JournalEntry, StepState};
pub use error::StoreError;
pub use event::{EventReads, EventWrites};
pub use grant::{GrantReads, GrantWrites};
pub use interaction::{InteractionReads, InteractionWrites};
pub use job::{Cost, Job, Ran, Store, UseCaseError, read, read_while, transact, transact_then};
pub use once::{Once, OnceReads, OnceWrites};
pub use page::{Cursor, InteractionFilter, Page, ProjectEvents, SessionFilter, Sort};
pub use policy::{DifferenceCount, KnownChange, PolicyReads, PolicyWrites};
pub use proposal::{ActionPlace, DueAction, PastAction, PastFilter, ProposalReads, ProposalWrites};
pub use reads::{Reads, Tx};
pub use secret::{DataKey, KeptValue, Sealed, SealedAt, SecretReads, SecretWrites};
pub use session::{SessionReads, SessionWrites};
pub use stats::{Closed, OpenCount, Stats, StatsReads, StepCounts, rank};
pub use timers::{Due, TimerReads};
pub use topic::Topic;
pub use user::{LinkRecord, UserReads, UserRecord, UserWrites, VisitRecord};
pub use webhook::{DueWebhook, Hold, WebhookReads, WebhookSecret, WebhookWrites};

/// What a store gives back.
pub type Stored<T> = Result<T, StoreError>;
