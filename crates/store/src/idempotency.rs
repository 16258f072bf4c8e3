//! Idempotency records: the commands that idempotency keys were used for, and their results.

use domain::{DataKeyId, Scope, Timestamp};

use crate::{Sealed, StoreResult};

/// Record of the command that an idempotency key was used for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// Digest of the operation and its body.
    pub digest: String,
    /// Result of the command as JSON; empty while the command runs.
    pub result: String,
}

/// Sealed secret that a command returned, with the key of its idempotency record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencySecret {
    /// Project of the record.
    pub scope: Scope,
    /// Actor of the command.
    pub actor: String,
    /// Idempotency key of the command.
    pub key: String,
    /// Secret that the command returned, sealed.
    pub sealed: Sealed,
}

/// Reads of idempotency records.
pub trait IdempotencyReads {
    /// Returns the record of an idempotency key.
    fn idempotency_record(&mut self, scope: &Scope, actor: &str, key: &str) -> StoreResult<Option<IdempotencyRecord>>;
    /// Returns the sealed secret of an idempotency record.
    fn idempotency_secret(&mut self, scope: &Scope, actor: &str, key: &str) -> StoreResult<Option<Sealed>>;
    /// Returns secrets of idempotency records that are sealed under a data key.
    fn idempotency_secrets_under(&mut self, key: DataKeyId, limit: u32) -> StoreResult<Vec<IdempotencySecret>>;
}

/// Writes of idempotency records.
pub trait IdempotencyWrites {
    /// Inserts a record, or fails with [`crate::StoreError::Conflict`] if the key has one.
    ///
    /// A use case inserts the record before it runs the command, so that a concurrent repeat of the command waits here until the first
    /// transaction has ended.
    fn idempotency_insert(
        &mut self,
        scope: &Scope,
        actor: &str,
        key: &str,
        idempotency: &IdempotencyRecord,
    ) -> StoreResult<()>;
    /// Saves the result of the command.
    fn idempotency_result_save(&mut self, scope: &Scope, actor: &str, key: &str, result: &str) -> StoreResult<()>;
    /// Saves the sealed secret that the command returned.
    fn idempotency_secret_save(&mut self, scope: &Scope, actor: &str, key: &str, sealed: &Sealed) -> StoreResult<()>;
    /// Replaces a secret that is sealed under the data key `from`; does nothing if the record is gone.
    fn idempotency_secret_reseal(&mut self, from: DataKeyId, secret: &IdempotencySecret) -> StoreResult<()>;
    /// Deletes up to `limit` records that are older than a time, and returns how many.
    fn idempotency_purge(&mut self, before: Timestamp, limit: u32) -> StoreResult<u64>;
}
