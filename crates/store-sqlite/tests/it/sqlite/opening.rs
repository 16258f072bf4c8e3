//! Opening and closing a store, and the lock of its directory.

use std::sync::Arc;

use holdpoint_store_sqlite::{DataLock, SqliteOptions, SqliteStore};
use rusqlite::Connection;
use store::conformance::World;
use store::{StoreError, SystemClock};

use crate::sqlite::open;

#[test]
fn eight_stores_open_an_empty_directory_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let stores: Vec<_> = std::thread::scope(|scope| {
        let openers: Vec<_> = (0..8).map(|_| scope.spawn(|| open(path, &SqliteOptions::default()))).collect();
        openers.into_iter().map(|opener| opener.join().unwrap()).collect()
    });
    for (number, store) in stores.iter().enumerate() {
        let value = number.to_string();
        let first = World::on(store).write(move |tx| tx.setting_ensure("first", &value));
        assert_eq!(first.as_deref(), Ok("0"));
    }
}

#[test]
fn a_newer_database_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    drop(open(directory.path(), &SqliteOptions::default()));
    let sql = "insert into refinery_schema_history (version, name, applied_on, checksum) \
               select 9999, 'newer', applied_on, '1' from refinery_schema_history limit 1";
    Connection::open(directory.path().join("holdpoint.db")).unwrap().execute_batch(sql).unwrap();
    let refused = SqliteStore::open(directory.path(), Arc::new(SystemClock), &SqliteOptions::default()).err();
    assert!(matches!(refused, Some(StoreError::Newer(_))), "{refused:?}");
}

#[test]
fn database_with_other_migrations_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    drop(open(directory.path(), &SqliteOptions::default()));
    let sql = "update refinery_schema_history set checksum = '1' where version = 1";
    Connection::open(directory.path().join("holdpoint.db")).unwrap().execute_batch(sql).unwrap();
    let refused = SqliteStore::open(directory.path(), Arc::new(SystemClock), &SqliteOptions::default()).err();
    let Some(StoreError::Diverged(why)) = refused else { unreachable!("{refused:?}") };
    assert!(why.contains("V1__core"), "{why}");
}

#[test]
fn a_directory_has_one_server() {
    let directory = tempfile::tempdir().unwrap();
    let first = DataLock::acquire(directory.path()).unwrap();
    let second = DataLock::acquire(directory.path()).err();
    assert!(matches!(second, Some(StoreError::InUse(_))), "{second:?}");
    drop(first);
    assert!(DataLock::acquire(directory.path()).is_ok());
}

#[test]
fn closing_merges_the_write_ahead_log_and_refuses_later_jobs() {
    let directory = tempfile::tempdir().unwrap();
    let world = World::on(&open(directory.path(), &SqliteOptions::default()));
    world.session();
    world.look(|reads| reads.next_interaction_due());
    world.store.close();
    assert!(
        !directory.path().join("holdpoint.db-wal").exists(),
        "the write-ahead log is merged into the database file"
    );
    assert_eq!(world.write(|tx| tx.now()), Err(StoreError::Closed));
    world.store.close();
    let again = World::on(&open(directory.path(), &SqliteOptions::default()));
    assert_eq!(again.here, world.here);
}
