//! Tests idempotency keys: one key with one body gives one result.

use futures::future::join_all;
use holdpoint_engine::{Error, Idempotency, Start};
use serde_json::json;
use store::{Page, SessionFilter};

use crate::engine::world::{World, ask, choice};

fn idempotency(key: &str, body: &str) -> Option<Idempotency> {
    Some(Idempotency::new(key.into(), "POST /v1/sessions", body.as_bytes()))
}

#[tokio::test]
async fn repeated_command_gets_the_first_result_and_another_is_refused() {
    let world = World::new();
    let (agent, other) = (world.agent().await, world.person("alice").await);
    let start = |by, key, body| world.engine.session_start(by, Start::default(), idempotency(key, body));
    let first = start(&agent, "k", "a").await.unwrap();
    world.pass(60);
    assert_eq!(start(&agent, "k", "a").await.unwrap(), first);
    assert_eq!(start(&agent, "k", "b").await, Err(Error::IdempotencyConflict));
    assert_ne!(start(&other, "k", "b").await.unwrap().id, first.id, "each caller has its own idempotency keys");
    assert_ne!(start(&agent, "l", "a").await.unwrap().id, first.id);
}

#[tokio::test]
async fn concurrent_duplicates_have_one_effect() {
    let world = World::new();
    let agent = world.agent().await;
    let starts = (0..16).map(|_| world.engine.session_start(&agent, Start::default(), idempotency("k", "a")));
    let started: Vec<_> = join_all(starts).await.into_iter().map(Result::unwrap).collect();
    assert!(started.iter().all(|session| *session == started[0]));
    let page = Page { after: None, limit: 100 };
    assert_eq!(world.engine.session_list(&agent, SessionFilter::default(), page).await.unwrap().len(), 1);
}

#[tokio::test]
async fn refused_command_is_not_recorded_and_can_be_retried() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let asked =
        world.engine.interaction_ask(&agent, session.id, ask(json!({})), idempotency("ask", "1")).await.unwrap();
    let wrong = world.engine.interaction_answer(&alice, asked.id, choice("maybe"), idempotency("answer", "1")).await;
    assert!(wrong.is_err());
    let right =
        world.engine.interaction_answer(&alice, asked.id, choice("confirm"), idempotency("answer", "1")).await.unwrap();
    let again =
        world.engine.interaction_answer(&alice, asked.id, choice("confirm"), idempotency("answer", "1")).await.unwrap();
    assert_eq!(again, right, "a repeated answer is not a second answer");
}

#[tokio::test]
async fn repeated_take_returns_the_first_lease() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let id = world.ask(&agent, &session, json!({ "resume_point": 1 })).await.id;
    world.choose(&alice, id, "confirm").await.unwrap();
    let first = world.engine.delivery_take(&agent, id, None, idempotency("take", "1")).await.unwrap();
    let again = world.engine.delivery_take(&agent, id, None, idempotency("take", "1")).await.unwrap();
    assert_eq!((again.lease, again.resume_point), (first.lease, Some(json!(1))));
    world.engine.delivery_complete(&agent, (id, first.lease), idempotency("complete", "1")).await.unwrap();
    world.engine.delivery_complete(&agent, (id, first.lease), idempotency("complete", "1")).await.unwrap();
}

#[tokio::test]
async fn idempotency_keys_are_stored_for_a_day() {
    let world = World::new();
    let agent = world.agent().await;
    let first = world.engine.session_start(&agent, Start::default(), idempotency("k", "a")).await.unwrap();
    world.pass(24 * 3600);
    world.engine.run_housekeeping_once().await.unwrap();
    let still = world.engine.session_start(&agent, Start::default(), idempotency("k", "a")).await.unwrap();
    assert_eq!(still, first);
    world.pass(1);
    world.engine.run_housekeeping_once().await.unwrap();
    let other = world.engine.session_start(&agent, Start::default(), idempotency("k", "b")).await.unwrap();
    assert_ne!(other.id, first.id);
}
