//! Pauses, resumes and ends a session.

use domain::access::Right;
use domain::session::{Ending, Note};
use domain::{Answer, Caller, Command, Problem, Refusal, Role, Session, SessionId, Status, StepEnd, text};
use serde_json::Value;

use crate::run::transaction::Work;
use crate::{Engine, Error, Idempotency, access, deliveries, interactions, sessions, steps};

impl Engine {
    /// Runs a command on a session. Ending a session closes its open questions in the same transaction.
    pub async fn session_control(
        &self,
        caller: &Caller,
        id: SessionId,
        command: Command,
        reason: Option<String>,
        idempotency: Option<Idempotency>,
    ) -> Result<Session, Error> {
        check_reason("/reason", reason.as_deref())?;
        self.command(caller, idempotency, move |work| {
            let caller = work.caller()?;
            let session = access::lock_session(work, &caller, id)?;
            access::sight::require_may_steer(&caller, &session)?;
            if matches!(command, Command::Complete | Command::Fail) && caller.role == Role::Operator {
                // Only the agent knows whether its work is done; a person cancels the session instead.
                caller.require(Right::Take)?;
            }
            if command == Command::Complete && session.hosted {
                let why = "is not for a session that this server runs: its steps complete it; `approve_step` marks a step as done";
                return Err(Refusal::QuestionInvalid(vec![Problem::new("/command", why)]).into());
            }
            let held_by_others = session.paused.as_ref().is_some_and(|held| held.by != caller.actor);
            if command == Command::Resume && held_by_others {
                // A caller whose session was paused by somebody else must not resume it without the right to steer.
                caller.require(Right::Steer)?;
            }
            let note = Note { by: caller.actor.clone(), at: work.now, reason: reason.clone() };
            let session = sessions::apply_control(work, session, command, note)?;
            sessions::save(work, &session)?;
            Ok(session)
        })
        .await
    }
}

/// Refuses a reason or note whose text cannot be shown to people.
pub(crate) fn check_reason(pointer: &str, reason: Option<&str>) -> Result<(), Error> {
    let mut problems: Vec<Problem> = Vec::new();
    if let Some(reason) = reason {
        text::check_paragraphs(pointer, reason, &mut problems);
    }
    if problems.is_empty() { Ok(()) } else { Err(Refusal::QuestionInvalid(problems).into()) }
}

/// Pauses, resumes or ends a session. Ending it also closes its open questions and steps with the same reason.
pub(crate) fn apply_control(
    work: &mut Work<'_>,
    session: Session,
    command: Command,
    note: Note,
) -> Result<Session, Error> {
    let (by, reason) = (note.by.clone(), note.reason.clone());
    let held = session.require_not_paused().is_err();
    let (mut session, event_draft) = session.control(command, note)?;
    if let Some((ending, _)) = &session.ended {
        let (scope, ending) = (session.scope, *ending);
        let told = reason.unwrap_or_else(|| format!("the session was {}", session.status().name()));
        for id in work.tx.open_interactions(&scope, session.id)? {
            let interaction = work.tx.interaction(&scope, id)?.ok_or(Refusal::NotFound("interaction"))?;
            let change = interaction.cancel(by.clone(), told.clone(), work.now)?;
            interactions::apply_change(work, &mut session, Status::Pending, change)?;
        }
        for step in work.tx.steps(&scope, session.id)? {
            if step.is_alive() {
                let step = steps::append_cancelled(work, &session, step, &told)?;
                let end = StepEnd { how: ending.of_step(), output: Value::Null, reason: Some(told.clone()) };
                let step = step.end(end, work.now);
                work.tx.step_save(&scope, &step)?;
                if step.lease.is_some() {
                    work.record_event(&mut session, None, step.status_event(&by))?;
                }
            }
        }
        if session.hosted {
            steps::revoke_unstarted_actions(work, &mut session, None, &told)?;
            steps::cancel_waiting_deliveries(work, &mut session, None, &told)?;
            // No agent is left to receive the sealed values. A failed session can be revived, and its secrets have to be redacted then, so they are
            // kept.
            work.tx.session_sealed_values_retire(&scope, session.id, Some(work.now))?;
            if ending != Ending::Failed {
                work.tx.session_sealed_values_delete(&scope, session.id)?;
            }
        }
    }
    work.record_event(&mut session, None, event_draft)?;
    if held && session.require_not_paused().is_ok() {
        deliveries::ring_agents(work, &session)?;
        steps::wake(work, &session)?;
    }
    Ok(session)
}

/// Ends the session in the name of the person whose answer terminates it. Does nothing if the session has ended already.
pub(crate) fn end_by_answer(work: &mut Work<'_>, session: &mut Session, answer: &Answer) -> Result<(), Error> {
    if session.require_alive().is_err() {
        return Ok(());
    }
    let reason = answer.feedback.clone().unwrap_or_else(|| format!("ended by {}", answer.by.name));
    let note = Note { by: answer.by.clone(), at: work.now, reason: Some(reason) };
    *session = apply_control(work, session.clone(), Command::Cancel, note)?;
    Ok(())
}
