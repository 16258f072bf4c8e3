//! Migrates the schema: one migration after the other, each in a transaction of its own. The log names each migration.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use refinery::error::Kind;
use refinery::{Error, Migration, Runner, Target};
use rusqlite::Connection;
use store::StoreError;

mod embedded {
    refinery::embed_migrations!("migrations");
}

/// Maximum number of attempts.
const MOST_TRIES: u32 = 20;
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(100);

/// Migrates the schema. Several processes may do so at the same time: one that loses the race tries again.
pub(crate) fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    let mut tries = 0;
    loop {
        match attempt(connection) {
            Ok(()) => return Ok(()),
            Err(error) if matches!(error.kind(), Kind::MissingVersion(_)) => {
                return Err(StoreError::Newer(error.to_string()));
            }
            Err(error) if matches!(error.kind(), Kind::DivergentVersion(..)) => {
                return Err(StoreError::Diverged(error.to_string()));
            }
            Err(error) if tries == MOST_TRIES => return Err(StoreError::Unavailable(format!("migrations: {error}"))),
            Err(error) => {
                tracing::info!(%error, "migrationWaiting");
                tries += 1;
                std::thread::sleep(PAUSE);
            }
        }
    }
}

fn attempt(connection: &mut Connection) -> Result<(), Error> {
    // No migration has the number 0: this creates and compares the history, and applies nothing.
    runner(Target::Version(0)).run(connection)?;
    let all = runner(Target::Latest);
    let applied: BTreeSet<i32> =
        all.get_applied_migrations(connection)?.iter().map(|migration| migration.version()).collect();
    if applied.is_empty() {
        all.run(connection)?;
        return Ok(());
    }
    let mut pending: Vec<&Migration> =
        all.get_migrations().iter().filter(|migration| !applied.contains(&migration.version())).collect();
    pending.sort();
    for migration in pending {
        let (version, name, begun) = (migration.version(), migration.name(), Instant::now());
        tracing::info!(version, name, "migrationStarted");
        runner(Target::Version(version)).run(connection)?;
        tracing::info!(version, name, seconds = begun.elapsed().as_secs_f64(), "migrationFinished");
    }
    Ok(())
}

/// Returns a runner that applies the pending migrations up to a version, in one transaction with their records in the history.
fn runner(target: Target) -> Runner {
    embedded::migrations::runner().set_abort_missing(true).set_grouped(true).set_target(target)
}
