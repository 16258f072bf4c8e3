//! Opens a question inside a transaction that its caller has begun.

use domain::{Actor, EntryPoint, Interaction, Question, Session, SignedDuration};

use crate::interactions::close::collect_effects;
use crate::run::telemetry::QuestionReport;
use crate::run::transaction::Work;
use crate::{Error, sessions};

/// Terms of a question beside its content.
#[derive(Debug, Clone)]
pub(crate) struct QuestionTerms {
    /// Time that people have to answer.
    pub(crate) time: Option<SignedDuration>,
    /// W3C `traceparent` of the trace in which the question is asked.
    pub(crate) traceparent: Option<String>,
    /// Whether the question is refused if the asker or the tenant is over the budget of open questions. A question that follows from an earlier
    /// change is asked regardless of the budget.
    pub(crate) within_budget: bool,
}

/// Opens a question, records its event and counts it as open in its session. The caller saves the session.
pub(crate) fn open(
    work: &mut Work<'_>,
    session: &mut Session,
    by: Actor,
    question: Question,
    asking: &QuestionTerms,
) -> Result<Interaction, Error> {
    session.count_opened(question.kind.blocks(), work.settings.most_open)?;
    let id = work.ids.interaction(work.now);
    let question = question.set_time(asking.time, work.settings.warning, work.now);
    let (mut interaction, event_draft) = Interaction::ask(id, session, by, question, work.now);
    interaction.origin.traceparent.clone_from(&asking.traceparent);
    interaction.origin.hosted = work.originator.how.entry_point == EntryPoint::Worker;
    work.tx.interaction_insert(&interaction)?;
    work.open_changes.note_opened(&interaction, asking.within_budget);
    work.record_event(session, Some(id), event_draft)?;
    sessions::record_question_message(work, session, &interaction)?;
    collect_effects(work, &interaction, interaction.status());
    work.effects.reports.push(QuestionReport::asked(&interaction));
    Ok(interaction)
}
