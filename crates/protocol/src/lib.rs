//! Request bodies, views and the error body of the API under `/v1`.
//!
//! Duty: the JSON of every request and reply, its description for OpenAPI, and conversions from and to the domain. A field of the API is
//! defined here and nowhere else.
//!
//! This crate must never reach a store or the engine. A body refuses unknown fields. Only the reply to `take` and webhook messages contain a
//! lease of an answer, and only `take` returns the values of a secret question.
//!
//! Start reading at [`AskBody`] and [`InteractionView`].

#![cfg_attr(not(test), warn(unused_crate_dependencies))]

mod action;
mod answer;
mod archive;
mod ask;
mod audit;
mod definition;
mod delivery;
mod event;
mod example;
mod grant;
mod handover;
mod interaction;
mod key;
mod policy;
mod problem;
mod schema;
mod secret;
mod session;
mod simulation;
mod socket;
mod stats;
mod suggestion;
mod user;
mod webhook;

pub use action::{
    ActionView, ActionsPage, FloorRulingView, OutcomeBody, OutcomeName, PermitBody, ProposeBody, RulingView,
};
pub use answer::{
    AbstainBody, AnswerBody, AnswerView, AnswersBody, AnswersItem, AnswersResult, AnswersView, AutoBody, CancelBody,
    EmptyBody, HandOverBody,
};
pub use archive::ArchivedView;
pub use ask::{AskBody, AudienceBody, CallBody, OptionBody, SecretBody, SuggestionBody};
pub use audit::{AuditEntryView, AuditKeyView, AuditPage};
pub use definition::{AgentsPage, DefinitionSource, DefinitionView, FlowsPage};
pub use delivery::{DeliveriesPage, FailBody, HeartbeatBody, LeaseBody, TakeBody, TakenView};
pub use event::{EventView, EventsPage};
pub use grant::{GrantView, GrantsPage, RememberArguments, RememberBody, RememberScope, RememberWord};
pub use handover::{AbstentionView, HandedFromView, HandedOverView};
pub use interaction::{
    ActionSchemaView, AudienceView, CallView, ClaimView, DeliveryView, InteractionView, InteractionsPage, OptionView,
    RequirementView, ResolutionView, SuggestionView, VoteView,
};
pub use key::{KeyBody, KeyCreatedView, KeyView, KeysPage};
pub use policy::{
    AskView, ExplainBody, ExplanationView, FindingView, FindingsView, FloorExplanationView, FloorView, NearestRuleView,
    PartRulingView, PolicyBody, PolicyCheckBody, PolicyDiffersView, PolicyEnabledBody, PolicyResetBody,
    PolicyVersionView, PolicyVersionsPage, PolicyView, RefusedFileView,
};
pub use problem::{FieldProblem, ProblemBody};
pub use secret::{NewSecret, SecretView, SecretsPage};
pub use session::{ControlBody, ControlCommand, MessageBody, SessionView, SessionsPage, StartBody, StepView};
pub use simulation::{
    ChangeCountView, ChangedView, DecisionView, DifferenceView, ShadowBody, ShadowView, SimulateBody, SimulationView,
};
pub use socket::{
    EventCursor, SocketClosing, SocketError, SocketEvent, SocketMessage, SocketResult, SubscribeBody, TicketView,
    UnsubscribeBody,
};
pub use stats::{AgeView, StatsDetailsView, StatsView, TallyView, TimeView};
pub use suggestion::{
    AdoptBody, CounterExampleView, HeldBackView, LearntView, LiftBody, SuggestionsView, SuspensionView,
};
pub use user::{
    AuthenticationMethodView, LinkSignInBody, LinkView, MeView, PasswordBody, PasswordSignInBody, PasswordView,
    PlaceView, ProjectBody, ProviderView, SignInView, UserBody, UserChangeBody, UserView, UsersPage,
};
pub use webhook::{
    WebhookAnswerView, WebhookAttemptView, WebhookBody, WebhookCreatedView, WebhookDeliveriesPage, WebhookDeliveryView,
    WebhookEnabledBody, WebhookMessage, WebhookRotateBody, WebhookRotatedView, WebhookView, WebhooksPage,
};
