//! Runs the commands and queries of authenticated callers on a store.
//!
//! Each use case is a method of [`Engine`], usually in a file of its own. A command loads the state, lets the `domain` crate decide, saves the
//! result, appends events and audit entries, and commits, in one transaction of the store. Effects outside the store (bells, metrics, log lines)
//! are collected during the transaction and performed only after the commit.
//!
//! This crate must never know HTTP, SQL or the API of a model. It reaches the database only through the traits of the `store` crate.
//!
//! The rooms are:
//!
//! - `run`: transactions, idempotency, effects, waiting and timers, which every use case shares;
//! - `interactions`: questions, from asking to their end; `deliveries`: their answers, on the way to the agent;
//! - `actions`: calls that agents propose, start and report; `policy`: the rulings on them;
//! - `sessions` and `steps`: conversations, and the steps of hosted agents and flows;
//! - `events`, `audit`, `webhooks` and `stats`: records of past changes, and how they are read and sent;
//! - `access` and `secrets`: keys, people, sign-in, and sealed values.
//!
//! Start with `run/transaction.rs`, then follow an answer through `interactions/answer.rs`, `interactions/plan.rs` and `interactions/close.rs`.
//! `run/timers.rs` is the loop that sleeps until the next due time and acts on it. `run/transaction.rs` writes the audit entries and
//! `audit/chain.rs` chains them. Readers wait at the bell of `run/bell.rs`; a ring is only a hint to read again, because the store holds the state.

#![cfg_attr(not(test), warn(unused_crate_dependencies))]
#![warn(clippy::wildcard_enum_match_arm)]

mod access;
mod actions;
mod audit;
mod deliveries;
mod engine;
mod error;
mod events;
mod interactions;
mod policy;
mod run;
mod secrets;
mod sessions;
mod stats;
mod steps;
mod webhooks;

pub use access::keys::NewKey;
pub use access::me::{Me, PasswordState, ProjectMembership};
pub use access::password::Password;
pub use access::sign_in::Identity;
pub use access::user_change::UserChange;
pub use access::users::{AddedUser, NewUser};
pub use actions::propose::{ActionReply, Propose};
pub use audit::export::{Export, ExportRange};
pub use audit::list::AuditRecord;
pub use deliveries::take::TakenAnswer;
pub use engine::{Budget, Engine, Settings};
pub use error::Error;
pub use events::channel::{ChannelFollower, ChannelItem, ChannelStart};
pub use events::follow::{ProjectFollower, SessionFollower};
pub use interactions::answer::{AnswerEntry, AnswerResult};
pub use interactions::archive::{ArchiveExport, ArchivedQuestion, Span};
pub use interactions::ask::Ask;
pub use interactions::forms_check::CheckLimits;
pub use interactions::hand_over::HandOver;
pub use interactions::list::InteractionQuery;
pub use interactions::plan::{AnswerSubject, AnswerTarget};
pub use interactions::read::{QuestionWithStep, Questions};
pub use policy::in_force::{InForce, PolicyMismatch};
pub use policy::learn::suggest::{CounterExample, DisputedRule, SuggestedRule, Suggestions};
pub use policy::project_policy::{CallExplanation, FloorExplanation, HypotheticalCall, PolicyNotices};
pub use policy::ruling::OnBehalfOf;
pub use policy::server_file::{FileRefusal, RefusedFile, ServerFile, load_floor, load_policy};
pub use policy::shadow::ShadowReport;
pub use policy::simulate::{ChangedRuling, Simulate, Simulation};
pub use run::bell::{Bell, Listener};
pub use run::idempotency::Idempotency;
pub use run::ids::Ids;
pub use run::slots::{Slot, Slots};
pub use secrets::master::{MasterKey, Reread};
pub use secrets::redact::{Redactor, StreamRedactor};
pub use secrets::rotate::RotationReport;
pub use secrets::vault::Vault;
pub use sessions::chat::Chat;
pub use sessions::names::NamedConversation;
pub use sessions::open::Start;
pub use sessions::snapshot::SessionSnapshot;
pub use stats::{StatsDetails, Tally};
pub use steps::command::StepCommand;
pub use steps::definitions::DefinitionListing;
pub use steps::end::values;
pub use steps::journal::Journal;
pub use steps::lease::{ClaimedStep, StepClaim, StepSleep};
pub use steps::secrets::StepSecrets;
pub use steps::server_files::{Definitions, Owners};
pub use webhooks::{Content, Courier, NewWebhook, Parcel, Receipt};
