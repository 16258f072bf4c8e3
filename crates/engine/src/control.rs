//! Pauses, resumes and ends a session.

use domain::access::Right;
use domain::session::Note;
use domain::{Caller, Command, Problem, Refusal, Role, Session, SessionId, text};

use crate::{Engine, Error, Idempotency};

impl Engine {
    /// Carries out a command on a session. Ending it closes its open questions in the same transaction.
    pub async fn control(
        &self,
        caller: &Caller,
        id: SessionId,
        command: Command,
        reason: Option<String>,
        once: Option<Idempotency>,
    ) -> Result<Session, Error> {
        checked("/reason", reason.as_deref())?;
        self.command(caller, once, move |work| {
            let caller = work.caller()?;
            let session = work.session_seen(&caller, id)?;
            Self::steers(&caller, &session)?;
            if matches!(command, Command::Complete | Command::Fail) && caller.role == Role::Operator {
                // Only the agent knows that it is done; a person cancels.
                caller.require(Right::Take)?;
            }
            if command == Command::Complete && session.hosted {
                let why = "is not for a session that this server runs: its steps complete it, and `approve_step` counts one as done";
                return Err(Refusal::QuestionInvalid(vec![Problem::new("/command", why)]).into());
            }
            let held_by_others = session.paused.as_ref().is_some_and(|held| held.by != caller.actor);
            if command == Command::Resume && held_by_others {
                // Whoever is held back does not let itself go on.
                caller.require(Right::Steer)?;
            }
            let note = Note { by: caller.actor.clone(), at: work.now, reason: reason.clone() };
            let session = work.control(session, command, note)?;
            work.saved(&session)?;
            Ok(session)
        })
        .await
    }
}

/// Refuses a reason or a note that people could not be shown.
pub(crate) fn checked(pointer: &str, reason: Option<&str>) -> Result<(), Error> {
    let mut problems: Vec<Problem> = Vec::new();
    if let Some(reason) = reason {
        text::paragraphs(pointer, reason, &mut problems);
    }
    if problems.is_empty() { Ok(()) } else { Err(Refusal::QuestionInvalid(problems).into()) }
}
