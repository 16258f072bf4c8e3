//! Starts an allowed action with its permit, extends its lease and records its outcome.

use std::sync::Arc;
use std::time::Duration;

use domain::access::Right;
use domain::session::Ending;
use domain::{Action, ActionState, Caller, Outcome, PermitId, Problem, Refusal, SessionId, SignedDuration, text};
use serde_json::Value;
use store::{Cost, Topic};
use subtle::ConstantTimeEq;

use crate::access;
use crate::access::sight::Sight;
use crate::actions;
use crate::actions::grants::Proposer;
use crate::actions::propose::{ActionReply, PERMIT};
use crate::deliveries;
use crate::interactions;
use crate::policy;
use crate::policy::learn;
use crate::policy::ruling::{Judged, OnBehalfOf};
use crate::run;
use crate::secrets;
use crate::sessions;
use crate::steps;
use crate::{Engine, Error, Idempotency, Redactor, Vault};

/// Maximum size of a result, in bytes. A larger result belongs in another system, with a reference here.
const MOST_BYTES: usize = 256 * 1024;

/// Message that replaces the text of a failure which a client reports after the end of its session.
const AFTER_END: &str = "it failed; the report arrived after the end of its session and is not kept";

impl Engine {
    /// Returns an action as soon as it is decided, or after `wait` if it is still waiting.
    pub async fn action_get(
        &self,
        caller: &Caller,
        session: SessionId,
        call: String,
        wait: Duration,
    ) -> Result<ActionReply, Error> {
        caller.require(Right::Read)?;
        let decided = |found: &ActionReply| !matches!(found.action.state, ActionState::Waiting { .. });
        run::wait::wait_until(
            self,
            (caller, Topic::Session(session)),
            wait,
            || read(self, caller, session, &call),
            decided,
        )
        .await
    }

    /// Page of the actions of a session, ordered by `call_id`, and the cursor of the next page. The cursor is `None` on the last page.
    pub async fn action_list(
        &self,
        caller: &Caller,
        session: SessionId,
        after: String,
        limit: u32,
    ) -> Result<(Vec<ActionReply>, Option<String>), Error> {
        caller.require(Right::Read)?;
        let found = self.list(caller, move |reads, caller| {
            Sight::of(reads, caller)?.session(reads, &caller.scope, session)?;
            Ok((reads.actions(&caller.scope, session, &after, limit)?, reads.now()?))
        });
        let (found, now) = found.await?;
        let next = found.last().filter(|_| found.more).map(|last| last.call_id.clone());
        let mut actions = Vec::with_capacity(found.len());
        for action in found {
            actions.push(actions::propose::reply(self, caller, action, now).await?);
        }
        Ok((actions, next))
    }

    /// Starts an action. Its permit is spent, and its outcome must be reported within the lease.
    pub async fn action_start(
        &self,
        caller: &Caller,
        (session, call): (SessionId, String),
        permit: String,
        seconds: Option<i64>,
        idempotency: Option<Idempotency>,
    ) -> Result<ActionReply, Error> {
        caller.require(Right::Ask)?;
        let length = deliveries::take::lease_length(self, seconds)?;
        secrets::unlock::fingerprint(self, PERMIT, "").await?;
        let start = || {
            let (call, permit, idempotency) = (call.clone(), permit.clone(), idempotency.clone());
            async move {
                let judged = judge_now(self, caller, session, &call).await?;
                save_start(self, caller, (session, call), ActionStart { judged, permit, length }, idempotency).await
            }
        };
        let started = policy::in_force::with_current_ruling(self, start).await?;
        actions::propose::reply(self, caller, started, self.now()).await
    }

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
                interactions::withdraw(work, &mut session, asked, "the agent has reported what became of it")?;
            }
            let action = actions::ask_about_outcome(work, &mut session, action)?;
            sessions::save(work, &session)?;
            Ok(action)
        });
        actions::propose::reply(self, caller, done.await?, self.now()).await
    }
}

async fn read(engine: &Engine, caller: &Caller, session: SessionId, call: &str) -> Result<ActionReply, Error> {
    let (scope, call) = (caller.scope, call.to_owned());
    let found = engine.read_by(caller, Cost::Point, move |reads, caller| {
        Sight::of(reads, caller)?.session(reads, &scope, session)?;
        let found = reads.action(&scope, session, &call)?.ok_or(Refusal::NotFound("action"))?;
        Ok((found, reads.now()?))
    });
    let (action, now) = found.await?;
    actions::propose::reply(engine, caller, action, now).await
}

/// Ruling of today's policy on an action that is about to start.
async fn judge_now(engine: &Engine, caller: &Caller, session: SessionId, call: &str) -> Result<Judged, Error> {
    let (scope, call) = (caller.scope, call.to_owned());
    let found = engine.read_by(caller, Cost::Point, move |reads, caller| {
        let session = Sight::of(reads, caller)?.session(reads, &scope, session)?;
        let action = reads.action(&scope, session.id, &call)?.ok_or(Refusal::NotFound("action"))?;
        Ok((session, action))
    });
    let (session, action) = found.await?;
    let agent = Some(action.proposed_by.name.clone());
    let behalf = OnBehalfOf { agent, user: session.started_by.name, role: action.role };
    let in_force = learn::suggest::load_for(engine, scope, &action.proposed_by.name, action.hosted).await?;
    policy::ruling::judge(engine, in_force, behalf, action.effective()).await
}

/// Start of an action, before its transaction.
struct ActionStart {
    judged: Judged,
    /// Permit that the agent presents.
    permit: String,
    /// Length of the lease.
    length: SignedDuration,
}

async fn save_start(
    engine: &Engine,
    caller: &Caller,
    (session, call): (SessionId, String),
    start: ActionStart,
    idempotency: Option<Idempotency>,
) -> Result<Action, Error> {
    let ActionStart { judged, permit, length } = start;
    let (scope, actor) = (caller.scope, caller.actor.clone());
    let (vault, policies) = (Arc::clone(&engine.vault), Arc::clone(&engine.policies));
    engine
        .command(caller, idempotency, move |work| {
            let caller = work.caller()?;
            let mut session = access::lock_session(work, &caller, session)?;
            let action = work.tx.action(&scope, session.id, &call)?.ok_or(Refusal::NotFound("action"))?;
            require_runner(&caller, &action)?;
            session.require_alive()?;
            session.require_not_paused()?;
            if !steps::is_step_alive(work, &session, &action)? {
                return Err(Refusal::ActionNot { wanted: "allowed", state: "left by its step, which has ended" }.into());
            }
            policy::require_in_force(work, &scope, &judged, &policies)?;
            let given = permit_given(&vault, &action, &permit)?;
            let until = work.now.saturating_add(length).unwrap_or(work.now);
            let change = action.start(&actor, given, work.now, until)?;
            change.0.require_current_ruling(&judged.ruling)?;
            if let Some(grant) = change.0.stands_on(&judged.ruling) {
                let by = Proposer { actor: &change.0.proposed_by, hosted: change.0.hosted };
                actions::require_grant_covers(work, &session, by, &judged, grant)?;
            }
            policy::require_floor_approval(work, &session, &change.0, &judged)?;
            let action = actions::save_change(work, &mut session, change)?;
            sessions::save(work, &session)?;
            Ok(action)
        })
        .await
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
fn require_runner(caller: &Caller, action: &Action) -> Result<(), Error> {
    action.require_access(caller)?;
    if action.runner.as_ref() == Some(&caller.actor) {
        return Ok(());
    }
    Ok(caller.require(Right::Take)?)
}

/// Reads the id of a permit from its text. While the action is allowed, a text with another seal than that of its permit is refused; in any other
/// state `Action::start` refuses the start.
fn permit_given(vault: &Vault, action: &Action, text: &str) -> Result<PermitId, Error> {
    let id = text.split_once('.').and_then(|(id, _)| id.parse().ok()).ok_or(Refusal::PermitUnknown)?;
    if let ActionState::Allowed { permit } = &action.state {
        let good = vault.permit_text(action, permit)?;
        if !bool::from(good.as_bytes().ct_eq(text.as_bytes())) {
            return Err(Refusal::PermitUnknown.into());
        }
    }
    Ok(id)
}

fn check_outcome(outcome: &Outcome) -> Result<(), Error> {
    let mut problems = Vec::new();
    match outcome {
        Outcome::Done { result } => check_result(result, &mut problems),
        Outcome::Failed { message, result } => {
            text::paragraphs("/message", message, &mut problems);
            check_result(result, &mut problems);
        }
        Outcome::Unknown => {}
    }
    if problems.is_empty() { Ok(()) } else { Err(Refusal::QuestionInvalid(problems).into()) }
}

fn check_result(result: &Value, problems: &mut Vec<Problem>) {
    text::depth("/result", result, problems);
    if result.to_string().len() > MOST_BYTES {
        problems.push(Problem::new("/result", format!("is larger than {MOST_BYTES} bytes: leave a reference instead")));
    }
}
