//! Tests tickets, with which a browser opens one stream or socket.

use reqwest::Method;
use serde_json::json;

use server_testkit::client::{reply, text};
use server_testkit::sse::Frames;
use server_testkit::world::World;

/// A ticket opens one stream or socket with the rights of its creator, once.
#[tokio::test]
async fn a_ticket_is_used_once() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let session = agent.opens(json!({})).await;
    let ticket = async || text(&alice.post("/v1/tickets", json!({})).await.done()["ticket"]);
    let (first, second, third) = (ticket().await, ticket().await, ticket().await);
    assert!(first.starts_with("hpt_") && first != second);
    let mut socket = world.http.joins(world.http.handshake(&format!("/v1/ws?ticket={first}"))).await.ok().unwrap();
    assert_eq!(socket.asks(json!({ "type": "subscribe", "session": session })).await["status"], 200);
    for path in ["/v1/ws".to_owned(), format!("/ws/{session}")] {
        let again = world.http.joins(world.http.handshake(&format!("{path}?ticket={first}"))).await;
        again.err().unwrap().refused(401, "unauthenticated");
    }
    let stream = world.http.request(Method::GET, &format!("/v1/sessions/{session}/events/stream?ticket={second}"));
    let response = stream.send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(Frames::of(response).event().await.1["type"], "session.started");
    let mut editor =
        world.http.joins(world.http.handshake(&format!("/ws/{session}?ticket={third}"))).await.ok().unwrap();
    editor.is_refused(json!({ "type": "nothing" }), "body_invalid").await;
    let bare = session.trim_start_matches("ses_");
    for path in [
        format!("/api/flows/{bare}/events/stream?ticket={}", ticket().await),
        format!("/api/agent/chat/react/stream?sessionId={session}&ticket={}", ticket().await),
    ] {
        let opened = async || world.http.request(Method::GET, &path).send().await.unwrap();
        let response = opened().await;
        assert_eq!(response.status(), 200, "{path}");
        assert!(Frames::of(response).next().await.is_some());
        assert_eq!(opened().await.status(), 401, "{path}");
    }
    // A ticket is refused on operations that are not streams.
    let other = ticket().await;
    let plain = reply(world.http.request(Method::GET, &format!("/v1/sessions?ticket={other}"))).await;
    plain.refused(401, "unauthenticated");
}

/// A ticket is valid for 30 seconds at most, and not beyond its credential. A wrong secret does not spend it.
#[tokio::test]
async fn ticket_expires_by_time_and_with_its_credential() {
    let world = World::new().await;
    let (root, alice) = (world.admin().await, world.person("alice").await);
    let made = alice.post("/v1/tickets", json!({})).await.done();
    let joins = async |ticket: &str| world.http.joins(world.http.handshake(&format!("/v1/ws?ticket={ticket}"))).await;
    let ticket = text(&made["ticket"]);
    let mut wrong = ticket.clone();
    let last = if wrong.pop() == Some('0') { '1' } else { '0' };
    wrong.push(last);
    joins(&wrong).await.err().unwrap().refused(401, "unauthenticated");
    joins("hpt_x").await.err().unwrap().refused(401, "unauthenticated");
    world.passes(29).await;
    assert!(joins(&ticket).await.is_ok(), "a wrong secret does not spend the ticket");
    let late = text(&alice.post("/v1/tickets", json!({})).await.done()["ticket"]);
    world.passes(30).await;
    joins(&late).await.err().unwrap().refused(401, "unauthenticated");
    let orphan = text(&alice.post("/v1/tickets", json!({})).await.done()["ticket"]);
    root.delete(&format!("/v1/keys/{}", alice.key_id)).await.done();
    joins(&orphan).await.err().unwrap().refused(401, "unauthenticated");
}

/// A request that is repeated under its idempotency key returns the first ticket.
#[tokio::test]
async fn repeated_idempotency_key_returns_the_first_ticket() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let first = alice.post_once("one", "/v1/tickets", json!({})).await.done();
    assert_eq!(alice.post_once("one", "/v1/tickets", json!({})).await.done(), first);
    assert_ne!(alice.post_once("two", "/v1/tickets", json!({})).await.done()["ticket"], first["ticket"]);
}

/// The secret of a ticket is stored only as a hash.
#[tokio::test]
async fn ticket_is_stored_as_a_hash() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let ticket = text(&alice.post("/v1/tickets", json!({})).await.done()["ticket"]);
    let secret = ticket.rsplit('_').next().unwrap();
    let raw: Vec<u8> = (0..32).map(|at| u8::from_str_radix(&secret[2 * at..2 * at + 2], 16).unwrap()).collect();
    let mut looked = 0;
    for entry in std::fs::read_dir(world.data.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            let found = |needle: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
            assert!(!found(secret.as_bytes()) && !found(&raw), "{} has it", path.display());
            looked += 1;
        }
    }
    assert!(looked > 0);
}
