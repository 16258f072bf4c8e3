//! Tests that every setting works as a flag and as an environment variable.

use serde_json::json;

use crate::common::{Deployment, Launch};

const MASTER_KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

#[tokio::test]
async fn settings_apply_from_flags() {
    let deployment = Deployment::sqlite();
    let launch = deployment.launch().with(&[
        "--master-key",
        MASTER_KEY,
        "--deadlines",
        "confirmation=100,form=200",
        "--warning-seconds",
        "30",
        "--lease-seconds",
        "77",
        "--most-open",
        "1",
        "--body-bytes",
        "2000",
        "--rate",
        "2",
        "--streams",
        "0",
        "--log",
        "warn",
    ]);
    assert_settings_apply(&deployment, &launch).await;
}

#[tokio::test]
async fn settings_apply_from_the_environment() {
    let deployment = Deployment::sqlite();
    let launch = deployment.launch();
    let (listen, data) = (launch.address(), deployment.data().display().to_string());
    let launch = launch.by_environment(&[
        ("HOLDPOINT_LISTEN", &listen),
        ("HOLDPOINT_DATA", &data),
        ("HOLDPOINT_MASTER_KEY", MASTER_KEY),
        ("HOLDPOINT_DEADLINES", "confirmation=100,form=200"),
        ("HOLDPOINT_WARNING_SECONDS", "30"),
        ("HOLDPOINT_LEASE_SECONDS", "77"),
        ("HOLDPOINT_MOST_OPEN", "1"),
        ("HOLDPOINT_BODY_BYTES", "2000"),
        ("HOLDPOINT_RATE", "2"),
        ("HOLDPOINT_STREAMS", "0"),
        ("HOLDPOINT_LOG", "warn"),
    ]);
    assert_settings_apply(&deployment, &launch).await;
}

/// Checks the effect of each setting. Clients have separate keys, because a key may send only two requests a second and
/// four at once.
async fn assert_settings_apply(deployment: &Deployment, launch: &Launch) {
    let server = launch.start().await;
    let (asker, again) =
        (server.client(&deployment.key("agent", "bot")), server.client(&deployment.key("agent", "bot")));
    let person = server.client(&deployment.key("operator", "alice"));
    assert!(!deployment.data().join("master.key").exists(), "the given key is used");

    let session = asker.start().await;
    let question = asker.ask(&session, json!({ "kind": "confirmation", "title": "one" })).await;
    let path = format!("/v1/sessions/{session}/interactions");
    asker.post(&path, json!({ "kind": "confirmation", "title": "two" })).await.problem(409, "too_many_open");
    let large = json!({ "kind": "confirmation", "title": "three", "message": "x".repeat(2000) });
    again.post(&path, large).await.problem(413, "body_too_large");

    let view = person.question(&question).await.body;
    assert_eq!(seconds(&view["deadline"]) - seconds(&view["created_at"]), 100);
    assert_eq!(seconds(&view["deadline"]) - seconds(&view["warn_at"]), 30);
    let view = person.approve(&question).await.body;
    let taken = again.post(&format!("/v1/interactions/{question}/delivery/take"), json!({})).await.done(200).body;
    let lease = seconds(&taken["until"]) - seconds(&view["resolution"]["at"]);
    assert!((76..=80).contains(&lease), "{lease}");

    let reader = server.client(&deployment.key("viewer", "reader"));
    reader.get("/v1/events/stream").await.problem(503, "too_many_streams");
    let hurried = server.client(&deployment.key("viewer", "hurried"));
    let replies = futures::future::join_all((0..20).map(|_| hurried.get("/v1/sessions"))).await;
    let refused = replies.into_iter().find(|reply| reply.status != 200).unwrap();
    refused.problem(429, "rate_limited");
    assert!(!server.logged().contains(r#""level":"INFO""#), "{}", server.logged());
}

fn seconds(moment: &serde_json::Value) -> i64 {
    moment.as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_second()
}

#[test]
fn commands_read_the_data_directory_from_the_environment() {
    let deployment = Deployment::sqlite();
    deployment.key("agent", "bot");
    let listed =
        crate::common::binary().args(["keys", "list"]).env("HOLDPOINT_DATA", deployment.data()).output().unwrap();
    assert!(String::from_utf8(listed.stdout).unwrap().contains("user=bot"));
}

#[test]
fn invalid_settings_are_refused() {
    for (name, value) in [
        ("HOLDPOINT_LISTEN", "everywhere"),
        ("HOLDPOINT_DEADLINES", "confirmation"),
        ("HOLDPOINT_DEADLINES", "nonsense=5"),
        ("HOLDPOINT_DEADLINES", "form=0"),
        ("HOLDPOINT_RATE", "-1"),
    ] {
        let refused = crate::common::binary().arg("serve").env(name, value).output().unwrap();
        assert_eq!(refused.status.code(), Some(2), "{name}={value}");
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(said.contains(value), "{said}");
    }
}
