//! Tests a dump restored into another PostgreSQL cluster: the start refuses it until `holdpoint database adopt` has
//! run.

use serde_json::Value;
use testkit::postgres::{TestDatabase, TestPostgres};

use crate::audit::proved;
use crate::common::{Deployment, Stream, soon};

/// Number of transactions by which the dumped cluster is ahead of a new one.
const AHEAD: u32 = 20_000;

/// Uses up transaction identifiers, so that the cluster is ahead of a new one.
fn use_up_transaction_ids(database: &TestDatabase) {
    let burn = format!("do $$ begin for i in 1..{AHEAD} loop perform pg_current_xact_id(); commit; end loop; end $$");
    database.connect().unwrap().batch_execute(&burn).unwrap();
}

/// Runs a command that must fail and returns its error output.
fn refused(deployment: &Deployment, command: &[&str]) -> String {
    let output = deployment.run(command);
    assert_eq!(output.status.code(), Some(1), "{command:?}: {output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Opens the project stream after a cursor and reads this many events. Returns their types and the last cursor.
async fn read_events_after(client: &crate::common::Client, after: &str, count: usize) -> (Vec<String>, String) {
    let mut stream = Stream::open(client, "/v1/events/stream", Some(after)).await.unwrap();
    let (mut names, mut last) = (Vec::new(), after.to_owned());
    while names.len() < count {
        let frame = soon("an event", stream.next()).await.unwrap();
        let event: Value = serde_json::from_str(&frame.data).unwrap();
        names.push(event["type"].as_str().unwrap().to_owned());
        last = frame.id.unwrap();
    }
    (names, last)
}

const STORY: [&str; 3] = ["session.started", "interaction.asked", "interaction.answered"];

#[test]
fn restored_dump_is_refused_until_it_is_adopted() {
    let (old, new) = (TestPostgres::start().unwrap(), TestPostgres::private().unwrap());
    let (old, new) = (old.fresh_database().unwrap(), new.fresh_database().unwrap());
    use_up_transaction_ids(&old);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let before = Deployment::postgres(old.url());
    let (bot, alice) = (before.key("agent", "bot"), before.key("operator", "alice"));
    let cursor = runtime.block_on(async {
        let server = before.launch().start().await;
        let question = server.client(&bot).ask_plainly("Before?").await;
        server.client(&alice).approve(&question).await;
        let (names, cursor) = read_events_after(&server.client(&alice), "0-0", 3).await;
        assert_eq!(names, STORY);
        assert!(server.stop().success());
        cursor
    });
    let entries = proved(&before).len();
    old.restore_into(&new).unwrap();

    let after = Deployment::postgres(new.url()).with_data(before.data());
    for launch in [after.launch(), after.launch().into_worker()] {
        let said = launch.start_expecting_failure();
        assert!(said.contains("holdpoint database adopt"), "{said}");
    }
    assert!(refused(&after, &["audit", "export"]).contains("holdpoint database adopt"));
    let said = after.run(&["database", "adopt"]);
    assert!(said.status.success() && String::from_utf8_lossy(&said.stdout).starts_with("adopted: "), "{said:?}");
    let again = after.run(&["database", "adopt"]);
    assert!(String::from_utf8_lossy(&again.stdout).starts_with("nothing to adopt"), "{again:?}");

    runtime.block_on(async {
        let server = after.launch().start().await;
        assert!(refused(&after, &["database", "adopt"]).contains("stop every node"));
        let question = server.client(&bot).ask_plainly("After?").await;
        server.client(&alice).approve(&question).await;
        let (names, _) = read_events_after(&server.client(&alice), &cursor, 3).await;
        assert_eq!(names, STORY, "an earlier cursor stays valid");
        assert!(server.stop().success());
    });
    let trail = proved(&after);
    let names: Vec<&str> = trail.iter().map(|entry| entry["type"].as_str().unwrap_or_default()).collect();
    assert!(trail.len() > entries + 3, "{names:?}");
    assert_eq!(names.iter().filter(|name| **name == "database.adopted").count(), 1, "{names:?}");
}

#[test]
fn sqlite_database_cannot_be_adopted() {
    let deployment = Deployment::sqlite();
    deployment.key("agent", "bot");
    assert!(refused(&deployment, &["database", "adopt"]).contains("--database-url"));
}
