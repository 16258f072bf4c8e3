//! Tests of SQLite only: the data directory.

mod backup;
mod disk;
mod opening;
mod tables;
mod upgrade;

use std::path::Path;
use std::sync::Arc;

use holdpoint_store_sqlite::{SqliteOptions, SqliteStore};
use store::{Store, SystemClock};

/// Opens a store in a directory.
fn open(directory: &Path, options: &SqliteOptions) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(directory, Arc::new(SystemClock), options).unwrap())
}
