//! Backup of a database that is in use, and a check for damage.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};
use store::StoreError;

use crate::connection::{open_reader, private_file};
use crate::error::OrStoreError;

/// Copies the database of a directory into a new file. A server may use the database meanwhile.
pub fn backup(directory: &Path, target: &Path) -> Result<(), StoreError> {
    if target.exists() {
        return Err(StoreError::Exists(target.display().to_string()));
    }
    let source = open_reader(&directory.join("holdpoint.db"))?;
    private_file(target)?;
    let mut copy = Connection::open(target).or_store_error()?;
    let running = Backup::new(&source, &mut copy).or_store_error()?;
    // One step copies all pages. The writer may commit meanwhile; a copy in several steps would restart after each commit.
    while running.step(-1).or_store_error()? != StepResult::Done {
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(running);
    let found = integrity(&copy)?;
    if found.is_empty() { Ok(()) } else { Err(StoreError::Corrupt(found.join("; "))) }
}

/// Lists the damage of the database of a directory; empty if it is intact.
pub fn check_integrity(directory: &Path) -> Result<Vec<String>, StoreError> {
    integrity(&open_reader(&directory.join("holdpoint.db"))?)
}

fn integrity(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let mut statement = connection.prepare("pragma integrity_check").or_store_error()?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0)).or_store_error()?;
    let mut found: Vec<String> = lines.collect::<Result<_, _>>().or_store_error()?;
    found.retain(|line| line != "ok");
    Ok(found)
}
