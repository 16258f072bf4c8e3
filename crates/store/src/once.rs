//! What idempotency keys were used for.

use domain::{Scope, Timestamp};

use crate::Stored;

/// What an idempotency key was used for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Once {
    /// Digest of the operation and its body.
    pub digest: String,
    /// What it gave, as JSON.
    pub result: String,
}

/// What can be read of them.
pub trait OnceReads {
    /// What an idempotency key was used for.
    fn once(&mut self, scope: &Scope, actor: &str, key: &str) -> Stored<Option<Once>>;
}

/// What can be written of them.
pub trait OnceWrites {
    /// Notes what an idempotency key is used for, or fails with [`crate::StoreError::Conflict`] where it was used.
    ///
    /// Done before the command itself: whoever sends the same command at the same moment waits here until the first has ended.
    fn once_insert(&mut self, scope: &Scope, actor: &str, key: &str, once: &Once) -> Stored<()>;
    /// Notes what the command gave.
    fn once_fill(&mut self, scope: &Scope, actor: &str, key: &str, result: &str) -> Stored<()>;
    /// Forgets idempotency keys used before a moment, and says how many.
    fn once_purge(&mut self, before: Timestamp, limit: u32) -> Stored<u64>;
}
