//! Hands an answer to the agent that asked, under a lease.

use std::fmt;

use domain::access::Right;
use domain::{Caller, Interaction, InteractionId, LeaseId, Problem, Refusal, SignedDuration};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Cost, Sealed};

use crate::deliveries;
use crate::interactions;
use crate::secrets::vault::{RESUME_POINT, SECRETS, SealContext};
use crate::sessions;
use crate::{Engine, Error, Idempotency};

/// Maximum length of a lease, in seconds.
const LONGEST: i64 = 24 * 3600;

/// Answer as the agent receives it. Its `Debug` output omits the values that were sealed.
#[derive(Clone)]
pub struct TakenAnswer {
    /// Identifier of the lease. Every heartbeat, completion and failure must name it.
    pub lease: LeaseId,
    /// Question with its resolution.
    pub interaction: Interaction,
    /// State that the agent stored with its question.
    pub resume_point: Option<Value>,
    /// Values that a person gave to a secret question.
    pub secrets: Option<Value>,
}

impl fmt::Debug for TakenAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TakenAnswer")
            .field("lease", &self.lease)
            .field("interaction", &self.interaction)
            .finish_non_exhaustive()
    }
}

#[derive(Serialize, Deserialize)]
struct Receipt {
    lease: LeaseId,
    interaction: Interaction,
}

impl Engine {
    /// Hands the answer to the agent that asked and starts its lease.
    pub async fn delivery_take(
        &self,
        caller: &Caller,
        id: InteractionId,
        seconds: Option<i64>,
        idempotency: Option<Idempotency>,
    ) -> Result<TakenAnswer, Error> {
        caller.require(Right::Take)?;
        let length = lease_length(self, seconds)?;
        let scope = caller.scope;
        let receipt = self.command(caller, idempotency, move |work| {
            let (mut session, interaction) = deliveries::lock(work, &scope, id)?;
            session.require_not_paused()?;
            let lease = work.ids.lease(work.now);
            let until = work.now.saturating_add(length).unwrap_or(work.now);
            let was = interaction.status();
            let change = interaction.take(&work.caller()?.actor, lease, work.now, until)?;
            let interaction = interactions::apply_change(work, &mut session, was, change)?;
            work.effects.taken_after = interaction.resolved_at().map(|at| work.now.duration_since(at));
            sessions::save(work, &session)?;
            Ok(Receipt { lease, interaction })
        });
        let Receipt { lease, interaction } = receipt.await?;
        let (resume_point, secrets) = unseal(self, caller, lease, &interaction).await?;
        Ok(TakenAnswer { lease, interaction, resume_point, secrets })
    }
}

/// Length of a lease: the requested number of seconds, which must be in bounds, or the configured length.
pub(crate) fn lease_length(engine: &Engine, seconds: Option<i64>) -> Result<SignedDuration, Error> {
    match seconds {
        None => Ok(engine.settings().lease),
        Some(seconds) if (1..=LONGEST).contains(&seconds) => Ok(SignedDuration::from_secs(seconds)),
        Some(_) => {
            let problem = Problem::new("/lease_seconds", format!("must be 1 to {LONGEST}"));
            Err(Refusal::QuestionInvalid(vec![problem]).into())
        }
    }
}

/// Decrypts the values that were sealed for the agent: its resume point, and the values of a secret question that was answered with values.
///
/// Both are `None` if the lease is over, which happens when a command is repeated late under its idempotency key.
async fn unseal(
    engine: &Engine,
    caller: &Caller,
    lease: LeaseId,
    asked: &Interaction,
) -> Result<(Option<Value>, Option<Value>), Error> {
    let (scope, id, secret) = (caller.scope, asked.id, asked.has_ended_with_secrets());
    let sealed = engine.read(Cost::Point, move |reads| {
        let secrets = if secret { reads.sealed_value(&scope, id, SECRETS)? } else { None };
        let resume_point = reads.sealed_value(&scope, id, RESUME_POINT)?;
        if resume_point.is_none() && secrets.is_none() {
            return Ok((None, None));
        }
        let now = reads.now()?;
        let found = reads.interaction(&scope, id)?;
        let held =
            found.as_ref().and_then(Interaction::delivery).is_some_and(|delivery| delivery.is_held_by(lease, now));
        Ok(if held { (resume_point, secrets) } else { (None, None) })
    });
    let (resume_point, secrets) = sealed.await?;
    let opened = |name, sealed: Option<Sealed>| {
        let Some(sealed) = sealed else { return Ok(None) };
        let opened = engine.vault.unseal(&SealContext::Question(&scope, id, name), &sealed)?;
        serde_json::from_slice(&opened).map(Some).map_err(|_| Error::Sealed)
    };
    Ok((opened(RESUME_POINT, resume_point)?, opened(SECRETS, secrets)?))
}
