//! Connections to the database, and the [`Executor`] that a job uses.

use std::fs::{DirBuilder, File};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use domain::Timestamp;
use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Params, Row, ToSql};
use store::sql::list::{List, Value};
use store::{Bounded, Clock, StoreError, StoreResult};

use crate::error::OrStoreError;

/// Number of prepared statements that a connection caches.
const STATEMENTS: usize = 128;
/// Page cache of the writer, in KiB.
const WRITER_CACHE: i64 = 32_000;
/// Page cache of a reader, in KiB.
const READER_CACHE: i64 = 4_000;
/// Bytes of the file that each connection maps. The mappings of all connections count as memory of the process.
const MAPPED: i64 = 32 << 20;

/// Runs the statements of a job on a connection: reads, and writes if it is the connection of the writer.
pub(crate) struct Executor<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) clock: &'a Arc<dyn Clock>,
    pub(crate) now: Option<Timestamp>,
}

impl<'a> Executor<'a> {
    pub(crate) const fn new(connection: &'a Connection, clock: &'a Arc<dyn Clock>) -> Self {
        Self { connection, clock, now: None }
    }

    /// Reads the rows of a statement.
    pub(crate) fn rows<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> StoreResult<Vec<T>> {
        let mut statement = self.connection.prepare_cached(sql).or_store_error()?;
        statement.query_map(values, read).or_store_error()?.collect::<Result<_, _>>().or_store_error()
    }

    /// Reads the rows of a statement, and leaves out a row that cannot be read after it has logged the error: one damaged row must
    /// not stop the timers of all others.
    pub(crate) fn readable_rows<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> StoreResult<Vec<T>> {
        let mut statement = self.connection.prepare_cached(sql).or_store_error()?;
        let rows = statement.query_map(values, read).or_store_error()?;
        let readable = |row: rusqlite::Result<T>| {
            row.inspect_err(|error| tracing::error!(%error, "a due row has ids that cannot be read")).ok()
        };
        Ok(rows.filter_map(readable).collect())
    }

    /// Reads the rows of a list one by one, up to the limits of [`Bounded`].
    pub(crate) fn bounded_rows<T>(
        &self,
        sql: &str,
        values: impl Params,
        limit: u32,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> StoreResult<Bounded<T>> {
        let mut statement = self.connection.prepare_cached(sql).or_store_error()?;
        let mut rows = statement.query(values).or_store_error()?;
        Bounded::read(limit, || {
            let Some(row) = rows.next().or_store_error()? else { return Ok(None) };
            Ok(Some((width(row), read(row).or_store_error()?)))
        })
    }

    /// Reads the rows of a list that has a filter, up to the limits of [`Bounded`].
    pub(crate) fn list<T>(
        &self,
        list: &List,
        limit: u32,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> StoreResult<Bounded<T>> {
        let values: Vec<&dyn ToSql> = list.values.iter().map(bound).collect();
        self.bounded_rows(&list.sql, values.as_slice(), limit, read)
    }

    /// Reads the first row of a statement, if there is one.
    pub(crate) fn row<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> StoreResult<Option<T>> {
        self.connection.prepare_cached(sql).or_store_error()?.query_row(values, read).optional().or_store_error()
    }

    /// Reads the row of a statement that always gives one, such as a count.
    pub(crate) fn one_row<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> StoreResult<T> {
        self.connection.prepare_cached(sql).or_store_error()?.query_row(values, read).or_store_error()
    }

    /// Returns whether a statement gives a row.
    pub(crate) fn exists(&self, sql: &str, values: impl Params) -> StoreResult<bool> {
        self.connection.prepare_cached(sql).or_store_error()?.exists(values).or_store_error()
    }

    /// Runs a statement that writes, and returns the number of rows that it changed.
    pub(crate) fn change(&self, sql: &str, values: impl Params) -> StoreResult<u64> {
        Ok(self.connection.prepare_cached(sql).or_store_error()?.execute(values).or_store_error()? as u64)
    }

    /// Runs a statement that must change exactly one row; another number means that the write has lost a race.
    pub(crate) fn guarded(&self, sql: &str, values: impl Params) -> StoreResult<()> {
        if self.change(sql, values)? == 1 { Ok(()) } else { Err(StoreError::Conflict) }
    }
}

fn bound(value: &Value) -> &dyn ToSql {
    match value {
        Value::Uuid(id) => id,
        Value::Text(text) => text,
        Value::Integer(number) => number,
    }
}

/// Returns the number of bytes in the text and blob columns of a row.
fn width(row: &Row<'_>) -> usize {
    let column = |index| match row.get_ref(index) {
        Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => bytes.len(),
        _ => 0,
    };
    (0..row.as_ref().column_count()).map(column).sum()
}

/// Opens the connection of the writer.
pub(crate) fn open_writer(path: &Path, most_pages: Option<u32>) -> Result<Connection, StoreError> {
    private_file(path)?;
    let connection = Connection::open(path).or_store_error()?;
    prepare(&connection, WRITER_CACHE)?;
    log_ahead(&connection)?;
    connection.pragma_update(None, "synchronous", "full").or_store_error()?;
    connection.pragma_update(None, "wal_autocheckpoint", 4000).or_store_error()?;
    if let Some(pages) = most_pages {
        connection.pragma_update(None, "max_page_count", pages).or_store_error()?;
    }
    Ok(connection)
}

/// Switches to write-ahead logging. Retries, because the busy timeout does not apply while another process opens the same empty database.
fn log_ahead(connection: &Connection) -> Result<(), StoreError> {
    let mut tries = 0;
    loop {
        match connection.pragma_update(None, "journal_mode", "wal").or_store_error() {
            Err(StoreError::Busy) if tries < 100 => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(20));
            }
            settled => return settled,
        }
    }
}

/// Creates a directory and its parents with access for the owner only. An existing directory is not changed.
pub fn private_directory(directory: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

/// Creates a database file that only its owner can read; SQLite gives its other files the same permissions.
pub(crate) fn private_file(path: &Path) -> Result<(), StoreError> {
    let made = File::options().write(true).create_new(true).mode(0o600).open(path);
    match made {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(StoreError::Unavailable(format!("{}: {error}", path.display())))
        }
        _ => Ok(()),
    }
}

/// Opens a read-only connection.
pub(crate) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(path, flags).or_store_error()?;
    prepare(&connection, READER_CACHE)?;
    Ok(connection)
}

fn prepare(connection: &Connection, cache: i64) -> Result<(), StoreError> {
    connection.busy_timeout(Duration::from_secs(10)).or_store_error()?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // Plans must not depend on bound values: otherwise SQLite compiles a cached statement again when its bindings are cleared.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).or_store_error()?;
    connection.pragma_update(None, "foreign_keys", "off").or_store_error()?;
    connection.pragma_update(None, "cache_size", -cache).or_store_error()?;
    connection.pragma_update(None, "mmap_size", MAPPED).or_store_error()?;
    connection.pragma_update(None, "temp_store", "memory").or_store_error()
}
