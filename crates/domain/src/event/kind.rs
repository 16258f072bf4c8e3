//! The kinds of events, each with its dotted name and its payload.

use super::payload::{
    ActionRejected, ActionRuled, ActionSettled, ActionStarted, ActionUnusable, DeliveryCompleted, DeliveryReturned,
    DeliveryTaken, GrantGiven, InteractionAbstained, InteractionAnswered, InteractionAsked, InteractionAutoResolved,
    InteractionClaimed, InteractionClosed, InteractionDeadline, InteractionDeserted, InteractionHandedOver,
    InteractionReleased, InteractionVoted, MessageSent, ModelFailed, ModelText, ModelTurn, SecretNames,
    SessionControlled, SessionStarted, StepBegun, StepEnded, StepTroubled, SuggestionsDropped,
};

/// Declares an enum of kinds: each variant has a payload and a dotted name.
macro_rules! kinds {
    ($(#[$about:meta])* pub enum $kinds:ident { $($(#[$doc:meta])* $kind:ident($payload:ty) = $name:tt,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq)]
        pub enum $kinds {
            $($(#[$doc])* $kind($payload),)+
        }

        impl $kinds {
            /// Dotted names of all kinds.
            pub const NAMES: &[&str] = &[$($name),+];

            /// Dotted name, as it is stored and sent.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => $name,)+
                }
            }

            /// Payload as JSON, as it is stored and sent.
            #[must_use]
            pub fn data(&self) -> serde_json::Value {
                // Serialisation cannot fail, because all keys are strings.
                match self {
                    $(Self::$kind(payload) => serde_json::to_value(payload).unwrap_or_default(),)+
                }
            }

            /// Reads a kind from its name and its payload. `None` if the name is unknown or the payload does not fit.
            #[must_use]
            pub fn read(name: &str, data: &serde_json::Value) -> Option<Self> {
                match name {
                    $($name => serde::Deserialize::deserialize(data).ok().map(Self::$kind),)+
                    _ => None,
                }
            }
        }
    };
}
pub(crate) use kinds;

kinds! {
    /// Kind of an event in a session, with its payload. Code that shows events matches it without a wildcard, so that a new kind breaks the
    /// build in each place that must show it.
    pub enum EventKind {
        /// A session was opened.
        SessionStarted(SessionStarted) = "session.started",
        /// A session was paused: answers are stored and not delivered.
        SessionPaused(SessionControlled) = "session.paused",
        /// The pause of a session ended.
        SessionResumed(SessionControlled) = "session.resumed",
        /// A session was cancelled.
        SessionCancelled(SessionControlled) = "session.cancelled",
        /// A session ended as completed.
        SessionCompleted(SessionControlled) = "session.completed",
        /// A session ended as failed.
        SessionFailed(SessionControlled) = "session.failed",
        /// A failed session of a hosted agent continues.
        SessionRevived(SessionControlled) = "session.revived",
        /// A step of a hosted agent began.
        StepBegun(StepBegun) = "step.begun",
        /// A step completed its task.
        StepCompleted(StepEnded) = "step.completed",
        /// A step failed at its task.
        StepFailed(StepEnded) = "step.failed",
        /// People rejected a step.
        StepRejected(StepEnded) = "step.rejected",
        /// People sent a step back to an earlier one.
        StepSentBack(StepEnded) = "step.sent_back",
        /// People skipped a step.
        StepSkipped(StepEnded) = "step.skipped",
        /// A step was cancelled with its session.
        StepCancelled(StepEnded) = "step.cancelled",
        /// A worker met an error; the step is tried again.
        StepTroubled(StepTroubled) = "step.troubled",
        /// A person or an agent sent a message.
        MessageSent(MessageSent) = "message.sent",
        /// A model completed a turn.
        ModelTurn(ModelTurn) = "model.turn",
        /// A model produced a part of its text.
        ModelSaid(ModelText) = "model.said",
        /// A model produced a part of its thinking.
        ModelThought(ModelText) = "model.thought",
        /// A turn begins again; its text that was sent so far is void.
        ModelAgain(ModelText) = "model.again",
        /// A model could not be asked.
        ModelFailed(ModelFailed) = "model.failed",
        /// Suggestions of a model for a question were left out.
        SuggestionsDropped(SuggestionsDropped) = "suggestions.dropped",
        /// A question was asked.
        InteractionAsked(InteractionAsked) = "interaction.asked",
        /// A person gave an answer that does not end the question yet.
        InteractionVoted(InteractionVoted) = "interaction.voted",
        /// A person answered, which ended the question.
        InteractionAnswered(InteractionAnswered) = "interaction.answered",
        /// A question was answered in place of a person.
        InteractionAutoResolved(InteractionAutoResolved) = "interaction.auto_resolved",
        /// A question ended without an answer.
        InteractionExpired(InteractionClosed) = "interaction.expired",
        /// A question was cancelled.
        InteractionCancelled(InteractionClosed) = "interaction.cancelled",
        /// The deadline of a question passed and the question stays open.
        InteractionOverdue(InteractionDeadline) = "interaction.overdue",
        /// The deadline of a question is near.
        InteractionWarned(InteractionDeadline) = "interaction.warned",
        /// A person claimed a question.
        InteractionClaimed(InteractionClaimed) = "interaction.claimed",
        /// The claim on a question ended.
        InteractionReleased(InteractionReleased) = "interaction.released",
        /// A person declared that they will not answer.
        InteractionAbstained(InteractionAbstained) = "interaction.abstained",
        /// Too few people remain who could answer.
        InteractionDeserted(InteractionDeserted) = "interaction.deserted",
        /// A question was handed over to another channel.
        InteractionHandedOver(InteractionHandedOver) = "interaction.handed_over",
        /// An agent took an answer under a lease.
        DeliveryTaken(DeliveryTaken) = "delivery.taken",
        /// An agent continued with an answer.
        DeliveryCompleted(DeliveryCompleted) = "delivery.completed",
        /// The delivery of an answer failed.
        DeliveryFailed(DeliveryReturned) = "delivery.failed",
        /// An answer is offered to its agent again.
        DeliveryOffered(DeliveryReturned) = "delivery.offered",
        /// No agent will take the answer any more.
        DeliveryNotNeeded(DeliveryReturned) = "delivery.not_needed",
        /// An action may run.
        ActionAllowed(ActionRuled) = "action.allowed",
        /// An action waits for people.
        ActionWaiting(ActionRuled) = "action.waiting",
        /// The policy denied an action.
        ActionDenied(ActionRuled) = "action.denied",
        /// People rejected an action.
        ActionRejected(ActionRejected) = "action.rejected",
        /// An agent started an action.
        ActionStarted(ActionStarted) = "action.started",
        /// An action may be started again, because its outcome was not reported in time.
        ActionOffered(ActionSettled) = "action.offered",
        /// An action ran and succeeded.
        ActionDone(ActionSettled) = "action.done",
        /// An action ran and failed.
        ActionFailed(ActionSettled) = "action.failed",
        /// Nobody knows whether an action succeeded.
        ActionUnknown(ActionSettled) = "action.unknown",
        /// A model called a tool in a way that cannot be proposed.
        ActionUnusable(ActionUnusable) = "action.unusable",
        /// A person allowed matching actions from now on.
        GrantGiven(GrantGiven) = "grant.given",
        /// A person kept secrets for an agent.
        SecretKept(SecretNames) = "secret.kept",
        /// Kept secrets answered a question in place of a person.
        SecretUsed(SecretNames) = "secret.used",
    }
}

/// Beginning or end of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionChange {
    /// The session runs from now on: it was opened or revived.
    Opened,
    /// The session ended: completed, failed or cancelled.
    Ended,
}

impl EventKind {
    /// Whether the event opens or ends its session. `None` if it does neither.
    #[must_use]
    pub const fn session_change(&self) -> Option<SessionChange> {
        match self {
            Self::SessionStarted(_) | Self::SessionRevived(_) => Some(SessionChange::Opened),
            Self::SessionCancelled(_) | Self::SessionCompleted(_) | Self::SessionFailed(_) => {
                Some(SessionChange::Ended)
            }
            Self::SessionPaused(_)
            | Self::SessionResumed(_)
            | Self::StepBegun(_)
            | Self::StepCompleted(_)
            | Self::StepFailed(_)
            | Self::StepRejected(_)
            | Self::StepSentBack(_)
            | Self::StepSkipped(_)
            | Self::StepCancelled(_)
            | Self::StepTroubled(_)
            | Self::MessageSent(_)
            | Self::ModelTurn(_)
            | Self::ModelSaid(_)
            | Self::ModelThought(_)
            | Self::ModelAgain(_)
            | Self::ModelFailed(_)
            | Self::SuggestionsDropped(_)
            | Self::InteractionAsked(_)
            | Self::InteractionVoted(_)
            | Self::InteractionAnswered(_)
            | Self::InteractionAutoResolved(_)
            | Self::InteractionExpired(_)
            | Self::InteractionCancelled(_)
            | Self::InteractionOverdue(_)
            | Self::InteractionWarned(_)
            | Self::InteractionClaimed(_)
            | Self::InteractionReleased(_)
            | Self::InteractionAbstained(_)
            | Self::InteractionDeserted(_)
            | Self::InteractionHandedOver(_)
            | Self::DeliveryTaken(_)
            | Self::DeliveryCompleted(_)
            | Self::DeliveryFailed(_)
            | Self::DeliveryOffered(_)
            | Self::DeliveryNotNeeded(_)
            | Self::ActionAllowed(_)
            | Self::ActionWaiting(_)
            | Self::ActionDenied(_)
            | Self::ActionRejected(_)
            | Self::ActionStarted(_)
            | Self::ActionOffered(_)
            | Self::ActionDone(_)
            | Self::ActionFailed(_)
            | Self::ActionUnknown(_)
            | Self::ActionUnusable(_)
            | Self::GrantGiven(_)
            | Self::SecretKept(_)
            | Self::SecretUsed(_) => None,
        }
    }
}
