//! The types of Holdpoint, their states, and every legal transition.
//!
//! Duty: decide which changes are allowed. A transition takes the old state by value, the caller's authority and the time. It returns the
//! new state together with the event that records it, or a [`Refusal`] that its reader can act on.
//!
//! This crate must never do I/O, read a clock, draw a random number, or know HTTP or SQL. Identifiers and times are arguments.
//!
//! Start reading at [`interaction`]: a question put to people, the one answer that closes it, and the delivery that hands the answer to the
//! agent. A [`step`] of a [`session`] sleeps in the meantime. An [`event`] reports each change to watchers, and the [`audit`] trail records
//! it permanently.
//!
//! The stores use the serde form of these types, so a renamed field needs a migration.

#![cfg_attr(not(test), warn(unused_crate_dependencies))]
#![warn(clippy::wildcard_enum_match_arm)]

pub mod access;
pub mod action;
pub mod agent;
pub mod answer;
pub mod audience;
pub mod audit;
pub mod decision;
pub mod definition;
pub mod delivery;
pub mod digest;
pub mod entry_point;
pub mod event;
pub mod exact_numbers;
pub mod flow;
pub mod grant;
pub mod id;
pub mod interaction;
pub mod journal;
pub mod limit;
pub mod message;
pub mod moves;
pub mod option;
pub mod policy;
pub mod project;

pub mod question;
pub mod refusal;
pub mod resolution;
pub mod ruling;
pub mod search_text;
pub mod secret;
pub mod session;
pub mod step;
pub mod suggestion;
pub mod template;
pub mod text;
pub mod user;
pub mod webhook;
pub mod words;

pub use access::{Actor, ActorKind, AgentEnvironment, Caller, Credential, Key, Role, Scope, Ticket};
pub use action::{Action, ActionState, Outcome, Permit};
pub use agent::AgentVersion;
pub use answer::{Answer, AnswerDraft, AnsweredBy, FormProof};
pub use audience::Audience;
pub use audit::{AuditDraft, AuditKind};
pub use decision::Decision;
pub use definition::{Definition, DefinitionKind};
pub use delivery::{Delivery, DeliveryStatus};
pub use digest::{Digest, hex, read_hex};
pub use entry_point::EntryPoint;
pub use event::{Event, EventDraft, EventKind};
pub use flow::FlowVersion;
pub use grant::{Grant, Remember};
pub use id::{
    AnswerId, DataKeyId, EntryId, EventId, GrantId, IdError, InteractionId, KeyId, LeaseId, LinkId, PermitId,
    ProjectId, SecretId, SessionId, StepId, TenantId, TicketId, UserId, VisitId, WebhookDeliveryId, WebhookId,
};
pub use interaction::{Interaction, State};
pub use limit::Limit;
pub use moves::{Consequence, InputKind, Move, MoveInput};
pub use option::{Choice, Effect, OptionId};
pub use policy::{
    Adoption, Difference, Lift, PolicyChange, PolicySource, PolicyState, PolicyVersion, Shadow, Suspension,
};
pub use project::{OnlyInFiles, ProjectName, Projects};

pub use question::{Call, Fallback, Kind, KindName, Question, SecretField, Suggestion};
pub use refusal::{Problem, Refusal};
pub use resolution::{AutoSource, Resolution, Status};
pub use ruling::{FloorRuling, Ruling, Verdict};
pub use secret::KeptSecret;
pub use session::{Command, Session, SessionHead, SessionInput, SessionStatus};
pub use step::{Step, StepEnd, StepEnding, StepStatus};
pub use user::{Link, Membership, User, Visit};
pub use webhook::Webhook;
pub use webhook::delivery::{WebhookDelivery, WebhookDeliveryState};

pub use jiff::{SignedDuration, Timestamp};
