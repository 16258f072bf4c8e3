//! Starts an allowed action with its permit.

use std::sync::Arc;

use domain::access::Right;
use domain::{Action, ActionState, Caller, PermitId, Refusal, SessionId, SignedDuration};
use store::Cost;
use subtle::ConstantTimeEq;

use crate::access;
use crate::access::sight::Sight;
use crate::actions;
use crate::actions::grants::Proposer;
use crate::actions::propose::{ActionReply, PERMIT};
use crate::deliveries;
use crate::policy;
use crate::policy::learn;
use crate::policy::ruling::{Judged, OnBehalfOf};
use crate::secrets;
use crate::sessions;
use crate::steps;
use crate::{Engine, Error, Idempotency, Vault};

impl Engine {
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
    let behalf = OnBehalfOf::of(&action, session.started_by.name);
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
            actions::report::require_runner(&caller, &action)?;
            session.require_alive()?;
            session.require_not_paused()?;
            if !steps::is_step_alive(work, &session, &action)? {
                return Err(Refusal::ActionStepEnded.into());
            }
            policy::require_in_force(work, &scope, &judged, &policies)?;
            let given = permit_given(&vault, &action, &permit)?;
            let until = work.now.saturating_add(length).unwrap_or(work.now);
            let change = action.start(&actor, given, work.now, until)?;
            change.0.require_current_ruling(&judged.ruling)?;
            if let Some(grant) = change.0.required_grant(&judged.ruling) {
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
