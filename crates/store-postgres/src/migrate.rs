//! Brings the schema up to date while other nodes may be running.
//!
//! Migrations are applied one after the other, each in a transaction of its own, so that none that has finished is ever undone
//! by a later one. A statement may take as long as it needs. It waits for a lock only briefly, because everybody who wants the same
//! table waits behind it, and is tried again after a pause. What changes every row of a large table is done in steps that
//! [`gradual`] lists. The log says what is done and what is waited for.

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

/// How often an attempt that failed is repeated without any migration having finished since, before it is given up.
const MOST_TRIES: u32 = 50;
/// How long is waited after an attempt that another node has spoilt.
const PAUSE: Duration = Duration::from_millis(100);
/// The first and the longest pause between two attempts to get a lock.
const LOCK_PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(15));
/// Held by the node that migrates. Nobody else is kept from reading or writing the history.
const TURN: &str = "begin; lock table refinery_schema_history in share update exclusive mode";

/// Why an attempt has ended early.
enum Trouble {
    /// A lock was not given in time.
    Locked(String),
    /// Something that may be over when it is tried again, such as another node that migrates at the same moment.
    Passing(String),
    /// It would go wrong again in the same way.
    Final(StoreError),
}

/// Brings the schema up to date. Waits for a lock for at most `lock_wait` at a time, and as often as it takes.
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
    let mut turn = Connection::open(config).map_err(|failure| Trouble::Passing(failure.reason()))?;
    turn.client.batch_execute(&settings)?;
    // Released with its connection, at the end of this function.
    turn.client.batch_execute(TURN).map_err(|error| match Trouble::from(error) {
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
                // Only records it: the steps have done what its text says.
                runner(Target::FakeVersion(version)).run(client)?;
            }
            None => drop(runner(Target::Version(version)).run(client)?),
        }
        tracing::info!(version, name, seconds = begun.elapsed().as_secs_f64(), "migrationFinished");
    }
    Ok(())
}

/// The migrations that the database lacks, in their order. Refuses a database whose history is not ours.
fn pending(client: &mut Client) -> Result<Vec<Migration>, Trouble> {
    // No migration has this number: the history is made and compared, and nothing is applied.
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

/// Applies what is missing up to a version, in one transaction with its records in the history.
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
