//! Refusals of the domain. Every variant tells its reader enough to act on it.

use serde::{Deserialize, Serialize};

use crate::action::ActionStatus;
use crate::{Interaction, InteractionId, Limit, Role, SessionId, WebhookDeliveryId, WebhookId};

/// An error in an input, with its location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// JSON Pointer into the request body.
    pub pointer: String,
    /// Description of the error for the author of the input.
    pub message: String,
}

impl Problem {
    /// Creates an error at a location.
    pub fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into() }
    }
}

/// Reason why a command was refused. A refused command has changed nothing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// The object does not exist, or the caller may not see it. The two cases are indistinguishable.
    #[error("there is no such {0}")]
    NotFound(&'static str),
    /// The role of the caller does not have the required right.
    #[error("the role `{}` may not do this", role.name())]
    RoleForbids {
        /// Role of the caller.
        role: Role,
    },
    /// The caller does not belong to the audience.
    #[error("you are not in the audience of this question")]
    NotInAudience,
    /// The asker can never answer their own question.
    #[error("the asker of a question cannot answer it")]
    AskerCannotAnswer,
    /// Four eyes: the person who started the session cannot answer.
    #[error("this question needs a second person: the person who started the session cannot answer it")]
    FourEyes,
    /// The audience requires several people to agree, so one person alone cannot end the question with a positive result.
    #[error("this question needs the answers of several people: answer it, and have the others answer it too")]
    NeedsOthers(InteractionId),
    /// The question was resolved earlier. Contains the question with its resolution.
    #[error("this question is already resolved")]
    AlreadyResolved(Box<Interaction>),
    /// The deadline has passed.
    #[error("the deadline of this question has passed")]
    TooLate(InteractionId),
    /// The question is already overdue and stays open.
    #[error("this question is already overdue and stays open until somebody answers")]
    AlreadyOverdue(InteractionId),
    /// The person has already given an equal answer, and the quorum is not reached.
    #[error("you have already given this answer; other people still have to answer")]
    AlreadyVoted(InteractionId),
    /// The person has already declared that they will not answer.
    #[error("you have already said that you will not answer")]
    AlreadyAbstained(InteractionId),
    /// The question was handed over to another channel and must be answered there.
    #[error("this question was handed over: it is {} in session {}, channel {}", .0.interaction, .0.session, .0.channel)]
    HandedOver(Box<crate::interaction::HandedOver>),
    /// Another person has claimed the question.
    #[error("this question is claimed by {by}")]
    ClaimedByOther {
        /// Name of the person who holds the claim.
        by: String,
    },
    /// The caller holds no claim to release.
    #[error("you hold no claim on this question")]
    NotClaimed(InteractionId),
    /// The answer does not fit the question.
    #[error("the answer does not fit the question")]
    AnswerInvalid(Vec<Problem>),
    /// The question is invalid.
    #[error("the body is not valid")]
    QuestionInvalid(Vec<Problem>),
    /// The question is still open.
    #[error("this question is still pending")]
    StillPending(InteractionId),
    /// Another worker holds the delivery.
    #[error("this delivery is taken until {until}")]
    DeliveryTaken {
        /// Time at which the lease expires.
        until: jiff::Timestamp,
    },
    /// The delivery has ended.
    #[error("this delivery is already {0}")]
    DeliveryClosed(&'static str),
    /// The lease is unknown or has ended.
    #[error("this lease is unknown or has ended")]
    LeaseLost,
    /// Only the agent that asked may take the answer.
    #[error("only the agent that asked can take the answer")]
    NotYourDelivery,
    /// The session has ended.
    #[error("this session is {status}")]
    SessionEnded {
        /// Identifier of the session.
        session: SessionId,
        /// Final status of the session.
        status: &'static str,
    },
    /// The session is paused. Its answers are delivered after it is resumed.
    #[error("this session is paused")]
    SessionPaused(SessionId),
    /// The session is already paused.
    #[error("this session is already paused")]
    AlreadyPaused(SessionId),
    /// The session is not paused.
    #[error("this session is not paused")]
    NotPaused(SessionId),
    /// The `call_id` already belongs to another action.
    #[error("the call id `{0}` already names another action")]
    CallConflict(String),
    /// The `call_id` has the form that is reserved for workers of this server.
    #[error("call ids like `{0}` are reserved for the workers of this server: choose another one")]
    CallReserved(String),
    /// Only the caller who opened the session, or the agent for which it was opened, may propose actions.
    #[error("this session was opened by somebody else, for another agent")]
    NotYourSession(SessionId),
    /// The current policy denies an action that was allowed earlier.
    #[error("the policy now denies this action: {}", .0.reason)]
    NowDenied(Box<crate::Ruling>),
    /// The current policy asks about an action that was allowed earlier without a question.
    #[error("the policy now asks about this action: propose it again under another call id")]
    NowAsked(Box<crate::Ruling>),
    /// The step has ended, or another worker holds its lease.
    #[error("this step has ended, or another worker has it")]
    StepLost,
    /// The step has not failed, so it cannot be retried. A completed step can be neither retried nor skipped.
    #[error("this step has not failed")]
    StepNotFailed,
    /// The agent of the session is not hosted, so no worker would read the message.
    #[error("this server does not run the agent of this session")]
    NotHosted(SessionId),
    /// The current step has no agent that could read the message.
    #[error("no agent works at this step: nobody would read the message")]
    NobodyListens,
    /// The version already exists with another content. Versions never change.
    #[error("{kind} `{name}` already has a version `{version}` with other content: choose another version")]
    VersionExists {
        /// Kind of the definition: `agent` or `flow`.
        kind: &'static str,
        /// Name of the agent or flow.
        name: String,
        /// Name of the version.
        version: String,
    },
    /// Only the agent that proposed an action may continue with it.
    #[error("only the agent that proposed this action can continue it")]
    NotYourAction,
    /// The action is not in the state that this command requires.
    #[error("the state of this action is `{}`; this command needs `{}`", state.name(), wanted.name())]
    ActionNot {
        /// State that the command requires.
        wanted: ActionStatus,
        /// State in which the action is.
        state: ActionStatus,
    },
    /// The step that proposed the action has ended.
    #[error("the step of this action has ended, so the action cannot start")]
    ActionStepEnded,
    /// The report concerns another run than the latest one.
    #[error("this report is not about the latest run of the action, which was started with {0}")]
    AnotherRun(crate::PermitId),
    /// The permit was not given for this action.
    #[error("this permit is not valid for this action")]
    PermitUnknown,
    /// The permit has expired.
    #[error("this permit expired at {at}; propose the action again under another call id")]
    PermitExpired {
        /// Time at which the permit expired.
        at: jiff::Timestamp,
    },
    /// The policy denies the action as a person edited it.
    #[error("the policy denies this edit: {}", .0.reason)]
    EditDenied(Box<crate::Ruling>),
    /// The policy in force is not the one that the request wants to replace.
    #[error("another policy is in force now: {current}")]
    PolicyMoved {
        /// Version that is in force now.
        current: String,
    },
    /// The grant that allowed an action was revoked or has expired.
    #[error("the grant that allowed this action no longer applies; propose it again under another call id")]
    GrantOver(crate::GrantId),
    /// The grant was already revoked.
    #[error("this grant was already revoked")]
    GrantRevoked(crate::GrantId),
    /// The user already belongs to the project.
    #[error("`{0}` is already in this project")]
    UserExists(String),
    /// A key or another account already has the name.
    #[error("the name `{0}` is taken: a key or another account has it")]
    NameTaken(String),
    /// A new key was given the name of an account of its project without `join_account`.
    #[error(
        "an account has the name `{0}`: send `join_account: true` (`--join-account`) to make a key for that person"
    )]
    NameOfAccount(String),
    /// A new key was given the name of an account whose user does not belong to the project.
    #[error(
        "an account has the name `{0}`, and that person is not in this project: add them first, or choose another name"
    )]
    NameOutside(String),
    /// The user also belongs to projects in which the caller has no rights.
    #[error("`{0}` also belongs to projects of which you are not an admin")]
    UserElsewhere(String),
    /// The user is the only admin of the project who has ever signed in.
    #[error("`{0}` is the last admin of this project: make somebody else an admin first")]
    LastAdmin(String),
    /// Only a signed-in user can do this. A key has no password and belongs to one project.
    #[error("only a person who is signed in with a browser can do this, not a key")]
    NeedsSignIn,
    /// The old password is wrong.
    #[error("the old password is wrong")]
    PasswordWrong,
    /// The session has the largest allowed number of open questions.
    #[error("this session already has {most} open questions")]
    TooManyOpen {
        /// Value of the limit.
        most: u32,
    },
    /// A limit of the caller or of its tenant is reached.
    #[error("the limit of {max} {} is reached", limit.words())]
    LimitReached {
        /// Limit that was reached.
        limit: Limit,
        /// Value of the limit.
        max: u64,
    },
    /// The project has the largest allowed number of webhooks.
    #[error("this project already has {most} webhooks")]
    TooManyWebhooks {
        /// Value of the limit.
        most: u64,
    },
    /// The webhook is disabled, so no messages are sent.
    #[error("this webhook is disabled: enable it first")]
    WebhookDisabled(WebhookId),
    /// The delivery is still pending and cannot be replayed.
    #[error("this delivery is still pending")]
    WebhookDeliveryPending(WebhookDeliveryId),
}

impl Refusal {
    /// Limit and its value, if this is a refusal by limit.
    #[must_use]
    #[expect(clippy::wildcard_enum_match_arm, reason = "three of about sixty refusals name a limit")]
    pub const fn limit(&self) -> Option<(Limit, u64)> {
        match self {
            Self::LimitReached { limit, max } => Some((*limit, *max)),
            Self::TooManyOpen { most } => Some((Limit::SessionOpenQuestions, *most as u64)),
            Self::TooManyWebhooks { most } => Some((Limit::ProjectWebhooks, *most)),
            _ => None,
        }
    }
}
