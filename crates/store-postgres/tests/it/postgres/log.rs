//! The event log with transactions that overtake each other.

use std::sync::mpsc::channel;

use crate::postgres::common::{database, open, until};
use holdpoint_store_postgres::PostgresOptions;
use store::conformance::{World, append};
use store::{Cursor, StoreError, transact};

#[test]
fn readers_do_not_pass_events_of_a_slow_transaction() {
    let database = database();
    let world = World::on(&open(&database, &PostgresOptions::default()));
    let (here, slow, quick) = (world.here, world.session().id, world.session().id);
    let (begun, has_begun) = channel();
    let (release, released) = channel::<()>();
    let first = std::thread::scope(|scope| {
        // Dropped at the end of this scope, so that a failure also releases the other thread.
        let (store, release) = (&world.store, release);
        let slow = scope.spawn(move || {
            futures::executor::block_on(transact::<_, StoreError, _>(&**store, move |tx| {
                let event = append(tx, &here, slow, None)?;
                begun.send(()).unwrap();
                released.recv().unwrap();
                Ok(event)
            }))
        });
        has_begun.recv().unwrap();
        for number in 1..=20 {
            assert_eq!(world.write(move |tx| append(tx, &here, quick, None)).unwrap().seq, number);
        }
        let part = world.look(move |reads| reads.project_events(&here, Cursor::default(), 100));
        assert_eq!(
            (part.events.len(), part.hidden),
            (0, true),
            "the events are committed, but an older transaction is still running"
        );
        assert_eq!(world.look(move |reads| reads.project_head(&here)), Cursor::default());
        assert_eq!(
            world.look(move |reads| reads.events(&here, quick, 0, 100)).len(),
            20,
            "a reader of the session sees its events"
        );
        release.send(()).unwrap();
        slow.join().unwrap().unwrap()
    });
    let mut seen = Vec::new();
    until("everything is shown", || {
        let after = seen.last().map_or(Cursor::default(), |(cursor, _)| *cursor);
        let part = world.look(move |reads| reads.project_events(&here, after, 7));
        seen.extend(part.events);
        seen.len() >= 21
    });
    assert_eq!(seen[0].1, first);
    assert_eq!(seen.len(), 21);
}

#[test]
fn deadlocked_transaction_is_retried() {
    let database = database();
    let world = World::on(&open(&database, &PostgresOptions::default()));
    let (here, one, other) = (world.here, world.session().id, world.session().id);
    let meeting = std::sync::Barrier::new(2);
    let meeting: &'static std::sync::Barrier = Box::leak(Box::new(meeting));
    std::thread::scope(|scope| {
        for (first, second) in [(one, other), (other, one)] {
            let world = &world;
            scope.spawn(move || {
                let mut met = false;
                let both = world.write(move |tx| {
                    append(tx, &here, first, None)?;
                    if !std::mem::replace(&mut met, true) {
                        meeting.wait();
                    }
                    append(tx, &here, second, None)
                });
                assert!(both.is_ok(), "{both:?}");
            });
        }
    });
    for session in [one, other] {
        let events = world.look(move |reads| reads.events(&here, session, 0, 10));
        assert_eq!(events.iter().map(|event| event.seq).collect::<Vec<_>>(), [1, 2]);
    }
}

#[test]
fn transaction_ids_are_ordered_as_numbers() {
    let database = database();
    let world = World::on(&open(&database, &PostgresOptions::default()));
    let (here, session) = (world.here, world.session().id);
    let sql = "insert into events (xid, id, project, session, seq, type, at, data) \
               values ($1::text::xid8, gen_random_uuid(), $2, $3, $4, 'test.happened', 0, '{}')";
    for (seq, xid) in [(1_i64, "9"), (2, "100"), (3, "20"), (4, "99")] {
        let mut client = database.connect().unwrap();
        client.execute(sql, &[&xid, &here.project.uuid(), &session.uuid(), &seq]).unwrap();
    }
    let mut order = Vec::new();
    let mut after = Cursor::default();
    loop {
        let part = world.look(move |reads| reads.project_events(&here, after, 1));
        let Some((cursor, event)) = part.events.first() else { break };
        order.push((cursor.major, event.seq));
        after = *cursor;
    }
    assert_eq!(order, [(9, 1), (20, 3), (99, 4), (100, 2)]);
    assert_eq!(world.look(move |reads| reads.project_head(&here)), after);
    assert_eq!(world.look(|reads| reads.changed_topics(None)).1, after);
}

#[test]
fn overlapping_transactions_keep_the_events_of_a_session_in_order() {
    let database = database();
    let world = World::on(&open(&database, &PostgresOptions::default()));
    let (here, session) = (world.here, world.session().id);
    let (begun, has_begun) = channel();
    let (release, released) = channel::<()>();
    std::thread::scope(|scope| {
        let (world, release) = (&world, release);
        scope.spawn(move || {
            let early = world.write(move |tx| {
                // A write assigns the transaction id, here before the transaction has the lock.
                tx.setting_ensure("early", "yes")?;
                begun.send(()).unwrap();
                released.recv().unwrap();
                append(tx, &here, session, None)
            });
            assert_eq!(early.unwrap().seq, 2);
        });
        has_begun.recv().unwrap();
        assert_eq!(world.write(move |tx| append(tx, &here, session, None)).unwrap().seq, 1);
        release.send(()).unwrap();
    });
    let mut seen = Vec::new();
    until("both are shown", || {
        let after = seen.last().map_or(Cursor::default(), |(cursor, _)| *cursor);
        seen.extend(world.look(move |reads| reads.project_events(&here, after, 1)).events);
        seen.len() >= 2
    });
    assert_eq!(seen.iter().map(|(_, event)| event.seq).collect::<Vec<_>>(), [1, 2]);
}
