//! `flows`: tests the event stream, its event names and numbers, and that it stays open.

use serde_json::{Value, json};

use server_testkit::client::{confirmation, text};
use server_testkit::flows::{bare, flow, form};
use server_testkit::sse::Frames;
use server_testkit::world::World;

/// Returns the next frame: its number, name and data.
async fn frame(stream: &mut Frames) -> (u64, String, Value) {
    let frame = stream.next().await.unwrap();
    let id = frame.id.unwrap().parse().unwrap();
    (id, frame.name.unwrap(), serde_json::from_str(&frame.data).unwrap())
}

#[tokio::test]
async fn stream_has_event_names_for_questions_and_flow_for_the_rest() {
    let world = World::new().await;
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = agent.opens(json!({ "agent": "release-bot" })).await;
    let mut stream = alice.follows(&flow(&session, "/events/stream"), None).await;
    let (id, name, started) = frame(&mut stream).await;
    assert_eq!((id, name.as_str(), &started["state"]["status"]), (1, "flow", &json!("RUNNING")));
    assert_eq!((&started["events"][0]["type"], &started["nextSinceEventId"]), (&json!("FLOW_STARTED"), &json!(1)));

    let question = agent.asks_in(&session, form()).await;
    let (id, name, asked) = frame(&mut stream).await;
    assert_eq!((id, name.as_str()), (2, "humanInteractionRequired"));
    assert_eq!((&asked["requestId"], &asked["status"]), (&json!(bare(&question.id)), &json!("PENDING")));
    assert_eq!((&asked["eventId"], &asked["eventType"]), (&json!(2), &json!("HUMAN_INTERACTION_REQUIRED")));
    assert_eq!((&asked["sessionId"], &asked["type"]), (&json!(bare(&session)), &json!("INPUT_FORM")));
    assert!(asked["payloadSchema"].is_object() && asked["suggestedActions"].is_object());

    alice.flows(&question, "respond", json!({ "payload": { "amount": 1 } })).await.done();
    let (id, name, answered) = frame(&mut stream).await;
    assert_eq!((id, name.as_str()), (3, "humanInteractionStatusChanged"));
    assert_eq!(
        (&answered["eventType"], &answered["status"]),
        (&json!("HUMAN_INTERACTION_RESPONDED"), &json!("ANSWERED"))
    );
    assert_eq!(answered["response"]["respondedBy"], "alice");
    let root = world.admin().await;
    for (verb, kind, status) in [
        ("expire", "HUMAN_INTERACTION_EXPIRED", "EXPIRED"),
        ("auto", "HUMAN_INTERACTION_AUTO_RESOLVED", "AUTO_RESOLVED"),
    ] {
        let question = agent.asks_in(&session, confirmation()).await;
        frame(&mut stream).await;
        root.flows(&question, verb, json!({})).await.done();
        let (_, name, closed) = frame(&mut stream).await;
        assert_eq!(name, "humanInteractionStatusChanged");
        assert_eq!((&closed["eventType"], &closed["status"]), (&json!(kind), &json!(status)));
    }
}

/// Regression test: pausing used to close the event stream, because the stream ended at each status that ends in "ED",
/// as "PAUSED" does.
#[tokio::test]
async fn stream_stays_open_after_a_pause_and_after_the_end_of_the_session() {
    let world = World::new().await;
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = agent.opens(json!({})).await;
    let mut stream = alice.follows(&flow(&session, "/events/stream"), Some("1")).await;
    for (number, (command, status)) in
        [("pause", "PAUSED"), ("resume", "RUNNING"), ("cancel", "CANCELLED")].iter().enumerate()
    {
        alice.post(&flow(&session, "/control"), json!({ "command": command })).await.done();
        let (id, name, told) = frame(&mut stream).await;
        assert_eq!((id, name.as_str()), (number as u64 + 2, "flow"));
        assert_eq!(told["state"]["status"], *status);
    }
    world.stops();
    assert_eq!(
        stream.next().await.unwrap().name.as_deref(),
        Some("stopping"),
        "the stream is open until the server stops"
    );
}

/// A reader that reconnects misses and repeats nothing, and old events show the current state of their questions.
#[tokio::test]
async fn a_stream_resumes_without_a_gap() {
    let world = World::new().await;
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = agent.opens(json!({})).await;
    let path = flow(&session, "/events/stream");
    let (mut seen, mut questions) = (Vec::new(), Vec::new());
    for _ in 0..4 {
        let question = agent.asks_in(&session, confirmation()).await;
        let last: Option<String> = seen.last().map(|id: &u64| id.to_string());
        let mut stream = alice.follows(&path, last.as_deref()).await;
        for _ in 0..if last.is_none() { 2 } else { 1 } {
            seen.push(frame(&mut stream).await.0);
        }
        drop(stream);
        // The answer arrives while no reader is connected.
        alice.flows(&question, "respond", json!({ "payload": "confirm" })).await.done();
        let last = seen.last().unwrap().to_string();
        seen.push(frame(&mut alice.follows(&path, Some(&last)).await).await.0);
        questions.push(bare(&question.id));
    }
    assert_eq!(seen, (1..=9).collect::<Vec<_>>());
    let mut again = alice.follows(&path, Some("1")).await;
    for question in &questions {
        let (_, name, asked) = frame(&mut again).await;
        assert_eq!((name.as_str(), &text(&asked["requestId"])), ("humanInteractionRequired", question));
        assert_eq!(asked["status"], "ANSWERED", "a closed question is not shown as open");
        frame(&mut again).await;
    }
    let request = alice.request(reqwest::Method::GET, &path).header("last-event-id", "x");
    server_testkit::client::reply(request).await.refused(400, "header_invalid");
}
