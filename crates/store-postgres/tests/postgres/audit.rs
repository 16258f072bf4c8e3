//! The audit trail under transactions that overtake each other, and in a new cluster.

use std::sync::mpsc::channel;

use domain::audit::{Entry, How, Written};
use domain::{Actor, EntryId, Scope, Wire};
use holdpoint_store_postgres::Options;
use serde_json::json;
use store::conformance::{World, chain};
use store::{Page, Stored, Tx};
use uuid::Uuid;

use crate::common::{database, open, until};

/// What `docs/guides/operate.md` has people run.
const GUIDE: &str = include_str!("../../../../docs/guides/operate.md");

fn written(scope: Scope, number: u128) -> Written {
    let entry = Entry {
        id: EntryId::from_uuid(Uuid::from_u128(number)),
        scope,
        at: domain::Timestamp::UNIX_EPOCH,
        name: "test.done".into(),
        by: Actor::system(),
        how: How::by(Wire::Timer),
        session: None,
        event: None,
        interaction: None,
        data: json!({}),
    };
    entry.written()
}

fn append(tx: &mut dyn Tx, scope: Scope, number: u128) -> Stored<()> {
    tx.audit_append(&written(scope, number))
}

/// The numbers of the entries in the chain, in its order, once there are so many.
fn chained(world: &World, wanted: usize) -> Vec<u128> {
    let tenant = world.here.tenant;
    let mut found = Vec::new();
    until("every entry has its place", || {
        world.write(|tx| chain(tx, 100)).unwrap();
        found = world.look(move |reads| reads.audit_chain(tenant, Page { after: None, limit: 100 }));
        found.len() >= wanted
    });
    let number = |text: &str| serde_json::from_str::<Entry>(text).unwrap().id.uuid().as_u128();
    found.iter().map(|chained| number(&chained.text)).collect()
}

#[test]
fn an_entry_of_a_slow_transaction_is_not_left_out() {
    let database = database();
    let world = World::on(&open(&database, &Options::default()));
    let here = world.here;
    let (begun, has_begun) = channel();
    let (release, released) = channel::<()>();
    std::thread::scope(|scope| {
        // Dropped with this scope, so that a failure releases the other thread too.
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
        assert_eq!(world.write(|tx| chain(tx, 100)).unwrap(), 0, "committed, and held back by what is older");
        release.send(()).unwrap();
    });
    assert_eq!(chained(&world, 2), [1, 2]);
}

#[test]
fn a_dump_in_a_new_cluster_goes_on_after_what_the_guide_says() {
    let database = database();
    let world = World::on(&open(&database, &Options::default()));
    let here = world.here;
    for number in 1..=3 {
        world.write(move |tx| append(tx, here, number)).unwrap();
    }
    assert_eq!(chained(&world, 3), [1, 2, 3]);
    world.write(move |tx| append(tx, here, 4)).unwrap();
    let mut client = database.connect().unwrap();
    // As if the old cluster had been far ahead.
    let ahead = "update audit set xid = (xid::text::bigint + 1000000000)::text::xid8; \
                 update audit_chain set xid = (xid::text::bigint + 1000000000)::text::xid8; \
                 update audit_linked set xid = (xid::text::bigint + 1000000000)::text::xid8";
    client.batch_execute(ahead).unwrap();
    world.write(move |tx| append(tx, here, 5)).unwrap();
    assert_eq!(world.write(|tx| chain(tx, 100)).unwrap(), 0, "without it, nothing new would ever be chained");
    client.execute("delete from audit where xid < '1000000000'", &[]).unwrap();
    let statements = GUIDE.split("```sql").nth(1).unwrap().split("```").next().unwrap();
    client.batch_execute(statements).unwrap();
    world.write(move |tx| append(tx, here, 6)).unwrap();
    assert_eq!(chained(&world, 5), [1, 2, 3, 4, 6]);
}
