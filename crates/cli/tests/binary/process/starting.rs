//! Tests starts that must fail: they give the reason and change nothing.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use testkit::postgres::TestPostgres;

use crate::common::{Deployment, on_postgres};

#[tokio::test]
async fn second_server_on_a_data_directory_is_refused() {
    let deployment = Deployment::sqlite();
    let mut first = deployment.launch().start().await;
    let key = deployment.key("agent", "bot");
    let question = first.client(&key).ask_plainly("before").await;

    let said = deployment.launch().start_expecting_failure();
    let expected = format!("holdpoint: another server is using {}; stop it first", deployment.data().display());
    assert!(said.contains(&expected), "{said}");

    assert!(first.runs());
    first.client(&key).question(&question).await;
    first.client(&key).ask_plainly("after").await;
    first.kill();
    deployment.launch().start().await.client(&key).question(&question).await;
}

#[test]
fn sqlite_database_of_a_newer_version_is_refused() {
    let deployment = Deployment::sqlite();
    deployment.key("agent", "bot");
    let database = rusqlite::Connection::open(deployment.data().join("holdpoint.db")).unwrap();
    database.execute(FROM_THE_FUTURE, []).unwrap();

    assert_newer_database_is_refused(&deployment);
    let refused = deployment.run(&["keys", "list"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("newer version of Holdpoint"), "{refused:?}");
}

#[test]
fn postgres_database_of_a_newer_version_is_refused() {
    let database = TestPostgres::start().unwrap().fresh_database().unwrap();
    let deployment = Deployment::postgres(database.url());
    deployment.key("agent", "bot");
    database.connect().unwrap().execute(FROM_THE_FUTURE, &[]).unwrap();
    assert_newer_database_is_refused(&deployment);
}

const FROM_THE_FUTURE: &str = "insert into refinery_schema_history (version, name, applied_on, checksum)
    select 1000000, 'from_the_future', applied_on, checksum from refinery_schema_history where version = 1";

fn assert_newer_database_is_refused(deployment: &Deployment) {
    let said = deployment.launch().start_expecting_failure();
    assert!(said.contains("holdpoint: the database was written by a newer version of Holdpoint"), "{said}");
    assert!(said.contains("use that version, or another database"), "{said}");
}

#[test]
fn port_in_use_is_reported() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let said = Deployment::sqlite().launch_at(address.port()).start_expecting_failure();
    assert!(said.contains(&format!("holdpoint: cannot listen on {address}: Address already in use")), "{said}");
}

#[test]
fn unreachable_database_is_reported_within_seconds() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let deployment = Deployment::postgres(format!("postgres://somebody:hunter2@{closed}/nothing"));
    let since = Instant::now();
    let said = deployment.launch().start_expecting_failure();
    assert!(since.elapsed() < Duration::from_secs(15), "{:?}", since.elapsed());
    assert!(said.contains("holdpoint: the database cannot be reached: "), "{said}");
    assert!(!said.contains("hunter2"), "{said}");

    let refused = deployment.run(&["keys", "create", "--role", "agent"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(refused.stdout.is_empty());
}

#[test]
fn servers_that_start_together_on_a_new_database_all_become_ready() {
    on_postgres(async |deployment| {
        let (first, second, third) = (deployment.launch(), deployment.launch(), deployment.launch());
        let servers = tokio::join!(first.start(), second.start(), third.start());
        let key = deployment.key("agent", "bot");
        let question = servers.0.client(&key).ask_plainly("everywhere").await;
        servers.1.client(&key).question(&question).await;
        servers.2.client(&key).question(&question).await;
    });
}
