//! Tests starts that must fail: they give the reason and change nothing.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use testkit::postgres::TestPostgres;

use crate::common::{House, on_postgres};

#[tokio::test]
async fn a_second_server_on_one_directory_says_so_and_ends() {
    let house = House::sqlite();
    let mut first = house.launch().start().await;
    let key = house.key("agent", "bot");
    let question = first.client(&key).ask_plainly("before").await;

    let said = house.launch().start_in_vain();
    let expected = format!("holdpoint: another server is using {}; stop it first", house.data().display());
    assert!(said.contains(&expected), "{said}");

    assert!(first.runs());
    first.client(&key).question(&question).await;
    first.client(&key).ask_plainly("after").await;
    first.kill();
    house.launch().start().await.client(&key).question(&question).await;
}

#[test]
fn a_newer_sqlite_database_is_refused() {
    let house = House::sqlite();
    house.key("agent", "bot");
    let database = rusqlite::Connection::open(house.data().join("holdpoint.db")).unwrap();
    database.execute(FROM_THE_FUTURE, []).unwrap();

    refuses_what_is_newer(&house);
    let refused = house.run(&["keys", "list"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("newer version of Holdpoint"), "{refused:?}");
}

#[test]
fn a_newer_postgres_database_is_refused() {
    let database = TestPostgres::start().unwrap().fresh_database().unwrap();
    let house = House::postgres(database.url());
    house.key("agent", "bot");
    database.connect().unwrap().execute(FROM_THE_FUTURE, &[]).unwrap();
    refuses_what_is_newer(&house);
}

const FROM_THE_FUTURE: &str = "insert into refinery_schema_history (version, name, applied_on, checksum)
    select 1000000, 'from_the_future', applied_on, checksum from refinery_schema_history where version = 1";

fn refuses_what_is_newer(house: &House) {
    let said = house.launch().start_in_vain();
    assert!(said.contains("holdpoint: the database was written by a newer version of Holdpoint"), "{said}");
    assert!(said.contains("use that version, or another database"), "{said}");
}

#[test]
fn a_port_that_is_taken_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let said = House::sqlite().launch_at(address.port()).start_in_vain();
    assert!(said.contains(&format!("holdpoint: cannot listen on {address}: Address already in use")), "{said}");
}

#[test]
fn a_database_that_is_not_there_is_reported_within_seconds() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let house = House::postgres(format!("postgres://somebody:hunter2@{closed}/nothing"));
    let since = Instant::now();
    let said = house.launch().start_in_vain();
    assert!(since.elapsed() < Duration::from_secs(15), "{:?}", since.elapsed());
    assert!(said.contains("holdpoint: the database cannot be reached: "), "{said}");
    assert!(!said.contains("hunter2"), "{said}");

    let refused = house.run(&["keys", "create", "--role", "agent"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(refused.stdout.is_empty());
}

#[test]
fn servers_that_start_at_once_on_a_new_database_all_come_up() {
    on_postgres(async |house| {
        let (first, second, third) = (house.launch(), house.launch(), house.launch());
        let servers = tokio::join!(first.start(), second.start(), third.start());
        let key = house.key("agent", "bot");
        let question = servers.0.client(&key).ask_plainly("everywhere").await;
        servers.1.client(&key).question(&question).await;
        servers.2.client(&key).question(&question).await;
    });
}
