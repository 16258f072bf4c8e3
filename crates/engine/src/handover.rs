//! A question goes to another channel: a session is opened for it there, and the first ends as the second does.

use domain::interaction::{HandedFrom, Handover};
use domain::{
    Caller, Command, Interaction, InteractionId, Refusal, Session, SessionHead, SessionInput, Status, Step,
    session::Note,
};

use crate::control::checked;
use crate::work::{Doer, Work};
use crate::{Engine, Error, Idempotency};

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
            let (mut session, interaction) = work.question_seen(&caller, id)?;
            let reviewer = interaction.admit(&caller)?;
            let (mut other, step, started) = work.opened_for(&interaction, &caller, to.clone())?;
            let new = (&other, work.ids.interaction(work.now));
            let Handover { first, second } = interaction.hand_over(&reviewer, new, to.note.clone(), work.now)?;
            let (second, asked) = second;
            other.opened(second.question.kind.blocks(), work.settings.most_open)?;
            let event = work.recorded(&mut other, None, started)?;
            work.tx.session_insert(&other, &SessionInput::default())?;
            work.tx.step_insert(&other.scope, &step)?;
            work.tx.event_append(&other.scope, &event)?;
            work.tx.interaction_insert(&second)?;
            work.open.opened(&second, false);
            work.happened(&mut other, Some(second.id), asked)?;
            work.spoken(&mut other, &second)?;
            work.woken_at(second.wake_at());
            work.saved(&other)?;
            let first = work.changed(&mut session, Status::Pending, first)?;
            work.saved(&session)?;
            Ok(first)
        })
        .await
    }
}

impl Work<'_> {
    /// A session for a question that goes elsewhere, linked to where it came from.
    fn opened_for(
        &self,
        question: &Interaction,
        caller: &Caller,
        HandOver { channel, note }: HandOver,
    ) -> Result<(Session, Step, domain::EventDraft), Error> {
        let id = self.ids.session(self.now);
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
        let step = Step::begin(self.ids.step(self.now), id, brief.agent.clone(), self.now);
        let by = caller.actor.clone();
        let (mut session, happening) = Session::start(id, question.scope, brief, step.id, by.clone(), self.now);
        session.handed_from = Some(HandedFrom { session: question.origin.session, interaction: question.id, by, note });
        Ok((session, step, happening))
    }

    /// Carries the end of a question over to the one that it came from, and to the one that it became.
    ///
    /// Two sessions are locked here, the later one first or the earlier one first: where two commands meet crosswise, the database has one
    /// of them begin again.
    pub(crate) fn carried(&mut self, session: &mut Session, interaction: &Interaction) -> Result<(), Error> {
        if let Some(to) = interaction.handed_over() {
            let there = self.tx.interaction(&interaction.scope, to.interaction)?;
            if let Some(there) = there.filter(|there| there.status() == Status::Pending) {
                let mut other = self.session(&interaction.scope, to.session)?;
                let why = "the question that it came from was closed";
                let change = there.cancel(self.doer.actor.clone(), why.to_owned(), self.now)?;
                self.changed(&mut other, Status::Pending, change)?;
                self.saved(&other)?;
            }
        }
        let Some(from) = interaction.origin.handed_from.clone() else { return Ok(()) };
        let mut first = self.session(&interaction.scope, from.session)?;
        let found = self.tx.interaction(&interaction.scope, from.interaction)?;
        if let Some(change) = found.and_then(|found| found.follow(interaction)) {
            let followed = self.changed(&mut first, Status::Pending, change)?;
            let first = self.terminated(first, &followed)?;
            self.saved(&first)?;
        }
        self.done_with(session)
    }

    /// A session that was opened for one question ends with it.
    fn done_with(&mut self, session: &mut Session) -> Result<(), Error> {
        if session.alive().is_err() {
            return Ok(());
        }
        let Doer { actor, .. } = self.doer;
        let note = Note { by: actor.clone(), at: self.now, reason: Some("its question was closed".into()) };
        *session = self.control(session.clone(), Command::Complete, note)?;
        Ok(())
    }

    /// The question that the agent asked, of one that was handed over, perhaps more than once.
    pub(crate) fn first_of(&mut self, interaction: &Interaction) -> Result<Interaction, Error> {
        let mut first = interaction.clone();
        while let Some(from) = first.origin.handed_from.clone() {
            let found = self.tx.interaction(&interaction.scope, from.interaction)?;
            first = found.ok_or(Refusal::NotFound("interaction"))?;
        }
        Ok(first)
    }
}
