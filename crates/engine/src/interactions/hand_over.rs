//! A question goes to another channel: a session is opened for it there, and the first ends as the second does.

use domain::interaction::{HandedFrom, Handover};
use domain::{
    Caller, Command, Interaction, InteractionId, Refusal, Session, SessionHead, SessionInput, Status, Step,
    session::Note,
};

use crate::access;
use crate::interactions;
use crate::interactions::close::apply;
use crate::interactions::plan::AnswerPlan;
use crate::run::transaction::{Originator, Work};
use crate::sessions;
use crate::sessions::control::checked;
use crate::{Engine, Error, Idempotency, Vault};

/// Where a question is to go.
#[derive(Debug, Clone, Default)]
pub struct HandOver {
    /// The channel; one of its own if absent.
    pub channel: Option<String>,
    /// Why, for whoever is asked there.
    pub note: Option<String>,
}

impl Engine {
    /// Hands a question to another channel and gives it back as it is now: readable, and answered elsewhere.
    pub async fn hand_over(
        &self,
        caller: &Caller,
        id: InteractionId,
        to: HandOver,
        once: Option<Idempotency>,
    ) -> Result<Interaction, Error> {
        checked("/note", to.note.as_deref())?;
        self.command(caller, once, move |work| {
            let caller = work.caller()?;
            let (mut session, interaction) = access::lock_question(work, &caller, id)?;
            let reviewer = interaction.admit(&caller)?;
            let (mut other, step, started) = open_target_session(work, &interaction, &caller, to.clone())?;
            let new = (&other, work.ids.interaction(work.now));
            let Handover { first, second } = interaction.hand_over(&reviewer, new, to.note.clone(), work.now)?;
            let (second, asked) = second;
            other.opened(second.question.kind.blocks(), work.settings.most_open)?;
            let event = work.prepare_event(&mut other, None, started)?;
            work.tx.session_insert(&other, &SessionInput::default())?;
            work.tx.step_insert(&other.scope, &step)?;
            work.tx.event_append(&other.scope, &event)?;
            work.tx.interaction_insert(&second)?;
            work.open.opened(&second, false);
            work.record_event(&mut other, Some(second.id), asked)?;
            sessions::record_question_message(work, &mut other, &second)?;
            work.wake_at(second.wake_at());
            sessions::save(work, &other)?;
            let first = interactions::apply_change(work, &mut session, Status::Pending, first)?;
            sessions::save(work, &session)?;
            Ok(first)
        })
        .await
    }
}

/// A session for a question that goes elsewhere, linked to where it came from.
fn open_target_session(
    work: &Work<'_>,
    question: &Interaction,
    caller: &Caller,
    HandOver { channel, note }: HandOver,
) -> Result<(Session, Step, domain::EventDraft), Error> {
    let id = work.ids.session(work.now);
    let brief = SessionHead {
        channel: channel.unwrap_or_else(|| id.uuid().to_string()),
        agent: question.origin.agent.clone(),
        agent_version: question.origin.agent_version.clone(),
        title: Some(question.question.title.clone()),
        ..SessionHead::default()
    };
    let problems = brief.check();
    if !problems.is_empty() {
        return Err(Refusal::QuestionInvalid(problems).into());
    }
    let step = Step::begin(work.ids.step(work.now), id, brief.agent.clone(), work.now);
    let by = caller.actor.clone();
    let (mut session, happening) = Session::start(id, question.scope, brief, step.id, by.clone(), work.now);
    session.handed_from = Some(HandedFrom { session: question.origin.session, interaction: question.id, by, note });
    Ok((session, step, happening))
}

/// Carries the end of a question over to the one that it came from, and to the one that it became.
///
/// Two sessions are locked here, the later one first or the earlier one first: where two commands meet crosswise, the database has one
/// of them begin again.
pub(crate) fn close_handed_over(
    work: &mut Work<'_>,
    session: &mut Session,
    interaction: &Interaction,
    plan: Option<(&AnswerPlan, &Vault)>,
) -> Result<(), Error> {
    if let Some(to) = interaction.handed_over() {
        let there = work.tx.interaction(&interaction.scope, to.interaction)?;
        if let Some(there) = there.filter(|there| there.status() == Status::Pending) {
            let mut other = sessions::lock(work, &interaction.scope, to.session)?;
            let why = "the question that it came from was closed";
            let change = there.cancel(work.originator.actor.clone(), why.to_owned(), work.now)?;
            interactions::apply_change(work, &mut other, Status::Pending, change)?;
            sessions::save(work, &other)?;
        }
    }
    let Some(from) = interaction.origin.handed_from.clone() else { return Ok(()) };
    let mut first = sessions::lock(work, &interaction.scope, from.session)?;
    let found = work.tx.interaction(&interaction.scope, from.interaction)?;
    if let Some(change) = found.and_then(|found| found.follow(interaction)) {
        apply(work, &mut first, Status::Pending, change, plan)?;
        sessions::save(work, &first)?;
    }
    end_target_session(work, session)
}

/// A session that was opened for one question ends with it.
fn end_target_session(work: &mut Work<'_>, session: &mut Session) -> Result<(), Error> {
    if session.alive().is_err() {
        return Ok(());
    }
    let Originator { actor, .. } = work.originator;
    let note = Note { by: actor.clone(), at: work.now, reason: Some("its question was closed".into()) };
    *session = sessions::apply_control(work, session.clone(), Command::Complete, note)?;
    Ok(())
}

/// The question that the agent asked, of one that was handed over, perhaps more than once.
pub(crate) fn original_question(work: &mut Work<'_>, interaction: &Interaction) -> Result<Interaction, Error> {
    let mut first = interaction.clone();
    while let Some(from) = first.origin.handed_from.clone() {
        let found = work.tx.interaction(&interaction.scope, from.interaction)?;
        first = found.ok_or(Refusal::NotFound("interaction"))?;
    }
    Ok(first)
}
