//! `holdpoint backup` and `holdpoint check`: copies a SQLite database in use, and looks for damage.

use crate::config::{Backup, Check};
use crate::failure::Failure;

/// Copies the database to a new file.
pub(crate) fn backup(backup: &Backup) -> Result<(), Failure> {
    if backup.database.database_url.is_some() {
        return Err(Failure::SqliteOnly("backup"));
    }
    store_sqlite::backup(&backup.database.data, &backup.target)?;
    println!("copied and checked: {}", backup.target.display());
    println!("keep master.key with it: sealed values cannot be opened without it");
    Ok(())
}

/// Checks the database for damage.
pub(crate) fn check(check: &Check) -> Result<(), Failure> {
    if check.database.database_url.is_some() {
        return Err(Failure::SqliteOnly("check"));
    }
    let found = store_sqlite::check_integrity(&check.database.data)?;
    if !found.is_empty() {
        return Err(Failure::Damaged(found.join("\n")));
    }
    println!("no damage was found in the database");
    Ok(())
}
