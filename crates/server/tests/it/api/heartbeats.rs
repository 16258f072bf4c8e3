//! Tests heartbeats: a ping on each socket and a message on each stream, in the format of its API.

use serde_json::json;

use server_testkit::client::confirmation;
use server_testkit::flows::flow;
use server_testkit::world::World;
use server_testkit::world::brisk;

/// The server pings idle sockets; a socket that answers stays open.
#[tokio::test]
async fn each_socket_is_pinged() {
    let world = World::with(brisk()).await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let session = agent.opens(json!({})).await;
    let mut plain = alice.joins("/v1/ws").await;
    assert_eq!(plain.asks(json!({ "type": "subscribe", "session": session, "after": 1 })).await["status"], 200);
    let mut editor = alice.joins(&format!("/ws/{session}")).await;
    // Six pings take longer than a socket may stay silent.
    tokio::join!(plain.answers_pings(6), editor.answers_pings(6));
    let asking = agent.asks_in(&session, confirmation());
    let (question, event, call) = tokio::join!(asking, plain.event_after_pings(), editor.hears());
    assert_eq!((event.as_str(), &call["interaction"]), ("interaction.asked", &json!(question.id)));
}

/// Each idle stream sends heartbeats without an event id, so that a client which reconnects continues from the last
/// event.
#[tokio::test]
async fn each_idle_stream_sends_heartbeats() {
    let world = World::with(brisk()).await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let session = agent.opens(json!({})).await;
    let seen = format!("{}:1", session.trim_start_matches("ses_"));
    for (path, last, name) in [
        (format!("/v1/sessions/{session}/events/stream"), Some("1"), None),
        ("/v1/events/stream".to_owned(), None, None),
        (format!("/api/agent/chat/react/stream?sessionId={session}"), Some(seen.as_str()), None),
        (flow(&session, "/events/stream"), Some("1"), Some("heartbeat")),
    ] {
        let mut stream = alice.follows(&path, last).await;
        for _ in 0..3 {
            let beat = stream.next().await.unwrap();
            assert_eq!((beat.id, beat.name.as_deref()), (None, name), "{path}");
            assert_eq!(beat.comment.is_some(), name.is_none(), "{path}");
        }
    }
}
