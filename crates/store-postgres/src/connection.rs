//! Connections with their prepared statements, and the [`Executor`] that a job gets.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::Timestamp;
use parking_lot::Mutex;
use postgres::fallible_iterator::FallibleIterator;
use postgres::types::{FromSql, ToSql, Type};
use postgres::{Client, Config, NoTls, Row, SimpleQueryMessage, Statement};
use store::sql::list::{List, Value};
use store::{Bounded, StoreError, StoreResult};

use crate::error::Failure;
use crate::values::time;

/// Number of prepared statements that a connection caches.
const STATEMENTS: usize = 256;
/// Settings of every connection. A running transaction hides later events from all readers, so the timeouts let the database end a
/// transaction whose server has stopped. Every list has an index in its order; with bitmap scans off, the planner uses that index and does
/// not combine two others.
const SETTINGS: &str = "set default_transaction_isolation = 'read committed'; set enable_bitmapscan = off; \
                        set idle_in_transaction_session_timeout = '30s'; set statement_timeout = '30s'; \
                        set timezone = 'UTC'; set client_min_messages = 'warning'";
/// Reads the clock of the database, in microseconds.
pub(crate) const CLOCK: &str = "select (extract(epoch from clock_timestamp()) * 1000000)::bigint";
/// Longest pause between two attempts to connect.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// Values of the parameters of a statement.
pub(crate) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A connection with its prepared statements.
pub(crate) struct Connection {
    pub(crate) client: Client,
    statements: HashMap<String, Statement>,
}

impl Connection {
    /// Connects and applies [`SETTINGS`].
    pub(crate) fn open(config: &Config) -> Result<Self, Failure> {
        let mut client = config.connect(NoTls)?;
        client.batch_execute(SETTINGS)?;
        Ok(Self { client, statements: HashMap::new() })
    }

    /// Begins a transaction and reads the clock of the database, in one round trip.
    pub(crate) fn begin(&mut self) -> Result<i64, Failure> {
        let messages = self.client.simple_query(&format!("begin; {CLOCK}"))?;
        let clock = messages.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0)?.parse().ok(),
            _ => None,
        });
        clock.ok_or_else(|| Failure::Refused(StoreError::Corrupt("the database's clock cannot be read".into())))
    }

    /// Ends the transaction with `commit` or `rollback`.
    pub(crate) fn end(&mut self, how: &str) -> Result<(), Failure> {
        Ok(self.client.batch_execute(how)?)
    }

    /// Runs a prepared query.
    pub(crate) fn query(&mut self, sql: &str, values: Values<'_>) -> Result<Vec<Row>, Failure> {
        let statement = self.prepared(sql)?;
        Ok(self.client.query(&statement, values)?)
    }

    /// Runs a query without preparing it, so that the planner knows the values: the best plan of a list depends on them.
    pub(crate) fn list(&mut self, sql: &str, values: Values<'_>) -> Result<Vec<Row>, Failure> {
        Ok(self.client.query(&*numbered(sql), values)?)
    }

    /// Reads the rows of a query one by one, up to the limits of [`Bounded`]. The driver discards the rows after the limit.
    pub(crate) fn bounded<T>(
        &mut self,
        sql: &str,
        prepared: bool,
        values: Values<'_>,
        limit: u32,
        read: impl Fn(&Row) -> StoreResult<T>,
    ) -> Result<Bounded<T>, Failure> {
        let statement = if prepared { self.prepared(sql)? } else { self.client.prepare(&numbered(sql))? };
        let mut rows = self.client.query_raw(&statement, values.iter().copied())?;
        let mut failure = None;
        let found = Bounded::read(limit, || match rows.next() {
            Ok(None) => Ok(None),
            Ok(Some(row)) => Ok(Some((width(&row), read(&row)?))),
            Err(error) => {
                let error = Failure::from(error);
                let returned = error.store_error();
                failure = Some(error);
                Err(returned)
            }
        });
        match failure {
            Some(failure) => Err(failure),
            None => found.map_err(Failure::Refused),
        }
    }

    fn execute(&mut self, sql: &str, values: Values<'_>) -> Result<u64, Failure> {
        let statement = self.prepared(sql)?;
        Ok(self.client.execute(&statement, values)?)
    }

    fn prepared(&mut self, sql: &str) -> Result<Statement, Failure> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        if self.statements.len() >= STATEMENTS {
            self.statements.clear();
        }
        let statement = self.client.prepare(&numbered(sql))?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

/// Replaces the parameters of a statement of [`store::sql`] (`?1`) with parameters of PostgreSQL (`$1`). No statement has a question mark
/// elsewhere.
fn numbered(sql: &str) -> Cow<'_, str> {
    if sql.contains('?') { Cow::Owned(sql.replace('?', "$")) } else { Cow::Borrowed(sql) }
}

/// Returns the values of a list for its parameters.
pub(crate) fn bound(list: &List) -> Vec<&(dyn ToSql + Sync)> {
    let values = list.values.iter().map(|value| match value {
        Value::Uuid(id) => id as &(dyn ToSql + Sync),
        Value::Text(text) => text,
        Value::Integer(number) => number,
    });
    values.collect()
}

/// Runs the statements of a job on a connection: reads, and writes if the connection is in a transaction.
pub(crate) struct Executor<'a> {
    pub(crate) connection: &'a mut Connection,
    /// Offset that tests add to the clock, in microseconds.
    pub(crate) skew: i64,
    pub(crate) now: Option<Timestamp>,
    /// First failure of a statement. The transaction cannot commit after it, even if the job ignores the error.
    pub(crate) failure: Option<Failure>,
}

impl<'a> Executor<'a> {
    pub(crate) const fn new(connection: &'a mut Connection, skew: i64) -> Self {
        Self { connection, skew, now: None, failure: None }
    }

    /// Reads the rows of a statement.
    pub(crate) fn rows(&mut self, sql: &str, values: Values<'_>) -> StoreResult<Vec<Row>> {
        self.run(|connection| connection.query(sql, values))
    }

    /// Reads the rows of a list, which is planned for its values.
    pub(crate) fn list_rows(&mut self, sql: &str, values: Values<'_>) -> StoreResult<Vec<Row>> {
        self.run(|connection| connection.list(sql, values))
    }

    /// Reads the rows of a list one by one, up to the limits of [`Bounded`]. The list is planned for its values.
    pub(crate) fn bounded_list<T>(
        &mut self,
        sql: &str,
        values: Values<'_>,
        limit: u32,
        read: impl Fn(&Row) -> StoreResult<T>,
    ) -> StoreResult<Bounded<T>> {
        self.run(|connection| connection.bounded(sql, false, values, limit, read))
    }

    /// Reads the rows of a list that has a filter, up to the limits of [`Bounded`].
    pub(crate) fn list<T>(
        &mut self,
        list: &List,
        limit: u32,
        read: impl Fn(&Row) -> StoreResult<T>,
    ) -> StoreResult<Bounded<T>> {
        self.bounded_list(&list.sql, &bound(list), limit, read)
    }

    /// Like [`Self::bounded_list`], for a prepared statement.
    pub(crate) fn bounded_rows<T>(
        &mut self,
        sql: &str,
        values: Values<'_>,
        limit: u32,
        read: impl Fn(&Row) -> StoreResult<T>,
    ) -> StoreResult<Bounded<T>> {
        self.run(|connection| connection.bounded(sql, true, values, limit, read))
    }

    /// Reads the first row of a statement, if there is one.
    pub(crate) fn row(&mut self, sql: &str, values: Values<'_>) -> StoreResult<Option<Row>> {
        Ok(self.rows(sql, values)?.into_iter().next())
    }

    /// Runs a statement that writes, and returns the number of rows that it changed.
    pub(crate) fn change(&mut self, sql: &str, values: Values<'_>) -> StoreResult<u64> {
        self.run(|connection| connection.execute(sql, values))
    }

    /// Runs a statement that must change exactly one row; another number means that the write has lost a race.
    pub(crate) fn guarded(&mut self, sql: &str, values: Values<'_>) -> StoreResult<()> {
        if self.change(sql, values)? == 1 { Ok(()) } else { Err(StoreError::Conflict) }
    }

    /// Converts a reading of the database's clock to the time of the transaction.
    pub(crate) fn transaction_time(&self, clock: i64) -> StoreResult<Timestamp> {
        time(clock.saturating_add(self.skew))
    }

    fn run<T>(&mut self, work: impl FnOnce(&mut Connection) -> Result<T, Failure>) -> StoreResult<T> {
        if let Some(failure) = &self.failure {
            return Err(failure.store_error());
        }
        work(self.connection).map_err(|failure| self.failure.insert(failure).store_error())
    }
}

/// A column that is read only for its length.
struct Width(usize);

impl<'a> FromSql<'a> for Width {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(raw.len()))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(0))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// Returns the number of bytes in the columns of a row.
fn width(row: &Row) -> usize {
    (0..row.len()).map(|index| row.try_get::<_, Width>(index).map_or(0, |width| width.0)).sum()
}

/// A connection that opens on demand, and again after it was lost.
pub(crate) struct Reconnecting {
    config: Config,
    connection: Option<Connection>,
    outage: Arc<Mutex<Option<Outage>>>,
}

/// An outage of the database. All connections of a store share it; the first that connects again ends it.
pub(crate) struct Outage {
    since: Instant,
    tried: Instant,
    reason: String,
}

impl Reconnecting {
    pub(crate) const fn new(config: Config, outage: Arc<Mutex<Option<Outage>>>) -> Self {
        Self { config, connection: None, outage }
    }

    /// Returns the connection. Retries for `patience` while the database is unreachable; fails at once if the outage has lasted longer.
    pub(crate) fn get(&mut self, patience: Duration, hurried: impl Fn() -> bool) -> StoreResult<&mut Connection> {
        let mut pause = Duration::from_millis(10);
        while self.connection.is_none() {
            if let Some(outage) = &*self.outage.lock()
                && outage.since.elapsed() > patience
                && outage.tried.elapsed() < LONGEST_PAUSE
            {
                return Err(StoreError::Unavailable(outage.reason.clone()));
            }
            match Connection::open(&self.config) {
                Ok(connection) => {
                    *self.outage.lock() = None;
                    self.connection = Some(connection);
                }
                Err(failure) => {
                    let lasting = self.record_failure(&failure);
                    if lasting >= patience || hurried() {
                        return Err(StoreError::Unavailable(failure.reason()));
                    }
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
        self.connection.as_mut().ok_or(StoreError::Closed)
    }

    /// Drops a connection that was lost.
    pub(crate) fn discard(&mut self) {
        self.connection = None;
    }

    /// Records a failed attempt, and returns the length of the outage.
    fn record_failure(&self, failure: &Failure) -> Duration {
        let mut outage = self.outage.lock();
        let tried = Instant::now();
        let since = outage.as_ref().map_or(tried, |outage| outage.since);
        *outage = Some(Outage { since, tried, reason: failure.reason() });
        since.elapsed()
    }
}
