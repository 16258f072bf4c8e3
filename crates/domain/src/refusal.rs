//! The domain's no. Its reader can act on every variant.

use serde::{Deserialize, Serialize};

use crate::{Interaction, InteractionId, Limit, Role, SessionId, WebhookDeliveryId, WebhookId};

/// One thing that is wrong with an input, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// JSON Pointer into the body that was sent.
    pub pointer: String,
    /// What is wrong there, for the person who wrote it.
    pub message: String,
}

impl Problem {
    /// Names a place and what is wrong there.
    pub fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into() }
    }
}

/// Why a command was refused. A refused command has changed nothing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// It does not exist, or belongs to somebody else: the two look the same.
    #[error("there is no such {0}")]
    NotFound(&'static str),
    /// The caller's role never allows this.
    #[error("the role `{}` may not do this", role.name())]
    RoleForbids {
        /// The role that the caller has.
        role: Role,
    },
    /// The caller is not among those who may answer.
    #[error("you are not in the audience of this question")]
    NotInAudience,
    /// Whoever asked can never answer.
    #[error("whoever asked a question cannot answer it")]
    AskerCannotAnswer,
    /// Four eyes: whoever started the session cannot answer.
    #[error("this question needs a second pair of eyes: whoever started the session cannot answer it")]
    FourEyes,
    /// The audience wants several people to agree, so that one of them alone cannot end the question well.
    #[error("this question needs the answers of several people: answer it, and have the others answer it too")]
    NeedsOthers(InteractionId),
    /// Somebody, or something, was first. Carries how it ended.
    #[error("this question is already resolved")]
    AlreadyResolved(Box<Interaction>),
    /// The deadline has passed.
    #[error("the deadline of this question has passed")]
    TooLate(InteractionId),
    /// It is held open past its deadline already.
    #[error("this question is already overdue, and held open until somebody answers")]
    AlreadyOverdue(InteractionId),
    /// The same person has already said the same, and others are still to come.
    #[error("you have already answered so; others are still to answer")]
    AlreadyVoted(InteractionId),
    /// The same person has already said that they will not answer.
    #[error("you have already said that you will not answer")]
    AlreadyAbstained(InteractionId),
    /// It went to another channel, and is answered there.
    #[error("this question was handed over: it is {} in session {}, channel {}", .0.interaction, .0.session, .0.channel)]
    HandedOver(Box<crate::interaction::HandedOver>),
    /// Somebody else has claimed it.
    #[error("this question is claimed by {by}")]
    ClaimedByOther {
        /// Who holds it.
        by: String,
    },
    /// There is no claim of the caller's to release.
    #[error("you hold no claim on this question")]
    NotClaimed(InteractionId),
    /// The answer does not fit the question.
    #[error("the answer does not fit the question")]
    AnswerInvalid(Vec<Problem>),
    /// The question could not be answered as it stands.
    #[error("what was sent is not valid")]
    QuestionInvalid(Vec<Problem>),
    /// The question is still open.
    #[error("this question is still pending")]
    StillPending(InteractionId),
    /// Another worker holds the delivery.
    #[error("this delivery is taken until {until}")]
    DeliveryTaken {
        /// When the lease runs out.
        until: jiff::Timestamp,
    },
    /// The delivery has ended.
    #[error("this delivery is already {0}")]
    DeliveryClosed(&'static str),
    /// The lease is not, or no longer, the one in force.
    #[error("this lease is not, or no longer, in force")]
    LeaseLost,
    /// Only the agent that asked takes the answer.
    #[error("only the agent that asked can take the answer")]
    NotYourDelivery,
    /// The session has ended.
    #[error("this session is {status}")]
    SessionEnded {
        /// Which one.
        session: SessionId,
        /// How it ended.
        status: &'static str,
    },
    /// Answers of a paused session are kept, and handed out when it goes on.
    #[error("this session is paused")]
    SessionPaused(SessionId),
    /// It is paused already.
    #[error("this session is already paused")]
    AlreadyPaused(SessionId),
    /// It is not paused.
    #[error("this session is not paused")]
    NotPaused(SessionId),
    /// The name of the call stands for another action already.
    #[error("the call `{0}` is another action already")]
    CallConflict(String),
    /// Calls of this form are named by the workers of this server.
    #[error("the call id `{0}` is of the form that this server's workers give: choose another one")]
    CallReserved(String),
    /// Actions are proposed by whoever opened the session, or by the agent that it was opened for.
    #[error("this session was opened by somebody else, for another agent")]
    NotYourSession(SessionId),
    /// Policy has come to deny what it had let through.
    #[error("policy denies this action by now: {}", .0.reason)]
    DeniedByNow(Box<crate::Ruling>),
    /// Policy has come to ask about what it had let through by itself.
    #[error("policy asks about this action by now: propose it again under another call id")]
    AskedByNow(Box<crate::Ruling>),
    /// The step has ended, or another worker has it.
    #[error("this step has ended, or another worker has it")]
    StepLost,
    /// The step has not failed, so that there is nothing to try again or to pass over.
    #[error("this step has not failed")]
    StepNotFailed,
    /// The session is run by somebody else: nobody here would read the message.
    #[error("this session's agent is not run by this server")]
    NotHosted(SessionId),
    /// Only people work at this step.
    #[error("no agent works at this step: nobody would read the message")]
    NobodyListens,
    /// A version is what it is for good.
    #[error(
        "{kind} `{name}` has a version `{version}` already, and it is another one: give this one a name of its own"
    )]
    VersionExists {
        /// `agent` or `flow`.
        kind: &'static str,
        /// Its name.
        name: String,
        /// The version.
        version: String,
    },
    /// Only the agent that proposed an action can go on with it.
    #[error("only the agent that proposed this action can go on with it")]
    NotYourAction,
    /// The action is not where this command finds it.
    #[error("this action is {state}, not {wanted}")]
    ActionNot {
        /// Where it would have to be.
        wanted: &'static str,
        /// Where it is.
        state: &'static str,
    },
    /// Who reports speaks of another run than the one that was started last.
    #[error("this is about another run of the action than the one that was started last, with {0}")]
    AnotherRun(crate::PermitId),
    /// The permit is not the one that was given for this action.
    #[error("this permit is not good for this action")]
    PermitUnknown,
    /// The permit has run out.
    #[error("this permit ran out at {at}; propose the action again under another call id")]
    PermitExpired {
        /// When.
        at: jiff::Timestamp,
    },
    /// What a person made of the action is denied by policy.
    #[error("policy denies this edit: {}", .0.reason)]
    EditDenied(Box<crate::Ruling>),
    /// Another policy is in force than the one that was to be replaced.
    #[error("the policy in force is another one by now: {current}")]
    PolicyMoved {
        /// Its version.
        current: String,
    },
    /// The grant that let an action through was taken back, or its time is over.
    #[error("the grant that let this action through is over; propose it again under another call id")]
    GrantOver(crate::GrantId),
    /// The grant was taken back already.
    #[error("this grant was already revoked")]
    GrantRevoked(crate::GrantId),
    /// The person belongs to the project already.
    #[error("`{0}` is in this project already")]
    UserExists(String),
    /// The name is that of a key or of another account.
    #[error("the name `{0}` is taken: a key or another account has it")]
    NameTaken(String),
    /// A key was to get the name of an account of its project, and the request did not say that it is that person's.
    #[error(
        "an account has the name `{0}`: say `join_account: true` (`--join-account`) to make a key of that person's"
    )]
    NameOfAccount(String),
    /// A key was to get the name of an account whose person is not in the project.
    #[error(
        "an account has the name `{0}`, and that person is not in this project: add them first, or choose another name"
    )]
    NameOutside(String),
    /// The person belongs to projects that the caller has no say in.
    #[error("`{0}` also belongs to projects of which you are no admin")]
    UserElsewhere(String),
    /// Nobody else who has ever signed in is an admin of the project.
    #[error("`{0}` is the last admin of this project: make somebody else an admin first")]
    LastAdmin(String),
    /// Only a person who is signed in can do this: a key has no password and speaks for one project.
    #[error("only a person who is signed in can do this, with a key it means nothing")]
    NeedsSignIn,
    /// The old password is another one.
    #[error("the old password is wrong")]
    PasswordWrong,
    /// The session has as many open questions as it may.
    #[error("this session already has {most} open questions")]
    TooManyOpen {
        /// The limit.
        most: u32,
    },
    /// A limit of the caller's, or of its tenant, is reached.
    #[error("the limit of {max} {} is reached", limit.words())]
    LimitReached {
        /// Which one.
        limit: Limit,
        /// Its value.
        max: u64,
    },
    /// The project has as many webhooks as it may.
    #[error("this project already has {most} webhooks")]
    TooManyWebhooks {
        /// The limit.
        most: u64,
    },
    /// Nothing is sent for this webhook.
    #[error("this webhook is disabled: enable it first")]
    WebhookDisabled(WebhookId),
    /// It is still to be sent: there is nothing to replay.
    #[error("this delivery is still pending")]
    WebhookDeliveryPending(WebhookDeliveryId),
}

impl Refusal {
    /// The limit that was reached and its value, where this is a refusal by limit.
    #[must_use]
    pub const fn limit(&self) -> Option<(Limit, u64)> {
        match self {
            Self::LimitReached { limit, max } => Some((*limit, *max)),
            Self::TooManyOpen { most } => Some((Limit::SessionOpenQuestions, *most as u64)),
            Self::TooManyWebhooks { most } => Some((Limit::ProjectWebhooks, *most)),
            _ => None,
        }
    }
}
