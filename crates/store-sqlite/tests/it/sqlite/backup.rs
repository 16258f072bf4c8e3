//! Backups of a database that is in use.

use std::sync::atomic::{AtomicBool, Ordering};

use holdpoint_store_sqlite::{SqliteOptions, backup, check_integrity};
use store::conformance::{World, append};
use store::{IdempotencyRecord, StoreError};

use crate::sqlite::open;

#[test]
fn backup_during_writes_is_complete() {
    let directory = tempfile::tempdir().unwrap();
    let world = World::on(&open(directory.path(), &SqliteOptions::default()));
    let here = world.here;
    let sessions: Vec<_> = (0..8).map(|_| world.session().id).collect();
    let copies: Vec<_> = (0..5).map(|_| tempfile::tempdir().unwrap()).collect();
    let done = AtomicBool::new(false);
    let write = |session| world.write(move |tx| append(tx, &here, session, None)).map(drop);
    for session in &sessions {
        write(*session).unwrap();
    }
    // Larger than one step of the copy.
    let large = IdempotencyRecord { digest: "d".into(), result: "x".repeat(10_000_000) };
    world.write(move |tx| tx.idempotency_insert(&here, "alice", "large", &large)).unwrap();
    std::thread::scope(|scope| {
        for session in &sessions {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    write(*session).unwrap();
                }
            });
        }
        for copy in &copies {
            let copied = backup(directory.path(), &copy.path().join("holdpoint.db"));
            if copied.is_err() {
                done.store(true, Ordering::Relaxed);
            }
            assert_eq!(copied, Ok(()));
        }
        done.store(true, Ordering::Relaxed);
    });
    for copy in &copies {
        assert_eq!(check_integrity(copy.path()), Ok(Vec::new()));
        let copied = World::on(&open(copy.path(), &SqliteOptions::default()));
        assert_eq!(copied.here, here);
        for session in sessions.clone() {
            let found = copied.look(move |reads| {
                let last = reads.session(&here, session)?.map(|session| session.last_seq);
                Ok((last, reads.events(&here, session, 0, 100_000)?.len() as u64))
            });
            assert_eq!(found.0, Some(found.1), "the copy has all events of the session");
            assert!(found.1 > 0);
        }
    }
    let twice = backup(directory.path(), &copies[0].path().join("holdpoint.db"));
    assert!(matches!(twice, Err(StoreError::Exists(_))), "{twice:?}");
}
