//! Tests limits on request rate, open questions and streams.

use std::num::NonZeroU32;

use serde_json::json;

use server_testkit::client::confirmation;
use server_testkit::world::{Setup, World};

/// A key over its rate is refused with `Retry-After`; other keys are not affected.
#[tokio::test]
async fn key_over_its_request_rate_is_refused_and_others_are_not() {
    let mut setup = Setup::default();
    setup.limits.rate = NonZeroU32::new(1);
    let world = World::with(setup).await;
    let (alice, bob) = (world.person("alice").await, world.person("bob").await);
    for _ in 0..2 {
        alice.get("/v1/stats").await.done();
    }
    // The burst is twice the rate, with one more request each second, so at least two of four simultaneous requests are
    // too early.
    let replies = futures::future::join_all((0..4).map(|_| alice.post("/v1/sessions", json!({})))).await;
    let refused: Vec<_> = replies.into_iter().filter(|reply| reply.status == 429).collect();
    assert!(refused.len() >= 2, "only {} were refused", refused.len());
    let opened = 4 - refused.len();
    for reply in refused {
        assert_eq!(reply.headers["retry-after"], "1");
        assert_eq!((&reply.body["limit"], &reply.body["max"]), (&json!("key_requests"), &json!(1)));
        reply.refused(429, "rate_limited");
    }
    let seen = bob.get("/v1/sessions").await.done();
    assert_eq!(seen["sessions"].as_array().unwrap().len(), opened);
}

/// A URI that is too long is refused before anything is read.
#[tokio::test]
async fn a_query_that_is_too_long_is_refused() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let query = |length: usize| format!("/v1/interactions?q={}", "x".repeat(length));
    alice.get(&query(8 * 1024 - "/v1/interactions?q=".len())).await.done();
    alice.get(&query(8 * 1024)).await.refused(414, "uri_too_long");
}

/// A session has a maximum of open questions; a closed question makes room.
#[tokio::test]
async fn open_questions_of_a_session_are_limited() {
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

/// A node has a maximum of streams; a closed stream makes room.
#[tokio::test]
async fn streams_of_a_node_are_limited() {
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
    tokio::time::timeout(server_testkit::world::PATIENCE, opened).await.unwrap();
}

/// A key with the maximum of open questions receives the name of the limit, and nothing changes; other keys are not
/// affected.
#[tokio::test]
async fn question_over_the_budget_of_its_key_is_refused_with_the_limit() {
    let mut setup = Setup::default();
    setup.settings.key_open.questions = 2;
    let world = World::with(setup).await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let (first, second) = (agent.opens(json!({})).await, agent.opens(json!({})).await);
    let asked = agent.asks_in(&first, confirmation()).await;
    agent.asks_in(&second, confirmation()).await;
    let before = world.everything().await;
    let path = format!("/v1/sessions/{second}/interactions");
    let refused = agent.post(&path, confirmation()).await;
    assert_eq!(refused.headers["retry-after"], "1");
    assert_eq!(refused.body["limit"], "key_open_questions");
    assert_eq!(refused.body["max"], 2);
    assert!(refused.body["detail"].as_str().unwrap().contains("--key-open-questions"), "{}", refused.body);
    refused.refused(429, "limit_reached");
    assert_eq!(world.everything().await, before);
    for (tenant, name) in [("default", "another"), ("elsewhere", "bot")] {
        let other = world.someone(tenant, domain::Role::Agent, name, &[]).await;
        let session = other.opens(json!({})).await;
        other.asks_in(&session, confirmation()).await;
    }
    alice.answers(&asked, json!({ "option": "confirm" })).await.done();
    agent.post(&path, confirmation()).await.done();
}

/// An action that would be asked about counts as an open question; an allowed action does not.
#[tokio::test]
async fn action_that_would_be_asked_about_is_refused_over_the_budget() {
    let mut setup = Setup::default();
    setup.settings.key_open.questions = 1;
    let world = World::with(setup).await;
    let agent = world.agent().await;
    let session = agent.opens(json!({})).await;
    agent.asks_in(&session, confirmation()).await;
    let propose = json!({ "call_id": "one", "tool": "deploy", "arguments": {} });
    let refused = agent.post(&format!("/v1/sessions/{session}/actions"), propose).await;
    assert_eq!(refused.body["limit"], "key_open_questions");
    refused.refused(429, "limit_reached");
    agent.get(&format!("/v1/sessions/{session}/actions/one")).await.refused(404, "not_found");
}

/// The long polls of a key are limited; other keys are not affected, and a finished poll makes room.
#[tokio::test]
async fn long_polls_of_a_key_are_limited() {
    let mut setup = Setup::default();
    setup.settings.key_waits = 1;
    let world = World::with(setup).await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let session = agent.opens(json!({})).await;
    let asked = agent.asks_in(&session, confirmation()).await;
    let path = asked.path("?wait=60");
    let bob = world.person("bob").await;
    let meanwhile = async {
        world.listened_to(1).await;
        let refused = agent.get(&format!("/v1/sessions/{session}/events?after=100&wait=1")).await;
        assert_eq!(refused.body["limit"], "key_waits");
        refused.refused(429, "limit_reached");
        let answers = alice.answers(&asked, json!({ "option": "confirm" }));
        let (other, answered) = tokio::join!(bob.get(&path), answers);
        answered.done();
        assert_eq!(other.status, 200, "another key may wait");
    };
    let (first, ()) = tokio::join!(agent.get(&path), meanwhile);
    assert_eq!(first.done()["status"], "answered");
    agent.get(&format!("/v1/sessions/{session}/events?after=100&wait=1")).await.done();
}

/// The documentation page lists every limit with its name and setting, and no other.
#[test]
fn the_page_lists_each_limit_with_its_setting() {
    let page = include_str!("../../../../../docs/limits.md");
    let section = page.split("## Callers and tenants").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let listed: Vec<(String, Option<String>)> = rows
        .map(|row| {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let setting = Some(cells[3].trim_matches('`').to_owned()).filter(|setting| !setting.is_empty());
            (cells[1].trim_matches('`').to_owned(), setting)
        })
        .collect();
    let known: Vec<(String, Option<String>)> =
        domain::Limit::ALL.iter().map(|limit| (limit.name().to_owned(), limit.setting().map(str::to_owned))).collect();
    let sorted = |mut rows: Vec<(String, Option<String>)>| {
        rows.sort();
        rows
    };
    assert_eq!(sorted(listed), sorted(known));
}
