//! The audit trail with transactions that overtake each other, and in a new cluster.

use std::sync::mpsc::channel;

use domain::audit::{Entry, How, Written};
use domain::{Actor, EntryId, EntryPoint, Scope};
use holdpoint_store_postgres::PostgresOptions;
use serde_json::json;
use store::conformance::{World, chain};
use store::{Cursor, LineageAdoption, Page, StoreResult, Tx};
use uuid::Uuid;

use crate::postgres::common::{database, open, until};

fn written(scope: Scope, number: u128) -> Written {
    let entry = Entry {
        id: EntryId::from_uuid(Uuid::from_u128(number)),
        scope,
        at: domain::Timestamp::UNIX_EPOCH,
        name: "test.done".into(),
        by: Actor::system(),
        how: How::by(EntryPoint::Timer),
        session: None,
        event: None,
        interaction: None,
        data: json!({}),
    };
    entry.written()
}

fn append(tx: &mut dyn Tx, scope: Scope, number: u128) -> StoreResult<()> {
    tx.audit_append(&written(scope, number))
}

/// Waits for so many links, and returns the numbers of the entries in the order of the chain.
fn chained(world: &World, wanted: usize) -> Vec<u128> {
    let tenant = world.here.tenant;
    let mut found = Vec::new();
    until("every entry has its place", || {
        world.write(|tx| chain(tx, 100)).unwrap();
        found = world.look(move |reads| reads.audit_chain(tenant, Page { after: None, limit: 100 })).into_vec();
        found.len() >= wanted
    });
    let number = |text: &str| serde_json::from_str::<Entry>(text).unwrap().id.uuid().as_u128();
    found.iter().map(|chained| number(&chained.text)).collect()
}

#[test]
fn audit_entry_of_a_slow_transaction_is_chained() {
    let database = database();
    let world = World::on(&open(&database, &PostgresOptions::default()));
    let here = world.here;
    let (begun, has_begun) = channel();
    let (release, released) = channel::<()>();
    std::thread::scope(|scope| {
        // Dropped at the end of this scope, so that a failure also releases the other thread.
        let (world, release) = (&world, release);
        scope.spawn(move || {
            let slow = world.write(move |tx| {
                append(tx, here, 1)?;
                begun.send(()).unwrap();
                released.recv().unwrap();
                Ok(())
            });
            slow.unwrap();
        });
        has_begun.recv().unwrap();
        world.write(move |tx| append(tx, here, 2)).unwrap();
        assert_eq!(
            world.write(|tx| chain(tx, 100)).unwrap(),
            0,
            "the entry is committed, but an older transaction is still running"
        );
        release.send(()).unwrap();
    });
    assert_eq!(chained(&world, 2), [1, 2]);
}

/// Raises all recorded transaction ids, as if the dump came from a cluster far ahead of this one.
const AHEAD: &str = "update events set xid = (xid::text::bigint + 1000000000)::text::xid8; \
                     update audit set xid = (xid::text::bigint + 1000000000)::text::xid8; \
                     update audit_chain set xid = (xid::text::bigint + 1000000000)::text::xid8; \
                     update audit_linked set xid = (xid::text::bigint + 1000000000)::text::xid8";

#[test]
fn dump_restored_in_a_new_cluster_is_detected_and_adopted() {
    let database = database();
    let world = World::on(&open(&database, &PostgresOptions::default()));
    let (here, session) = (world.here, world.session().id);
    assert_eq!(world.look(|reads| reads.lineage_mismatch()), None);
    for number in 1..=3 {
        world.write(move |tx| append(tx, here, number)).unwrap();
    }
    world.write(move |tx| store::conformance::append(tx, &here, session, None)).unwrap();
    assert_eq!(chained(&world, 3), [1, 2, 3]);
    world.write(move |tx| append(tx, here, 4)).unwrap();
    database.connect().unwrap().batch_execute(AHEAD).unwrap();
    let misfit = world.look(|reads| reads.lineage_mismatch()).unwrap();
    assert!(misfit.recorded >= 1_000_000_000 && misfit.next < 1_000_000_000, "{misfit:?}");
    let cursor = Cursor { major: misfit.recorded, minor: 0 };

    // An earlier version, without the check, uses the database.
    let other = world.session().id;
    world.write(move |tx| append(tx, here, 5)).unwrap();
    world.write(move |tx| store::conformance::append(tx, &here, other, None)).unwrap();
    assert_eq!(world.write(|tx| chain(tx, 100)).unwrap(), 0, "no new entry is chained");
    assert_eq!(world.look(|reads| reads.audit_skipped_count()), 1);
    let seen = world.look(move |reads| reads.project_events(&here, cursor, 100));
    assert_eq!(seen.events, [], "no new event is streamed");

    let adopted = world.write(|tx| tx.lineage_adopt()).unwrap();
    assert_eq!((adopted.events, adopted.entries), (1, 1));
    assert_eq!(
        (world.look(|reads| reads.lineage_mismatch()), world.look(|reads| reads.audit_skipped_count())),
        (None, 0)
    );
    assert_eq!(
        world.write(|tx| tx.lineage_adopt()),
        Ok(LineageAdoption::default()),
        "a second adoption changes nothing"
    );
    world.write(move |tx| append(tx, here, 6)).unwrap();
    world.write(move |tx| store::conformance::append(tx, &here, session, None)).unwrap();
    assert_eq!(chained(&world, 6), [1, 2, 3, 4, 5, 6]);
    until("a cursor of before finds what came since, and nothing else", || {
        let found = world.look(move |reads| reads.project_events(&here, cursor, 100));
        let found: Vec<_> = found.events.into_iter().map(|(_, event)| (event.session, event.seq)).collect();
        found == [(other, 1), (session, 2)]
    });
}
