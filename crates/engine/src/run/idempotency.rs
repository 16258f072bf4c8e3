//! Runs a command once for each idempotency key: a repeated key with the same body returns the first result.

use std::sync::Arc;

use domain::{Caller, Digest, Scope};
use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::{IdempotencyRecord, StoreError};
use zeroize::Zeroizing;

use crate::run::transaction::{Work, retry_conflicts};
use crate::secrets;
use crate::secrets::vault::SealContext;
use crate::{Engine, Error, Vault};

/// Number of attempts of a command that meets a concurrent command with the same idempotency key.
const MOST_DUPLICATES: u32 = 3;

/// Random secret that a command creates.
pub(crate) type Secret = Zeroizing<[u8; 32]>;

/// Idempotency key that a caller chose, and the digest of its command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idempotency {
    key: String,
    digest: String,
}

impl Idempotency {
    /// Creates the idempotency of a command from its key, the operation with its path parameters, and the body.
    #[must_use]
    pub fn new(key: String, operation: &str, body: &[u8]) -> Self {
        let body = Digest::of_bytes(body);
        let digest = Digest::of_bytes(format!("{operation}\n{body}").as_bytes()).to_string();
        Self { key, digest }
    }

    /// Idempotency of one part of a request that has several parts.
    #[must_use]
    pub fn part(&self, index: usize) -> Self {
        Self { key: format!("{}#{index}", self.key), digest: format!("{}#{index}", self.digest) }
    }

    /// Unique name of this command of the caller. Older versions derived secrets from it.
    fn name(&self, caller: &Caller) -> String {
        format!("{}\n{}\n{}\n{}", caller.scope.project, caller.actor.name, self.key, self.digest)
    }
}

/// Primary key of the idempotency record of a command.
#[derive(Clone)]
struct Record {
    scope: Scope,
    actor: String,
    key: String,
}

impl Record {
    fn fill<T: Serialize>(&self, work: &mut Work<'_>, result: &T) -> Result<(), Error> {
        let result = serde_json::to_string(result).map_err(unusable)?;
        Ok(work.tx.idempotency_result_save(&self.scope, &self.actor, &self.key, &result)?)
    }

    fn seal_context(&self) -> SealContext<'_> {
        SealContext::Idempotency(&self.scope, &self.actor, &self.key)
    }

    fn seal(&self, work: &mut Work<'_>, vault: &Vault, secret: &Secret) -> Result<(), Error> {
        let sealed = vault.seal(work, &self.seal_context(), &**secret)?;
        Ok(work.tx.idempotency_secret_save(&self.scope, &self.actor, &self.key, &sealed)?)
    }

    /// Reads the secret that the command returned. `None` if an older version, which stored no secrets, wrote the record.
    fn unseal(&self, work: &mut Work<'_>, vault: &Vault) -> Result<Option<Secret>, Error> {
        let Some(sealed) = work.tx.idempotency_secret(&self.scope, &self.actor, &self.key)? else { return Ok(None) };
        let opened = vault.unseal(&self.seal_context(), &sealed)?;
        <[u8; 32]>::try_from(opened.as_slice()).map(|secret| Some(Secret::new(secret))).map_err(|_| Error::Sealed)
    }
}

impl Engine {
    /// Runs a command, or returns its stored result if the key was used before. The key is stored in the transaction of the command, which also reads
    /// the caller's credential again.
    pub(crate) async fn command<T, F>(
        &self,
        caller: &Caller,
        idempotency: Option<Idempotency>,
        mut command: F,
    ) -> Result<T, Error>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        F: FnMut(&mut Work<'_>) -> Result<T, Error> + Send + 'static,
    {
        let Some(idempotency) = idempotency else { return self.transact_by(caller, command).await };
        run_once(self, caller, idempotency, move |work, record, kept| {
            if let Some(kept) = kept {
                return serde_json::from_str(kept).map_err(unusable);
            }
            let result = command(work)?;
            record.fill(work, &result)?;
            Ok(result)
        })
        .await
    }

    /// Runs a command that returns a random secret. With an idempotency key, the secret is stored, sealed, beside the result: a repeated command
    /// returns the same secret as long as the key is kept, and a new one after that.
    pub(crate) async fn command_with_secret<T, F>(
        &self,
        caller: &Caller,
        purpose: &'static str,
        idempotency: Option<Idempotency>,
        mut command: F,
    ) -> Result<(T, Secret), Error>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        F: FnMut(&mut Work<'_>, &[u8; 32]) -> Result<T, Error> + Send + 'static,
    {
        let fresh = Secret::new(self.ids.random());
        let Some(idempotency) = idempotency else {
            return self.transact_by(caller, move |work| Ok((command(work, &fresh)?, fresh.clone()))).await;
        };
        let (vault, name) = (Arc::clone(&self.vault), idempotency.name(caller));
        run_once(self, caller, idempotency, move |work, record, kept| {
            if let Some(kept) = kept {
                let result = serde_json::from_str(kept).map_err(unusable)?;
                let secret = match record.unseal(work, &vault)? {
                    Some(secret) => secret,
                    // Older versions stored no secret but derived it from the command. Such a record is deleted within a day.
                    None => Secret::new(vault.stamped(purpose, &name).ok_or(Error::Sealed)?),
                };
                return Ok((result, secret));
            }
            let result = command(work, &fresh)?;
            record.fill(work, &result)?;
            record.seal(work, &vault, &fresh)?;
            Ok((result, fresh.clone()))
        })
        .await
    }
}

/// Runs a command under its key. The command gets its earlier result, if there is one; otherwise it fills its record itself.
async fn run_once<R, F>(engine: &Engine, caller: &Caller, idempotency: Idempotency, command: F) -> Result<R, Error>
where
    R: Send + 'static,
    F: FnMut(&mut Work<'_>, &Record, Option<&str>) -> Result<R, Error> + Send + 'static,
{
    let Idempotency { key, digest } = idempotency;
    let digest = domain::hex(&secrets::unlock::fingerprint(engine, "idempotency", &digest).await?);
    let record = Record { scope: caller.scope, actor: caller.actor.name.clone(), key };
    let command = Arc::new(Mutex::new(command));
    // After a conflict, a concurrent duplicate of the command has committed, and the next attempt reads its result.
    retry_conflicts(MOST_DUPLICATES, || {
        let (record, digest, command) = (record.clone(), digest.clone(), Arc::clone(&command));
        engine.transact_by(caller, move |work| {
            let Record { scope, actor, key } = &record;
            if let Some(idempotency) = work.tx.idempotency_record(scope, actor, key)? {
                if idempotency.digest != digest {
                    return Err(Error::IdempotencyConflict);
                }
                return (command.lock())(work, &record, Some(&idempotency.result));
            }
            // The insert comes first, so that a concurrent duplicate of the command waits here instead of running too.
            let begun = IdempotencyRecord { digest: digest.clone(), result: String::new() };
            work.tx.idempotency_insert(scope, actor, key, &begun)?;
            (command.lock())(work, &record, None)
        })
    })
    .await
}

fn unusable(error: serde_json::Error) -> Error {
    StoreError::Corrupt(error.to_string()).into()
}
