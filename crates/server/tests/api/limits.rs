//! Limits: on rate, on open questions, on streams.

use std::num::NonZeroU32;

use serde_json::json;

use crate::words::confirmation;
use crate::world::{Setup, World};

/// A key that sends too much is told when to come back; other keys are not held up.
#[tokio::test]
async fn a_key_that_sends_too_much_is_held_back_alone() {
    let mut setup = Setup::default();
    setup.limits.rate = NonZeroU32::new(1);
    let world = World::with(setup).await;
    let (alice, bob) = (world.person("alice").await, world.person("bob").await);
    for _ in 0..2 {
        alice.get("/v1/stats").await.done();
    }
    // Twice the rate in a burst, one more each second: of four at once at least two come too early.
    let replies = futures::future::join_all((0..4).map(|_| alice.post("/v1/sessions", json!({})))).await;
    let refused: Vec<_> = replies.into_iter().filter(|reply| reply.status == 429).collect();
    assert!(refused.len() >= 2, "only {} were held back", refused.len());
    let opened = 4 - refused.len();
    for reply in refused {
        assert_eq!(reply.headers["retry-after"], "1");
        reply.refused(429, "rate_limited");
    }
    let seen = bob.get("/v1/sessions").await.done();
    assert_eq!(seen["sessions"].as_array().unwrap().len(), opened);
}

/// A path that nobody needs is refused with a reason, before anything is looked up.
#[tokio::test]
async fn a_query_that_is_too_long_is_refused() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let query = |length: usize| format!("/v1/interactions?q={}", "x".repeat(length));
    alice.get(&query(8 * 1024 - "/v1/interactions?q=".len())).await.done();
    alice.get(&query(8 * 1024)).await.refused(414, "uri_too_long");
}

/// A session has a most of open questions; one that is closed makes room.
#[tokio::test]
async fn a_session_with_too_many_open_questions_takes_no_more() {
    let mut setup = Setup::default();
    setup.settings.most_open = 2;
    let world = World::with(setup).await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let session = agent.opens(json!({})).await;
    let first = agent.asks_in(&session, confirmation()).await;
    agent.asks_in(&session, json!({ "kind": "notice", "title": "Green" })).await;
    let before = world.everything().await;
    let path = format!("/v1/sessions/{session}/interactions");
    agent.post(&path, confirmation()).await.refused(409, "too_many_open");
    assert_eq!(world.everything().await, before);
    alice.answers(&first, json!({ "option": "confirm" })).await.done();
    agent.post(&path, confirmation()).await.done();
}

/// A node has a most of streams; one that is left makes room.
#[tokio::test]
async fn a_node_with_too_many_streams_opens_no_more() {
    let mut setup = Setup::default();
    setup.limits.streams = 2;
    let world = World::with(setup).await;
    let agent = world.agent().await;
    let session = agent.opens(json!({})).await;
    let path = format!("/v1/sessions/{session}/events/stream");
    let first = agent.follows(&path, None).await;
    let _second = agent.follows("/v1/events/stream", None).await;
    let refused = agent.get(&path).await;
    assert_eq!(refused.headers["retry-after"], "1");
    refused.refused(503, "too_many_streams");
    drop(first);
    let opened = async {
        while agent.get(&path).await.status != 200 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(crate::world::PATIENCE, opened).await.unwrap();
}
