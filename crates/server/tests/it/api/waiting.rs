//! Long polls: they end on the change, not at a poll interval, and when the server stops.

use futures::future::join;
use serde_json::json;

use server_testkit::client::confirmation;
use server_testkit::world::World;

/// An answer has to reach its agent at once: the wait ends on the answer while its own time is far away.
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

/// What does not close the question does not end the wait.
#[tokio::test]
async fn a_wait_outlasts_what_does_not_close_the_question() {
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

/// An agent that waits for any of its answers is told of the first.
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

/// A lease that runs out rings as an answer does.
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

/// Answers kept over a pause are offered the moment that the session goes on.
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

/// Events can be waited for by number.
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

/// A wait that nothing ends says after its time how things stand. Tokio's clock is stopped, and jumps while all sleep.
#[tokio::test]
async fn a_wait_that_nothing_ends_says_how_things_stand() {
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

/// A silent stream shows that it lives.
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
