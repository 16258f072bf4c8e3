//! Handover of a question to another channel. The original question stays readable and ends as the new one does.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Change, Interaction, Origin, Pending, Reviewer, State};
use crate::event::{
    InteractionAnswered, InteractionAsked, InteractionAutoResolved, InteractionClosed, InteractionHandedOver,
};
use crate::{Actor, EventDraft, EventKind, InteractionId, Problem, Refusal, Resolution, Session, SessionId, audit};

/// Destination of a question that was handed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandedOver {
    /// Session that was opened for the question.
    pub session: SessionId,
    /// New question in that session.
    pub interaction: InteractionId,
    /// Channel of the new question.
    pub channel: String,
    /// Person who handed the question over.
    pub by: Actor,
    /// Time of the handover.
    pub at: Timestamp,
    /// Reason, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Origin of a question that was handed over, and of the session that was opened for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandedFrom {
    /// Session of the original question.
    pub session: SessionId,
    /// Question that was handed over.
    pub interaction: InteractionId,
    /// Person who handed the question over.
    pub by: Actor,
    /// Reason, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The two changes of a handover.
#[derive(Debug)]
pub struct Handover {
    /// Change of the original question, which can no longer be answered directly.
    pub first: Change,
    /// The new question, with equal content and an equal audience.
    pub second: Change,
}

impl Interaction {
    /// Destination of the question, if it was handed over.
    #[must_use]
    pub const fn handed_over(&self) -> Option<&HandedOver> {
        match &self.state {
            State::Pending(pending) => pending.handed_over.as_ref(),
            State::Resolved { handed_over, .. } => handed_over.as_ref(),
        }
    }

    /// Hands the question over to the channel of a session that was opened for it. Votes and abstentions are kept.
    pub fn hand_over(
        self,
        reviewer: &Reviewer,
        (to, id): (&Session, InteractionId),
        note: Option<String>,
        now: Timestamp,
    ) -> Result<Handover, Refusal> {
        let pending = self.answerable(reviewer, now)?;
        self.require_unclaimed_by_others(&reviewer.actor, now)?;
        let channel = to.head.channel.clone();
        if channel == self.origin.channel {
            let problem = Problem::new("/channel", "is already the channel of the question");
            return Err(Refusal::QuestionInvalid(vec![problem]));
        }
        let by = reviewer.actor.clone();
        let from =
            HandedFrom { session: self.origin.session, interaction: self.id, by: by.clone(), note: note.clone() };
        let moved = Pending { claim: None, ..pending.clone() };
        let second = Self {
            id,
            scope: self.scope,
            origin: Origin {
                session: to.id,
                step: to.step,
                channel: channel.clone(),
                at: now,
                handed_from: Some(from),
                ..self.origin.clone()
            },
            question: self.question.clone(),
            state: State::Pending(moved.clone()),
            revision: 1,
        };
        let asked = InteractionAsked::new(&self.question, &channel, Some(self.id));
        let asked = EventDraft::by(&self.origin.asked_by, EventKind::InteractionAsked(asked))
            .recording(audit::of_question(&self.question));
        let went =
            InteractionHandedOver { session: to.id, interaction: id, channel: channel.clone(), note: note.clone() };
        let went = EventDraft::by(&by, EventKind::InteractionHandedOver(went));
        let to = HandedOver { session: to.id, interaction: id, channel, by, at: now, note };
        let first = self.with_state(State::Pending(Pending { handed_over: Some(to), ..moved }));
        Ok(Handover { first: (first, went), second: (second, asked) })
    }

    /// Resolves the question as the one that it was handed over to. Returns `None` if `second` is not that question or is not resolved.
    #[must_use]
    pub fn follow(self, second: &Self) -> Option<Change> {
        let State::Pending(Pending { handed_over: Some(to), .. }) = &self.state else { return None };
        let State::Resolved { resolution, at, .. } = &second.state else { return None };
        if to.interaction != second.id {
            return None;
        }
        let draft = match resolution {
            Resolution::Answered { answer, .. } => {
                EventDraft::by(&answer.by, EventKind::InteractionAnswered(InteractionAnswered::new(answer)))
                    .recording(audit::of_answer(&self.question, answer))
            }
            Resolution::AutoResolved { answer, source, reason } => {
                let (source, reason) = (*source, reason.clone());
                let resolved = InteractionAutoResolved { answer: InteractionAnswered::new(answer), source, reason };
                EventDraft::by(&answer.by, EventKind::InteractionAutoResolved(resolved))
                    .recording(audit::of_answer(&self.question, answer))
            }
            Resolution::Expired => {
                let closed = InteractionClosed { reason: "nobody answered in time".into() };
                EventDraft::by(&Actor::system(), EventKind::InteractionExpired(closed))
            }
            Resolution::Cancelled { by, reason } => {
                EventDraft::by(by, EventKind::InteractionCancelled(InteractionClosed { reason: reason.clone() }))
            }
        };
        let (resolution, at) = (resolution.clone(), *at);
        Some((self.resolve(resolution, at), draft.through(second.id)))
    }
}
