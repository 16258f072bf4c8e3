//! Runs the conformance suite of the stores on SQLite.

use std::sync::Arc;

use holdpoint_store_sqlite::{SqliteOptions, SqliteStore};
use store::SystemClock;
use store::conformance::Fixture;

fn sqlite() -> Fixture {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path(), Arc::new(SystemClock), &SqliteOptions::default()).unwrap();
    Fixture::new(Arc::new(store), directory)
}

store::conformance!(sqlite);
