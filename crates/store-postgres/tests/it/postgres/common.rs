//! What the tests of this store share: a database, stores on it, and patience.

use std::sync::Arc;
use std::time::{Duration, Instant};

use holdpoint_store_postgres::{Options, PostgresStore};
use store::Store;
use testkit::postgres::{TestDatabase, TestPostgres};

/// A fresh database on whatever server there is.
pub(crate) fn database() -> TestDatabase {
    TestPostgres::start().unwrap().fresh_database().unwrap()
}

/// A store on a database.
pub(crate) fn open(database: &TestDatabase, options: &Options) -> Arc<dyn Store> {
    Arc::new(PostgresStore::open(&database.url(), options).unwrap())
}

/// Looks until it is so. However slow the machine is, it is not as slow as this.
pub(crate) fn until(what: &str, mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
