//! Tests the store on a full disk.

use std::collections::HashMap;

use futures::executor::block_on;
use futures::future::join_all;
use holdpoint_store_sqlite::{SqliteOptions, check_integrity};
use store::conformance::World;
use store::{IdempotencyRecord, StoreError, transact};

use crate::sqlite::open;

fn large() -> IdempotencyRecord {
    IdempotencyRecord { digest: "d".into(), result: "x".repeat(20_000) }
}

#[test]
fn full_disk_loses_no_acknowledged_write() {
    let directory = tempfile::tempdir().unwrap();
    let world = World::on(&open(directory.path(), &SqliteOptions { most_pages: Some(400) }));
    let here = world.here;
    let mut results = HashMap::new();
    // Many jobs, so that some share the commit during which the disk fills up.
    for round in 0..10 {
        let work = (0..20).map(|number| {
            let key = format!("{round}-{number}");
            let of = key.clone();
            let insert = transact(&*world.store, move |tx| tx.idempotency_insert(&here, "alice", &key, &large()));
            async move { (of, insert.await) }
        });
        results.extend(block_on(join_all(work)));
    }
    let full = results.values().filter(|result| **result == Err(StoreError::Full)).count();
    assert!(full > 0, "the disk did not run full");
    assert!(results.values().any(Result::is_ok));
    let check = |world: &World| {
        for (key, result) in results.clone() {
            let found = world.look(move |reads| reads.idempotency_record(&here, "alice", &key));
            assert_eq!(found, result.is_ok().then(large), "{result:?}");
        }
    };
    check(&world);
    assert_eq!(check_integrity(directory.path()), Ok(Vec::new()));

    let later = world.write(|tx| tx.now()).unwrap().as_microsecond() + 1_000_000;
    let later = domain::Timestamp::from_microsecond(later).unwrap();
    let kept = results.len() - full;
    drop(world);
    let world = World::on(&open(directory.path(), &SqliteOptions::default()));
    check(&world);
    assert_eq!(world.write(move |tx| tx.idempotency_purge(later, 10_000)), Ok(kept as u64));
    assert_eq!(world.write(move |tx| tx.idempotency_insert(&here, "alice", "again", &large())), Ok(()));
}
