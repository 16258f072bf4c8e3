//! Hands a question over to another channel.
//!
//! A new session with a copy of the question is opened in that channel. The first question ends as the copy ends.

use domain::interaction::{HandedFrom, Handover};
use domain::{
    Caller, Command, Interaction, InteractionId, Refusal, Session, SessionHead, SessionInput, Status, Step,
    session::Note,
};

use crate::access;
use crate::interactions;
use crate::interactions::close::PlannedAnswer;
use crate::run::transaction::{Originator, Work};
use crate::sessions;
use crate::{Engine, Error, Idempotency};

/// Target of a handover.
#[derive(Debug, Clone, Default)]
pub struct HandOver {
    /// Channel that receives the question. If absent, a new channel is created for it.
    pub channel: Option<String>,
    /// Note to the people who are asked in the target channel.
    pub note: Option<String>,
}

impl Engine {
    /// Hands a question over to another channel and returns the first question. It stays readable and open, and is answered in the other channel.
    pub async fn interaction_handover(
        &self,
        caller: &Caller,
        id: InteractionId,
        to: HandOver,
        idempotency: Option<Idempotency>,
    ) -> Result<Interaction, Error> {
        sessions::control::check_reason("/note", to.note.as_deref())?;
        self.command(caller, idempotency, move |work| {
            let caller = work.caller()?;
            let (mut session, interaction) = access::lock_question(work, &caller, id)?;
            let reviewer = interaction.admit(&caller)?;
            let (mut other, step, started) = open_target_session(work, &interaction, &caller, to.clone())?;
            let new = (&other, work.ids.interaction(work.now));
            let Handover { first, second } = interaction.hand_over(&reviewer, new, to.note.clone(), work.now)?;
            let (second, asked) = second;
            other.count_opened(second.question.kind.blocks(), work.settings.most_open)?;
            let event = work.prepare_event(&mut other, None, &started)?;
            work.tx.session_insert(&other, &SessionInput::default())?;
            work.tx.step_insert(&other.scope, &step)?;
            work.tx.event_append(&other.scope, &event)?;
            work.tx.interaction_insert(&second)?;
            work.open_changes.note_opened(&second, false);
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

/// Builds the session that receives a question, with a link to the session that the question came from.
fn open_target_session(
    work: &Work<'_>,
    question: &Interaction,
    caller: &Caller,
    HandOver { channel, note }: HandOver,
) -> Result<(Session, Step, domain::EventDraft), Error> {
    let id = work.ids.session(work.now);
    let head = SessionHead {
        channel: channel.unwrap_or_else(|| id.uuid().to_string()),
        agent: question.origin.agent.clone(),
        agent_version: question.origin.agent_version.clone(),
        title: Some(question.question.title.clone()),
        ..SessionHead::default()
    };
    let problems = head.check();
    if !problems.is_empty() {
        return Err(Refusal::QuestionInvalid(problems).into());
    }
    let step = Step::begin(work.ids.step(work.now), id, head.agent.clone(), work.now);
    let by = caller.actor.clone();
    let (mut session, event_draft) = Session::start(id, question.scope, head, step.id, by.clone(), work.now);
    session.handed_from = Some(HandedFrom { session: question.origin.session, interaction: question.id, by, note });
    Ok((session, step, event_draft))
}

/// Applies the end of a question to the question that it was handed over from, and cancels the question that it was handed over to.
///
/// This function locks two sessions. If two commands lock them in opposite orders, the database detects the deadlock and one command is
/// retried.
pub(crate) fn close_handed_over(
    work: &mut Work<'_>,
    session: &mut Session,
    interaction: &Interaction,
    planned: Option<PlannedAnswer<'_>>,
) -> Result<(), Error> {
    if let Some(to) = interaction.handed_over() {
        let there = work.tx.interaction(&interaction.scope, to.interaction)?;
        if let Some(there) = there.filter(|there| there.status() == Status::Pending) {
            let mut other = sessions::lock(work, &interaction.scope, to.session)?;
            let why = "the question that it came from was closed";
            let change = there.cancel(work.by().clone(), why.to_owned(), work.now)?;
            interactions::apply_change(work, &mut other, Status::Pending, change)?;
            sessions::save(work, &other)?;
        }
    }
    let Some(from) = interaction.origin.handed_from.clone() else { return Ok(()) };
    let mut first = sessions::lock(work, &interaction.scope, from.session)?;
    let found = work.tx.interaction(&interaction.scope, from.interaction)?;
    if let Some(change) = found.and_then(|found| found.follow(interaction)) {
        interactions::apply_answer(work, &mut first, Status::Pending, change, planned)?;
        sessions::save(work, &first)?;
    }
    end_target_session(work, session)
}

/// Completes the session that was opened for a question that was handed over.
fn end_target_session(work: &mut Work<'_>, session: &mut Session) -> Result<(), Error> {
    if session.require_alive().is_err() {
        return Ok(());
    }
    let Originator { actor, .. } = work.originator;
    let note = Note { by: actor.clone(), at: work.now, reason: Some("its question was closed".into()) };
    *session = sessions::apply_control(work, session.clone(), Command::Complete, note)?;
    Ok(())
}

/// Question that the agent asked first. It is found through every handover of `interaction`.
pub(crate) fn find_original_question(work: &mut Work<'_>, interaction: &Interaction) -> Result<Interaction, Error> {
    let mut first = interaction.clone();
    while let Some(from) = first.origin.handed_from.clone() {
        let found = work.tx.interaction(&interaction.scope, from.interaction)?;
        first = found.ok_or(Refusal::NotFound("interaction"))?;
    }
    Ok(first)
}
