//! Runs a test on both stores, with direct access to their tables, to inspect and to damage stored data.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use store::Store;
use store_postgres::{PostgresOptions, PostgresStore};
use testkit::postgres::{TestDatabase, TestPostgres};
use uuid::Uuid;

use crate::engine::world::World;

/// A world with direct access to its tables.
pub(crate) struct Fixture {
    pub(crate) world: World,
    pub(crate) raw: Raw,
    skew: Arc<AtomicI64>,
}

/// Direct access to the tables of a store.
pub(crate) enum Raw {
    Sqlite(PathBuf),
    Postgres(TestDatabase),
}

impl Fixture {
    /// Moves both the world's clock and the store's clock.
    pub(crate) fn pass(&self, seconds: i64) {
        self.world.pass(seconds);
        self.skew.fetch_add(seconds * 1_000_000, Ordering::Relaxed);
    }
}

impl Raw {
    /// Selects the SQLite or the PostgreSQL form of a statement.
    pub(crate) fn either<'a>(&self, sqlite: &'a str, postgres: &'a str) -> &'a str {
        match self {
            Self::Sqlite(_) => sqlite,
            Self::Postgres(_) => postgres,
        }
    }

    /// Formats an identifier as an SQL literal.
    pub(crate) fn id(&self, id: Uuid) -> String {
        match self {
            Self::Sqlite(_) => format!("x'{}'", id.simple()),
            Self::Postgres(_) => format!("'{id}'::uuid"),
        }
    }

    pub(crate) fn execute(&self, sql: &str) {
        match self {
            Self::Sqlite(file) => rusqlite::Connection::open(file).unwrap().execute_batch(sql).unwrap(),
            // The driver must not block a thread that runs futures.
            Self::Postgres(database) => std::thread::scope(|threads| {
                threads.spawn(|| database.connect().unwrap().batch_execute(sql).unwrap()).join().unwrap();
            }),
        }
    }

    /// Texts that a query of one column returns.
    pub(crate) fn texts(&self, sql: &str) -> Vec<String> {
        match self {
            Self::Sqlite(file) => {
                let connection = rusqlite::Connection::open(file).unwrap();
                let mut statement = connection.prepare(sql).unwrap();
                let found = statement.query_map([], |row| row.get(0)).unwrap();
                found.collect::<Result<_, _>>().unwrap()
            }
            Self::Postgres(database) => std::thread::scope(|threads| {
                let query = || database.connect().unwrap().query(sql, &[]).unwrap();
                threads.spawn(query).join().unwrap().iter().map(|row| row.get(0)).collect()
            }),
        }
    }
}

/// Runs a test on SQLite, and then on PostgreSQL.
pub(crate) fn on_both(story: impl AsyncFn(&Fixture)) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let world = World::new();
    let raw = Raw::Sqlite(world.directory.path().join(store_sqlite::FILE));
    let fixture = Fixture { world, raw, skew: Arc::default() };
    runtime.block_on(story(&fixture));
    drop(fixture);
    on_postgres(story);
}

/// Runs a test on PostgreSQL.
pub(crate) fn on_postgres(story: impl AsyncFn(&Fixture)) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let database = TestPostgres::start().unwrap().fresh_database().unwrap();
    let options = PostgresOptions::default();
    let store: Arc<dyn Store> = Arc::new(PostgresStore::open(&database.url(), &options).unwrap());
    let world = World::over(Arc::clone(&store));
    let fixture = Fixture { world, raw: Raw::Postgres(database), skew: Arc::clone(&options.skew) };
    runtime.block_on(story(&fixture));
    store.close();
}
