//! Tests who may answer: audiences, quorums, claims, batches.

use domain::Role;
use serde_json::{Value, json};

use server_testkit::client::confirmation;
use server_testkit::world::World;

fn confirmation_for(audience: Value) -> Value {
    json!({ "kind": "confirmation", "title": "Delete the file?", "audience": audience })
}

/// Regression test: an answer was accepted from a user outside the audience.
#[tokio::test]
async fn only_the_audience_answers() {
    let world = World::new().await;
    let (alice, bob) = (world.person("alice").await, world.person("bob").await);
    let carol = world.someone("default", Role::Viewer, "carol", &["security"]).await;
    let root = world.admin().await;
    let yes = json!({ "option": "confirm" });

    let for_alice = world.asks(confirmation_for(json!({ "users": ["alice"] }))).await;
    bob.answers(&for_alice, yes.clone()).await.refused(403, "not_in_audience");
    root.answers(&for_alice, yes.clone()).await.refused(403, "not_in_audience");
    bob.post(&for_alice.path("/claim"), json!({})).await.refused(403, "not_in_audience");
    alice.answers(&for_alice, yes.clone()).await.done();

    let for_security = world.asks(confirmation_for(json!({ "groups": ["security"] }))).await;
    alice.answers(&for_security, yes.clone()).await.refused(403, "not_in_audience");
    carol.answers(&for_security, yes.clone()).await.done();

    let for_operators = world.asks(confirmation()).await;
    carol.answers(&for_operators, yes.clone()).await.refused(403, "not_in_audience");
    let mine = bob.get("/v1/interactions?mine=true&status=pending").await.done();
    assert_eq!(server_testkit::client::ids(&mine["interactions"]), [for_operators.id.as_str()]);
    let hers = carol.get("/v1/interactions?mine=true&status=pending").await.done();
    assert_eq!(hers["interactions"], json!([]));
}

/// The asker of a question can never answer it, in any role.
#[tokio::test]
async fn asker_cannot_answer() {
    let world = World::new().await;
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let question = world.asks(confirmation()).await;
    agent.answers(&question, json!({ "option": "confirm" })).await.refused(403, "role_forbids");
    let session = alice.opens(json!({})).await;
    let hers = alice.asks_in(&session, confirmation()).await;
    alice.answers(&hers, json!({ "option": "confirm" })).await.refused(403, "asker_cannot_answer");
    alice.post(&hers.path("/claim"), json!({})).await.refused(403, "asker_cannot_answer");
}

/// With `four_eyes`, the person who started the session cannot answer either.
#[tokio::test]
async fn four_eyes_exclude_the_person_who_started_the_session() {
    let world = World::new().await;
    let (agent, alice, bob) = (world.agent().await, world.person("alice").await, world.person("bob").await);
    let session = alice.opens(json!({ "agent": "bot" })).await;
    let question = agent.asks_in(&session, confirmation_for(json!({ "four_eyes": true }))).await;
    alice.answers(&question, json!({ "option": "confirm" })).await.refused(403, "four_eyes");
    bob.answers(&question, json!({ "option": "confirm" })).await.done();
    let two_eyes = agent.asks_in(&session, confirmation()).await;
    alice.answers(&two_eyes, json!({ "option": "confirm" })).await.done();
}

/// A quorum counts distinct people; one rejection is enough to reject.
#[tokio::test]
async fn a_quorum_counts_distinct_people() {
    let world = World::new().await;
    let (alice, bob) = (world.person("alice").await, world.person("bob").await);
    let question = world.asks(confirmation_for(json!({ "quorum": 2 }))).await;
    let yes = json!({ "option": "confirm" });

    let voted = alice.answers(&question, yes.clone()).await.done();
    assert_eq!(voted["status"], "pending");
    let by_alice = json!({ "kind": "user", "name": "alice" });
    assert_eq!(voted["votes"], json!([{ "by": by_alice, "at": "2026-01-01T00:00:00Z", "effect": "approve" }]));
    alice.answers(&question, yes.clone()).await.refused(409, "already_voted");
    let answered = bob.answers(&question, yes).await.done();
    assert_eq!(answered["status"], "answered");
    let votes = answered["resolution"]["votes"].as_array().unwrap();
    assert_eq!(votes.iter().map(|vote| &vote["by"]["name"]).collect::<Vec<_>>(), ["alice", "bob"]);

    let stopped = world.asks(confirmation_for(json!({ "quorum": 2 }))).await;
    let answered = bob.answers(&stopped, json!({ "option": "cancel", "feedback": "no" })).await.done();
    assert_eq!(answered["resolution"]["answer"]["effect"], "reject");
}

/// A claim excludes others for a limited time, can be released, and expires.
#[tokio::test]
async fn claim_excludes_other_people_until_it_expires() {
    let world = World::new().await;
    let (alice, bob) = (world.person("alice").await, world.person("bob").await);
    let question = world.asks(confirmation()).await;
    let yes = json!({ "option": "confirm" });
    let claimed = alice.post(&question.path("/claim"), json!({})).await.done();
    let claim = json!({ "by": { "kind": "user", "name": "alice" }, "until": "2026-01-01T00:10:00Z" });
    assert_eq!(claimed["claim"], claim);
    bob.answers(&question, yes.clone()).await.refused(409, "claimed_by_other");
    bob.post(&question.path("/claim"), json!({})).await.refused(409, "claimed_by_other");
    bob.post(&question.path("/release"), json!({})).await.refused(409, "not_claimed");
    let released = alice.post(&question.path("/release"), json!({})).await.done();
    assert_eq!(released.get("claim"), None);
    alice.post(&question.path("/release"), json!({})).await.refused(409, "not_claimed");

    bob.post(&question.path("/claim"), json!({})).await.done();
    world.passes(600).await;
    assert_eq!(alice.reads(&question).await.get("claim"), None);
    alice.answers(&question, yes).await.done();
}

/// Each answer of a batch has its own result; a failed one does not affect the others.
#[tokio::test]
async fn each_answer_of_a_batch_has_its_own_result() {
    let world = World::new().await;
    let (alice, stranger) = (world.person("alice").await, world.stranger().await);
    let (first, second) = (world.asks(confirmation()).await, world.asks(confirmation()).await);
    let unknown = "int_00000000-0000-7000-8000-000000000000";
    let answers = json!({ "answers": [
        { "interaction": first.id, "option": "confirm" },
        { "interaction": unknown, "option": "confirm" },
        { "interaction": first.id, "option": "cancel" },
        { "interaction": second.id, "option": "maybe" },
        { "interaction": second.id, "option": "cancel", "feedback": "not today" }
    ] });
    let theirs = stranger.post("/v1/interactions/answers", answers.clone()).await.done();
    let statuses = |results: &Value| -> Vec<Value> {
        results["results"].as_array().unwrap().iter().map(|result| result["status"].clone()).collect()
    };
    assert_eq!(statuses(&theirs), [404, 404, 404, 404, 404]);
    let results = alice.post("/v1/interactions/answers", answers).await.done();
    assert_eq!(statuses(&results), [200, 404, 409, 422, 200]);
    assert_eq!(results["results"][0]["result"], alice.reads(&first).await);
    assert_eq!(results["results"][2]["problem"]["code"], "interaction_already_resolved");
    assert_eq!(results["results"][2]["problem"]["resolution"]["by"]["name"], "alice");
    assert_eq!(results["results"][3]["problem"]["errors"][0]["pointer"], "/option");
    assert_eq!(results["results"][4]["result"]["resolution"]["answer"]["feedback"], "not today");
    for answers in [json!([]), json!(vec![json!({ "interaction": unknown }); 101])] {
        let reply = alice.post("/v1/interactions/answers", json!({ "answers": answers })).await;
        reply.refused_at(422, "body_invalid", &["/answers"]);
    }
}

/// An automatic answer is recorded with its source. Outside the audience it can only reject.
#[tokio::test]
async fn automatic_answer_is_recorded_with_its_source() {
    let world = World::new().await;
    let (root, alice) = (world.admin().await, world.person("alice").await);
    let question = world.asks(confirmation_for(json!({ "users": ["alice"] }))).await;
    let body = json!({ "option": "confirm", "source": "auto_policy" });
    root.post(&question.path("/auto"), body).await.refused(403, "not_in_audience");
    let body = json!({ "option": "cancel", "source": "auto_policy", "feedback": "within the usual limits" });
    let resolved = root.post(&question.path("/auto"), body).await.done();
    let resolution = &resolved["resolution"];
    assert_eq!((&resolved["status"], &resolution["source"]), (&json!("auto_resolved"), &json!("auto_policy")));
    assert_eq!((&resolution["by"]["name"], &resolution["reason"]), (&json!("root"), &json!("within the usual limits")));
    let late = alice.answers(&question, json!({ "option": "cancel" })).await;
    assert_eq!(late.refused(409, "interaction_already_resolved")["resolution"], *resolution);
}

/// The asker may withdraw a question; its delivery is then not needed.
#[tokio::test]
async fn a_withdrawn_question_cannot_be_answered() {
    let world = World::new().await;
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let question = world.asks(confirmation()).await;
    let withdrawn = agent.post(&question.path("/cancel"), json!({ "reason": "no longer needed" })).await.done();
    assert_eq!(withdrawn["resolution"]["reason"], "no longer needed");
    assert_eq!(withdrawn["delivery"], json!({ "state": "not_needed", "attempt": 0 }));
    let late = alice.answers(&question, json!({ "option": "confirm" })).await;
    assert_eq!(late.refused(409, "interaction_already_resolved")["resolution"]["status"], "cancelled");
    agent.post(&question.path("/cancel"), json!({})).await.refused(409, "interaction_already_resolved");
}
