//! What a step goes on with is journalled before it is used; what people say to it is journalled where it will be read.

use domain::{
    Actor, ActorKind, DefinitionKind, Delivery, EventDraft, Interaction, InteractionId, Kind, Refusal, Session, StepId,
};
use serde_json::{Value, json};
use store::{JournalEntry, StepState, Topic};

use crate::drive::Claim;
use crate::filed::Offered;
use crate::work::{Doer, Work};
use crate::{Engine, Error};

/// What is written down of a step.
#[derive(Debug, Clone, Default)]
pub struct Journal {
    /// How long the journal is, as far as the worker knows.
    pub after: u64,
    /// The inputs that come next.
    pub inputs: Vec<Value>,
    /// What the step is once it has taken them.
    pub state: Value,
    /// What everybody is told.
    pub told: Vec<(&'static str, Value)>,
    /// The question before the step, where it has been asked with these inputs.
    pub before: Option<InteractionId>,
    /// Questions whose answers the step has taken with these inputs.
    pub taken: Vec<InteractionId>,
}

impl Engine {
    /// Writes inputs down; `None` if others came in between, which the worker has to take first.
    pub async fn step_journal(&self, claim: &Claim, journal: Journal) -> Result<Option<u64>, Error> {
        let claim = claim.clone();
        let length = self.settings().step_lease;
        self.transact_as(Doer::worker(&claim.agent), move |work| {
            let (mut session, step) = work.fenced(&claim)?;
            let until = work.now.saturating_add(length).unwrap_or(work.now);
            let before = session.last_seq;
            let Some(step) = work.journalled(&mut session, step.kept(until), &journal)? else { return Ok(None) };
            work.tx.step_save(&claim.scope, &step)?;
            if session.last_seq > before {
                work.saved(&session)?;
            }
            Ok(step.lease.map(|lease| lease.journal))
        })
        .await
    }

    /// Tells everybody what a step says meanwhile. Nothing depends on it.
    pub async fn step_tell(&self, claim: &Claim, told: Vec<(&'static str, Value)>) -> Result<(), Error> {
        let claim = claim.clone();
        self.transact_as(Doer::worker(&claim.agent), move |work| {
            let (mut session, _) = work.fenced(&claim)?;
            work.told(&mut session, &claim, &told)?;
            work.saved(&session)
        })
        .await
    }
}

impl Work<'_> {
    /// Writes inputs and state down, unless the journal is longer than the worker knows. The step is saved by whoever calls.
    pub(crate) fn journalled(
        &mut self,
        session: &mut Session,
        mut step: domain::Step,
        journal: &Journal,
    ) -> Result<Option<domain::Step>, Error> {
        if step.lease.as_ref().is_none_or(|lease| lease.journal != journal.after) {
            return Ok(None);
        }
        for input in &journal.inputs {
            step = self.entered(session, step, input.clone())?;
        }
        step = step.journalled(0);
        step.before = journal.before.or(step.before);
        let upto = step.lease.as_ref().map_or(0, |lease| lease.journal);
        self.tx.step_state_save(&session.scope, step.id, &StepState { upto, body: journal.state.clone() })?;
        for id in &journal.taken {
            self.taken_over(session, *id)?;
        }
        let agent = self.doer.actor.clone();
        for (name, data) in &journal.told {
            self.chatter(session, EventDraft::by(name, &agent, data.clone()))?;
        }
        Ok(Some(step))
    }

    /// Somebody has said something to the step that a session is at. An agent of a file that no longer belongs to the project goes on with what
    /// it was given, and hears nothing new.
    pub(crate) fn heard(
        &mut self,
        session: &mut Session,
        offered: &Offered,
        (by, content): (&Actor, &str),
    ) -> Result<(), Error> {
        session.alive()?;
        let step = self.tx.step(&session.scope, session.step)?.filter(domain::Step::alive);
        let Some(step) = step.filter(|step| step.lease.is_some()) else {
            return Err(Refusal::NotHosted(session.id).into());
        };
        if step.agent.is_none() {
            return Err(Refusal::NobodyListens.into());
        }
        if let (Some(name), Some(version)) = (&step.agent, &step.agent_version) {
            let kept = self.tx.definition(&session.scope, DefinitionKind::Agent, name, version)?;
            if kept.is_some_and(|kept| !offered.allows(&kept)) {
                return Err(Refusal::NobodyListens.into());
            }
        }
        let person = by.kind == ActorKind::User;
        let said = json!({ "input": "message", "by": by.name, "content": content, "person": person });
        let step = self.entered(session, step, said)?;
        self.tx.step_save(&session.scope, &step)?;
        let happening = EventDraft::by("message.sent", by, json!({ "content": content }));
        self.happened(session, None, happening)?;
        self.wake(session)
    }

    /// What was said to a step that no model was shown before the step ended. What the worker told the model itself is not among it.
    pub(crate) fn unheard(&mut self, session: &Session, step: &domain::Step) -> Result<Vec<Value>, Error> {
        const PORTION: u32 = 500;
        let mut listening = Listening::default();
        let mut after = 0;
        loop {
            let portion = self.tx.journal(&session.scope, step.id, after, PORTION)?;
            let full = portion.len() == PORTION as usize;
            for entry in portion {
                after = entry.seq;
                listening.take(entry.body);
            }
            if !full {
                return Ok(listening.unheard());
            }
        }
    }

    pub(crate) fn entered(
        &mut self,
        session: &Session,
        step: domain::Step,
        body: Value,
    ) -> Result<domain::Step, Error> {
        let seq = step.lease.as_ref().map_or(0, |lease| lease.journal) + 1;
        self.tx.journal_append(&session.scope, step.id, &JournalEntry { seq, at: self.now, body })?;
        Ok(step.entered())
    }

    fn told(&mut self, session: &mut Session, claim: &Claim, told: &[(&'static str, Value)]) -> Result<(), Error> {
        for (name, data) in told {
            self.chatter(session, EventDraft::by(name, &claim.agent, data.clone()))?;
        }
        Ok(())
    }

    /// Tells everybody what a model says, or what a worker meets with. Nobody is answerable for it, so that it is no entry of the audit trail.
    pub(crate) fn chatter(&mut self, session: &mut Session, happening: EventDraft) -> Result<(), Error> {
        let event = session.record(self.ids.event(self.now), happening, None, self.now);
        self.tx.event_append(&session.scope, &event)?;
        self.effects.topics.push(Topic::Session(session.id));
        self.effects.topics.push(Topic::Channel(session.scope.project, session.head.channel.clone()));
        Ok(())
    }

    /// The step has gone on from an answer: its delivery is over. What was sealed stays with the session.
    fn taken_over(&mut self, session: &mut Session, id: InteractionId) -> Result<(), Error> {
        let Some(interaction) = self.tx.interaction(&session.scope, id)? else { return Ok(()) };
        if !matches!(interaction.delivery(), Some(Delivery::Waiting { .. })) {
            return Ok(());
        }
        let (interaction, happening) = interaction.gone_on(self.now)?;
        self.tx.interaction_save(&interaction)?;
        self.stays_sealed(session, &interaction)?;
        self.happened(session, Some(id), happening).map(drop)
    }

    /// What was given in secret has to be hidden for as long as its session lives, however long ago it was given.
    fn stays_sealed(&mut self, session: &Session, interaction: &Interaction) -> Result<(), Error> {
        if interaction.question.kind == Kind::Secret && session.ended.is_none() {
            self.tx.sealed_retire(&session.scope, session.id, None)?;
        }
        Ok(())
    }

    /// A step that is ended from outside has that for its last input.
    pub(crate) fn cut_short(
        &mut self,
        session: &Session,
        step: domain::Step,
        reason: &str,
    ) -> Result<domain::Step, Error> {
        if step.lease.is_none() {
            return Ok(step);
        }
        self.entered(session, step, json!({ "input": "cancelled", "reason": reason }))
    }

    /// The next attempt at a step knows what the one before knew: whatever was done or decided is not done or decided again.
    pub(crate) fn taken_up(
        &mut self,
        session: &Session,
        before: &domain::Step,
        mut step: domain::Step,
        (why, after_end): (&str, bool),
    ) -> Result<domain::Step, Error> {
        const PORTION: u32 = 500;
        let scope = session.scope;
        let mut length = 0;
        loop {
            let found = self.tx.journal(&scope, before.id, length, PORTION)?;
            for entry in &found {
                self.tx.journal_append(&scope, step.id, entry)?;
                length = entry.seq;
            }
            if found.len() < PORTION as usize {
                break;
            }
        }
        if let Some(state) = self.tx.step_state(&scope, before.id)? {
            self.tx.step_state_save(&scope, step.id, &state)?;
        }
        if length == 0 {
            return Ok(step);
        }
        step = step.journalled(length);
        self.entered(session, step, json!({ "input": "again", "reason": why, "after_end": after_end }))
    }

    /// Answers to steps of ours that have ended are taken by nobody: of one step, or of all of them.
    pub(crate) fn left_untaken(&mut self, session: &mut Session, step: Option<StepId>, why: &str) -> Result<(), Error> {
        for id in self.tx.untaken_of(&session.scope, session.id)? {
            let Some(interaction) = self.tx.interaction(&session.scope, id)? else { continue };
            let origin = &interaction.origin;
            if origin.hosted && step.is_none_or(|step| origin.step == step) {
                let (interaction, happening) = interaction.not_needed(why)?;
                self.tx.interaction_save(&interaction)?;
                self.stays_sealed(session, &interaction)?;
                self.happened(session, Some(id), happening)?;
            }
        }
        Ok(())
    }
}

/// Who was being asked while something was said.
#[derive(Default)]
struct Listening {
    /// What the turn to come will have read.
    read: Vec<Value>,
    /// What came while its model was being asked.
    late: Vec<Value>,
    /// Whether a model may be being asked.
    asked: bool,
    /// Whether the last word was a model's: whoever says something has it asked on.
    spoken: bool,
}

impl Listening {
    fn take(&mut self, entry: Value) {
        match entry["input"].as_str() {
            Some("turn") => {
                let calls = entry["calls"].as_array().is_some_and(|calls| !calls.is_empty());
                self.read = std::mem::take(&mut self.late);
                self.asked = !calls && !self.read.is_empty();
                self.spoken = !calls;
            }
            Some("message") if self.asked => self.late.push(entry),
            Some("message") => {
                self.read.push(entry);
                self.asked = self.spoken;
            }
            _ => {
                self.read.append(&mut self.late);
                (self.asked, self.spoken) = (true, false);
            }
        }
    }

    fn unheard(mut self) -> Vec<Value> {
        self.read.append(&mut self.late);
        self.read.retain(|said| said["note"] != Value::Bool(true));
        self.read
    }
}
