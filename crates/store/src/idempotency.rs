//! What idempotency keys were used for.

use domain::{DataKeyId, Scope, Timestamp};

use crate::{Sealed, StoreResult};

/// What an idempotency key was used for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// Digest of the operation and its body.
    pub digest: String,
    /// What it gave, as JSON.
    pub result: String,
}

/// The secret that a command gave, sealed, and the idempotency record that keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencySecret {
    /// Whose record it is.
    pub scope: Scope,
    /// Who gave the command.
    pub actor: String,
    /// Their idempotency key.
    pub key: String,
    /// The secret.
    pub sealed: Sealed,
}

/// What can be read of them.
pub trait IdempotencyReads {
    /// What an idempotency key was used for.
    fn idempotency_record(&mut self, scope: &Scope, actor: &str, key: &str) -> StoreResult<Option<IdempotencyRecord>>;
    /// The secret that is kept with an idempotency record.
    fn idempotency_secret(&mut self, scope: &Scope, actor: &str, key: &str) -> StoreResult<Option<Sealed>>;
    /// Secrets of idempotency records that are sealed under a data key.
    fn idempotency_secrets_under(&mut self, key: DataKeyId, limit: u32) -> StoreResult<Vec<IdempotencySecret>>;
}

/// What can be written of them.
pub trait IdempotencyWrites {
    /// Notes what an idempotency key is used for, or fails with [`crate::StoreError::Conflict`] where it was used.
    ///
    /// Done before the command itself: whoever sends the same command at the same moment waits here until the first has ended.
    fn idempotency_insert(
        &mut self,
        scope: &Scope,
        actor: &str,
        key: &str,
        once: &IdempotencyRecord,
    ) -> StoreResult<()>;
    /// Notes what the command gave.
    fn idempotency_result_save(&mut self, scope: &Scope, actor: &str, key: &str, result: &str) -> StoreResult<()>;
    /// Keeps the secret that the command gave with its idempotency record.
    fn idempotency_secret_save(&mut self, scope: &Scope, actor: &str, key: &str, sealed: &Sealed) -> StoreResult<()>;
    /// Writes over a secret that was sealed under another data key, unless its record has gone.
    fn idempotency_secret_reseal(&mut self, from: DataKeyId, secret: &IdempotencySecret) -> StoreResult<()>;
    /// Forgets idempotency keys used before a moment, and says how many.
    fn idempotency_purge(&mut self, before: Timestamp, limit: u32) -> StoreResult<u64>;
}
