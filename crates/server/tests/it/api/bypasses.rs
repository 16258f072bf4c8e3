//! Tests ways to bypass a rule that were once open.

use domain::Role;
use serde_json::{Value, json};

use server_testkit::client::confirmation;
use server_testkit::world::World;

/// The asker, or with four eyes the person who started the session, cannot approve a question by expiring it early.
#[tokio::test]
async fn asker_cannot_approve_a_question_by_expiring_it() {
    let world = World::new().await;
    let (alice, bob) = (world.person("alice").await, world.person("bob").await);
    let ask = json!({ "kind": "confirmation", "title": "May I?", "deadline_seconds": 3600,
                      "fallback": { "option": "confirm" }, "audience": { "four_eyes": true } });
    let session = bob.opens(json!({})).await;
    let question = alice.asks_in(&session, ask.clone()).await;
    alice.post(&question.path("/expire"), json!({})).await.refused(403, "asker_cannot_answer");
    bob.post(&question.path("/expire"), json!({})).await.refused(403, "four_eyes");
    let carol = world.person("carol").await;
    let done = carol.post(&question.path("/expire"), json!({})).await.done();
    assert_eq!(done["resolution"]["by"], json!({ "kind": "user", "name": "carol" }));
    assert_eq!(done["resolution"]["reason"], json!("closed by carol before the deadline"));
}

/// The asker cannot approve a question by an automatic answer either.
#[tokio::test]
async fn asker_cannot_approve_a_question_by_an_automatic_answer() {
    let world = World::new().await;
    let root = world.admin().await;
    let session = root.opens(json!({})).await;
    let question = root.asks_in(&session, confirmation()).await;
    let auto = json!({ "option": "confirm", "source": "auto_policy" });
    root.post(&question.path("/auto"), auto).await.refused(403, "asker_cannot_answer");
}

/// An agent cannot set a short deadline whose fallback approves its action.
#[tokio::test]
async fn no_deadline_runs_an_action() {
    let world = World::new().await;
    let agent = world.agent().await;
    let session = agent.opens(json!({})).await;
    let ask = |fallback: Value| {
        json!({ "kind": "approval", "title": "Deploy?", "action": { "tool": "deploy", "arguments": {} },
                "deadline_seconds": 1, "fallback": fallback })
    };
    let path = format!("/v1/sessions/{session}/interactions");
    let asked = agent.post(&path, ask(json!({ "option": "approve" }))).await;
    asked.refused_at(422, "body_invalid", &["/fallback/option"]);
    agent.post(&path, ask(json!("deny"))).await.done();
    agent.post(&path, ask(json!({ "option": "reject" }))).await.done();
}

/// Regression test: a key whose expiry year could not be represented made every list of keys fail.
#[tokio::test]
async fn key_lifetime_is_at_most_a_hundred_years() {
    let world = World::new().await;
    let root = world.admin().await;
    let key = |seconds: i64| json!({ "role": "agent", "expires_in_seconds": seconds });
    root.post("/v1/keys", key(i64::MAX)).await.refused_at(422, "body_invalid", &["/expires_in_seconds"]);
    root.post("/v1/keys", key(3_153_600_001)).await.refused_at(422, "body_invalid", &["/expires_in_seconds"]);
    root.post("/v1/keys", key(3_153_600_000)).await.done();
    for name in ["holdpoint", "key_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01"] {
        let body = json!({ "role": "operator", "user": name });
        root.post("/v1/keys", body).await.refused_at(422, "body_invalid", &["/user"]);
    }
    root.get("/v1/keys").await.done();
}

/// Regression test: a revoked key kept its open streams.
#[tokio::test]
async fn revoked_key_loses_its_open_streams() {
    let world = World::new().await;
    let (root, agent) = (world.admin().await, world.agent().await);
    let temp = world.someone("default", Role::Viewer, "temp", &[]).await;
    let mut stream = temp.follows("/v1/events/stream", None).await;
    let first = agent.opens(json!({})).await;
    assert_eq!(stream.event().await.1["session"], json!(first));
    let keys = root.get("/v1/keys").await.done();
    let keys = keys["keys"].as_array().unwrap();
    let key = keys.iter().find(|key| key["user"] == "temp").map(|key| key["id"].as_str().unwrap().to_owned()).unwrap();
    assert_eq!(root.request(reqwest::Method::DELETE, &format!("/v1/keys/{key}")).send().await.unwrap().status(), 204);
    agent.opens(json!({})).await;
    let last = stream.next().await.unwrap();
    assert_eq!(last.name.as_deref(), Some("unauthenticated"));
    assert!(stream.next().await.is_none());
}

/// An idempotency key names a whole batch of answers, and an invalid entry does not affect the others.
#[tokio::test]
async fn entries_of_a_batch_are_judged_separately_under_one_idempotency_key() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let (first, second) = (world.asks(confirmation()).await, world.asks(confirmation()).await);
    let entry = |id: &str| json!({ "interaction": id, "option": "confirm" });
    let path = "/v1/interactions/answers";
    let body = json!({ "answers": [entry("int_zzz"), 7, entry(&first.id)] });
    let results = alice.post_once("batch", path, body.clone()).await.done();
    let statuses = |results: &Value| -> Vec<u64> {
        results["results"].as_array().unwrap().iter().map(|result| result["status"].as_u64().unwrap()).collect()
    };
    assert_eq!(statuses(&results), [422, 422, 200]);
    assert_eq!(alice.post_once("batch", path, body).await.done(), results);
    let other = json!({ "answers": [entry(&first.id), entry(&second.id)] });
    alice.post_once("batch", path, other).await.refused(409, "idempotency_conflict");
    assert_eq!(alice.reads(&second).await["status"], json!("pending"));
}

/// Only the agent that asked may work on the delivery, even if another agent knows the lease.
#[tokio::test]
async fn lease_cannot_be_used_by_another_agent() {
    let world = World::new().await;
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let thief = world.someone("default", Role::Agent, "thief", &[]).await;
    let question = world.asks(confirmation()).await;
    alice.answers(&question, json!({ "option": "confirm" })).await.done();
    let taken = agent.takes(&question).await.done();
    thief.completes(&question, &taken["lease"]).await.refused(404, "not_found");
    agent.completes(&question, &taken["lease"]).await.done();
}

/// Regression test: a filter by an unknown kind returned all custom questions.
#[tokio::test]
async fn filter_by_an_unknown_kind_is_refused() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    world.asks(json!({ "kind": "deploy_window", "title": "When?" })).await;
    alice.get("/v1/interactions?kind=nope").await.refused(400, "query_invalid");
    let custom = alice.get("/v1/interactions?kind=custom").await.done();
    assert_eq!(custom["interactions"][0]["custom_kind"], json!("deploy_window"));
}

/// The size of a question is limited, because a page of very large questions would have hundreds of megabytes.
#[tokio::test]
async fn question_over_the_size_limit_is_refused() {
    let world = World::new().await;
    let agent = world.agent().await;
    let session = agent.opens(json!({})).await;
    let ask = json!({ "kind": "confirmation", "title": "May I?", "context": "x".repeat(300_000) });
    agent.post(&format!("/v1/sessions/{session}/interactions"), ask).await.refused(422, "body_invalid");
}
