//! What is said on the wire of `/v1`: bodies, views, and the error body.
//!
//! Duty: the JSON of every request and reply, its description for OpenAPI, and conversions from and to the domain. A field is
//! changed here, and only here.
//!
//! This crate must never reach a store or the engine. A body refuses fields that it does not know; a view never contains a
//! secret, a sealed value or a lease.
//!
//! Start reading at [`AskBody`] and [`InteractionView`].

mod answer;
mod ask;
mod delivery;
mod event;
mod interaction;
mod key;
mod problem;
mod secret;
mod session;
mod stats;

pub use answer::{
    AnswerBody, AnswerView, AnswersBody, AnswersItem, AnswersResult, AnswersView, AutoBody, CancelBody, EmptyBody,
};
pub use ask::{ActionBody, AskBody, AudienceBody, OptionBody, SecretBody, SuggestionBody};
pub use delivery::{DeliveriesPage, FailBody, HeartbeatBody, LeaseBody, TakeBody, TakenView};
pub use event::{EventView, EventsPage};
pub use interaction::{
    ActionView, AudienceView, ClaimView, DeliveryView, InteractionView, InteractionsPage, OptionView, ResolutionView,
    SuggestionView, VoteView,
};
pub use key::{KeyBody, KeyCreatedView, KeyView, KeysPage};
pub use problem::{FieldProblem, ProblemBody};
pub use secret::{SecretView, SecretsPage};
pub use session::{ControlBody, SessionView, SessionsPage, StartBody, StepView};
pub use stats::StatsView;
