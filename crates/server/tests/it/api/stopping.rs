//! Tests the graceful stop: requests in flight finish, waits end, and streams receive a last message.

use futures::future::join;
use serde_json::{Value, json};
use store::Store;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use server_testkit::client::confirmation;
use server_testkit::world::World;

/// Streams receive a `stopping` message with instructions and are then closed.
#[tokio::test]
async fn stopping_server_sends_streams_a_last_message() {
    let world = World::new().await;
    let agent = world.agent().await;
    let session = agent.opens(json!({})).await;
    let mut of_session = agent.follows(&format!("/v1/sessions/{session}/events/stream"), None).await;
    let mut of_project = agent.follows("/v1/events/stream", None).await;
    of_session.events(1).await;
    world.stops();
    for stream in [&mut of_session, &mut of_project] {
        let last = stream.next().await.unwrap();
        assert_eq!(last.name.as_deref(), Some("stopping"));
        assert_eq!((last.id, last.data.contains("Last-Event-ID")), (None, true));
        assert_eq!(stream.next().await, None);
    }
    world.stopped().await;
}

/// Waiting requests return the current state.
#[tokio::test]
async fn stopping_server_ends_waits_with_the_current_state() {
    let world = World::new().await;
    let agent = world.agent().await;
    let question = world.asks(confirmation()).await;
    let events = format!("/v1/sessions/{}/events?after=2&wait=300", question.session);
    let path = question.path("?wait=300");
    let waiting = futures::future::join3(agent.get(&path), agent.get("/v1/deliveries?wait=300"), agent.get(&events));
    let stopping = async {
        // The question and the events share one topic; the deliveries have another.
        world.listened_to(2).await;
        world.stops();
    };
    let ((asked, deliveries, events), ()) = join(waiting, stopping).await;
    assert_eq!(asked.done(), question.shown);
    assert_eq!(deliveries.done(), json!({ "deliveries": [] }));
    assert_eq!(events.done(), json!({ "events": [], "next": 2 }));
    world.stopped().await;
}

/// A command whose body is still arriving is carried out, and its connection is then closed.
#[tokio::test]
async fn stopping_server_finishes_requests_in_flight() {
    let world = World::new().await;
    let agent = world.agent().await;
    let mut connection = TcpStream::connect(world.http.address).await.unwrap();
    let body = json!({ "title": "Release 1.4" }).to_string();
    let head = format!(
        "POST /v1/sessions HTTP/1.1\r\nhost: holdpoint\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nexpect: 100-continue\r\n\r\n",
        agent.key,
        body.len()
    );
    connection.write_all(head.as_bytes()).await.unwrap();
    // The server sends this line when the handler asks for the body: the request is in flight.
    let mut go_on = vec![0; b"HTTP/1.1 100 Continue\r\n\r\n".len()];
    connection.read_exact(&mut go_on).await.unwrap();
    assert_eq!(go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    world.stops();
    connection.write_all(body.as_bytes()).await.unwrap();
    let mut reply = String::new();
    connection.read_to_string(&mut reply).await.unwrap();
    assert!(reply.starts_with("HTTP/1.1 201 Created\r\n"), "{reply}");
    let (_, body) = reply.split_once("\r\n\r\n").unwrap();
    assert_eq!(serde_json::from_str::<Value>(body).unwrap()["title"], "Release 1.4");
    world.stopped().await;
    assert!(TcpStream::connect(world.http.address).await.is_err());
}

/// Load balancers can check that the server is alive and ready.
#[tokio::test]
async fn health_and_readiness_are_reported() {
    let world = World::new().await;
    let get = |path: &'static str| server_testkit::client::reply(world.http.request(reqwest::Method::GET, path));
    let (live, ready, metrics) = (get("/healthz").await, get("/readyz").await, get("/metrics").await);
    assert_eq!((live.status, live.body, ready.status, ready.body), (200, json!("ok\n"), 200, json!("ready\n")));
    assert_eq!(metrics.status, 200);
}

/// When the store is closed, callers are told to try again and see no internal detail. Regression test: internal
/// exception text reached the page and the model.
#[tokio::test]
async fn closed_store_is_reported_without_internal_details() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    world.store.close();
    let reply = alice.post("/v1/sessions", json!({})).await;
    assert_eq!(reply.headers["retry-after"], "1");
    let expected = json!({ "type": "urn:holdpoint:problem:storage_unavailable", "status": 503,
                           "code": "storage_unavailable", "title": "the database cannot be reached; try again" });
    assert_eq!(reply.refused(503, "storage_unavailable"), expected);
}
