//! The fence of a key rotation, with overlapping transactions.

use std::sync::mpsc::{Receiver, Sender, channel};

use crate::postgres::common::{database, open, until};
use holdpoint_store_postgres::PostgresOptions;
use store::conformance::World;
use store::{StoreError, transact};

/// Runs a transaction that reads the newest key, reports it, and ends on request.
fn held(world: &World, begun: Sender<()>, released: Receiver<()>) {
    let tenant = world.here.tenant;
    let ended = futures::executor::block_on(transact::<_, StoreError, _>(&*world.store, move |tx| {
        tx.data_key_newest(tenant)?;
        begun.send(()).unwrap();
        released.recv().unwrap();
        Ok(())
    }));
    ended.unwrap();
}

#[test]
fn fence_waits_for_transactions_begun_during_the_key_rotation() {
    let database = database();
    let world = World::on(&open(&database, &PostgresOptions::default()));
    let (begun, has_begun) = channel();
    let (replaced, replacing) = channel();
    let (sealed, sealing) = channel();
    std::thread::scope(|scope| {
        let (world, begun, replaced, sealed) = (&world, begun, replaced, sealed);
        let told = begun.clone();
        let replacement = scope.spawn(move || held(world, told, replacing));
        has_begun.recv().unwrap();
        // This transaction is younger than the replacement and reads before it commits, so that it still sees the old key.
        let seal = scope.spawn(move || held(world, begun, sealing));
        has_begun.recv().unwrap();
        replaced.send(()).unwrap();
        replacement.join().unwrap();
        let fence = world.write(|tx| tx.fence()).unwrap();
        assert!(
            !world.look(move |reads| reads.is_fence_passed(fence)),
            "a running transaction may still seal under the replaced key"
        );
        sealed.send(()).unwrap();
        seal.join().unwrap();
        until("the line is passed", || world.look(move |reads| reads.is_fence_passed(fence)));
    });
}
