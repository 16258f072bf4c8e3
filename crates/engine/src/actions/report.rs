//! Extends the lease of a running action and records its outcome.

use std::sync::Arc;

use domain::access::Right;
use domain::session::Ending;
use domain::{Action, ActionState, Caller, Outcome, PermitId, Problem, Refusal, SessionId, text};
use serde_json::Value;

use crate::access;
use crate::actions;
use crate::actions::propose::ActionReply;
use crate::deliveries;
use crate::interactions;
use crate::sessions;
use crate::steps;
use crate::{Engine, Error, Idempotency, Redactor};

/// Maximum size of a result, in bytes. A larger result belongs in another system, with a reference here.
const MOST_BYTES: usize = 256 * 1024;

/// Message that replaces the text of a failure which a client reports after the end of its session.
const AFTER_END: &str = "it failed; the report came after the session had ended and was not stored";

impl Engine {
    /// Fails an action that was allowed and will not be started, with the reason `why`. Does nothing if the action is in another state.
    pub async fn action_abandon(
        &self,
        caller: &Caller,
        (session, call): (SessionId, String),
        why: String,
    ) -> Result<(), Error> {
        caller.require(Right::Ask)?;
        let scope = caller.scope;
        self.command(caller, None, move |work| {
            let caller = work.caller()?;
            let mut session = access::lock_session(work, &caller, session)?;
            let action = work.tx.action(&scope, session.id, &call)?.ok_or(Refusal::NotFound("action"))?;
            require_runner(&caller, &action)?;
            if let Some(left) = action.abandon(&why) {
                actions::save_change(work, &mut session, left)?;
                sessions::save(work, &session)?;
            }
            Ok(())
        })
        .await
    }

    /// Extends the lease of a running action: its outcome may be reported within `seconds` from now.
    pub async fn action_extend_lease(
        &self,
        caller: &Caller,
        (session, call): (SessionId, String),
        seconds: i64,
        run: Option<PermitId>,
    ) -> Result<(), Error> {
        caller.require(Right::Ask)?;
        let length = deliveries::take::lease_length(self, Some(seconds))?;
        let (scope, actor) = (caller.scope, caller.actor.clone());
        self.command(caller, None, move |work| {
            let caller = work.caller()?;
            let session = access::lock_session(work, &caller, session)?;
            let action = work.tx.action(&scope, session.id, &call)?.ok_or(Refusal::NotFound("action"))?;
            require_runner(&caller, &action)?;
            let until = work.now.saturating_add(length).unwrap_or(work.now);
            let kept = action.extend_lease(&actor, until, run)?;
            work.tx.action_save(&kept)?;
            work.wake_at(kept.wake_at());
            Ok(())
        })
        .await
    }

    /// Records the outcome that the agent reports. If `run` names a permit, the report is refused unless that permit started the latest run.
    pub async fn action_outcome(
        &self,
        caller: &Caller,
        (session, call): (SessionId, String),
        outcome: Outcome,
        run: Option<PermitId>,
        idempotency: Option<Idempotency>,
    ) -> Result<ActionReply, Error> {
        caller.require(Right::Ask)?;
        check_outcome(&outcome)?;
        let (scope, actor) = (caller.scope, caller.actor.clone());
        let vault = Arc::clone(&self.vault);
        let done = self.command(caller, idempotency, move |work| {
            let caller = work.caller()?;
            let mut session = access::lock_session(work, &caller, session)?;
            let action = work.tx.action(&scope, session.id, &call)?.ok_or(Refusal::NotFound("action"))?;
            require_runner(&caller, &action)?;
            let mut outcome = outcome.clone();
            if action.hosted && !caller.is_worker() {
                // The tools of this server redact secret values before they report. A client does not know those values, so they are redacted here.
                outcome = match &session.ended {
                    Some((ending, _)) if *ending != Ending::Failed => bare(outcome),
                    _ => hidden_in(outcome, &steps::read_given_secrets(work, &vault, &session)?),
                };
            }
            let asked = if let ActionState::Unknown { interaction, .. } = &action.state { *interaction } else { None };
            let change = action.report(&actor, outcome, run)?;
            let action = actions::save_change(work, &mut session, change)?;
            if let Some(asked) = asked {
                interactions::withdraw(work, &mut session, asked, "the agent reported the outcome")?;
            }
            let action = actions::ask_about_outcome(work, &mut session, action)?;
            sessions::save(work, &session)?;
            Ok(action)
        });
        actions::propose::reply(self, caller, done.await?, self.now()).await
    }
}

/// Keeps only the kind of an outcome. The secret values of an ended session are no longer known, so its text and result cannot be redacted.
fn bare(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Done { .. } => Outcome::Done { result: Value::Null },
        Outcome::Failed { .. } => Outcome::Failed { message: AFTER_END.into(), result: Value::Null },
        Outcome::Unknown => Outcome::Unknown,
    }
}

fn hidden_in(outcome: Outcome, hidden: &Redactor) -> Outcome {
    match outcome {
        Outcome::Done { result } => Outcome::Done { result: hidden.hide_in(result) },
        Outcome::Failed { message, result } => {
            Outcome::Failed { message: hidden.hide(&message), result: hidden.hide_in(result) }
        }
        Outcome::Unknown => Outcome::Unknown,
    }
}

/// Refuses a caller who is neither an agent nor the person whose client runs this action.
pub(super) fn require_runner(caller: &Caller, action: &Action) -> Result<(), Error> {
    action.require_access(caller)?;
    if action.runner.as_ref() == Some(&caller.actor) {
        return Ok(());
    }
    Ok(caller.require(Right::Take)?)
}

fn check_outcome(outcome: &Outcome) -> Result<(), Error> {
    let mut problems = Vec::new();
    match outcome {
        Outcome::Done { result } => check_result(result, &mut problems),
        Outcome::Failed { message, result } => {
            text::check_paragraphs("/message", message, &mut problems);
            check_result(result, &mut problems);
        }
        Outcome::Unknown => {}
    }
    if problems.is_empty() { Ok(()) } else { Err(Refusal::QuestionInvalid(problems).into()) }
}

fn check_result(result: &Value, problems: &mut Vec<Problem>) {
    text::check_depth("/result", result, problems);
    if result.to_string().len() > MOST_BYTES {
        problems.push(Problem::new("/result", format!("is larger than {MOST_BYTES} bytes: leave a reference instead")));
    }
}
