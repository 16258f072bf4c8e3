//! Tests the lessons about leases: an answer is delivered under a lease, and is offered again when the lease runs out.

use serde_json::json;

use server_testkit::client::{ApiClient, Question, confirmation};
use server_testkit::world::World;

async fn answered(world: &World) -> (ApiClient, ApiClient, Question) {
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let question = world.asks(confirmation()).await;
    alice.answers(&question, json!({ "option": "confirm" })).await.done();
    (alice, agent, question)
}

/// The lease of a worker that died runs out and another worker takes the answer; the first can no longer acknowledge
/// it.
#[tokio::test]
async fn answer_is_offered_again_after_its_lease_expired() {
    let world = World::new().await;
    let (alice, agent, question) = answered(&world).await;
    let first = agent.takes(&question).await.done();
    assert_eq!((&first["attempt"], &first["until"]), (&json!(1), &json!("2026-01-01T00:01:00Z")));
    assert_eq!(agent.deliveries().await, [""; 0]);
    agent.takes(&question).await.refused(409, "delivery_taken");

    world.passes(60).await;

    assert_eq!(agent.deliveries().await, [question.id.as_str()]);
    assert_eq!(alice.reads(&question).await["delivery"], json!({ "state": "waiting", "attempt": 1 }));
    agent.completes(&question, &first["lease"]).await.refused(409, "lease_lost");
    let second = agent.takes(&question).await.done();
    assert_eq!((&second["attempt"], &second["answer"]), (&json!(2), &first["answer"]));
    agent.completes(&question, &first["lease"]).await.refused(409, "lease_lost");
    let done = agent.completes(&question, &second["lease"]).await.done();
    assert_eq!(done["delivery"], json!({ "state": "completed", "attempt": 2, "at": "2026-01-01T00:01:00Z" }));
}

/// A heartbeat extends the lease.
#[tokio::test]
async fn heartbeat_extends_the_lease() {
    let world = World::new().await;
    let (_, agent, question) = answered(&world).await;
    let lease = agent.takes(&question).await.done()["lease"].clone();
    world.passes(50).await;
    let longer = json!({ "lease": lease, "lease_seconds": 60 });
    let held = agent.post(&question.path("/delivery/heartbeat"), longer).await.done();
    assert_eq!(held["delivery"]["until"], "2026-01-01T00:01:50Z");
    world.passes(50).await;
    agent.completes(&question, &lease).await.done();
    let late = json!({ "lease": lease });
    agent.post(&question.path("/delivery/heartbeat"), late).await.refused(409, "delivery_closed");
}

/// After twenty lost leases a delivery fails permanently and visibly. Regression test: answers whose state was gone
/// were retried for ever.
#[tokio::test]
async fn delivery_fails_for_good_after_twenty_expired_leases() {
    let world = World::new().await;
    let (alice, agent, question) = answered(&world).await;
    for attempt in 1..=20 {
        assert_eq!(agent.takes(&question).await.done()["attempt"], attempt);
        world.passes(60).await;
    }
    let failed = alice.reads(&question).await["delivery"].clone();
    let expected = json!({ "state": "failed", "attempt": 20, "at": "2026-01-01T00:20:00Z",
                           "reason": "the lease ran out 20 times" });
    assert_eq!(failed, expected);
    agent.takes(&question).await.refused(409, "delivery_closed");
    assert_eq!(agent.deliveries().await, [""; 0]);
    assert_eq!(alice.events(&question.session).await.last().unwrap(), "delivery.failed");
}

/// An agent that cannot use an answer reports a failure, either with a retry or permanently.
#[tokio::test]
async fn failed_delivery_is_offered_again_only_if_a_retry_is_requested() {
    let world = World::new().await;
    let (alice, agent, question) = answered(&world).await;
    let fail = question.path("/delivery/fail");
    let lease = agent.takes(&question).await.done()["lease"].clone();
    agent.post(&fail, json!({ "lease": lease, "reason": "busy", "retry": true })).await.done();
    assert_eq!(agent.deliveries().await, [question.id.as_str()]);
    let lease = agent.takes(&question).await.done()["lease"].clone();
    agent.post(&fail, json!({ "lease": lease, "reason": "the state is gone" })).await.done();
    assert_eq!(agent.deliveries().await, [""; 0]);
    let names = alice.events(&question.session).await;
    assert_eq!(names[3..], ["delivery.taken", "delivery.offered", "delivery.taken", "delivery.failed"]);
    agent.post(&fail, json!({ "lease": lease, "reason": "again" })).await.refused(409, "delivery_closed");
}

/// Only the agent that asked may take the answer, and once. A repeated request returns the existing lease.
#[tokio::test]
async fn only_the_asking_agent_can_take_the_answer() {
    let world = World::new().await;
    let (alice, agent, question) = answered(&world).await;
    let other = world.someone("default", domain::Role::Agent, "other-bot", &[]).await;
    other.takes(&question).await.refused(404, "not_found");
    alice.takes(&question).await.refused(403, "role_forbids");
    assert_eq!(other.deliveries().await, [""; 0]);
    let take = question.path("/delivery/take");
    let taken = agent.post_once("t", &take, json!({})).await.done();
    assert_eq!(agent.post_once("t", &take, json!({})).await.done(), taken);
    agent.post_once("t2", &take, json!({})).await.refused(409, "delivery_taken");
    agent.completes(&question, &taken["lease"]).await.done();
    agent.completes(&question, &taken["lease"]).await.refused(409, "delivery_closed");
    agent.takes(&question).await.refused(409, "delivery_closed");
}

/// A lease of another delivery, or an invented lease, does not end a delivery.
#[tokio::test]
async fn foreign_or_invented_lease_does_not_complete_a_delivery() {
    let world = World::new().await;
    let (alice, agent, question) = answered(&world).await;
    let taken = agent.takes(&question).await.done();
    let (_, _, other) = answered(&world).await;
    let foreign = agent.takes(&other).await.done()["lease"].clone();
    agent.completes(&question, &foreign).await.refused(409, "lease_lost");
    let made_up = json!("lea_00000000-0000-7000-8000-000000000000");
    agent.completes(&question, &made_up).await.refused(409, "lease_lost");
    assert_eq!(alice.reads(&question).await, taken["interaction"]);
}

/// A notice blocks nothing and needs no delivery.
#[tokio::test]
async fn notice_does_not_block_the_session() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let notice = world.asks(json!({ "kind": "notice", "title": "The build is green" })).await;
    assert_eq!(agent.session(&notice.session).await["status"], "running");
    let read = alice.answers(&notice, json!({})).await.done();
    assert_eq!(read["delivery"], json!({ "state": "not_needed", "attempt": 0 }));
    assert_eq!(agent.deliveries().await, [""; 0]);
}

/// The trace context of the request that asked is passed on with the answer.
#[tokio::test]
async fn trace_context_of_the_question_is_returned_with_the_answer() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let session = agent.opens(json!({})).await;
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let path = format!("/v1/sessions/{session}/interactions");
    let request = agent.request(reqwest::Method::POST, &path).header("traceparent", trace).json(&confirmation());
    let shown = server_testkit::client::reply(request).await.done();
    let question = Question { id: server_testkit::client::text(&shown["id"]), session, shown };
    alice.answers(&question, json!({ "option": "confirm" })).await.done();
    assert_eq!(agent.takes(&question).await.done()["traceparent"], trace);
}

/// Waiting deliveries are listed in the order of their questions, not of their answers.
#[tokio::test]
async fn deliveries_are_listed_oldest_first() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let mut asked = Vec::new();
    for _ in 0..3 {
        asked.push(world.asks(confirmation()).await);
    }
    for index in [2, 0, 1] {
        alice.answers(&asked[index], json!({ "option": "confirm" })).await.done();
    }
    let expected: Vec<String> = asked.into_iter().map(|question| question.id).collect();
    assert_eq!(agent.deliveries().await, expected);
    let first = agent.get("/v1/deliveries?limit=1").await.done();
    assert_eq!(server_testkit::client::ids(&first["deliveries"]), expected[..1]);
}
