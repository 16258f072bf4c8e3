//! Tests that a server can run on a backup that was made under load.

use serde_json::json;
use tokio::task::JoinSet;

use crate::common::{Deployment, until};

#[tokio::test(flavor = "multi_thread")]
async fn server_runs_on_a_backup_made_under_load() {
    let deployment = Deployment::sqlite();
    let server = deployment.launch().start().await;
    let (bot, alice) = (deployment.key("agent", "bot"), deployment.key("operator", "alice"));
    let client = server.client(&bot);
    let session = client.start().await;
    let question = json!({ "kind": "confirmation", "title": "sealed", "resume_point": { "at": "line 12" } });
    let sealed = client.ask(&session, question).await;
    server.client(&alice).approve(&sealed).await;

    let mut load = JoinSet::new();
    let (count, counted) = tokio::sync::watch::channel(0_usize);
    for _ in 0..4 {
        let (client, count) = (client.clone(), count.clone());
        load.spawn(async move {
            loop {
                client.ask_plainly("load").await;
                count.send_modify(|count| *count += 1);
            }
        });
    }
    let asked = |least: usize| {
        let counted = counted.clone();
        async move { until("load", async || (*counted.borrow() >= least).then_some(())).await }
    };
    asked(20).await;
    let before = *counted.borrow();
    let target = deployment.path("copy.db");
    let copied = deployment.run(&["backup", target.to_str().unwrap()]);
    assert!(copied.status.success(), "{copied:?}");
    let after = *counted.borrow();
    asked(after + 20).await;
    let again = deployment.run(&["backup", target.to_str().unwrap()]);
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stderr).contains("exists already"), "{again:?}");
    load.shutdown().await;

    let other = Deployment::sqlite();
    std::fs::create_dir(other.data()).unwrap();
    std::fs::copy(&target, other.data().join("holdpoint.db")).unwrap();
    std::fs::copy(deployment.data().join("master.key"), other.data().join("master.key")).unwrap();
    assert!(other.run(&["check"]).status.success());
    let copy = other.launch().start().await;
    let open = copy.client(&alice).get("/v1/stats").await.done(200).body["open"]["confirmation"].as_u64().unwrap();
    let open = usize::try_from(open).unwrap();
    // The backup contains every question acknowledged before it began, and no question that was asked after it had
    // ended.
    assert!((before..=after + 4).contains(&open), "{before} {open} {after}");
    let path = format!("/v1/interactions/{sealed}/delivery/take");
    let taken = copy.client(&bot).post(&path, json!({})).await.done(200);
    assert_eq!(taken.text("/resume_point/at"), "line 12");
    copy.client(&bot).ask_plainly("asked after the restore").await;
}

#[test]
fn check_finds_a_damaged_database() {
    let deployment = Deployment::sqlite();
    deployment.key("agent", "bot");
    let path = deployment.data().join("holdpoint.db");
    rusqlite::Connection::open(&path).unwrap().pragma_update(None, "journal_mode", "delete").unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 4096 / 2 * 4096;
    bytes[middle..middle + 4096].fill(0xAB);
    std::fs::write(&path, bytes).unwrap();
    let checked = deployment.run(&["check"]);
    assert_eq!(checked.status.code(), Some(1), "{checked:?}");
    assert!(checked.stdout.is_empty());
    assert!(String::from_utf8_lossy(&checked.stderr).contains("holdpoint: the database"), "{checked:?}");
}
