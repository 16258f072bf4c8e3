//! What idempotency keys were used for.

use domain::{DataKeyId, Scope, Timestamp};

use crate::{Sealed, Stored};

/// What an idempotency key was used for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Once {
    /// Digest of the operation and its body.
    pub digest: String,
    /// What it gave, as JSON.
    pub result: String,
}

/// The secret that a command gave, sealed, and the idempotency record that keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnceSecret {
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
pub trait OnceReads {
    /// What an idempotency key was used for.
    fn once(&mut self, scope: &Scope, actor: &str, key: &str) -> Stored<Option<Once>>;
    /// The secret that is kept with an idempotency record.
    fn once_secret(&mut self, scope: &Scope, actor: &str, key: &str) -> Stored<Option<Sealed>>;
    /// Secrets of idempotency records that are sealed under a data key.
    fn once_secrets_under(&mut self, key: DataKeyId, limit: u32) -> Stored<Vec<OnceSecret>>;
}

/// What can be written of them.
pub trait OnceWrites {
    /// Notes what an idempotency key is used for, or fails with [`crate::StoreError::Conflict`] where it was used.
    ///
    /// Done before the command itself: whoever sends the same command at the same moment waits here until the first has ended.
    fn once_insert(&mut self, scope: &Scope, actor: &str, key: &str, once: &Once) -> Stored<()>;
    /// Notes what the command gave.
    fn once_fill(&mut self, scope: &Scope, actor: &str, key: &str, result: &str) -> Stored<()>;
    /// Keeps the secret that the command gave with its idempotency record.
    fn once_seal(&mut self, scope: &Scope, actor: &str, key: &str, sealed: &Sealed) -> Stored<()>;
    /// Writes over a secret that was sealed under another data key, unless its record has gone.
    fn once_secret_again(&mut self, from: DataKeyId, secret: &OnceSecret) -> Stored<()>;
    /// Forgets idempotency keys used before a moment, and says how many.
    fn once_purge(&mut self, before: Timestamp, limit: u32) -> Stored<u64>;
}
