//! One idempotency key with one body gives one result.

use std::sync::Arc;

use domain::{Caller, Digest};
use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::{Once, StoreError};

use crate::authenticate::hex;
use crate::work::Work;
use crate::{Engine, Error};

/// How often a command that met its own double looks for the double's result.
const MOST_MEETINGS: u32 = 3;

/// A caller's own name for a command, and the digest of what the command is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idempotency {
    key: String,
    digest: String,
}

impl Idempotency {
    /// A key, the operation with everything in its path, and the body.
    #[must_use]
    pub fn new(key: String, operation: &str, body: &[u8]) -> Self {
        let body = Digest::of_bytes(body);
        let digest = Digest::of_bytes(format!("{operation}\n{body}").as_bytes()).to_string();
        Self { key, digest }
    }

    /// The name of one part of a call that has many.
    #[must_use]
    pub fn part(&self, index: usize) -> Self {
        Self { key: format!("{}#{index}", self.key), digest: format!("{}#{index}", self.digest) }
    }

    /// Names the command of this caller, for what has to come out the same when it is repeated.
    pub(crate) fn name(&self, caller: &Caller) -> String {
        format!("{}\n{}\n{}\n{}", caller.scope.project, caller.actor.name, self.key, self.digest)
    }
}

impl Engine {
    /// Runs a command, or gives back what it gave under the same key. The key is kept in the command's own transaction, and the caller's
    /// credential is read in it again.
    pub(crate) async fn command<T, F>(
        &self,
        caller: &Caller,
        idempotency: Option<Idempotency>,
        command: F,
    ) -> Result<T, Error>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        F: FnMut(&mut Work<'_>) -> Result<T, Error> + Send + 'static,
    {
        let Some(Idempotency { key, digest }) = idempotency else {
            return self.transact_by(caller, command).await;
        };
        let digest = hex(&self.fingerprint("idempotency", &digest).await?);
        let command = Arc::new(Mutex::new(command));
        for _ in 0..MOST_MEETINGS {
            let (scope, actor, key, digest) = (caller.scope, caller.actor.name.clone(), key.clone(), digest.clone());
            let command = Arc::clone(&command);
            let done = self.transact_by(caller, move |work| {
                if let Some(once) = work.tx.once(&scope, &actor, &key)? {
                    if once.digest != digest {
                        return Err(Error::IdempotencyConflict);
                    }
                    return serde_json::from_str(&once.result).map_err(unusable);
                }
                // First, so that the same command sent twice at once waits here instead of racing itself.
                let begun = Once { digest: digest.clone(), result: String::new() };
                work.tx.once_insert(&scope, &actor, &key, &begun)?;
                let result = (command.lock())(work)?;
                work.tx.once_fill(&scope, &actor, &key, &serde_json::to_string(&result).map_err(unusable)?)?;
                Ok(result)
            });
            match done.await {
                // The same command was under way elsewhere and has won: its result is there now.
                Err(Error::Store(StoreError::Conflict)) => {}
                other => return other,
            }
        }
        Err(StoreError::Conflict.into())
    }
}

fn unusable(error: serde_json::Error) -> Error {
    StoreError::Corrupt(error.to_string()).into()
}
