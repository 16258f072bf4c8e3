//! Writes the journal of a step: an input is journalled before the step uses it, and messages of people are journalled where the step reads them.

use domain::event::MessageSent;
use domain::journal::{EngineInput, InputHead, JournalKind};
use domain::{
    Actor, ActorKind, DefinitionKind, Delivery, EventDraft, EventKind, Interaction, InteractionId, Kind, Refusal,
    Session, StepId,
};
use serde::Deserialize;
use serde_json::{Value, json};
use store::{JournalEntry, StepState, Topic};

use crate::interactions;
use crate::run::pages::Pages;
use crate::run::transaction::{Originator, Work};
use crate::sessions;
use crate::steps;
use crate::steps::lease::StepClaim;
use crate::steps::server_files::OfferedDefinitions;
use crate::{Engine, Error};

/// Number of journal entries that are read at once.
pub(super) const BATCH: u32 = 500;

/// Journal entries and state that a worker writes at once.
#[derive(Debug, Clone, Default)]
pub struct Journal {
    /// Length of the journal as the worker knows it.
    pub after: u64,
    /// Inputs to append to the journal.
    pub inputs: Vec<Value>,
    /// State of the step after these inputs.
    pub state: Value,
    /// Events to publish with the inputs.
    pub told: Vec<EventKind>,
    /// Question before the step, if it was asked with these inputs.
    pub before: Option<InteractionId>,
    /// Questions whose answers the step has used with these inputs.
    pub used_answers: Vec<InteractionId>,
}

impl Engine {
    /// Appends inputs to the journal. Returns `None` if others were appended since, which the worker has to read first.
    pub async fn step_journal_append(&self, claim: &StepClaim, journal: Journal) -> Result<Option<u64>, Error> {
        let claim = claim.clone();
        let length = self.settings().step_lease;
        self.transact_as(Originator::worker(&claim.agent), move |work| {
            let (mut session, step) = steps::lock_claimed(work, &claim)?;
            let until = work.now.saturating_add(length).unwrap_or(work.now);
            let before = session.last_seq;
            let Some(step) = append_journal(work, &mut session, step.extend_lease(until), &journal)? else {
                return Ok(None);
            };
            work.tx.step_save(&claim.scope, &step)?;
            if session.last_seq > before {
                sessions::save(work, &session)?;
            }
            Ok(step.lease.map(|lease| lease.journal))
        })
        .await
    }

    /// Publishes intermediate output of a step. The state of the step does not depend on it.
    pub async fn step_publish(&self, claim: &StepClaim, told: Vec<EventKind>) -> Result<(), Error> {
        let claim = claim.clone();
        self.transact_as(Originator::worker(&claim.agent), move |work| {
            let (mut session, _) = steps::lock_claimed(work, &claim)?;
            publish_all(work, &mut session, &claim.agent, &told)?;
            sessions::save(work, &session)
        })
        .await
    }
}

/// Appends inputs and saves the state, unless the journal is longer than the worker knows. The caller saves the step.
pub(crate) fn append_journal(
    work: &mut Work<'_>,
    session: &mut Session,
    mut step: domain::Step,
    journal: &Journal,
) -> Result<Option<domain::Step>, Error> {
    if step.lease.as_ref().is_none_or(|lease| lease.journal != journal.after) {
        return Ok(None);
    }
    for input in &journal.inputs {
        step = append_input(work, session, step, input.clone())?;
    }
    step = step.add_journal_entries(0);
    step.before = journal.before.or(step.before);
    let upto = step.lease.as_ref().map_or(0, |lease| lease.journal);
    work.tx.step_state_save(&session.scope, step.id, &StepState { upto, body: journal.state.clone() })?;
    for id in &journal.used_answers {
        finish_delivery(work, session, *id)?;
    }
    let agent = work.by().clone();
    publish_all(work, session, &agent, &journal.told)?;
    Ok(Some(step))
}

/// Delivers a message to the current step of a session. An agent from a file that no longer belongs to the project continues with its earlier inputs,
/// but receives no new messages.
pub(crate) fn deliver_message(
    work: &mut Work<'_>,
    session: &mut Session,
    offered: &OfferedDefinitions,
    (by, content): (&Actor, &str),
) -> Result<(), Error> {
    session.require_alive()?;
    let step = work.tx.step(&session.scope, session.step)?.filter(domain::Step::is_alive);
    let Some(step) = step.filter(|step| step.lease.is_some()) else {
        return Err(Refusal::NotHosted(session.id).into());
    };
    if step.agent.is_none() {
        return Err(Refusal::NobodyListens.into());
    }
    if let (Some(name), Some(version)) = (&step.agent, &step.agent_version) {
        let kept = work.tx.definition(&session.scope, DefinitionKind::Agent, name, version)?;
        if kept.is_some_and(|kept| !offered.allows(&kept)) {
            return Err(Refusal::NobodyListens.into());
        }
    }
    let person = by.kind == ActorKind::User;
    let said = EngineInput::Message { by: by.name.clone(), content: content.to_owned(), person };
    let step = append_input(work, session, step, json!(said))?;
    work.tx.step_save(&session.scope, &step)?;
    let sent = MessageSent { content: content.to_owned(), requires_reply: false };
    work.record_event(session, None, EventDraft::by(by, EventKind::MessageSent(sent)))?;
    steps::wake(work, session)
}

/// Returns the messages to a step that no model has read before the step ended. Notes of the worker itself to the model are left out.
pub(crate) fn read_unheard_messages(
    work: &mut Work<'_>,
    session: &Session,
    step: &domain::Step,
) -> Result<Vec<Value>, Error> {
    let mut listening = Listening::default();
    let mut pages = Pages::new(BATCH, |entry: &JournalEntry| entry.seq);
    while let Some(batch) = pages.next(|page| work.tx.journal(&session.scope, step.id, page))? {
        batch.into_iter().for_each(|entry| listening.add(entry.body));
    }
    Ok(listening.unheard())
}

pub(crate) fn append_input(
    work: &mut Work<'_>,
    session: &Session,
    step: domain::Step,
    body: Value,
) -> Result<domain::Step, Error> {
    let seq = step.lease.as_ref().map_or(0, |lease| lease.journal) + 1;
    work.tx.journal_append(&session.scope, step.id, &JournalEntry { seq, at: work.now, body })?;
    Ok(step.enter())
}

fn publish_all(work: &mut Work<'_>, session: &mut Session, agent: &Actor, told: &[EventKind]) -> Result<(), Error> {
    for kind in told {
        publish(work, session, &EventDraft::by(agent, kind.clone()))?;
    }
    Ok(())
}

/// Publishes output of a model or an error of a worker as an event. It is not in the audit trail, because no actor is accountable for it.
pub(crate) fn publish(work: &mut Work<'_>, session: &mut Session, draft: &EventDraft) -> Result<(), Error> {
    let event = session.record(work.ids.event(work.now), draft, None, work.now);
    work.tx.event_append(&session.scope, &event)?;
    work.effects.topics.push(Topic::Session(session.id));
    work.effects.topics.push(Topic::Channel(session.scope.project, session.head.channel.clone()));
    Ok(())
}

/// Ends the delivery of an answer that the step has used. Sealed values stay with the session.
fn finish_delivery(work: &mut Work<'_>, session: &mut Session, id: InteractionId) -> Result<(), Error> {
    let Some(interaction) = work.tx.interaction(&session.scope, id)? else { return Ok(()) };
    if !matches!(interaction.delivery(), Some(Delivery::Waiting { .. })) {
        return Ok(());
    }
    let (was, change) = (interaction.status(), interaction.skip_delivery(work.now)?);
    let interaction = interactions::apply_change(work, session, was, change)?;
    keep_sealed(work, session, &interaction)
}

/// Keeps secrets out of the archive as long as the session lives, because they have to be redacted until then.
fn keep_sealed(work: &mut Work<'_>, session: &Session, interaction: &Interaction) -> Result<(), Error> {
    if interaction.question.kind == Kind::Secret && session.ended.is_none() {
        work.tx.session_sealed_values_retire(&session.scope, session.id, None)?;
    }
    Ok(())
}

/// Journals as the last input that the step was ended from outside.
pub(crate) fn append_cancelled(
    work: &mut Work<'_>,
    session: &Session,
    step: domain::Step,
    reason: &str,
) -> Result<domain::Step, Error> {
    if step.lease.is_none() {
        return Ok(step);
    }
    append_input(work, session, step, json!(EngineInput::Cancelled { reason: reason.to_owned() }))
}

/// Copies the journal and state of the previous attempt to the next one, so that finished work and decisions are not repeated.
pub(crate) fn copy_journal(
    work: &mut Work<'_>,
    session: &Session,
    before: &domain::Step,
    mut step: domain::Step,
    why: &str,
    after_end: bool,
) -> Result<domain::Step, Error> {
    let scope = session.scope;
    let mut length = 0;
    let mut pages = Pages::new(BATCH, |entry: &JournalEntry| entry.seq);
    while let Some(found) = pages.next(|page| work.tx.journal(&scope, before.id, page))? {
        for entry in found {
            work.tx.journal_append(&scope, step.id, &entry)?;
            length = entry.seq;
        }
    }
    if let Some(state) = work.tx.step_state(&scope, before.id)? {
        work.tx.step_state_save(&scope, step.id, &state)?;
    }
    if length == 0 {
        return Ok(step);
    }
    step = step.add_journal_entries(length);
    append_input(work, session, step, json!(EngineInput::Retried { reason: why.to_owned(), after_end }))
}

/// Retires the waiting deliveries of hosted steps that have ended, of one step or of all: no step will take them.
pub(crate) fn cancel_waiting_deliveries(
    work: &mut Work<'_>,
    session: &mut Session,
    step: Option<StepId>,
    why: &str,
) -> Result<(), Error> {
    for id in work.tx.waiting_deliveries(&session.scope, session.id)? {
        let Some(interaction) = work.tx.interaction(&session.scope, id)? else { continue };
        let origin = &interaction.origin;
        if origin.hosted && step.is_none_or(|step| origin.step == step) {
            let (was, change) = (interaction.status(), interaction.cancel_delivery(why)?);
            let interaction = interactions::apply_change(work, session, was, change)?;
            keep_sealed(work, session, &interaction)?;
        }
    }
    Ok(())
}

/// Tracks which messages of a journal a model has read.
#[derive(Default)]
struct Listening {
    /// Messages that the next turn of the model will have read.
    read: Vec<Heard>,
    /// Messages that arrived while the model was being called.
    late: Vec<Heard>,
    /// Whether a call to the model may be in progress.
    asked: bool,
    /// Whether the last entry was a turn of the model without calls. If so, the next message starts another call to the model.
    spoken: bool,
}

/// A message of a journal.
struct Heard {
    /// Message as it is stored in the journal.
    body: Value,
    /// Whether the worker itself wrote it.
    is_note: bool,
}

impl Listening {
    fn add(&mut self, body: Value) {
        // An input that this version cannot read counts like one that is neither a turn nor a message.
        let Ok(head) = InputHead::deserialize(&body) else { return self.add_other() };
        match head.kind {
            JournalKind::Turn => {
                self.read = std::mem::take(&mut self.late);
                self.asked = !head.has_calls() && !self.read.is_empty();
                self.spoken = !head.has_calls();
            }
            JournalKind::Message if self.asked => self.late.push(Heard { body, is_note: head.is_note }),
            JournalKind::Message => {
                self.read.push(Heard { body, is_note: head.is_note });
                self.asked = self.spoken;
            }
            JournalKind::Begun
            | JournalKind::MessagesShown
            | JournalKind::ModelFailed
            | JournalKind::Asked
            | JournalKind::Waiting
            | JournalKind::Settled
            | JournalKind::BeforeEnded
            | JournalKind::Cancelled
            | JournalKind::Retried
            | JournalKind::CallRecovered => self.add_other(),
        }
    }

    fn add_other(&mut self) {
        self.read.append(&mut self.late);
        (self.asked, self.spoken) = (true, false);
    }

    fn unheard(self) -> Vec<Value> {
        self.read.into_iter().chain(self.late).filter(|said| !said.is_note).map(|said| said.body).collect()
    }
}
