//! Opens the configured store: a SQLite file, or a PostgreSQL database.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use engine::{Engine, Ids, MasterKey, Settings, Vault};
use store::{Clock, LineageMismatch, Store, SystemClock};
use store_postgres::PostgresStore;
use store_sqlite::{FILE, SqliteStore};

use crate::config::Database;
use crate::failure::Failure;

/// A store with its clock.
type OpenStore = (Arc<dyn Store>, Arc<dyn Clock>);

/// Opens the configured store if it exists: a mistyped directory must not create a database.
pub(crate) fn open_existing(database: &Database) -> Result<OpenStore, Failure> {
    if let Some(missing) = missing_file(database) {
        return Err(Failure::Data(missing, io::ErrorKind::NotFound.into()));
    }
    open(database)
}

/// Opens or creates the configured store and says when it is new, so that a mistyped directory is noticed.
pub(crate) fn open_or_create(database: &Database) -> Result<OpenStore, Failure> {
    if let Some(file) = missing_file(database) {
        eprintln!("a new database was created, because there was none: {}", file.display());
    }
    open(database)
}

/// An engine with a random vault key, for commands that seal nothing: keys and accounts.
pub(crate) fn engine_without_vault((store, clock): OpenStore) -> Engine {
    let ids = Ids::default();
    let vault = Vault::new(MasterKey::from_bytes(ids.random()));
    Engine::new(store, clock, ids, vault, Settings::default())
}

/// Refuses a database that was restored from a dump into another cluster and not adopted.
pub(crate) async fn refuse_unadopted(engine: &Engine) -> Result<(), Failure> {
    match engine.database_misfit().await? {
        Some(LineageMismatch { recorded, next }) => Err(Failure::NotAdopted { recorded, next }),
        None => Ok(()),
    }
}

/// File of a SQLite database that does not exist yet.
fn missing_file(database: &Database) -> Option<PathBuf> {
    let file = database.data.join(FILE);
    (database.database_url.is_none() && !file.exists()).then_some(file)
}

/// Opens the configured store and creates it if it does not exist.
pub(crate) fn open(database: &Database) -> Result<OpenStore, Failure> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let store: Arc<dyn Store> = if let Some(url) = &database.database_url {
        let options = store_postgres::PostgresOptions {
            connections: database.database_connections.max(1),
            ..store_postgres::PostgresOptions::default()
        };
        Arc::new(PostgresStore::open(url, &options)?)
    } else {
        let options = store_sqlite::SqliteOptions::default();
        Arc::new(SqliteStore::open(&database.data, Arc::clone(&clock), &options)?)
    };
    Ok((store, clock))
}
