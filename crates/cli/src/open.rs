//! Opens the store that was asked for.

use std::sync::Arc;

use store::{Clock, Store, SystemClock};
use store_postgres::PostgresStore;
use store_sqlite::SqliteStore;

use crate::config::Database;
use crate::failure::Failure;

/// A store, and the clock that it goes by.
type Opened = (Arc<dyn Store>, Arc<dyn Clock>);

/// Opens the store that was asked for.
pub(crate) fn open(database: &Database) -> Result<Opened, Failure> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let store: Arc<dyn Store> = match &database.database_url {
        Some(url) => {
            let options = store_postgres::Options {
                connections: database.database_connections.max(1),
                ..store_postgres::Options::default()
            };
            Arc::new(PostgresStore::open(url, &options)?)
        }
        None => {
            let options = store_sqlite::Options::default();
            Arc::new(SqliteStore::open(&database.data, Arc::clone(&clock), &options)?)
        }
    };
    Ok((store, clock))
}
