//! Opening and closing, and the options of a store.

use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;

use crate::postgres::common::{database, open};
use futures::executor::block_on;
use futures::future::join_all;
use holdpoint_store_postgres::{PostgresOptions, PostgresStore};
use store::conformance::{World, append};
use store::{StoreError, transact};

#[test]
fn eight_stores_open_an_empty_database_at_once() {
    let database = database();
    let url = database.url();
    let stores: Vec<PostgresStore> = std::thread::scope(|scope| {
        let openers: Vec<_> =
            (0..8).map(|_| scope.spawn(|| PostgresStore::open(&url, &PostgresOptions::default()))).collect();
        openers.into_iter().map(|opener| opener.join().unwrap().unwrap()).collect()
    });
    for (number, store) in stores.iter().enumerate() {
        let value = number.to_string();
        let first = block_on(transact::<_, StoreError, _>(store, move |tx| tx.setting_ensure("first", &value)));
        assert_eq!(first.as_deref(), Ok("0"));
    }
}

#[test]
fn a_newer_database_is_refused() {
    let database = database();
    drop(open(&database, &PostgresOptions::default()));
    let sql = "insert into refinery_schema_history (version, name, applied_on, checksum) \
               select 9999, 'newer', applied_on, '1' from refinery_schema_history limit 1";
    database.connect().unwrap().batch_execute(sql).unwrap();
    let refused = PostgresStore::open(&database.url(), &PostgresOptions::default()).err();
    assert!(matches!(refused, Some(StoreError::Newer(_))), "{refused:?}");
}

#[test]
fn database_with_other_migrations_is_refused() {
    let database = database();
    drop(open(&database, &PostgresOptions::default()));
    let sql = "update refinery_schema_history set checksum = '1' where version = 1";
    database.connect().unwrap().batch_execute(sql).unwrap();
    let refused = PostgresStore::open(&database.url(), &PostgresOptions::default()).err();
    let Some(StoreError::Diverged(why)) = refused else { unreachable!("{refused:?}") };
    assert!(why.contains("V1__core"), "{why}");
}

#[test]
fn closing_finishes_queued_jobs_and_refuses_later_ones() {
    let database = database();
    let world = World::on(&open(&database, &PostgresOptions { connections: 2, ..PostgresOptions::default() }));
    let (here, session) = (world.here, world.session().id);
    let mut queued: Vec<_> = (0..50)
        .map(|_| Box::pin(transact::<_, StoreError, _>(&*world.store, move |tx| append(tx, &here, session, None))))
        .collect();
    for work in &mut queued {
        assert!(block_on(async { futures::poll!(work) }).is_pending());
    }
    world.store.close();
    assert!(block_on(join_all(queued)).iter().all(Result::is_ok));
    assert_eq!(world.write(|tx| tx.now()), Err(StoreError::Closed));
    world.store.close();
}

#[test]
fn jobs_beyond_the_queue_limit_are_refused_at_once() {
    let database = database();
    let world = World::on(&open(&database, &PostgresOptions { connections: 1, ..PostgresOptions::default() }));
    let (begun, has_begun) = channel();
    let (release, released) = channel::<()>();
    std::thread::scope(|scope| {
        let (world, release) = (&world, release);
        scope.spawn(move || {
            let blocking = world.write(move |_| {
                begun.send(()).unwrap();
                released.recv().unwrap();
                Ok(())
            });
            assert_eq!(blocking, Ok(()));
        });
        has_begun.recv().unwrap();
        let many = (0..8200).map(|_| transact::<_, StoreError, _>(&*world.store, |_| Ok(())));
        let mut many: Vec<_> = many.map(Box::pin).collect();
        let refused = many.iter_mut().filter_map(|work| match block_on(async { futures::poll!(work) }) {
            std::task::Poll::Ready(result) => Some(result),
            std::task::Poll::Pending => None,
        });
        let refused: Vec<_> = refused.collect();
        assert_eq!(refused, vec![Err(StoreError::Busy); 8]);
        release.send(()).unwrap();
    });
    assert_eq!(world.write(|_| Ok(())), Ok(()));
}

#[test]
fn skew_moves_the_clock_of_the_store() {
    let database = database();
    let options = PostgresOptions::default();
    let world = World::on(&open(&database, &options));
    let before = world.write(|tx| tx.now()).unwrap();
    options.skew.store(3_600_000_000, Ordering::Relaxed);
    let after = world.write(|tx| tx.now()).unwrap();
    assert!(after.as_microsecond() - before.as_microsecond() >= 3_600_000_000);
    assert!(world.look(|reads| reads.now()) >= after);
}
