//! What can go wrong below the domain.

/// Why a store could not do its work. Nothing of the use case was kept, except where [`StoreError::InDoubt`] says so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// A guarded write found that the row had changed.
    #[error("the row has changed since it was read")]
    Conflict,
    /// The database asks for the transaction to be run again. Stores do so themselves, a few times.
    #[error("the database asked for the transaction to be run again")]
    Serialization,
    /// More work is queued than can be done soon.
    #[error("the store has more work than it can do soon")]
    Busy,
    /// The disk is full. Reading goes on.
    #[error("the disk of the database is full")]
    Full,
    /// The database cannot be reached.
    #[error("the database cannot be reached: {0}")]
    Unavailable(String),
    /// The connection broke while the commit was under way: whether it happened is known only by looking.
    #[error("the connection broke during a commit; look before trying again")]
    InDoubt,
    /// The database was written by a newer version of Holdpoint.
    #[error("the database was written by a newer version of Holdpoint: {0}")]
    Newer(String),
    /// The database was written by a version of Holdpoint whose schema is not an ancestor of ours.
    #[error("the database was written by another version of Holdpoint: {0}")]
    Diverged(String),
    /// Another server has the data directory.
    #[error("another server is using {0}")]
    InUse(String),
    /// A file would be written over.
    #[error("{0} exists already")]
    Exists(String),
    /// What was read is not what was written, or a statement is wrong.
    #[error("the database answered with what cannot be used: {0}")]
    Corrupt(String),
    /// A defect of ours: the use case panicked and was undone.
    #[error("the use case panicked and was undone")]
    Panicked,
    /// The store is shutting down.
    #[error("the store is shutting down")]
    Closed,
}
