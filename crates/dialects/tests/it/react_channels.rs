//! `react`: tests the stream of a channel with many sessions, and a reader that was disconnected while they ended.

use serde_json::{Value, json};

use crate::react::{STREAM, until};
use server_testkit::client::{ApiClient, Question, reply, text};
use server_testkit::sse::Frames;
use server_testkit::world::World;

const CHANNEL: &str = "session-123";

/// Opens sessions in one channel and asks a question in each.
async fn ask_in_many_sessions(agent: &ApiClient, count: usize) -> Vec<Question> {
    let mut asked = Vec::with_capacity(count);
    for _ in 0..count {
        let session = agent.opens(json!({ "channel": CHANNEL })).await;
        asked.push(agent.asks_in(&session, question()).await);
    }
    asked
}

fn question() -> Value {
    json!({ "kind": "confirmation", "title": "Shall we?" })
}

/// Reads this number of questions and returns the position of the reader and the questions.
async fn shown(frames: &mut Frames, count: usize) -> (String, Vec<String>) {
    let (mut last, mut found) = (String::new(), Vec::new());
    while found.len() < count {
        let (id, event) = until(frames, "INTERACTION").await;
        found.push(text(&event["data"]["requestId"]));
        last = id;
    }
    found.sort();
    (last, found)
}

fn ids(asked: &[Question]) -> Vec<String> {
    let mut ids: Vec<String> = asked.iter().map(|question| question.id.clone()).collect();
    ids.sort();
    ids
}

async fn assert_nothing_is_streamed_after(person: &ApiClient, last: &str) {
    let path = format!("{STREAM}?sessionId={CHANNEL}");
    let request = person.request(reqwest::Method::GET, &path).header("last-event-id", last);
    assert_eq!(reply(request).await.status, 204, "after {last}");
}

/// A reader reconnects to a channel of many sessions with its last event id and misses nothing.
#[tokio::test]
async fn reader_reconnects_to_a_channel_of_many_sessions() {
    let world = World::new().await;
    let (agent, person) = (world.agent().await, world.person("alice").await);
    let path = format!("{STREAM}?sessionId={CHANNEL}");
    let asked = ask_in_many_sessions(&agent, 130).await;
    let mut frames = person.follows(&path, None).await;
    let (last, found) = shown(&mut frames, asked.len()).await;
    assert_eq!(found, ids(&asked), "each question is shown once");
    drop(frames);
    // A position holds a limited number of sessions. The thirty that it omits are streamed again, and no other.
    let more = agent.asks_in(&asked[0].session, question()).await;
    let mut frames = person.follows(&path, Some(&last)).await;
    let (_, found) = shown(&mut frames, 31).await;
    assert!(found.contains(&more.id), "{found:?}");
    agent.commands(&asked[0].session, "complete").await.done();
    let (_, event) = frames.event().await;
    assert_eq!(event["type"], "OBSERVING", "{event}");
}

/// A reader receives the end of every session that it was reading, even if all ended while it was disconnected.
#[tokio::test]
async fn reconnecting_reader_receives_the_end_of_every_session() {
    let world = World::new().await;
    let (agent, person) = (world.agent().await, world.person("alice").await);
    let path = format!("{STREAM}?sessionId={CHANNEL}");
    for (away, at_once) in [([0, 1, 2], true), ([2, 1, 0], true), ([1, 2, 0], false)] {
        let asked = ask_in_many_sessions(&agent, 3).await;
        let mut frames = person.follows(&path, None).await;
        let (last, found) = shown(&mut frames, 3).await;
        assert_eq!(found, ids(&asked));
        let stayed = if at_once { None } else { Some(frames) };
        for number in away {
            agent.commands(&asked[number].session, "complete").await.done();
        }
        let mut frames = match stayed {
            Some(frames) => frames,
            None => person.follows(&path, Some(&last)).await,
        };
        let mut last = String::new();
        for _ in 0..3 {
            let (id, event) = until(&mut frames, "COMPLETED").await;
            assert_eq!(event["data"]["status"], "completed", "{event}");
            last = id;
        }
        assert!(frames.next().await.is_none(), "all sessions have ended");
        assert_nothing_is_streamed_after(&person, &last).await;
    }
}

/// Sessions that began and ended while a reader was disconnected are streamed as well.
#[tokio::test]
async fn sessions_that_ended_during_a_disconnection_are_streamed() {
    let world = World::new().await;
    let (agent, person) = (world.agent().await, world.person("alice").await);
    let path = format!("{STREAM}?sessionId={CHANNEL}");
    let asked = ask_in_many_sessions(&agent, 1).await;
    let mut frames = person.follows(&path, None).await;
    let (last, _) = shown(&mut frames, 1).await;
    drop(frames);
    for question in ask_in_many_sessions(&agent, 2).await {
        agent.commands(&question.session, "complete").await.done();
    }
    let mut frames = person.follows(&path, Some(&last)).await;
    for _ in 0..2 {
        until(&mut frames, "COMPLETED").await;
    }
    agent.commands(&asked[0].session, "complete").await.done();
    let (last, _) = until(&mut frames, "COMPLETED").await;
    assert!(frames.next().await.is_none(), "all sessions have ended");
    assert_nothing_is_streamed_after(&person, &last).await;
}
