//! Stores, lists and deletes the secrets that are kept for agents' later sessions. Lists contain no values.

use std::sync::Arc;

use domain::access::Right;
use domain::audit::kind::SecretForgotten;
use domain::event::SecretNames;
use domain::{AuditDraft, AuditKind, Caller, KeptSecret, Problem, Refusal, SecretId, text};
use store::{KeptSecretValue, Page};
use zeroize::Zeroizing;

use crate::secrets::vault::SealContext;
use crate::{Engine, Error, Idempotency};

/// Maximum size of a value.
const MOST_BYTES: usize = 64 << 10;

impl Engine {
    /// A page of the secrets kept in the caller's project, the newest first.
    pub async fn secret_list(&self, caller: &Caller, page: Page<SecretId>) -> Result<Vec<KeptSecret>, Error> {
        caller.require(Right::ManageSecrets)?;
        let scope = caller.scope;
        self.list(caller, move |reads, _| Ok(reads.kept_secrets(&scope, page)?)).await
    }

    /// Stores a secret for a hosted agent, such as the key of its model, which the agent would need before it could ask for anything. A secret of
    /// this agent and name is replaced. An agent that connects with an API key never gets it, even under this agent's name.
    pub async fn secret_put(
        &self,
        caller: &Caller,
        (agent, name): (String, String),
        value: String,
        idempotency: Option<Idempotency>,
    ) -> Result<KeptSecret, Error> {
        let value = Zeroizing::new(value);
        caller.require(Right::ManageSecrets)?;
        let mut problems = Vec::new();
        text::check_name("/agent", &agent, ".", &mut problems);
        text::check_identifier("/name", &name, &mut problems);
        if value.is_empty() || value.len() > MOST_BYTES {
            problems.push(Problem::new("/value", format!("must be 1 to {MOST_BYTES} bytes")));
        }
        if !problems.is_empty() {
            return Err(Refusal::QuestionInvalid(problems).into());
        }
        let (scope, vault) = (caller.scope, Arc::clone(&self.vault));
        self.command(caller, idempotency, move |work| {
            let secret = KeptSecret {
                id: work.ids.secret(work.now),
                scope,
                agent: agent.clone(),
                hosted: Some(true),
                name: name.clone(),
                kept_by: work.by().clone(),
                kept_at: work.now,
                used_at: None,
            };
            let sealed = vault.seal(work, &SealContext::Kept(&secret), value.as_bytes())?;
            work.tx.kept_secret_save(&KeptSecretValue { secret: secret.clone(), sealed })?;
            let kept = SecretNames { agent: agent.clone(), names: vec![name.clone()] };
            work.append_audit(&scope, &AuditDraft::plain(AuditKind::SecretKept(kept)))?;
            Ok(secret)
        })
        .await
    }

    /// Deletes a kept secret. The next question for it goes to people again.
    pub async fn secret_forget(&self, caller: &Caller, id: SecretId) -> Result<(), Error> {
        caller.require(Right::ManageSecrets)?;
        let scope = caller.scope;
        self.command(caller, None, move |work| {
            if !work.tx.kept_secret_delete(&scope, id)? {
                return Err(Refusal::NotFound("secret").into());
            }
            let forgotten = SecretForgotten { secret: id };
            work.append_audit(&scope, &AuditDraft::plain(AuditKind::SecretForgotten(forgotten)))
        })
        .await?;
        tracing::info!(secret = %id, by = caller.actor.name, "secretForgotten");
        Ok(())
    }
}
