//! One use case a file: load, decide, save, append, commit, ring.
//!
//! Duty: carry out commands and queries of authenticated callers. A use case runs in one transaction of the store; the domain
//! decides; what others should hear (bells, figures, log lines) is gathered meanwhile and performed only after the commit.
//!
//! This crate must never know HTTP, SQL or a model's API.
//!
//! Start reading at [`Engine`] and `work.rs` (what every command shares), then `answer.rs`. Time is in `timers.rs`: one loop
//! that sleeps until the next due moment. What is done is put on the audit trail by `work.rs` and chained by `chain.rs`. Waiting is in `bell.rs`: a ring is a hint, the store is the truth.

mod abstain;
mod act;
mod answer;
mod answer_many;
mod archive;
mod ask;
mod attend;
mod audit;
mod audit_key;
mod authenticate;
mod auto;
mod bell;
mod cancel;
mod chain;
mod chat;
mod claim;
mod complete;
mod control;
mod conversation;
mod definitions;
mod drive;
mod engine;
mod error;
mod expire;
mod export;
mod fail;
mod follow;
mod forms_check;
mod grants;
mod handover;
mod heartbeat;
mod housekeeping;
mod ids;
mod journal;
mod judge;
mod keep;
mod kept;
mod keys;
mod links;
mod list;
mod master;
mod me;
mod once;
mod password;
mod policy_admin;
mod policy_file;
mod portion;
mod propose;
mod questions;
mod release;
mod rotate;
mod say;
mod seen;
mod settle;
mod sign_in;
mod start;
mod stats;
mod step_ask;
mod step_command;
mod step_end;
mod step_secrets;
mod take;
mod ticket;
mod timers;
mod unlock;
mod users;
mod vault;
mod visit;
mod wait;
mod webhooks;
mod work;

pub use answer_many::{Entry, EntryResult};
pub use archive::{ArchiveExport, Archived, Span};
pub use ask::Ask;
pub use attend::Attended;
pub use audit::Audited;
pub use bell::{Bell, Listener};
pub use chat::Chat;
pub use definitions::{Definitions, Listed};
pub use drive::{Claim, Claimed, Sleep};
pub use engine::{Engine, Settings};
pub use error::Error;
pub use export::{Export, Wanted};
pub use follow::{ProjectFollower, SessionFollower};
pub use handover::HandOver;
pub use ids::Ids;
pub use journal::Journal;
pub use judge::{Behalf, InForce};
pub use keys::NewKey;
pub use list::InteractionQuery;
pub use master::{MasterKey, Reread};
pub use me::{Me, PasswordState, Place};
pub use once::Idempotency;
pub use password::Password;
pub use policy_admin::Supposed;
pub use policy_file::{RefusedFile, load_policy};
pub use propose::{Acted, Propose};
pub use questions::{Placed, Questions};
pub use rotate::Rotated;
pub use sign_in::Identity;
pub use start::Start;
pub use stats::{Details, Tally};
pub use step_command::StepCommand;
pub use step_end::values;
pub use take::Taken;
pub use users::NewUser;
pub use vault::Vault;
pub use webhooks::{Content, Courier, NewWebhook, Parcel, Receipt};
