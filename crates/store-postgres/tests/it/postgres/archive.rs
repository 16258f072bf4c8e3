//! One server at a time moves questions to the archive; another one does not wait for it.

use std::sync::mpsc::channel;

use domain::Timestamp;
use futures::executor::block_on;
use holdpoint_store_postgres::PostgresOptions;
use store::{StoreError, transact};

use crate::postgres::common::{database, open};

#[test]
fn one_server_archives_at_a_time_and_others_do_not_wait() {
    let database = database();
    let (one, other) = (open(&database, &PostgresOptions::default()), open(&database, &PostgresOptions::default()));
    let mut client = database.connect().unwrap();
    let kept = "insert into interactions (id, project, session, kind, status, channel, asked_by, delivery, created_at, \
                resolved_at, retired_at, revision, state) select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), \
                'form', 'cancelled', '', '', 'not_needed', 0, 1, 1, 1, '{}' from generate_series(1, 10)";
    client.batch_execute(kept).unwrap();
    client.batch_execute("insert into questions select id, '', '{}' from interactions").unwrap();
    let until = Timestamp::from_second(1).unwrap();
    let archive =
        |store: &dyn store::Store| block_on(transact::<_, StoreError, _>(store, move |tx| tx.archive(until, 4)));

    let ((moved, is_moved), (go_on, may_go_on)) = (channel(), channel::<()>());
    std::thread::scope(|threads| {
        let under_way = threads.spawn(move || {
            block_on(transact::<_, StoreError, _>(&*one, move |tx| {
                let count = tx.archive(until, 4)?;
                // The transaction stays open until the other has tried.
                moved.send(()).unwrap();
                may_go_on.recv().unwrap();
                Ok(count)
            }))
        });
        is_moved.recv().unwrap();
        assert_eq!(archive(&*other), Ok(0), "the locked question is left to the other server");
        go_on.send(()).unwrap();
        assert_eq!(under_way.join().unwrap(), Ok(4));
    });
    assert_eq!((archive(&*other), archive(&*other), archive(&*other)), (Ok(4), Ok(2), Ok(0)));
}
