//! Locks questions and applies changes to them. Only this file lists the consequences of the end of a question.

use domain::interaction::Change;
use domain::{Actor, Delivery, Effect, Interaction, InteractionId, Refusal, Scope, Session, Status};
use store::Topic;

use crate::interactions::plan::AnswerPlan;
use crate::run::telemetry::QuestionReport;
use crate::run::transaction::Work;
use crate::{Error, Vault, actions, interactions, policy, secrets, sessions, steps};

/// Plan of the answer that ends a question, with the vault that seals its values.
#[derive(Clone, Copy)]
pub(crate) struct PlannedAnswer<'a> {
    pub(crate) plan: &'a AnswerPlan,
    pub(crate) vault: &'a Vault,
}

/// Locks the session of a question, then reads the question. A question in the archive is refused with `AlreadyResolved`.
pub(crate) fn lock(work: &mut Work<'_>, scope: &Scope, id: InteractionId) -> Result<(Session, Interaction), Error> {
    let Some(session) = work.tx.session_of(scope, id)? else {
        let archived = work.tx.interaction(scope, id)?.ok_or(Refusal::NotFound("interaction"))?;
        return Err(Refusal::AlreadyResolved(Box::new(archived)).into());
    };
    let session = sessions::lock(work, scope, session)?;
    let interaction = work.tx.interaction(scope, id)?.ok_or(Refusal::NotFound("interaction"))?;
    Ok((session, interaction))
}

/// Saves a change of a question, counts it and records its event. The caller saves the session.
pub(crate) fn apply_change(
    work: &mut Work<'_>,
    session: &mut Session,
    was: Status,
    change: Change,
) -> Result<Interaction, Error> {
    apply_answer(work, session, was, change, None)
}

/// Saves a change of a question like [`apply_change`], with the plan that was prepared for the answer before the transaction.
pub(crate) fn apply_answer(
    work: &mut Work<'_>,
    session: &mut Session,
    was: Status,
    (interaction, event_draft): Change,
    planned: Option<PlannedAnswer<'_>>,
) -> Result<Interaction, Error> {
    let ended = was == Status::Pending && interaction.status() != Status::Pending;
    if ended {
        session.count_closed(interaction.question.kind.blocks());
        work.open_changes.note_closed(&interaction);
    }
    work.tx.interaction_save(&interaction)?;
    if interaction.delivery().is_some_and(Delivery::is_over) && !session.hosted {
        // No agent will take the answer again. The values of a hosted session stay, because its later steps still use them;
        // `sessions/control.rs` deletes them at the end of the session.
        work.tx.sealed_values_delete(&interaction.scope, interaction.id)?;
    }
    work.record_event(session, Some(interaction.id), event_draft)?;
    collect_effects(work, &interaction, was);
    if ended {
        follow_end(work, session, &interaction, planned)?;
    }
    Ok(interaction)
}

/// Saves a question whose lease on the answer was extended. The extension is no event.
pub(crate) fn save_lease(work: &mut Work<'_>, interaction: &Interaction) -> Result<(), Error> {
    work.tx.interaction_save(interaction)?;
    collect_effects(work, interaction, interaction.status());
    Ok(())
}

/// Performs every consequence of the end of a question, in this order. Each consequence is listed with its condition.
///
/// Consequences may end other questions, so this function can run inside itself. It ends, because each run belongs to a question that was open and is
/// not open any more, and no consequence opens a question that it also ends:
///
/// - `actions::settle` may open a question about an edit, which stays open.
/// - `interactions::close_handed_over` ends the questions before and after this one; the links between questions have no cycle.
/// - `sessions::end_by_answer` and the end of a handed-over session withdraw the open questions of that session. Its end is noted in `session`
///   first, and an ended session is not ended again.
fn follow_end(
    work: &mut Work<'_>,
    session: &mut Session,
    interaction: &Interaction,
    planned: Option<PlannedAnswer<'_>>,
) -> Result<(), Error> {
    let answer = interaction.final_answer();
    if let Some(answer) = answer.filter(|_| interaction.question.reply) {
        sessions::record_reply(work, session, interaction, answer)?;
    }
    if let Some(call) = &interaction.question.call_id {
        actions::settle(work, session, interaction, call, planned.map(|planned| planned.plan))?;
    }
    if session.hosted {
        steps::count_answer(work, session, interaction)?;
        steps::wake(work, session)?;
    }
    if interaction.handed_over().is_some() || interaction.origin.handed_from.is_some() {
        interactions::close_handed_over(work, session, interaction, planned)?;
    }
    if let Some(PlannedAnswer { plan, vault }) = planned.filter(|planned| planned.plan.interaction == interaction.id) {
        if let Some(current) = &plan.current {
            policy::suspend_contradicted_rules(work, interaction, current)?;
        }
        if let Some(values) = plan.secrets.as_ref().filter(|_| interaction.has_ended_with_secrets()) {
            secrets::seal_answer_values(work, vault, session, interaction, values)?;
        }
    }
    match answer.filter(|answer| answer.effect == Effect::Terminate) {
        Some(answer) => sessions::end_by_answer(work, session, answer),
        None => Ok(()),
    }
}

/// Collects the effects of a change for after the commit: the timer, the bell of the agent, metrics and log lines.
pub(crate) fn collect_effects(work: &mut Work<'_>, interaction: &Interaction, was: Status) {
    work.wake_at(interaction.wake_at());
    if let (Some(Delivery::Waiting { .. }), Some(agent)) = (interaction.delivery(), interaction.taker()) {
        work.effects.topics.push(Topic::Agent(interaction.scope.project, agent.to_owned()));
    }
    // A question that was handed over is counted once, in the session where it was asked.
    if was != interaction.status() && interaction.origin.handed_from.is_none() {
        work.effects.reports.push(QuestionReport::closed(interaction));
    }
}

/// Cancels an open question that is no longer needed, with the reason `why`. Does nothing if the question is closed.
pub(crate) fn withdraw(work: &mut Work<'_>, session: &mut Session, id: InteractionId, why: &str) -> Result<(), Error> {
    let scope = session.scope;
    let Some(interaction) = work.tx.interaction(&scope, id)? else { return Ok(()) };
    if interaction.status() != Status::Pending {
        return Ok(());
    }
    let change = interaction.cancel(Actor::system(), why.to_owned(), work.now)?;
    apply_change(work, session, Status::Pending, change).map(drop)
}
