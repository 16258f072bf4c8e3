//! A question put to people: the one answer that closes it, and the delivery that follows.
//!
//! ```text
//! pending ── answer (quorum reached) ──> answered
//! pending ── policy or system answer ──> auto_resolved
//! pending ── deadline, fallback ───────> auto_resolved      (fallback `hold`: stays pending, overdue)
//! pending ── deadline, no fallback ────> expired
//! pending ── cancel ───────────────────> cancelled
//! resolved: waiting ──> processing (lease) ──> completed | failed
//! ```
//!
//! A question that was handed over stays pending and accepts no answers. It ends as the question that it was handed over to.

mod abstain;
mod deliver;
mod early;
mod handover;

pub use abstain::Abstention;
pub use handover::{HandedFrom, HandedOver, Handover};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::access::Right;
use crate::audit;
use crate::event::{
    DeliveryReturned, InteractionAnswered, InteractionAsked, InteractionAutoResolved, InteractionClaimed,
    InteractionClosed, InteractionDeadline, InteractionReleased,
};
use crate::{
    Actor, ActorKind, Answer, AnswerDraft, AnswerId, AutoSource, Caller, Delivery, Effect, EntryPoint, EventDraft,
    EventKind, Fallback, FormProof, InteractionId, Problem, Question, Refusal, Resolution, Role, Scope, Session,
    SessionId, Status, StepId,
};

/// A question put to people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Interaction {
    /// Identifier of the question.
    pub id: InteractionId,
    /// Tenant and project of the question.
    pub scope: Scope,
    /// Origin of the question. It never changes.
    pub origin: Origin,
    /// Content of the question. It never changes.
    pub question: Question,
    /// State of the question.
    pub state: State,
    /// Number of changes. A write succeeds only over the revision before it.
    pub revision: u64,
}

/// Origin of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Session in which the question was asked.
    pub session: SessionId,
    /// Step that sleeps until the answer.
    pub step: StepId,
    /// Channel that routes the question. It is a routing name and grants no rights.
    pub channel: String,
    /// Name of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Version of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// Actor that asked the question.
    pub asked_by: Actor,
    /// Whether a worker of this server asked, for a step of a hosted agent. A key with the name of the agent then has no right to the
    /// answer.
    #[serde(rename = "driven", default, skip_serializing_if = "std::ops::Not::not")]
    pub hosted: bool,
    /// Actor that started the session.
    pub started_by: Actor,
    /// Time at which the question was asked.
    pub at: Timestamp,
    /// W3C trace context in which the question was asked. It is passed on with the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
    /// Question that was handed over and became this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed_from: Option<HandedFrom>,
}

/// State of a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "one question is moved about at a time")]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum State {
    /// The question is open.
    Pending(Pending),
    /// The question is closed. It is never opened again.
    Resolved {
        /// Resolution of the question.
        resolution: Resolution,
        /// Time of the resolution.
        at: Timestamp,
        /// Delivery of the answer to the agent.
        delivery: Delivery,
        /// Destination of the question, if it was handed over before it was closed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        handed_over: Option<HandedOver>,
    },
}

/// State that an open question has collected.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Pending {
    /// Answers that do not reach the quorum yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<Answer>,
    /// Claim of a person on the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// Whether people were warned about the deadline.
    #[serde(default)]
    pub warned: bool,
    /// Whether the question stays open although its deadline has passed.
    #[serde(default)]
    pub overdue: bool,
    /// People who declared that they will not answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub abstained: Vec<Abstention>,
    /// Whether too few people remain who could answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deserted: bool,
    /// Destination of the question, if it was handed over. It can then be answered only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed_over: Option<HandedOver>,
}

/// Claim of a person on a question until a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Person who has claimed the question.
    pub by: Actor,
    /// Time at which the claim ends.
    pub until: Timestamp,
}

/// Proof that one person may answer one interaction. Only [`Interaction::admit`] creates one.
#[derive(Debug)]
pub struct Reviewer {
    interaction: InteractionId,
    actor: Actor,
    groups: Vec<String>,
    role: Role,
    entry_point: EntryPoint,
}

/// A transition: the new state of the question and the event draft that records it.
pub type Change = (Interaction, EventDraft);

impl Interaction {
    /// Creates an open question, with the event that records it.
    #[must_use]
    pub fn ask(id: InteractionId, session: &Session, by: Actor, question: Question, now: Timestamp) -> Change {
        let asked = InteractionAsked::new(&question, &session.head.channel, None);
        let draft = EventDraft::by(&by, EventKind::InteractionAsked(asked)).recording(audit::of_question(&question));
        let origin = Origin {
            session: session.id,
            step: session.step,
            channel: session.head.channel.clone(),
            agent: session.head.agent.clone(),
            agent_version: session.head.agent_version.clone(),
            asked_by: by,
            hosted: false,
            started_by: session.started_by.clone(),
            at: now,
            traceparent: None,
            handed_from: None,
        };
        let state = State::Pending(Pending::default());
        (Self { id, scope: session.scope, origin, question, state, revision: 1 }, draft)
    }

    /// Status of the question.
    #[must_use]
    pub const fn status(&self) -> Status {
        match &self.state {
            State::Pending(_) => Status::Pending,
            State::Resolved { resolution, .. } => resolution.status(),
        }
    }

    /// Time at which the question was closed.
    #[must_use]
    pub const fn resolved_at(&self) -> Option<Timestamp> {
        match &self.state {
            State::Pending(_) => None,
            State::Resolved { at, .. } => Some(*at),
        }
    }

    /// Time at which the question was closed, if its delivery has also ended. The question then never changes again and can be archived.
    #[must_use]
    pub const fn retired_at(&self) -> Option<Timestamp> {
        match &self.state {
            State::Resolved { at, delivery, .. } if delivery.is_over() => Some(*at),
            State::Pending(_) | State::Resolved { .. } => None,
        }
    }

    /// Delivery of the answer, if the question is closed.
    #[must_use]
    pub const fn delivery(&self) -> Option<&Delivery> {
        match &self.state {
            State::Pending(_) => None,
            State::Resolved { delivery, .. } => Some(delivery),
        }
    }

    /// Checks that the caller may answer. The asker and agents may not; the others must belong to an audience that does not exclude them by
    /// four eyes.
    pub fn admit(&self, caller: &Caller) -> Result<Reviewer, Refusal> {
        if caller.scope != self.scope {
            return Err(Refusal::NotFound("interaction"));
        }
        caller.require(Right::Answer)?;
        self.require_invited(caller)?;
        Ok(Reviewer {
            interaction: self.id,
            actor: caller.actor.clone(),
            groups: caller.groups.clone(),
            role: caller.role,
            entry_point: caller.entry_point,
        })
    }

    /// Refuses an actor who may not decide this question regardless of its audiences: the asker and, if any audience requires four eyes,
    /// the person who started the session.
    pub fn require_unbarred(&self, actor: &Actor) -> Result<(), Refusal> {
        self.question.audiences().iter().try_for_each(|audience| self.require_unbarred_in(audience, actor))
    }

    /// Accepts an answer. The first answer wins: a second or late answer is refused, never merged.
    ///
    /// While the quorum is not reached, a different answer of a person replaces their earlier one.
    pub fn answer(
        self,
        reviewer: &Reviewer,
        id: AnswerId,
        draft: AnswerDraft,
        proof: Option<FormProof>,
        now: Timestamp,
    ) -> Result<Change, Refusal> {
        let pending = self.answerable(reviewer, now)?;
        self.require_unclaimed_by_others(&reviewer.actor, now)?;
        let settled = self.question.settle(draft, proof).map_err(Refusal::AnswerInvalid)?;
        let answer = settled.sign(id, reviewer.actor.clone(), reviewer.groups.clone(), now);
        let answer = Answer { role: Some(reviewer.role), entry_point: Some(reviewer.entry_point), ..answer };
        let (mine, mut votes): (Vec<_>, Vec<_>) =
            pending.votes.iter().cloned().partition(|vote| vote.by.is_same_person(&answer.by));
        if mine.iter().any(|vote| vote.agrees_with(&answer)) {
            return Err(Refusal::AlreadyVoted(self.id));
        }
        votes.push(answer.clone());
        let agreeing: Vec<&Answer> = votes.iter().filter(|vote| vote.agrees_with(&answer)).collect();
        if answer.effect.holds_back() || self.is_settled_by(&agreeing) {
            let answered = EventKind::InteractionAnswered(InteractionAnswered::new(&answer));
            let event = EventDraft::by(&answer.by, answered).recording(audit::of_answer(&self.question, &answer));
            let votes = if votes.len() > 1 { votes } else { Vec::new() };
            return Ok((self.resolve(Resolution::Answered { answer, votes }, now), event));
        }
        let voted = EventKind::InteractionVoted(self.voted(&answer, &votes));
        let event = EventDraft::by(&answer.by, voted).recording(audit::of_answer(&self.question, &answer));
        let abstained = pending.abstained.iter().filter(|one| !one.by.is_same_person(&answer.by)).cloned().collect();
        let pending = Pending { votes, abstained, deserted: false, ..pending.clone() };
        Ok((self.with_state(State::Pending(pending)), event))
    }

    /// Answers in place of a person, regardless of the audience.
    pub fn auto_resolve(
        self,
        (id, by, source): (AnswerId, Actor, AutoSource),
        draft: AnswerDraft,
        proof: Option<FormProof>,
        now: Timestamp,
    ) -> Result<Change, Refusal> {
        self.pending()?;
        self.require_unbarred(&by)?;
        self.require_in_time(now)?;
        let reason = draft.feedback.clone().unwrap_or_else(|| format!("resolved by {}", by.name));
        let settled = self.question.settle(draft, proof).map_err(Refusal::AnswerInvalid)?;
        if settled.effect == Effect::Edit && self.question.call_id.is_some() {
            let problem = Problem::new("/effect", "an edit of a proposed action needs a person");
            return Err(Refusal::AnswerInvalid(vec![problem]));
        }
        let answer = settled.sign(id, by, Vec::new(), now);
        Ok(self.end_without_person(answer, source, reason, now))
    }

    /// Ends the question as its deadline would: at the deadline, or by a person whom [`Self::require_may_end_with`] permits to do so.
    pub fn expire(self, id: AnswerId, by: &Actor, now: Timestamp) -> Result<Change, Refusal> {
        let pending = self.pending()?;
        let reason = match by.kind {
            ActorKind::System => "nobody answered in time".to_owned(),
            ActorKind::User | ActorKind::Agent => format!("closed by {} before the deadline", by.name),
        };
        let (effect, options, data) = match self.question.fallback.clone() {
            None => {
                let event = EventDraft::by(by, EventKind::InteractionExpired(InteractionClosed { reason }));
                return Ok((self.resolve(Resolution::Expired, now), event));
            }
            Some(Fallback::Hold) if pending.overdue => return Err(Refusal::AlreadyOverdue(self.id)),
            Some(Fallback::Hold) => {
                let pending = Pending { overdue: true, ..pending.clone() };
                let deadline = InteractionDeadline { deadline: self.question.deadline };
                let event = EventDraft::by(by, EventKind::InteractionOverdue(deadline));
                return Ok((self.with_state(State::Pending(pending)), event));
            }
            Some(Fallback::Option(option)) => {
                let effect = self.question.option(&option).map_or(Effect::Reject, |option| option.effect);
                (effect, vec![option], Value::Null)
            }
            Some(Fallback::Value(value)) => (Effect::Provide, Vec::new(), value),
            Some(Fallback::Deny) => (Effect::Reject, Vec::new(), Value::Null),
        };
        let chosen = options.first().and_then(|option| self.question.option(option));
        let metadata = chosen.map_or(Value::Null, |option| option.metadata.clone());
        let answer = Answer {
            id,
            by: by.clone(),
            groups: Vec::new(),
            role: None,
            entry_point: None,
            at: now,
            effect,
            options,
            metadata,
            arguments: None,
            data,
            feedback: Some(reason.clone()),
        };
        Ok(self.end_without_person(answer, AutoSource::System, reason, now))
    }

    /// Closes the question without an answer.
    pub fn cancel(self, by: Actor, reason: String, now: Timestamp) -> Result<Change, Refusal> {
        self.open()?;
        let closed = InteractionClosed { reason: reason.clone() };
        let event = EventDraft::by(&by, EventKind::InteractionCancelled(closed));
        Ok((self.resolve(Resolution::Cancelled { by, reason }, now), event))
    }

    /// Reserves the question for one person until a time.
    pub fn claim(self, reviewer: &Reviewer, now: Timestamp, until: Timestamp) -> Result<Change, Refusal> {
        let pending = self.answerable(reviewer, now)?;
        self.require_unclaimed_by_others(&reviewer.actor, now)?;
        let claim = Claim { by: reviewer.actor.clone(), until };
        let event = EventDraft::by(&reviewer.actor, EventKind::InteractionClaimed(InteractionClaimed { until }));
        let pending = Pending { claim: Some(claim), ..pending.clone() };
        Ok((self.with_state(State::Pending(pending)), event))
    }

    /// Releases a claim. An admin may release the claim of another person.
    pub fn release(self, caller: &Caller) -> Result<Change, Refusal> {
        let pending = self.pending()?;
        let mine = |claim: &Claim| claim.by.is_same_person(&caller.actor) || caller.role == Role::Admin;
        if !pending.claim.as_ref().is_some_and(mine) {
            return Err(Refusal::NotClaimed(self.id));
        }
        let released = InteractionReleased { held_by: None };
        let event = EventDraft::by(&caller.actor, EventKind::InteractionReleased(released));
        let pending = Pending { claim: None, ..pending.clone() };
        Ok((self.with_state(State::Pending(pending)), event))
    }

    /// Time of the next change that happens without a request: warning, deadline, end of the claim or of the lease.
    #[must_use]
    pub fn wake_at(&self) -> Option<Timestamp> {
        match &self.state {
            // The question that this one was handed over to has its own timer.
            State::Pending(pending) if pending.handed_over.is_some() => None,
            State::Pending(pending) => {
                let warning = self.question.warn_at.filter(|_| !pending.warned && !pending.overdue);
                let deadline = self.question.deadline.filter(|_| !pending.overdue);
                let claim = pending.claim.as_ref().map(|claim| claim.until);
                [warning, deadline, claim].into_iter().flatten().min()
            }
            State::Resolved { delivery: Delivery::Processing { until, .. }, .. } => Some(*until),
            State::Resolved { .. } => None,
        }
    }

    /// Applies the one change that is due: first the deadline, then the warning, then the end of the claim; on a closed question the end of
    /// the lease.
    ///
    /// Returns `None` if no change is due.
    #[must_use]
    pub fn tick(self, id: AnswerId, now: Timestamp) -> Option<Change> {
        let due = |at: Option<Timestamp>| at.is_some_and(|at| at <= now);
        match self.state {
            State::Pending(Pending { handed_over: Some(_), .. }) => None,
            State::Pending(Pending { overdue: false, .. }) if due(self.question.deadline) => {
                self.expire(id, &Actor::system(), now).ok()
            }
            State::Pending(ref pending @ Pending { overdue: false, warned: false, .. })
                if due(self.question.warn_at) =>
            {
                let pending = Pending { warned: true, ..pending.clone() };
                let deadline = InteractionDeadline { deadline: self.question.deadline };
                let event = EventDraft::plain(EventKind::InteractionWarned(deadline));
                Some((self.with_state(State::Pending(pending)), event))
            }
            State::Pending(ref pending @ Pending { claim: Some(ref claim), .. }) if claim.until <= now => {
                let released = InteractionReleased { held_by: Some(claim.by.clone()) };
                let event = EventDraft::by(&Actor::system(), EventKind::InteractionReleased(released));
                let pending = Pending { claim: None, ..pending.clone() };
                Some((self.with_state(State::Pending(pending)), event))
            }
            State::Resolved { ref delivery, .. } => {
                let after = delivery.lapse(now)?;
                let returned = DeliveryReturned { reason: "the lease ran out".into(), delivery: None };
                let event = deliver::return_event(&after, returned);
                Some((self.with_delivery(after), event))
            }
            State::Pending(_) => None,
        }
    }

    /// Checks that the question is open to this person now. After an expiry the refusal is `TooLate`.
    fn answerable(&self, reviewer: &Reviewer, now: Timestamp) -> Result<&Pending, Refusal> {
        if reviewer.interaction != self.id {
            return Err(Refusal::NotInAudience);
        }
        if self.status() == Status::Expired {
            return Err(Refusal::TooLate(self.id));
        }
        let pending = self.pending()?;
        self.require_in_time(now)?;
        Ok(pending)
    }

    /// Collected state of the question, if it is open and was not handed over.
    fn pending(&self) -> Result<&Pending, Refusal> {
        match self.open()? {
            Pending { handed_over: Some(to), .. } => Err(Refusal::HandedOver(Box::new(to.clone()))),
            pending => Ok(pending),
        }
    }

    fn open(&self) -> Result<&Pending, Refusal> {
        match &self.state {
            State::Pending(pending) => Ok(pending),
            State::Resolved { .. } => Err(Refusal::AlreadyResolved(Box::new(self.clone()))),
        }
    }

    fn require_in_time(&self, now: Timestamp) -> Result<(), Refusal> {
        let over = self.question.deadline.is_some_and(|deadline| deadline <= now);
        if over && !self.question.holds() { Err(Refusal::TooLate(self.id)) } else { Ok(()) }
    }

    /// Refuses if another person has claimed the question. A claim excludes others only if the answer of one person is enough.
    fn require_unclaimed_by_others(&self, actor: &Actor, now: Timestamp) -> Result<(), Refusal> {
        let State::Pending(Pending { claim: Some(claim), .. }) = &self.state else { return Ok(()) };
        let held = !claim.by.is_same_person(actor) && claim.until > now && !self.question.needs_several();
        if held { Err(Refusal::ClaimedByOther { by: claim.by.name.clone() }) } else { Ok(()) }
    }

    fn end_without_person(self, answer: Answer, source: AutoSource, reason: String, now: Timestamp) -> Change {
        let record = audit::of_answer(&self.question, &answer);
        let told = InteractionAnswered::new(&answer);
        let resolved = InteractionAutoResolved { answer: told, source, reason: reason.clone() };
        let event = EventDraft::by(&answer.by, EventKind::InteractionAutoResolved(resolved)).recording(record);
        (self.resolve(Resolution::AutoResolved { answer, source, reason }, now), event)
    }

    fn resolve(self, resolution: Resolution, at: Timestamp) -> Self {
        let withdrawn = matches!(&resolution, Resolution::Cancelled { by, .. }
            if self.origin.hosted || by.is_same_person(&self.origin.asked_by));
        // The decision on a proposed call is delivered with that call, and the answer to a handed-over question with the original question.
        let elsewhere = self.question.call_id.is_some() || self.origin.handed_from.is_some();
        let needed = self.question.kind.blocks() && !withdrawn && !elsewhere;
        let delivery = if needed { Delivery::Waiting { attempt: 0 } } else { Delivery::NotNeeded };
        let handed_over = self.handed_over().cloned();
        self.with_state(State::Resolved { resolution, at, delivery, handed_over })
    }

    fn with_state(self, state: State) -> Self {
        Self { state, revision: self.revision + 1, ..self }
    }
}
