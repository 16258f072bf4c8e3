//! One use case a file: load, decide, save, append, commit, ring.
//!
//! Duty: carry out commands and queries of authenticated callers. A use case runs in one transaction of the store; the domain
//! decides; what others should hear (bells, figures, log lines) is gathered meanwhile and performed only after the commit.
//!
//! This crate must never know HTTP, SQL or a model's API.
//!
//! Start reading at [`Engine`] and `work.rs` (what every command shares), then `answer.rs`. Time is in `timers.rs`: one loop
//! that sleeps until the next due moment. What is done is put on the audit trail by `work.rs` and chained by `chain.rs`. Waiting is in `bell.rs`: a ring is a hint, the store is the truth.

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
pub use interactions::answer_many::{AnswerEntry, AnswerResult};
pub use interactions::archive::{ArchiveExport, ArchivedQuestion, Span};
pub use interactions::ask::Ask;
pub use interactions::forms_check::CheckLimits;
pub use interactions::hand_over::HandOver;
pub use interactions::list::InteractionQuery;
pub use interactions::read::{QuestionWithStep, Questions};
pub use policy::in_force::PolicyMismatch;
pub use policy::learn::suggest::{CounterExample, DisputedRule, SuggestedRule, Suggestions};
pub use policy::project_policy::{CallExplanation, FloorExplanation, HypotheticalCall, PolicyNotices};
pub use policy::ruling::{InForce, OnBehalfOf};
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
pub use sessions::attend::SessionSnapshot;
pub use sessions::chat::Chat;
pub use sessions::names::NamedConversation;
pub use sessions::open::Start;
pub use stats::{StatsDetails, Tally};
pub use steps::command::StepCommand;
pub use steps::definitions::DefinitionListing;
pub use steps::end::values;
pub use steps::journal::Journal;
pub use steps::lease::{ClaimedStep, StepClaim, StepSleep};
pub use steps::secrets::StepSecrets;
pub use steps::server_files::{Definitions, Owners};
pub use webhooks::{Content, Courier, NewWebhook, Parcel, Receipt};
