//! Runs the conformance suite of the stores on PostgreSQL.

use std::sync::Arc;

use holdpoint_store_postgres::{PostgresOptions, PostgresStore};
use store::conformance::Fixture;
use testkit::postgres::TestPostgres;

fn postgres() -> Fixture {
    let database = TestPostgres::start().unwrap().fresh_database().unwrap();
    let store = PostgresStore::open(&database.url(), &PostgresOptions::default()).unwrap();
    Fixture::new(Arc::new(store), database)
}

store::conformance!(postgres);
