//! Copying a database that is in use, and looking for damage.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};
use store::StoreError;

use crate::connection::{open_reader, private_file};
use crate::error::Told;

/// Copies the database of a directory into a new file while a server goes on using it.
pub fn backup(directory: &Path, target: &Path) -> Result<(), StoreError> {
    if target.exists() {
        return Err(StoreError::Exists(target.display().to_string()));
    }
    let source = open_reader(&directory.join("holdpoint.db"))?;
    private_file(target)?;
    let mut copy = Connection::open(target).told()?;
    let running = Backup::new(&source, &mut copy).told()?;
    // All at a stroke: the writer goes on meanwhile, and a copy in parts would begin again after each of its commits.
    while running.step(-1).told()? != StepResult::Done {
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(running);
    let found = integrity(&copy)?;
    if found.is_empty() { Ok(()) } else { Err(StoreError::Corrupt(found.join("; "))) }
}

/// Lists what is damaged in the database of a directory; nothing, if it is whole.
pub fn check_integrity(directory: &Path) -> Result<Vec<String>, StoreError> {
    integrity(&open_reader(&directory.join("holdpoint.db"))?)
}

fn integrity(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let mut statement = connection.prepare("pragma integrity_check").told()?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0)).told()?;
    let mut found: Vec<String> = lines.collect::<Result<_, _>>().told()?;
    found.retain(|line| line != "ok");
    Ok(found)
}
