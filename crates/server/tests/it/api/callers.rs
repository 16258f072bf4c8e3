//! Tests the limits of each caller, of each tenant and of strangers: request heads, credentials, connections, streams,
//! unfinished messages.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use server::{Front, ServerLimits};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::frame::{Frame, FrameHeader};

use server_testkit::client::{ApiClient, confirmation, reply, text};
use server_testkit::world::{PATIENCE, Setup, World};

async fn world(limits: ServerLimits) -> World {
    World::with(Setup { limits, ..Setup::default() }).await
}

/// Sends a request head unchanged, and returns the status and the problem document.
async fn sends_head(world: &World, head: &str) -> (u16, Value) {
    let mut stream = TcpStream::connect(world.http.address).await.unwrap();
    stream.write_all(head.replace('\n', "\r\n").as_bytes()).await.unwrap();
    answer(&mut stream).await
}

/// Reads a reply up to the end of the connection, and returns its status and body.
async fn answer(stream: &mut TcpStream) -> (u16, Value) {
    let mut read = Vec::new();
    tokio::time::timeout(PATIENCE, stream.read_to_end(&mut read)).await.unwrap().unwrap();
    let read = String::from_utf8(read).unwrap();
    let status = read.split(' ').nth(1).unwrap().parse().unwrap();
    let body = read.split("\r\n\r\n").nth(1).unwrap_or_default();
    (status, serde_json::from_str(body).unwrap_or_default())
}

/// A request head that two readers could interpret differently is refused.
#[tokio::test]
async fn ambiguous_request_head_is_refused() {
    let world = World::new().await;
    let (alice, bob) = (world.person("alice").await, world.person("bob").await);
    let (alice, bob) =
        (format!("authorization: Bearer {}\n", alice.key), format!("authorization: Bearer {}\n", bob.key));
    let end = "connection: close\n\n";
    let get = "GET /v1/sessions HTTP/1.1\n";
    for head in [
        format!("{get}{alice}{end}"),
        format!("GET /v1/sessions HTTP/1.0\n{alice}{end}"),
        format!("{get}host: a\nhost: b\n{alice}{end}"),
        format!("{get}host: a\nhost: a\n{alice}{end}"),
        format!("{get}host: a\n{alice}{bob}{end}"),
        format!("{get}host: a\n{alice}{alice}{end}"),
        format!("GET /healthz HTTP/1.1\n{end}"),
    ] {
        let (status, body) = sends_head(&world, &head).await;
        assert_eq!((status, &body["code"]), (400, &json!("header_invalid")), "{head}");
    }
    let (status, _) = sends_head(&world, &format!("{get}host: anything\n{alice}{end}")).await;
    assert_eq!(status, 200);
}

/// A compressed body is refused: the server decompresses nothing.
#[tokio::test]
async fn a_compressed_body_is_refused() {
    let world = World::new().await;
    let agent = world.agent().await;
    let send = async |encoding: &str| {
        reply(agent.request(Method::POST, "/v1/sessions").header("content-encoding", encoding).json(&json!({}))).await
    };
    for encoding in ["gzip", "br", "zstd", "deflate", "identity, gzip"] {
        send(encoding).await.refused(415, "encoding_unsupported");
    }
    send("identity").await.done();
}

/// A link never repeats the `Host` header of a request.
#[tokio::test]
async fn sign_in_links_do_not_repeat_the_host_header() {
    let world = World::new().await;
    let root = world.admin().await;
    root.post("/v1/users", json!({ "name": "carol", "role": "viewer" })).await.done();
    for host in ["evil.example/path?", "a\"b", "evil.example", "127.0.0.1:1"] {
        let request = root.request(Method::POST, "/v1/users/carol/link").header("host", host).json(&json!({}));
        let url = text(&reply(request).await.done()["url"]);
        assert!(url.starts_with(&format!("http://{}/sign-in#token=", world.http.address)), "{host}: {url}");
    }
}

/// The documentation page cannot be embedded in a frame and loads nothing from other origins.
#[tokio::test]
async fn documentation_page_has_the_security_headers_of_the_page() {
    let world = World::new().await;
    for path in ["/docs/", "/docs/swagger-ui.css", "/docs/swagger-initializer.js", "/openapi.json"] {
        let response = world.http.request(Method::GET, path).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        let header = |name: &str| response.headers()[name].to_str().unwrap();
        let policy = header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
        assert!(policy.ends_with("frame-ancestors 'none'"), "{policy}");
        assert_eq!(header("x-frame-options"), "DENY");
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("referrer-policy"), "no-referrer");
    }
    let sniffed = world.http.request(Method::GET, "/healthz").send().await.unwrap();
    assert_eq!(sniffed.headers()["x-content-type-options"], "nosniff");
}

/// Over TLS the cookie has the `__Host-` prefix, under which no other host can set it; a cookie without the prefix is
/// ignored.
#[tokio::test]
async fn cookie_over_tls_requires_the_host_prefix() {
    let front = Front { public: Some("https://hp.example.org".parse().unwrap()), ..Front::default() };
    let world = World::with(Setup { front, ..Setup::default() }).await;
    let root = world.admin().await;
    root.post("/v1/users", json!({ "name": "carol", "role": "viewer" })).await.done();
    let made = root.post("/v1/users/carol/link", json!({})).await.done();
    let url = text(&made["url"]);
    assert!(url.starts_with("https://hp.example.org/sign-in#token="), "{url}");
    let token = url.split("#token=").nth(1).unwrap();
    let signed_in = reply(world.http.request(Method::POST, "/v1/sign-in/link").json(&json!({ "token": token }))).await;
    let set = signed_in.headers["set-cookie"].to_str().unwrap().to_owned();
    assert!(set.starts_with("__Host-holdpoint_session=hpv_"), "{set}");
    assert!(set.contains("; Secure") && set.contains("; Path=/") && !set.contains("Domain"), "{set}");
    let value = set.split(';').next().unwrap().split_once('=').unwrap().1;
    let me = async |cookie: String| reply(world.http.request(Method::GET, "/v1/me").header("cookie", cookie)).await;
    assert_eq!(me(format!("__Host-holdpoint_session={value}")).await.done()["name"], "carol");
    me(format!("holdpoint_session={value}")).await.refused(401, "unauthenticated");
}

/// An address that sends unknown credentials is refused before the store is read. A credential that was valid before
/// still passes.
#[tokio::test]
async fn address_that_sends_unknown_credentials_is_refused() {
    let world = world(ServerLimits { address_attempts: 3, behind_proxy: true, ..ServerLimits::default() }).await;
    let (alice, bob) = (world.person("alice").await, world.person("bob").await);
    let send =
        async |request: reqwest::RequestBuilder, from: &str| reply(request.header("x-forwarded-for", from)).await;
    let (here, there) = ("2001:db8::1", "203.0.113.9");
    let by_key = |someone: &ApiClient| someone.request(Method::GET, "/v1/sessions");
    send(by_key(&alice), here).await.done();
    let unknown = format!("{:032x}_{}", 7, "0".repeat(64));
    let get = |path: &str| world.http.request(Method::GET, path);
    let guesses = || {
        [
            get("/v1/sessions").bearer_auth(format!("hp_{unknown}")),
            get("/v1/sessions").header("cookie", format!("holdpoint_session=hpv_{unknown}")),
            get(&format!("/v1/events/stream?ticket=hpt_{unknown}")),
        ]
    };
    for guess in guesses() {
        send(guess, here).await.refused(401, "unauthenticated");
    }
    for request in guesses().into_iter().chain([by_key(&bob)]) {
        let refused = send(request, "2001:db8::ffff").await;
        assert_eq!((&refused.body["limit"], &refused.body["max"]), (&json!("address_attempts"), &json!(3)));
        refused.refused(429, "limit_reached");
    }
    send(by_key(&alice), here).await.done();
    send(by_key(&bob), there).await.done();
    send(by_key(&bob), here).await.done();
}

/// Sign-in requests may have only small bodies.
#[tokio::test]
async fn large_sign_in_bodies_are_refused() {
    let world = World::new().await;
    let send = async |path: &str, body: Value| reply(world.http.request(Method::POST, path).json(&body)).await;
    let long = "x".repeat(17 * 1024);
    send("/v1/sign-in/password", json!({ "user": "alice", "password": long })).await.refused(413, "body_too_large");
    send("/v1/sign-in/link", json!({ "token": long })).await.refused(413, "body_too_large");
    send("/v1/sign-in/password", json!({ "user": "alice", "password": "x" })).await.refused(401, "sign_in_failed");
}

/// Sign-in links are rate-limited, as passwords are.
#[tokio::test]
async fn sign_in_link_attempts_are_rate_limited() {
    let world = World::new().await;
    let token = format!("hpl_{:032x}_{}", 7, "0".repeat(64));
    let mut tried = Vec::new();
    for _ in 0..40 {
        tried.push(reply(world.http.request(Method::POST, "/v1/sign-in/link").json(&json!({ "token": token }))).await);
    }
    assert!(tried.iter().any(|reply| reply.status == 429), "40 attempts in a row");
    assert_eq!(tried[0].status, 401);
}

/// Unauthenticated connections are limited. A connection with a valid credential no longer counts as one.
#[tokio::test]
async fn unauthenticated_connections_are_limited() {
    let mut limits = ServerLimits::default();
    limits.connections.strangers = 2;
    let world = world(limits).await;
    let key = engine_key(&world).await;
    let connect = async || TcpStream::connect(world.http.address).await.unwrap();
    let head = format!("GET /v1/sessions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {key}\r\n\r\n");
    let mut known = connect().await;
    known.write_all(head.as_bytes()).await.unwrap();
    let mut begun = [0; 12];
    known.read_exact(&mut begun).await.unwrap();
    assert_eq!(&begun, b"HTTP/1.1 200");
    let (first, _second) = (connect().await, connect().await);
    let (status, body) = answer(&mut connect().await).await;
    assert_eq!((status, &body["code"], &body["limit"]), (503, &json!("limit_reached"), &json!("stranger_connections")));
    drop(first);
    let served = async {
        loop {
            let mut again = connect().await;
            let mut begun = [0; 12];
            let asked = again.write_all(head.as_bytes()).await;
            if asked.is_ok() && again.read_exact(&mut begun).await.is_ok() && &begun == b"HTTP/1.1 200" {
                break;
            }
        }
    };
    tokio::time::timeout(PATIENCE, served).await.unwrap();
}

/// The connections of one key and of one tenant are limited; a connection over the limit receives the reason and is
/// closed.
#[tokio::test]
async fn connections_of_a_key_and_of_a_tenant_are_limited() {
    let mut limits = ServerLimits::default();
    (limits.connections.key, limits.connections.tenant) = (2, 3);
    let world = world(limits).await;
    let (alice, bob, carol) = (world.person("alice").await, world.person("bob").await, world.person("carol").await);
    let elsewhere = world.someone("elsewhere", domain::Role::Operator, "dave", &[]).await;
    let send = async |who: &ApiClient| {
        let mut stream = TcpStream::connect(world.http.address).await.unwrap();
        let head = format!("GET /v1/sessions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {}\r\n\r\n", who.key);
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    };
    let keep = async |who: &ApiClient| {
        let mut stream = send(who).await;
        let mut begun = [0; 12];
        stream.read_exact(&mut begun).await.unwrap();
        (stream, begun == *b"HTTP/1.1 200")
    };
    let refused = async |who: &ApiClient, limit: &str, max: u64| {
        let (status, body) = answer(&mut send(who).await).await;
        assert_eq!((status, &body["code"]), (429, &json!("limit_reached")), "{body}");
        assert_eq!((&body["limit"], &body["max"]), (&json!(limit), &json!(max)), "{body}");
    };
    let kept = [keep(&alice).await, keep(&alice).await];
    refused(&alice, "key_connections", 2).await;
    let of_bob = keep(&bob).await;
    refused(&carol, "tenant_connections", 3).await;
    let other = keep(&elsewhere).await;
    assert!(kept.iter().chain([&of_bob, &other]).all(|(_, served)| *served));
    drop(kept);
    let served = async { while !keep(&alice).await.1 {} };
    tokio::time::timeout(PATIENCE, served).await.unwrap();
}

/// An open WebSocket counts as a connection of its key.
#[tokio::test]
async fn a_socket_counts_as_a_connection_of_its_key() {
    let mut limits = ServerLimits::default();
    limits.connections.key = 1;
    let world = world(limits).await;
    let alice = world.person("alice").await;
    let socket = alice.joins("/v1/ws").await;
    let refused = alice.get("/v1/sessions").await;
    assert_eq!(
        (&refused.body["limit"], &refused.headers["connection"]),
        (&json!("key_connections"), &"close".parse().unwrap())
    );
    refused.refused(429, "limit_reached");
    drop(socket);
    let served = async { while alice.get("/v1/sessions").await.status != 200 {} };
    tokio::time::timeout(PATIENCE, served).await.unwrap();
}

/// Creates a key without a request, and returns its secret.
async fn engine_key(world: &World) -> String {
    world.person("alice").await.key
}

/// The streams and sockets of one key and of one tenant are limited.
#[tokio::test]
async fn streams_of_a_key_and_of_a_tenant_are_limited() {
    let world = world(ServerLimits { key_streams: 1, tenant_streams: 2, ..ServerLimits::default() }).await;
    let (alice, bob, carol) = (world.person("alice").await, world.person("bob").await, world.person("carol").await);
    let elsewhere = world.someone("elsewhere", domain::Role::Operator, "dave", &[]).await;
    let first = alice.follows("/v1/events/stream", None).await;
    let refused = async |who: &ApiClient, limit: &str, max: u64| {
        let reply = who.get("/v1/events/stream").await;
        assert_eq!((&reply.body["limit"], &reply.body["max"]), (&json!(limit), &json!(max)), "{}", reply.body);
        reply.refused(429, "limit_reached");
        who.is_refused_at_handshake("/v1/ws").await.refused(429, "limit_reached");
    };
    refused(&alice, "key_streams", 1).await;
    let _socket = bob.joins("/v1/ws").await;
    refused(&carol, "tenant_streams", 2).await;
    let _others = elsewhere.follows("/v1/events/stream", None).await;
    drop(first);
    let opened = async {
        while alice.get("/v1/events/stream").await.status != 200 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, opened).await.unwrap();
}

/// A stream whose client reads nothing is closed.
#[tokio::test]
async fn stream_whose_client_reads_nothing_is_closed() {
    let mut limits = ServerLimits { key_streams: 1, ..ServerLimits::default() };
    limits.connections.write_time = Duration::from_millis(200);
    let world = world(limits).await;
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = agent.opens(json!({})).await;
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut lazy = socket.connect(world.http.address).await.unwrap();
    let head = format!("GET /v1/events/stream HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {}\r\n\r\n", alice.key);
    lazy.write_all(head.as_bytes()).await.unwrap();
    let mut begun = [0; 12];
    lazy.read_exact(&mut begun).await.unwrap();
    let refused = alice.get("/v1/events/stream").await;
    refused.refused(429, "limit_reached");
    let said = json!({ "content": "\u{1f600}".repeat(16_000) });
    let ends = async {
        loop {
            agent.post(&format!("/v1/sessions/{session}/messages"), said.clone()).await.done();
            if alice.get("/v1/events/stream").await.status == 200 {
                break;
            }
        }
    };
    tokio::time::timeout(PATIENCE, ends).await.unwrap();
}

/// Returns a fragment of a text message that is not the last fragment.
fn fragment(first: bool, bytes: usize) -> Message {
    let kind = if first { Data::Text } else { Data::Continue };
    let header = FrameHeader { is_final: false, opcode: OpCode::Data(kind), ..FrameHeader::default() };
    Message::Frame(Frame::from_payload(header, vec![b'x'; bytes].into()))
}

/// The unfinished messages on all sockets of one key are limited in total; other keys are not affected.
#[tokio::test]
async fn unfinished_messages_of_a_key_are_limited_in_bytes() {
    let world = world(ServerLimits { key_unfinished_bytes: 256 * 1024, ..ServerLimits::default() }).await;
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let (mut first, mut second) = (agent.joins("/v1/ws").await, agent.joins("/v1/ws").await);
    first.sends(fragment(true, 200_000)).await;
    // The pong shows that the server has read the fragment.
    first.sends(Message::Ping("x".into())).await;
    first.hears_pong().await;
    second.sends(fragment(true, 200_000)).await;
    let (code, said) = second.closed().await;
    assert_eq!((code, &said[0]["status"], &said[0]["problem"]["code"]), (1013, &json!(429), &json!("limit_reached")));
    assert_eq!(said[0]["problem"]["limit"], "key_unfinished_bytes");
    let mut other = alice.joins("/v1/ws").await;
    other.sends(fragment(true, 200_000)).await;
    other.sends(Message::Ping("x".into())).await;
    other.hears_pong().await;
    // A closed socket releases its share of the limit.
    drop(first);
    let given_back = async {
        loop {
            let mut again = agent.joins("/v1/ws").await;
            again.sends(fragment(true, 200_000)).await;
            again.sends_anyhow(Message::Ping("x".into())).await;
            if again.hears_pong_or_ends().await {
                break;
            }
        }
    };
    tokio::time::timeout(PATIENCE, given_back).await.unwrap();
}

/// A fragmented message is refused at the header of the fragment that makes it too large.
#[tokio::test]
async fn fragmented_message_over_the_limit_is_refused() {
    let world = World::new().await;
    let agent = world.agent().await;
    let most = ServerLimits::default().body_bytes;
    let mut socket = agent.joins("/v1/ws").await;
    socket.sends(fragment(true, most - 1)).await;
    socket.sends(fragment(false, 1)).await;
    socket.sends(fragment(false, 1)).await;
    let (code, said) = socket.closed().await;
    assert_eq!((code, &said[0]["status"], &said[0]["problem"]["code"]), (1009, &json!(413), &json!("body_too_large")));
}

/// A socket that answers no ping receives three pings, and is closed when the fourth would be due.
#[tokio::test]
async fn a_silent_socket_ends_after_three_heartbeats() {
    let world = world(ServerLimits { heartbeat: Duration::from_millis(50), ..ServerLimits::default() }).await;
    let alice = world.person("alice").await;
    let mut stream = TcpStream::connect(world.http.address).await.unwrap();
    let head = format!(
        "GET /v1/ws HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        alice.key
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut read = Vec::new();
    tokio::time::timeout(PATIENCE, stream.read_to_end(&mut read)).await.unwrap().unwrap();
    let end = read.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
    assert_eq!(read[end..], [0x89, 0, 0x89, 0, 0x89, 0]);
}

/// A form whose schema would need hundreds of megabytes when compiled is refused, and the message names the limit.
#[tokio::test]
async fn a_form_with_too_many_patterns_is_refused() {
    let world = World::new().await;
    let agent = world.agent().await;
    let session = agent.opens(json!({})).await;
    let pattern = |number: u32| format!("^(a|b|c|[d-z]{{1,30}}|{number}){{1,200}}[\\p{{L}}]{{1,50}}0$");
    let properties: serde_json::Map<String, Value> = (0..400)
        .map(|number| (format!("p{number}"), json!({ "type": "string", "pattern": pattern(number) })))
        .collect();
    let form = json!({ "kind": "form", "title": "t", "schema": { "type": "object", "properties": properties } });
    let before = world.everything().await;
    let refused = agent.post(&format!("/v1/sessions/{session}/interactions"), form).await;
    assert!(
        text(&refused.body["errors"][0]["message"]).contains("compiles to more than 2097152 bytes"),
        "{}",
        refused.body
    );
    refused.refused(422, "schema_invalid");
    assert_eq!(world.everything().await, before);
}

/// Unfinished request bodies are limited per key, so that many endless bodies cannot fill the memory.
#[tokio::test]
async fn unfinished_request_bodies_of_a_key_are_limited_in_bytes() {
    let world = world(ServerLimits { key_unfinished_bytes: 256 * 1024, ..ServerLimits::default() }).await;
    let (alice, bob) = (world.person("alice").await, world.person("bob").await);
    let mut slow = TcpStream::connect(world.http.address).await.unwrap();
    let head = format!(
        "POST /v1/sessions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
         content-length: 900000\r\n\r\n",
        alice.key
    );
    slow.write_all(head.as_bytes()).await.unwrap();
    // The server replies before it has received the whole body, and may close the connection while the rest is sent.
    let _ = slow.write_all(&vec![b' '; 500_000]).await;
    let mut status = [0; 12];
    tokio::time::timeout(PATIENCE, slow.read_exact(&mut status)).await.unwrap().unwrap();
    assert_eq!(&status, b"HTTP/1.1 429");
    bob.post("/v1/sessions", json!({ "title": "mine" })).await.done();
    alice.post("/v1/sessions", json!({ "title": "mine" })).await.done();
}

/// The reply to a batch of answers has at most the bytes of a page; further answers are confirmed without their
/// question.
#[tokio::test]
async fn reply_to_a_batch_of_answers_is_limited_in_bytes() {
    let world = World::new().await;
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = agent.opens(json!({})).await;
    let mut answers = Vec::new();
    for _ in 0..25 {
        let mut large = confirmation();
        large["context"] = json!("x".repeat(240_000));
        let asked = agent.asks_in(&session, large).await;
        answers.push(json!({ "interaction": asked.id, "option": "confirm" }));
    }
    let told = alice.post("/v1/interactions/answers", json!({ "answers": answers })).await.done();
    let results = told["results"].as_array().unwrap();
    assert!(results.iter().all(|result| result["status"] == 200));
    let shown = results.iter().filter(|result| !result["result"].is_null()).count();
    assert!((1..25).contains(&shown), "{shown}");
    assert!(told.to_string().len() < 5 * 1024 * 1024);
}
