//! What is kept for agents' later sessions: put there by an operator, listed without its values, and forgotten.

use std::sync::Arc;

use domain::access::Right;
use domain::{Caller, EventDraft, KeptSecret, Problem, Refusal, SecretId, text};
use serde_json::json;
use store::{KeptValue, Page};
use zeroize::Zeroizing;

use crate::vault::Place;
use crate::{Engine, Error, Idempotency};

/// How large a value may be that is put.
const MOST_BYTES: usize = 64 << 10;

impl Engine {
    /// A page of the secrets that are kept in the caller's project, the newest first.
    pub async fn secrets(&self, caller: &Caller, page: Page<SecretId>) -> Result<Vec<KeptSecret>, Error> {
        caller.require(Right::ManageSecrets)?;
        let scope = caller.scope;
        self.list(caller, move |reads| Ok(reads.kept(&scope, page)?)).await
    }

    /// Keeps a secret for an agent that our workers run: the key of its model, for one, without which it could not ask for it. What was kept for
    /// it under the same name is replaced. Keys of the same name are never given it.
    pub async fn secret_put(
        &self,
        caller: &Caller,
        (agent, name): (String, String),
        value: String,
        once: Option<Idempotency>,
    ) -> Result<KeptSecret, Error> {
        let value = Zeroizing::new(value);
        caller.require(Right::ManageSecrets)?;
        let mut problems = Vec::new();
        text::name("/agent", &agent, ".", &mut problems);
        text::identifier("/name", &name, &mut problems);
        if value.is_empty() || value.len() > MOST_BYTES {
            problems.push(Problem::new("/value", format!("must be 1 to {MOST_BYTES} bytes")));
        }
        if !problems.is_empty() {
            return Err(Refusal::QuestionInvalid(problems).into());
        }
        let (scope, by, vault) = (caller.scope, caller.actor.clone(), Arc::clone(&self.vault));
        self.command(caller, once, move |work| {
            let secret = KeptSecret {
                id: work.ids.secret(work.now),
                scope,
                agent: agent.clone(),
                hosted: Some(true),
                name: name.clone(),
                kept_by: by.clone(),
                kept_at: work.now,
                used_at: None,
            };
            let sealed = vault.seal(work, &Place::Kept(&secret), value.as_bytes())?;
            work.tx.kept_put(&KeptValue { secret: secret.clone(), sealed })?;
            work.audited(&scope, &KeptSecret::kept(&by, &agent, std::iter::once(&name)))?;
            Ok(secret)
        })
        .await
    }

    /// Forgets a kept secret: the next question for it is put to people again.
    pub async fn secret_forget(&self, caller: &Caller, id: SecretId) -> Result<(), Error> {
        caller.require(Right::ManageSecrets)?;
        let (scope, by) = (caller.scope, caller.actor.clone());
        self.command(caller, None, move |work| {
            if !work.tx.kept_forget(&scope, id)? {
                return Err(Refusal::NotFound("secret").into());
            }
            work.audited(&scope, &EventDraft::by("secret.forgotten", &by, json!({ "secret": id })))
        })
        .await?;
        tracing::info!(secret = %id, by = caller.actor.name, "secretForgotten");
        Ok(())
    }
}
