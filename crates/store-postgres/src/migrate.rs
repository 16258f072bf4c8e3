//! Migrates the schema while other nodes may be running.
//!
//! Migrations are applied one after the other, each in a transaction of its own, so that a later failure does not undo an earlier one.
//! A statement has no time limit. It waits for a lock only briefly, because other transactions that want the same table queue behind it,
//! and is retried after a pause. A change of every row of a large table is done in steps, which [`gradual`] lists. The log names each
//! migration and each lock that is waited for.

mod gradual;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use postgres::error::SqlState;
use postgres::{Client, Config};
use refinery::error::Kind;
use refinery::{Migration, Runner, Target};
use store::StoreError;

use crate::connection::Connection;
use crate::error::describe;

mod embedded {
    refinery::embed_migrations!("migrations");
}

/// Maximum number of attempts without a finished migration in between.
const MOST_TRIES: u32 = 50;
/// Pause after an attempt that collided with another node.
const PAUSE: Duration = Duration::from_millis(100);
/// The first and the longest pause between two attempts to get a lock.
const LOCK_PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(15));
/// Statements that lock the history, so that one node migrates. The lock does not block readers and writers of the history.
const LOCK_HISTORY: &str = "begin; lock table refinery_schema_history in share update exclusive mode";

/// Reason why an attempt ended early.
enum Trouble {
    /// A lock was not granted in time.
    Locked(String),
    /// A failure that a retry may get past, such as another node that migrates at the same time.
    Passing(String),
    /// A retry would fail in the same way.
    Final(StoreError),
}

/// Migrates the schema. Waits for a lock for at most `lock_wait` at a time, and retries until it is granted.
pub(crate) fn migrate(config: &Config, connection: &mut Connection, lock_wait: Duration) -> Result<(), StoreError> {
    let (mut tries, mut pause, mut last) = (0, LOCK_PAUSES.0, 0);
    loop {
        let trouble = match attempt(config, connection, lock_wait) {
            Ok(()) => return Ok(()),
            Err(trouble) => trouble,
        };
        let applied = applied(&mut connection.client).map_or(last, |applied| applied.len());
        if applied > last {
            (tries, pause, last) = (0, LOCK_PAUSES.0, applied);
        }
        match trouble {
            Trouble::Final(error) => return Err(error),
            Trouble::Locked(reason) => {
                tracing::warn!(reason, seconds_to_next_try = pause.as_secs_f64(), "migrationWaiting");
                std::thread::sleep(pause);
                pause = (pause * 2).min(LOCK_PAUSES.1);
            }
            Trouble::Passing(reason) if tries == MOST_TRIES => {
                return Err(StoreError::Unavailable(format!("migrations: {reason}")));
            }
            Trouble::Passing(reason) => {
                tracing::info!(reason, "migrationTriedAgain");
                tries += 1;
                std::thread::sleep(PAUSE);
            }
        }
    }
}

fn attempt(config: &Config, connection: &mut Connection, lock_wait: Duration) -> Result<(), Trouble> {
    let client = &mut connection.client;
    if pending(client)?.is_empty() {
        return Ok(());
    }
    let settings = format!(
        "set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set lock_timeout = {}",
        lock_wait.as_millis().max(1)
    );
    let mut holder = Connection::open(config).map_err(|failure| Trouble::Passing(failure.reason()))?;
    holder.client.batch_execute(&settings)?;
    // The lock is released with its connection, at the end of this function.
    holder.client.batch_execute(LOCK_HISTORY).map_err(|error| match Trouble::from(error) {
        Trouble::Locked(_) => Trouble::Locked("another node migrates".to_owned()),
        other => other,
    })?;
    client.batch_execute(&settings)?;
    if applied(client)?.is_empty() {
        let begun = Instant::now();
        runner(Target::Latest).run(client)?;
        tracing::info!(seconds = begun.elapsed().as_secs_f64(), "schemaCreated");
        return Ok(());
    }
    for migration in pending(client)? {
        let (version, name, begun) = (migration.version(), migration.name(), Instant::now());
        tracing::info!(version, name, "migrationStarted");
        match gradual::steps(version) {
            Some(steps) => {
                gradual::take(client, version, steps)?;
                // Only records the migration: the steps have done the work.
                runner(Target::FakeVersion(version)).run(client)?;
            }
            None => drop(runner(Target::Version(version)).run(client)?),
        }
        tracing::info!(version, name, seconds = begun.elapsed().as_secs_f64(), "migrationFinished");
    }
    Ok(())
}

/// Returns the pending migrations in order. Refuses a database whose history differs from the history of this version.
fn pending(client: &mut Client) -> Result<Vec<Migration>, Trouble> {
    // No migration has the number 0: this creates and compares the history, and applies nothing.
    runner(Target::Version(0)).run(client)?;
    let applied = applied(client)?;
    let mut pending = runner(Target::Latest).get_migrations().clone();
    pending.retain(|migration| !applied.contains(&migration.version()));
    pending.sort();
    Ok(pending)
}

fn applied(client: &mut Client) -> Result<BTreeSet<i32>, Trouble> {
    let applied = runner(Target::Latest).get_applied_migrations(client)?;
    Ok(applied.iter().map(|migration| migration.version()).collect())
}

/// Returns a runner that applies the pending migrations up to a version, in one transaction with their records in the history.
fn runner(target: Target) -> Runner {
    embedded::migrations::runner().set_abort_missing(true).set_grouped(true).set_target(target)
}

impl From<postgres::Error> for Trouble {
    fn from(error: postgres::Error) -> Self {
        let reason = describe(&error);
        match error.code() {
            Some(code) if *code == SqlState::LOCK_NOT_AVAILABLE => Self::Locked(reason),
            Some(code) if *code == SqlState::DISK_FULL => Self::Final(StoreError::Full),
            _ => Self::Passing(reason),
        }
    }
}

impl From<refinery::Error> for Trouble {
    fn from(error: refinery::Error) -> Self {
        match error.kind() {
            Kind::MissingVersion(_) => return Self::Final(StoreError::Newer(error.to_string())),
            Kind::DivergentVersion(..) => return Self::Final(StoreError::Diverged(error.to_string())),
            _ => {}
        }
        let cause = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<postgres::Error>());
        let reason = cause.map_or_else(|| error.to_string(), describe);
        match cause.and_then(postgres::Error::code) {
            Some(code) if *code == SqlState::LOCK_NOT_AVAILABLE => Self::Locked(reason),
            Some(code) if *code == SqlState::DISK_FULL => Self::Final(StoreError::Full),
            _ => Self::Passing(reason),
        }
    }
}
