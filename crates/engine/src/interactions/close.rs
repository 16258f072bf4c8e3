//! Applies changes to questions. Only this file lists the consequences of the end of a question.

use domain::interaction::Change;
use domain::{Actor, Delivery, Interaction, InteractionId, Session, Status};
use store::Topic;

use crate::interactions::plan::AnswerPlan;
use crate::run::telemetry::QuestionReport;
use crate::run::transaction::Work;
use crate::{Error, Vault, actions, interactions, policy, secrets, sessions, steps};

/// Saves a change of a question, counts it and records its event. The caller saves the session.
pub(crate) fn apply_change(
    work: &mut Work<'_>,
    session: &mut Session,
    was: Status,
    change: Change,
) -> Result<Interaction, Error> {
    apply(work, session, was, change, None)
}

/// Saves the change that an answer made. `plan` was prepared for the answer before the transaction.
pub(crate) fn apply_answer(
    work: &mut Work<'_>,
    session: &mut Session,
    was: Status,
    change: Change,
    plan: (&AnswerPlan, &Vault),
) -> Result<Interaction, Error> {
    apply(work, session, was, change, Some(plan))
}

pub(super) fn apply(
    work: &mut Work<'_>,
    session: &mut Session,
    was: Status,
    (interaction, happening): Change,
    plan: Option<(&AnswerPlan, &Vault)>,
) -> Result<Interaction, Error> {
    let ended = was == Status::Pending && interaction.status() != Status::Pending;
    if ended {
        session.closed(interaction.question.kind.blocks());
        work.open.closed(&interaction);
    }
    work.tx.interaction_save(&interaction)?;
    if interaction.delivery().is_some_and(Delivery::over) && !session.hosted {
        // No agent will take the answer again. The values of a hosted session stay, because its later steps still use them;
        // `sessions/control.rs` deletes them at the end of the session.
        work.tx.sealed_values_delete(&interaction.scope, interaction.id)?;
    }
    work.record_event(session, Some(interaction.id), happening)?;
    collect_effects(work, &interaction, was);
    if ended {
        follow_end(work, session, &interaction, plan)?;
    }
    Ok(interaction)
}

/// Performs every consequence of the end of a question, in this order.
fn follow_end(
    work: &mut Work<'_>,
    session: &mut Session,
    interaction: &Interaction,
    plan: Option<(&AnswerPlan, &Vault)>,
) -> Result<(), Error> {
    sessions::record_reply(work, session, interaction)?;
    actions::settle(work, session, interaction, plan.map(|(plan, _)| plan))?;
    steps::count_answer(work, session, interaction)?;
    steps::wake(work, session)?;
    interactions::close_handed_over(work, session, interaction, plan)?;
    if let Some((plan, vault)) = plan.filter(|(plan, _)| plan.interaction == interaction.id) {
        policy::suspend_contradicted_rules(work, interaction, plan.current.as_ref())?;
        secrets::seal_answer_values(work, vault, session, interaction, plan.secrets.as_ref())?;
    }
    sessions::end_if_terminated(work, session, interaction)
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
