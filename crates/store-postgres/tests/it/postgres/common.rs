//! Helpers of the tests of this store.

use std::sync::Arc;
use std::time::{Duration, Instant};

use holdpoint_store_postgres::{PostgresOptions, PostgresStore};
use store::Store;
use testkit::postgres::{TestDatabase, TestPostgres};

/// Creates a database on the test server.
pub(crate) fn database() -> TestDatabase {
    TestPostgres::start().unwrap().fresh_database().unwrap()
}

/// Opens a store on a database.
pub(crate) fn open(database: &TestDatabase, options: &PostgresOptions) -> Arc<dyn Store> {
    Arc::new(PostgresStore::open(&database.url(), options).unwrap())
}

/// Polls until a condition holds, for at most a minute.
pub(crate) fn until(what: &str, mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < Duration::from_mins(1), "not within a minute: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
