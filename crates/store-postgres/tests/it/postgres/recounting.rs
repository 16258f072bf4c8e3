//! Recounting open questions while other transactions ask and answer.

use futures::executor::block_on;
use holdpoint_store_postgres::{PostgresOptions, PostgresStore};
use postgres::Client;
use store::StoreError;
use testkit::postgres::TestDatabase;

use crate::postgres::common::database;

/// Creates a database with two open questions and correct totals.
fn counted() -> (TestDatabase, Client, PostgresStore) {
    let database = database();
    let store = PostgresStore::open(&database.url(), &PostgresOptions::default()).unwrap();
    let mut client = database.connect().unwrap();
    let rows = "insert into projects (id, tenant, name) values (md5('project')::uuid, md5('tenant')::uuid, 'default'); \
         insert into interactions (id, project, session, kind, status, channel, asked_by, created_at, revision, state, \
            asker, weight) select md5('question' || number)::uuid, md5('project')::uuid, md5('session')::uuid, 'approval', \
            'pending', '', '', 0, 1, '{}', 'agent:bot', 10 from generate_series(1, 2) number; \
         insert into open_counts values (md5('project')::uuid, 'agent:bot', 2, 20), \
            (md5('project')::uuid, 'agent:idle', 0, 0); \
         insert into tenant_open_counts values (md5('tenant')::uuid, 3, 5, 50), (md5('tenant')::uuid, 4, -3, -30)";
    client.batch_execute(rows).unwrap();
    (database, client, store)
}

fn recount(store: &PostgresStore) -> Result<(), StoreError> {
    block_on(store::transact::<_, StoreError, _>(store, |tx| tx.open_totals_recount()))
}

/// The other transaction counts a question, and runs longer than the recount waits.
#[test]
fn recount_does_not_lock_correct_totals() {
    let (database, _client, store) = counted();
    let mut asking = database.connect().unwrap();
    asking.batch_execute("begin; update open_counts set questions = questions + 1").unwrap();
    assert_eq!(recount(&store), Ok(()));
}

#[test]
fn recount_of_locked_totals_is_busy_and_can_be_repeated() {
    for wrong in ["update open_counts set bytes = 21", "update tenant_open_counts set questions = 1 where shard = 3"] {
        let (database, mut client, store) = counted();
        client.batch_execute(wrong).unwrap();
        let mut asking = database.connect().unwrap();
        asking.batch_execute("begin; lock table open_counts in row exclusive mode").unwrap();
        assert_eq!(recount(&store), Err(StoreError::Busy), "{wrong}");
        asking.batch_execute("commit").unwrap();
        assert_eq!(recount(&store), Ok(()), "{wrong}");
        let sql = "select open_counts.questions, open_counts.bytes, tenant_open_counts.questions, tenant_open_counts.bytes \
                   from open_counts, tenant_open_counts";
        let row = client.query_one(sql, &[]).unwrap();
        assert_eq!([0, 1, 2, 3].map(|column| row.get::<_, i64>(column)), [2, 20, 2, 20], "{wrong}");
    }
}

/// The trigger records the time limits of a statement of the recount; the default would cancel it after 30 seconds.
#[test]
fn recount_statements_have_no_time_limit() {
    let (_database, mut client, store) = counted();
    let noting = "create table noted (statement_timeout text, lock_timeout text); \
         create function note() returns trigger language plpgsql as $$ begin insert into noted values \
         (current_setting('statement_timeout'), current_setting('lock_timeout')); return new; end $$; \
         create trigger note before insert on tenant_open_counts for each row execute function note(); \
         update open_counts set bytes = 21 where asker = 'agent:bot'";
    client.batch_execute(noting).unwrap();
    recount(&store).unwrap();
    let noted = client.query("select statement_timeout, lock_timeout from noted", &[]).unwrap();
    let noted: Vec<(String, String)> = noted.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert_eq!(noted, [("0".to_owned(), "2s".to_owned())]);
}
