//! Tests waiting for an answer and following the event log.

use std::time::Duration;

use domain::{Refusal, Role, Status};
use futures::FutureExt;
use serde_json::json;
use store::Cursor;

use crate::engine::world::{SOON, World, refusal};

#[tokio::test]
async fn wait_returns_the_answer_whether_it_comes_during_or_before() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let id = world.ask(&agent, &session, json!({})).await.id;
    let (heard, answered) =
        tokio::join!(world.engine.interaction_get(&agent, id, SOON), world.choose(&alice, id, "confirm"));
    let answered = answered.unwrap();
    assert_eq!(heard.unwrap(), answered);
    assert_eq!(
        world.engine.interaction_get(&agent, id, SOON).await.unwrap(),
        answered,
        "a later reader gets the answer too"
    );
}

#[tokio::test]
async fn wait_that_times_out_returns_the_current_question() {
    let world = World::new();
    let agent = world.agent().await;
    let session = world.session(&agent).await;
    let asked = world.ask(&agent, &session, json!({})).await;
    let waited = world.engine.interaction_get(&agent, asked.id, Duration::from_millis(5)).await.unwrap();
    assert_eq!(waited, asked);
    assert_eq!(world.engine.delivery_list(&agent, store::Page::first(1), Duration::from_millis(5)).await.unwrap(), []);
    let events = world.engine.event_list(&agent, session.id, 2, 10, Duration::from_millis(5)).await.unwrap();
    assert_eq!(events, []);
    assert_eq!(world.engine.bell().topics(), 0, "no listener is left");
}

#[tokio::test]
async fn reader_of_a_session_continues_from_its_last_event() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let id = world.ask(&agent, &session, json!({})).await.id;
    let first = world.engine.event_list(&agent, session.id, 0, 1, Duration::ZERO).await.unwrap();
    assert_eq!(first.iter().map(|event| event.seq).collect::<Vec<_>>(), [1]);
    let waiting = world.engine.event_list(&agent, session.id, 2, 10, SOON);
    let (more, answered) = tokio::join!(waiting, world.choose(&alice, id, "confirm"));
    answered.unwrap();
    let more = more.unwrap();
    assert_eq!(
        more.iter().map(|event| (event.seq, event.name.as_str())).collect::<Vec<_>>(),
        [(3, "interaction.answered")]
    );
    let mut follower = world.engine.session_follow(&agent, session.id, 0).await.unwrap();
    assert_eq!(follower.next().await.unwrap().len(), 3);
    assert!(follower.next().now_or_never().is_none(), "there is nothing more to read");
}

#[tokio::test]
async fn reader_of_a_project_sees_each_event_once_from_its_cursor() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let stranger = world.stranger("other", Role::Operator, "alice", &[]).await;
    let session = world.session(&agent).await;
    let mut from_now = world.engine.project_follow(&alice, None).await.unwrap();
    let mut from_start = world.engine.project_follow(&alice, Some(Cursor::default())).await.unwrap();
    world.session(&stranger).await;
    let id = world.ask(&agent, &session, json!({})).await.id;
    let names =
        |events: Vec<(Cursor, domain::Event)>| events.into_iter().map(|(_, event)| event.name).collect::<Vec<_>>();
    assert_eq!(names(from_start.next().await.unwrap()), ["session.started", "interaction.asked"]);
    assert_eq!(names(from_now.next().await.unwrap()), ["interaction.asked"]);
    let cursor = from_start.cursor();
    drop(from_start);
    world.choose(&alice, id, "confirm").await.unwrap();
    let mut again = world.engine.project_follow(&alice, Some(cursor)).await.unwrap();
    assert_eq!(names(again.next().await.unwrap()), ["interaction.answered"]);
    assert_eq!(names(from_now.next().await.unwrap()), ["interaction.answered"]);
}

#[tokio::test]
async fn wait_for_an_absent_question_is_refused_at_once() {
    let world = World::new();
    let (agent, stranger) = (world.agent().await, world.stranger("other", Role::Agent, "deployer", &[]).await);
    let session = world.session(&agent).await;
    let asked = world.ask(&agent, &session, json!({})).await;
    assert_eq!(asked.status(), Status::Pending);
    let waited = world.engine.interaction_get(&stranger, asked.id, SOON).await;
    assert_eq!(refusal(waited), Refusal::NotFound("interaction"));
    assert_eq!(refusal(world.engine.session_follow(&stranger, session.id, 0).await), Refusal::NotFound("session"));
}
