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
//! One that was handed over stays pending, closed to everybody, and ends as the one that it was handed over to.

mod abstain;
mod deliver;
mod early;
mod handover;
mod requirements;

pub use abstain::Abstention;
pub use handover::{HandedFrom, HandedOver, Handover};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::access::Right;
use crate::audit;
use crate::event::of_answer;
use crate::{
    Actor, ActorKind, Answer, AnswerDraft, AnswerId, AutoSource, Caller, Delivery, Effect, EntryPoint, EventDraft,
    Fallback, FormProof, InteractionId, Problem, Question, Refusal, Resolution, Role, Scope, Session, SessionId,
    Status, StepId,
};

/// A question put to people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Interaction {
    /// Its id.
    pub id: InteractionId,
    /// Whose it is.
    pub scope: Scope,
    /// Where it comes from; never changes.
    pub origin: Origin,
    /// What is asked; never changes.
    pub question: Question,
    /// Where it is.
    pub state: State,
    /// How often it has changed. Guards every write.
    pub revision: u64,
}

/// Where a question comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The session that it was asked in.
    pub session: SessionId,
    /// The step that sleeps on it.
    pub step: StepId,
    /// Routes it. Proves nothing.
    pub channel: String,
    /// The agent's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The agent's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// Who asked.
    pub asked_by: Actor,
    /// Whether a worker of ours asked, for a step that it runs: whoever only has the agent's name has nothing to do with the answer.
    #[serde(rename = "driven", default, skip_serializing_if = "std::ops::Not::not")]
    pub hosted: bool,
    /// Who started the session.
    pub started_by: Actor,
    /// When it was asked.
    pub at: Timestamp,
    /// The trace that it was asked in (W3C trace context), passed on to whoever takes the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
    /// The question that was handed over and became this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed_from: Option<HandedFrom>,
}

/// Where a question is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "one question is moved about at a time")]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum State {
    /// Open.
    Pending(Pending),
    /// Closed, for good.
    Resolved {
        /// How.
        resolution: Resolution,
        /// When.
        at: Timestamp,
        /// Whether the agent has taken it.
        delivery: Delivery,
        /// Where it had gone before that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        handed_over: Option<HandedOver>,
    },
}

/// What an open question has gathered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Pending {
    /// Answers that do not make the quorum yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<Answer>,
    /// Who is working on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// Whether people have been warned.
    #[serde(default)]
    pub warned: bool,
    /// Whether it is held open past its deadline.
    #[serde(default)]
    pub overdue: bool,
    /// Who has said that they will not answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub abstained: Vec<Abstention>,
    /// Whether too few are left who could answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deserted: bool,
    /// Where it went: it can be answered only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed_over: Option<HandedOver>,
}

/// Who is working on a question, and until when it is theirs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Who.
    pub by: Actor,
    /// Until when.
    pub until: Timestamp,
}

/// Proof that one person may answer one interaction. Only [`Interaction::admit`] makes one.
#[derive(Debug)]
pub struct Reviewer {
    interaction: InteractionId,
    actor: Actor,
    groups: Vec<String>,
    role: Role,
    entry_point: EntryPoint,
}

/// A transition: what it became, and what happened.
pub type Change = (Interaction, EventDraft);

impl Interaction {
    /// Puts a question to people.
    #[must_use]
    pub fn ask(id: InteractionId, session: &Session, by: Actor, question: Question, now: Timestamp) -> Change {
        let data = json!({
            "kind": question.kind.name(),
            "title": question.title,
            "deadline": question.deadline,
            "channel": session.head.channel,
        });
        let happening = EventDraft::by("interaction.asked", &by, data).recording(audit::of_question(&question));
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
        (Self { id, scope: session.scope, origin, question, state, revision: 1 }, happening)
    }

    /// What a list shows of its state.
    #[must_use]
    pub const fn status(&self) -> Status {
        match &self.state {
            State::Pending(_) => Status::Pending,
            State::Resolved { resolution, .. } => resolution.status(),
        }
    }

    /// When it was closed.
    #[must_use]
    pub const fn resolved_at(&self) -> Option<Timestamp> {
        match &self.state {
            State::Pending(_) => None,
            State::Resolved { at, .. } => Some(*at),
        }
    }

    /// When it was closed, once its delivery is over too: nothing will happen to it any more, and it is only kept.
    #[must_use]
    pub const fn retired_at(&self) -> Option<Timestamp> {
        match &self.state {
            State::Resolved { at, delivery, .. } if delivery.over() => Some(*at),
            State::Pending(_) | State::Resolved { .. } => None,
        }
    }

    /// How far its delivery is, once it is closed.
    #[must_use]
    pub const fn delivery(&self) -> Option<&Delivery> {
        match &self.state {
            State::Pending(_) => None,
            State::Resolved { delivery, .. } => Some(delivery),
        }
    }

    /// Checks that a caller may answer: not whoever asked, not an agent, and in an audience that does not bar them with four eyes.
    pub fn admit(&self, caller: &Caller) -> Result<Reviewer, Refusal> {
        if caller.scope != self.scope {
            return Err(Refusal::NotFound("interaction"));
        }
        caller.require(Right::Answer)?;
        self.invites(caller)?;
        Ok(Reviewer {
            interaction: self.id,
            actor: caller.actor.clone(),
            groups: caller.groups.clone(),
            role: caller.role,
            entry_point: caller.entry_point,
        })
    }

    /// Refuses whoever may not decide this question alone, past its audiences: who asked and, if any audience wants four eyes, who started.
    pub fn unbarred(&self, actor: &Actor) -> Result<(), Refusal> {
        self.question.audiences().iter().try_for_each(|audience| self.unbarred_in(audience, actor))
    }

    /// Takes an answer. The first one wins: a second or late one is refused, never merged.
    ///
    /// While a quorum is not reached nothing has won yet: whoever says something else has changed their mind.
    pub fn answer(
        self,
        reviewer: &Reviewer,
        id: AnswerId,
        draft: AnswerDraft,
        proof: Option<FormProof>,
        now: Timestamp,
    ) -> Result<Change, Refusal> {
        let pending = self.answerable(reviewer, now)?;
        self.unclaimed_by_others(&reviewer.actor, now)?;
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
            let happening = EventDraft::by("interaction.answered", &answer.by, of_answer(&answer))
                .recording(audit::of_answer(&self.question, &answer));
            let votes = if votes.len() > 1 { votes } else { Vec::new() };
            return Ok((self.resolved(Resolution::Answered { answer, votes }, now), happening));
        }
        let data = self.vote_told(&answer, &votes);
        let happening =
            EventDraft::by("interaction.voted", &answer.by, data).recording(audit::of_answer(&self.question, &answer));
        let abstained = pending.abstained.iter().filter(|one| !one.by.is_same_person(&answer.by)).cloned().collect();
        let pending = Pending { votes, abstained, deserted: false, ..pending.clone() };
        Ok((self.became(State::Pending(pending)), happening))
    }

    /// Answers in place of a person, past the audience.
    pub fn auto(
        self,
        (id, by, source): (AnswerId, Actor, AutoSource),
        draft: AnswerDraft,
        proof: Option<FormProof>,
        now: Timestamp,
    ) -> Result<Change, Refusal> {
        self.pending()?;
        self.unbarred(&by)?;
        self.in_time(now)?;
        let reason = draft.feedback.clone().unwrap_or_else(|| format!("resolved by {}", by.name));
        let settled = self.question.settle(draft, proof).map_err(Refusal::AnswerInvalid)?;
        if settled.effect == Effect::Edit && self.question.call_id.is_some() {
            let problem = Problem::new("/effect", "an edit of a proposed action needs a person");
            return Err(Refusal::AnswerInvalid(vec![problem]));
        }
        let answer = settled.sign(id, by, Vec::new(), now);
        Ok(self.auto_resolved(answer, source, reason, now))
    }

    /// Ends it as its deadline would, on the word of the clock, or of a person whom [`Self::may_end_with`] lets do so.
    pub fn expire(self, id: AnswerId, by: &Actor, now: Timestamp) -> Result<Change, Refusal> {
        let pending = self.pending()?;
        let reason = match by.kind {
            ActorKind::System => "nobody answered in time".to_owned(),
            ActorKind::User | ActorKind::Agent => format!("ended before its time by {}", by.name),
        };
        let (effect, options, data) = match self.question.fallback.clone() {
            None => {
                let happening = EventDraft::by("interaction.expired", by, json!({ "reason": reason }));
                return Ok((self.resolved(Resolution::Expired, now), happening));
            }
            Some(Fallback::Hold) if pending.overdue => return Err(Refusal::AlreadyOverdue(self.id)),
            Some(Fallback::Hold) => {
                let pending = Pending { overdue: true, ..pending.clone() };
                let happening =
                    EventDraft::by("interaction.overdue", by, json!({ "deadline": self.question.deadline }));
                return Ok((self.became(State::Pending(pending)), happening));
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
        Ok(self.auto_resolved(answer, AutoSource::System, reason, now))
    }

    /// Closes it without an answer.
    pub fn cancel(self, by: Actor, reason: String, now: Timestamp) -> Result<Change, Refusal> {
        self.open()?;
        let happening = EventDraft::by("interaction.cancelled", &by, json!({ "reason": reason }));
        Ok((self.resolved(Resolution::Cancelled { by, reason }, now), happening))
    }

    /// Keeps it for one person for a while.
    pub fn claim(self, reviewer: &Reviewer, now: Timestamp, until: Timestamp) -> Result<Change, Refusal> {
        let pending = self.answerable(reviewer, now)?;
        self.unclaimed_by_others(&reviewer.actor, now)?;
        let claim = Claim { by: reviewer.actor.clone(), until };
        let happening = EventDraft::by("interaction.claimed", &reviewer.actor, json!({ "until": until }));
        let pending = Pending { claim: Some(claim), ..pending.clone() };
        Ok((self.became(State::Pending(pending)), happening))
    }

    /// Gives it back. An admin may give back what somebody else holds.
    pub fn release(self, caller: &Caller) -> Result<Change, Refusal> {
        let pending = self.pending()?;
        let mine = |claim: &Claim| claim.by.is_same_person(&caller.actor) || caller.role == Role::Admin;
        if !pending.claim.as_ref().is_some_and(mine) {
            return Err(Refusal::NotClaimed(self.id));
        }
        let happening = EventDraft::by("interaction.released", &caller.actor, json!({}));
        let pending = Pending { claim: None, ..pending.clone() };
        Ok((self.became(State::Pending(pending)), happening))
    }

    /// When time itself will next change something, if ever.
    #[must_use]
    pub fn wake_at(&self) -> Option<Timestamp> {
        match &self.state {
            // The one that it became is watched in its place.
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

    /// Does the one thing that is due: the deadline before the warning before the claim; then the lease.
    ///
    /// `None` if nothing is.
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
                let happening = EventDraft::plain("interaction.warned", json!({ "deadline": self.question.deadline }));
                Some((self.became(State::Pending(pending)), happening))
            }
            State::Pending(ref pending @ Pending { claim: Some(ref claim), .. }) if claim.until <= now => {
                let happening =
                    EventDraft::by("interaction.released", &Actor::system(), json!({ "held_by": claim.by }));
                let pending = Pending { claim: None, ..pending.clone() };
                Some((self.became(State::Pending(pending)), happening))
            }
            State::Resolved { ref delivery, .. } => {
                let after = delivery.lapse(now)?;
                let failed = matches!(after, Delivery::Failed { .. });
                let name = if failed { "delivery.failed" } else { "delivery.offered" };
                let happening = EventDraft::plain(name, json!({ "reason": "the lease ran out" }));
                Some((self.delivered(after), happening))
            }
            State::Pending(_) => None,
        }
    }

    /// Open to this person at this moment; whoever comes after an expiry is told that they are late.
    fn answerable(&self, reviewer: &Reviewer, now: Timestamp) -> Result<&Pending, Refusal> {
        if reviewer.interaction != self.id {
            return Err(Refusal::NotInAudience);
        }
        if self.status() == Status::Expired {
            return Err(Refusal::TooLate(self.id));
        }
        let pending = self.pending()?;
        self.in_time(now)?;
        Ok(pending)
    }

    /// What it has gathered, while it is open to whoever may close it here.
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

    fn in_time(&self, now: Timestamp) -> Result<(), Refusal> {
        let over = self.question.deadline.is_some_and(|deadline| deadline <= now);
        if over && !self.question.holds() { Err(Refusal::TooLate(self.id)) } else { Ok(()) }
    }

    /// A claim keeps others out only where one person's answer is enough.
    fn unclaimed_by_others(&self, actor: &Actor, now: Timestamp) -> Result<(), Refusal> {
        let State::Pending(Pending { claim: Some(claim), .. }) = &self.state else { return Ok(()) };
        let held = !claim.by.is_same_person(actor) && claim.until > now && !self.question.needs_several();
        if held { Err(Refusal::ClaimedByOther { by: claim.by.name.clone() }) } else { Ok(()) }
    }

    fn auto_resolved(self, answer: Answer, source: AutoSource, reason: String, now: Timestamp) -> Change {
        let mut data = of_answer(&answer);
        data["source"] = json!(source);
        data["reason"] = json!(reason);
        let record = audit::of_answer(&self.question, &answer);
        let happening = EventDraft::by("interaction.auto_resolved", &answer.by, data).recording(record);
        (self.resolved(Resolution::AutoResolved { answer, source, reason }, now), happening)
    }

    fn resolved(self, resolution: Resolution, at: Timestamp) -> Self {
        let withdrawn = matches!(&resolution, Resolution::Cancelled { by, .. }
            if self.origin.hosted || by.is_same_person(&self.origin.asked_by));
        // What decides a proposed call reaches its agent as that call; what was handed over, as the first question.
        let elsewhere = self.question.call_id.is_some() || self.origin.handed_from.is_some();
        let needed = self.question.kind.blocks() && !withdrawn && !elsewhere;
        let delivery = if needed { Delivery::Waiting { attempt: 0 } } else { Delivery::NotNeeded };
        let handed_over = self.handed_over().cloned();
        self.became(State::Resolved { resolution, at, delivery, handed_over })
    }

    fn became(self, state: State) -> Self {
        Self { state, revision: self.revision + 1, ..self }
    }
}
