//! What is kept for agents' later sessions: listed without its values, and forgotten.

use domain::access::Right;
use domain::{Caller, KeptSecret, Refusal, SecretId};
use store::{Cost, Page};

use crate::{Engine, Error};

impl Engine {
    /// A page of the secrets that are kept in the caller's project, the newest first.
    pub async fn secrets(&self, caller: &Caller, page: Page<SecretId>) -> Result<Vec<KeptSecret>, Error> {
        caller.require(Right::ManageSecrets)?;
        let scope = caller.scope;
        self.read(Cost::Scan, move |reads| Ok(reads.kept(&scope, page)?)).await
    }

    /// Forgets a kept secret: the next question for it is put to people again.
    pub async fn secret_forget(&self, caller: &Caller, id: SecretId) -> Result<(), Error> {
        caller.require(Right::ManageSecrets)?;
        let scope = caller.scope;
        if !self.transact(move |work| Ok(work.tx.kept_forget(&scope, id)?)).await? {
            return Err(Refusal::NotFound("secret").into());
        }
        tracing::info!(secret = %id, by = caller.actor.name, "secretForgotten");
        Ok(())
    }
}
