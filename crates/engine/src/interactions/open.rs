//! Opens a question in a transaction.

use domain::{Actor, EntryPoint, Interaction, Question, Session, SignedDuration};

use crate::interactions::close::collect_effects;
use crate::run::telemetry::QuestionReport;
use crate::run::transaction::Work;
use crate::{Error, sessions};

/// How a question is put.
#[derive(Debug, Clone)]
pub(crate) struct QuestionTerms {
    /// How long people have.
    pub(crate) time: Option<SignedDuration>,
    /// The trace that it was asked in.
    pub(crate) traceparent: Option<String>,
    /// Whether it is refused where whoever asks, or the tenant, has as much open as they may. What follows from something that has happened
    /// already is asked all the same.
    pub(crate) within_budget: bool,
}

/// Puts a question to people, and its step to sleep. The session is saved at the end.
pub(crate) fn open(
    work: &mut Work<'_>,
    session: &mut Session,
    by: Actor,
    question: Question,
    asking: &QuestionTerms,
) -> Result<Interaction, Error> {
    session.opened(question.kind.blocks(), work.settings.most_open)?;
    let id = work.ids.interaction(work.now);
    let question = question.timed(asking.time, work.settings.warning, work.now);
    let (mut interaction, happening) = Interaction::ask(id, session, by, question, work.now);
    interaction.origin.traceparent.clone_from(&asking.traceparent);
    interaction.origin.hosted = work.originator.how.entry_point == EntryPoint::Worker;
    work.tx.interaction_insert(&interaction)?;
    work.open.opened(&interaction, asking.within_budget);
    work.record_event(session, Some(id), happening)?;
    sessions::record_question_message(work, session, &interaction)?;
    collect_effects(work, &interaction, interaction.status());
    work.effects.reports.push(QuestionReport::asked(&interaction));
    Ok(interaction)
}
