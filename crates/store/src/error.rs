//! Errors of a store: lost races, a full disk or queue, and a database that cannot be reached or used.

/// Error of a store. The transaction was rolled back, except possibly with [`StoreError::InDoubt`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// A guarded write found that the row had changed.
    #[error("the row has changed since it was read")]
    Conflict,
    /// The database asks for the transaction to be run again. A store retries a few times before it returns this error.
    #[error("the database asked for the transaction to be run again")]
    Serialization,
    /// The queue of the store is full.
    #[error("the queue of the store is full; try again later")]
    Busy,
    /// The disk is full. Reads still work.
    #[error("the disk of the database is full")]
    Full,
    /// The database cannot be reached.
    #[error("the database cannot be reached: {0}")]
    Unavailable(String),
    /// The connection broke during the commit. The transaction may or may not have committed; the caller has to read to find out.
    #[error("the connection broke during a commit; check the result before you try again")]
    InDoubt,
    /// The database was written by a newer version of Holdpoint.
    #[error("the database was written by a newer version of Holdpoint: {0}")]
    Newer(String),
    /// The database was written by a version of Holdpoint that has other migrations than this version.
    #[error("the database was written by another version of Holdpoint: {0}")]
    Diverged(String),
    /// Another server uses the data directory.
    #[error("another server is using {0}")]
    InUse(String),
    /// The file exists, and would be overwritten.
    #[error("{0} exists already")]
    Exists(String),
    /// A stored value cannot be read, or a statement is invalid.
    #[error("the database returned data that cannot be used: {0}")]
    Corrupt(String),
    /// The use case panicked, and its transaction was rolled back.
    #[error("the use case panicked, and its transaction was rolled back")]
    Panicked,
    /// The store is shutting down.
    #[error("the store is shutting down")]
    Closed,
}
