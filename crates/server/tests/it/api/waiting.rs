//! Tests long polls: they end at the change, not at a poll interval.

use futures::future::join;
use serde_json::json;

use server_testkit::client::confirmation;
use server_testkit::world::World;

/// A wait ends at the answer, long before its time limit.
#[tokio::test]
async fn a_wait_ends_on_the_answer() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let question = world.asks(confirmation()).await;
    let path = question.path("?wait=300");
    let answering = async {
        world.listened_to(1).await;
        alice.answers(&question, json!({ "option": "confirm" })).await.done()
    };
    let (waited, answered) = join(agent.get(&path), answering).await;
    assert_eq!(waited.done(), answered);
    world.listened_to(0).await;
}

/// A change that does not close the question does not end the wait.
#[tokio::test]
async fn wait_does_not_end_on_a_change_that_leaves_the_question_open() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let question = world.asks(confirmation()).await;
    let path = question.path("?wait=300");
    let answering = async {
        world.listened_to(1).await;
        alice.post(&question.path("/claim"), json!({})).await.done();
        alice.commands(&question.session, "pause").await.done();
        alice.post(&question.path("/cancel"), json!({ "reason": "enough" })).await.done()
    };
    let (waited, cancelled) = join(agent.get(&path), answering).await;
    assert_eq!(waited.done(), cancelled);
}

/// An agent that waits for any of its answers receives the first.
#[tokio::test]
async fn waiting_for_deliveries_ends_on_the_first() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let (_, second) = (world.asks(confirmation()).await, world.asks(confirmation()).await);
    let answering = async {
        world.listened_to(1).await;
        alice.answers(&second, json!({ "option": "confirm" })).await.done()
    };
    let (waited, answered) = join(agent.get("/v1/deliveries?wait=300"), answering).await;
    assert_eq!(waited.done(), json!({ "deliveries": [answered] }));
}

/// A lease that runs out ends a wait for deliveries, as an answer does.
#[tokio::test]
async fn waiting_for_deliveries_ends_on_a_lease_that_ran_out() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let question = world.asks(confirmation()).await;
    alice.answers(&question, json!({ "option": "confirm" })).await.done();
    agent.takes(&question).await.done();
    let passing = async {
        world.listened_to(1).await;
        world.passes(60).await;
    };
    let (waited, ()) = join(agent.get("/v1/deliveries?wait=300"), passing).await;
    assert_eq!(waited.done()["deliveries"][0]["id"], question.id);
}

/// Answers from a pause are offered as soon as the session resumes.
#[tokio::test]
async fn waiting_for_deliveries_ends_on_a_resumed_session() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let question = world.asks(confirmation()).await;
    alice.commands(&question.session, "pause").await.done();
    alice.answers(&question, json!({ "option": "confirm" })).await.done();
    let resuming = async {
        world.listened_to(1).await;
        alice.commands(&question.session, "resume").await.done();
    };
    let (waited, ()) = join(agent.get("/v1/deliveries?wait=20"), resuming).await;
    assert_eq!(server_testkit::client::ids(&waited.done()["deliveries"]), [question.id]);
}

/// A wait for events ends at the next event after a number.
#[tokio::test]
async fn waiting_for_events_ends_on_the_next() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let question = world.asks(confirmation()).await;
    let path = format!("/v1/sessions/{}/events?after=2&wait=300", question.session);
    let answering = async {
        world.listened_to(1).await;
        alice.answers(&question, json!({ "option": "confirm" })).await.done();
    };
    let (waited, ()) = join(agent.get(&path), answering).await;
    let page = waited.done();
    assert_eq!(page["next"], 3);
    assert_eq!(page["events"].as_array().unwrap().len(), 1);
    assert_eq!(page["events"][0]["type"], "interaction.answered");
}

/// A wait without a change returns the current state after its time. Tokio's clock is paused and advances while all
/// tasks sleep.
#[tokio::test]
async fn wait_without_a_change_returns_the_current_state() {
    let world = World::new().await;
    let agent = world.agent().await;
    let question = world.asks(confirmation()).await;
    agent.reads(&question).await;
    tokio::time::pause();
    assert_eq!(agent.get(&question.path("?wait=20")).await.done(), question.shown);
    assert_eq!(agent.get("/v1/deliveries?wait=20").await.done(), json!({ "deliveries": [] }));
    let path = format!("/v1/sessions/{}/events?after=2&wait=20", question.session);
    assert_eq!(agent.get(&path).await.done(), json!({ "events": [], "next": 2 }));
}

/// An idle stream sends heartbeats.
#[tokio::test]
async fn a_silent_stream_sends_heartbeats() {
    let world = World::new().await;
    let agent = world.agent().await;
    let session = agent.opens(json!({})).await;
    let mut stream = agent.follows(&format!("/v1/sessions/{session}/events/stream"), Some("1")).await;
    world.listened_to(1).await;
    tokio::time::pause();
    for _ in 0..2 {
        assert_eq!(stream.next().await.unwrap().comment.as_deref(), Some("heartbeat"));
    }
}
