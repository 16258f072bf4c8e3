//! What is kept for agents' later sessions: listed without its values, and forgotten.

use domain::access::Right;
use domain::{Caller, Happening, KeptSecret, Refusal, SecretId};
use serde_json::json;
use store::Page;

use crate::{Engine, Error};

impl Engine {
    /// A page of the secrets that are kept in the caller's project, the newest first.
    pub async fn secrets(&self, caller: &Caller, page: Page<SecretId>) -> Result<Vec<KeptSecret>, Error> {
        caller.require(Right::ManageSecrets)?;
        let scope = caller.scope;
        self.list(caller, move |reads| Ok(reads.kept(&scope, page)?)).await
    }

    /// Forgets a kept secret: the next question for it is put to people again.
    pub async fn secret_forget(&self, caller: &Caller, id: SecretId) -> Result<(), Error> {
        caller.require(Right::ManageSecrets)?;
        let (scope, by) = (caller.scope, caller.actor.clone());
        self.command(caller, None, move |work| {
            if !work.tx.kept_forget(&scope, id)? {
                return Err(Refusal::NotFound("secret").into());
            }
            work.audited(&scope, &Happening::by("secret.forgotten", &by, json!({ "secret": id })))
        })
        .await?;
        tracing::info!(secret = %id, by = caller.actor.name, "secretForgotten");
        Ok(())
    }
}
