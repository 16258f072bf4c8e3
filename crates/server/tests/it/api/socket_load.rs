//! Tests many sockets, faulty sockets, and large messages.

use std::time::Duration;

use futures::future::join_all;
use http::HeaderValue;
use serde_json::{Value, json};
use server::ServerLimits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;

use crate::api::signing_in::signed_in;
use server_testkit::actions::{Scene, writing};
use server_testkit::client::{ApiClient, text};
use server_testkit::world::{PATIENCE, Setup, World, brisk};

const MANY: usize = 1000;

/// Paths of the socket of a session and of the socket of its channel. The channel is named by the UUID of the session,
/// so call ids are equal on both.
fn socket_paths(session: &str) -> [String; 2] {
    [format!("/ws/{session}"), format!("/ws/{}", session.trim_start_matches("ses_"))]
}

/// A thousand clients watch one session: each is shown the call, one decision counts, and each is informed of it once.
#[tokio::test(flavor = "multi_thread")]
async fn one_decision_reaches_a_thousand_clients_of_a_session_once() {
    let scene = Scene::new().await;
    let [path, _] = socket_paths(&scene.session);
    check_a_thousand_clients(&scene, path).await;
}

/// A thousand clients watch one channel.
#[tokio::test(flavor = "multi_thread")]
async fn one_decision_reaches_a_thousand_clients_of_a_channel_once() {
    let scene = Scene::new().await;
    let [_, path] = socket_paths(&scene.session);
    check_a_thousand_clients(&scene, path).await;
}

async fn check_a_thousand_clients(scene: &Scene, path: String) {
    let mut clients = join_all((0..MANY).map(|_| scene.alice.joins(&path))).await;
    let waiting = scene.writes("call_1").await;
    let shown = join_all(clients.iter_mut().map(|client| client.hears())).await;
    assert!(shown.iter().all(|message| message["call_id"] == "call_1" && message["type"] == "tool_call"));
    let decision = json!({ "type": "hitl_decision", "call_id": "call_1", "decision": "approve" });
    join_all(clients.iter_mut().take(50).map(|client| client.says(decision.clone()))).await;
    let told = join_all(clients.iter_mut().map(|client| client.hears_of("hitl_resolved"))).await;
    assert!(told.iter().all(|message| message["decision"] == "approve" && message["by"] == "alice"));
    assert_eq!(scene.agent.state(&waiting).await, "allowed");
    let names = scene.agent.events(&scene.session).await;
    assert_eq!(names.iter().filter(|name| *name == "interaction.answered").count(), 1);
}

/// All clients disconnect and reconnect at once, several times: each receives the open calls and no settled ones.
#[tokio::test(flavor = "multi_thread")]
async fn clients_that_reconnect_at_once_receive_only_open_calls() {
    let scene = Scene::new().await;
    let [path, channel] = socket_paths(&scene.session);
    scene.writes("settled").await;
    scene.writes("open").await;
    let mut first = scene.alice.joins(&path).await;
    for _ in 0..2 {
        first.hears_of("tool_call").await;
    }
    first.says(json!({ "type": "hitl_decision", "call_id": "settled", "decision": "reject" })).await;
    first.hears_of("hitl_resolved").await;
    for path in [&path, &channel, &path, &channel, &path] {
        let storm = (0..200).map(async |_| {
            let mut client = scene.alice.joins(path).await;
            let shown = text(&client.hears().await["call_id"]);
            // The clients disconnect without a closing handshake.
            drop(client);
            shown
        });
        assert!(join_all(storm).await.iter().all(|call| call == "open"));
    }
    first.leaves().await;
    // No subscription remains.
    scene.world.listened_to(0).await;
}

/// An unsolicited pong frame of a client.
const PONG: [u8; 6] = [0x8a, 0x80, 0, 0, 0, 0];

/// Opens a WebSocket over a TCP stream that the test does not read.
async fn open_socket_without_reading(world: &World, key: &str, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(world.http.address).await.unwrap();
    let head = format!(
        "GET {path} HTTP/1.1\r\nhost: holdpoint\r\nauthorization: Bearer {key}\r\nconnection: upgrade\r\n\
         upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut reply = [0; 12];
    stream.read_exact(&mut reply).await.unwrap();
    assert_eq!(&reply, b"HTTP/1.1 101");
    stream
}

/// The server closes a socket whose peer has silently disappeared.
#[tokio::test]
async fn half_open_sockets_are_closed() {
    let world = World::with(brisk()).await;
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = agent.opens(json!({})).await;
    for path in socket_paths(&session) {
        let _silent = open_socket_without_reading(&world, &alice.key, &path).await;
        // The socket answers no ping, so the server drops it although the TCP connection is still open.
        world.listened_to(0).await;
        // A socket that answers pings stays open.
        let mut alive = alice.joins(&path).await;
        alive.answers_pings(10).await;
        alive.is_refused(json!({ "type": "nothing" }), "body_invalid").await;
        alive.leaves().await;
    }
}

/// A client that sends pongs but reads nothing is disconnected, so that the server does not buffer without limit.
#[tokio::test]
async fn client_that_reads_nothing_is_disconnected() {
    let world = World::with(brisk()).await;
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    for by_channel in [0, 1] {
        let session = agent.opens(json!({})).await;
        check_disconnection_of_silent_reader((&world, &agent, &alice), &session, &socket_paths(&session)[by_channel])
            .await;
    }
}

async fn check_disconnection_of_silent_reader(
    (world, agent, alice): (&World, &ApiClient, &ApiClient),
    session: &str,
    path: &str,
) {
    let mut lazy = open_socket_without_reading(world, &alice.key, path).await;
    let long = "x".repeat(200_000);
    let talks = async {
        for number in 0.. {
            let mut body = writing(&format!("call_{number}"));
            body["arguments"]["content"] = json!(long);
            agent.proposes(session, body).await;
        }
    };
    let lives = async {
        while world.engine.bell().topics() > 0 && lazy.write_all(&PONG).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let ended = async {
        tokio::select! { () = talks => {}, () = lives => {} }
    };
    tokio::time::timeout(PATIENCE, ended).await.unwrap();
    world.listened_to(0).await;
}

/// A message of the largest allowed size is accepted. A larger one is refused with a problem document, and the socket
/// is closed.
#[tokio::test]
async fn message_over_the_size_limit_is_refused_and_closes_the_socket() {
    let scene = Scene::new().await;
    let mut socket = scene.agent.joins("/v1/ws").await;
    let most = ServerLimits::default().body_bytes;
    let message = |bytes: usize| {
        let mut message = json!({ "type": "propose", "id": "q", "session": scene.session, "call_id": format!("c{bytes}"),
                                  "tool": "write_file", "arguments": { "path": "a.md", "content": "" } });
        let rest = bytes - message.to_string().len();
        message["arguments"]["content"] = json!("x".repeat(rest));
        assert_eq!(message.to_string().len(), bytes);
        message
    };
    let taken = socket.asks(message(most / 5)).await;
    assert_eq!(taken["status"], 202, "{}", taken["problem"]);
    let exact = socket.asks(message(most)).await;
    assert_ne!(exact["problem"]["code"], "body_too_large", "{}", exact["problem"]);
    socket.says(message(most + 1)).await;
    let (code, said) = socket.closed().await;
    assert_eq!((code, &said[0]["status"], &said[0]["problem"]["code"]), (1009, &json!(413), &json!("body_too_large")));
    let mut socket = scene.agent.joins("/v1/ws").await;
    // The server need not read the rest of the message, so the connection may break while it is being sent.
    socket.sends_anyhow(Message::Text(message(3 * most).to_string().into())).await;
    socket.ends().await;
    for path in socket_paths(&scene.session) {
        let mut editor = scene.alice.joins(&path).await;
        editor.hears_of("tool_call").await;
        let long = json!({ "type": "user_message", "content": "x".repeat(most) });
        editor.is_refused(long, "body_too_large").await;
    }
}

/// Binary messages are refused, and the socket stays open.
#[tokio::test]
async fn binary_messages_are_refused_and_the_socket_stays_open() {
    let scene = Scene::new().await;
    for path in socket_paths(&scene.session) {
        let mut editor = scene.alice.joins(&path).await;
        editor.sends(Message::Binary(b"{\"type\":\"user_message\"}".to_vec().into())).await;
        assert_eq!(editor.hears().await["code"], "not_json");
        editor.is_refused(json!({ "type": "nothing" }), "body_invalid").await;
    }
    let mut socket = scene.agent.joins("/v1/ws").await;
    socket.sends(Message::Binary(vec![0; 1000].into())).await;
    let error = socket.hears().await;
    assert_eq!(
        (&error["status"], &error["problem"]["code"], &error["id"]),
        (&json!(415), &json!("not_json"), &Value::Null)
    );
    assert_eq!(
        socket.asks(json!({ "type": "propose", "session": scene.session })).await["problem"]["code"],
        "body_invalid"
    );
}

/// The node accepts a limited number of sockets and streams.
#[tokio::test]
async fn sockets_and_streams_of_a_node_are_limited() {
    let limits = ServerLimits { streams: 2, ..ServerLimits::default() };
    let world = World::with(Setup { limits, ..Setup::default() }).await;
    let agent = world.agent().await;
    let (first, _second) = (agent.joins("/v1/ws").await, agent.joins("/v1/ws").await);
    agent.is_refused_at_handshake("/v1/ws").await.refused(503, "too_many_streams");
    first.leaves().await;
    let freed = async {
        while agent.http.joins(agent.handshake("/v1/ws")).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, freed).await.unwrap();
}

/// The revocation of a key closes its sockets, even if they are idle.
#[tokio::test]
async fn a_revoked_key_ends_its_sockets() {
    let world = World::with(brisk()).await;
    let (root, alice, agent) = (world.admin().await, world.person("alice").await, world.agent().await);
    let session = agent.opens(json!({})).await;
    let (plain, editor) = (alice.joins("/v1/ws").await, alice.joins(&format!("/ws/{session}")).await);
    // The sockets are read meanwhile, so that they answer pings however long the request takes.
    let path = format!("/v1/keys/{}", alice.key_id);
    let (revoked, (code, said), (editor_code, _)) = tokio::join!(root.delete(&path), plain.closed(), editor.closed());
    revoked.done();
    assert_eq!((code, said.last().unwrap()["reason"].clone()), (1008, json!("unauthenticated")));
    assert_eq!(editor_code, 1008);
}

/// A server that stops closes its sockets and sends the position of each subscription, so that the reader can continue
/// on another node.
#[tokio::test]
async fn stopping_server_sends_the_cursor_of_each_subscription() {
    let world = World::new().await;
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = agent.opens(json!({})).await;
    let mut socket = agent.joins("/v1/ws").await;
    let editor = alice.joins(&format!("/ws/{session}")).await;
    socket.says(json!({ "type": "subscribe", "id": "mine", "session": session })).await;
    socket.hears().await;
    agent.proposes(&session, writing("call_1")).await;
    let mut last = String::new();
    for _ in 0..3 {
        last = socket.event("mine").await.0;
    }
    world.stops();
    let (code, said) = socket.closed().await;
    assert_eq!(code, 1001);
    assert_eq!(said, [json!({ "type": "closing", "reason": "stopping", "cursors": { "mine": last } })]);
    assert_eq!(editor.closed().await.0, 1001);
    world.stopped().await;
}

/// A browser can open a socket with the session cookie only from the server's own origin.
#[tokio::test]
async fn socket_with_a_cookie_requires_the_servers_own_origin() {
    let world = World::new().await;
    let cookie = signed_in(&world, "carol").await;
    let origin = format!("http://{}", world.http.address);
    for (origin, fine) in
        [(Some(origin.as_str()), true), (Some("http://evil.example"), false), (Some("null"), false), (None, false)]
    {
        let mut request = world.http.handshake("/v1/ws");
        request.headers_mut().insert("cookie", HeaderValue::from_str(&cookie).unwrap());
        if let Some(origin) = origin {
            request.headers_mut().insert("origin", HeaderValue::from_str(origin).unwrap());
        }
        match world.http.joins(request).await {
            Ok(mut socket) => {
                assert!(fine, "{origin:?} was accepted");
                assert_eq!(socket.asks(json!({ "type": "subscribe" })).await["status"], 200);
            }
            Err(shut) => {
                assert!(!fine, "{origin:?} was refused");
                shut.refused(403, "cross_site");
            }
        }
    }
}
