//! Tests SIGTERM: long polls are answered, streams are closed with a notice, and requests in flight finish.

use std::net::TcpStream;
use std::time::Instant;

use serde_json::json;

use crate::common::{Deployment, Raw, Reply, Stream, soon, until};

#[tokio::test]
async fn sigterm_answers_long_polls_and_closes_streams_with_a_notice() {
    let deployment = Deployment::sqlite();
    let (bot, person) = (deployment.key("agent", "bot"), deployment.key("operator", "alice"));
    let launch = deployment.launch();
    let mut server = launch.start().await;
    let client = server.client(&bot);
    let session = client.start().await;
    let question = client.ask(&session, json!({ "kind": "confirmation", "title": "still open" })).await;

    let mut project = Stream::open(&client, "/v1/events/stream", Some("0-0")).await.unwrap();
    let path = format!("/v1/sessions/{session}/events/stream");
    let mut events = Stream::open(&client, &path, None).await.unwrap();
    for stream in [&mut project, &mut events] {
        assert_eq!(soon("the first event", stream.next()).await.unwrap().event, "session.started");
        assert_eq!(soon("the second event", stream.next()).await.unwrap().event, "interaction.asked");
    }
    let waiting = [
        format!("/v1/interactions/{question}?wait=120"),
        format!("/v1/sessions/{session}/events?after=2&wait=120"),
        "/v1/deliveries?wait=120".to_owned(),
    ];
    let mut waiters = Vec::new();
    for path in waiting {
        let mut waiter = Raw::open(&launch.address());
        waiter.send(&format!("GET {path} HTTP/1.1\r\nHost: holdpoint\r\nAuthorization: Bearer {bot}\r\n\r\n")).await;
        waiters.push(waiter);
    }
    let since = Instant::now();
    server.terminate();
    let [asked, listed, delivered]: [Reply; 3] =
        waiters.into_iter().map(Raw::reply).collect::<Vec<_>>().try_into().unwrap();
    assert_eq!(asked.done(200).text("/status"), "pending");
    assert_eq!(listed.done(200).body, json!({ "events": [], "next": 2 }));
    assert_eq!(delivered.done(200).body, json!({ "deliveries": [] }));
    for stream in [&mut project, &mut events] {
        let last = soon("the last event", stream.next()).await.unwrap();
        assert_eq!((last.id, last.event.as_str()), (None, "stopping"));
        assert_eq!(soon("the end", stream.next()).await, None);
    }
    assert_eq!(server.ended(since).code(), Some(0));
    assert!(launch.said().ends_with("Holdpoint has stopped\n"), "{}", launch.said());

    let server = launch.start().await;
    server.client(&person).approve(&question).await;
    assert!(server.stop().success());
}

#[tokio::test]
async fn sigterm_lets_a_request_in_flight_finish() {
    let deployment = Deployment::sqlite();
    let bot = deployment.key("agent", "bot");
    let launch = deployment.launch();
    let mut server = launch.start().await;

    let body = r#"{"agent":"slow writer"}"#;
    let (first, second) = body.split_at(7);
    let mut request = Raw::open(&launch.address());
    let head = format!(
        "POST /v1/sessions HTTP/1.1\r\nHost: holdpoint\r\nAuthorization: Bearer {bot}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    request.send(&head).await;
    request.send(first).await;

    server.terminate();
    until("no new connections", async || TcpStream::connect(launch.address()).is_err().then_some(())).await;
    assert!(server.runs(), "the server waits for the request");
    request.send(second).await;
    let id = request.reply().done(201).text("/id");
    assert_eq!(server.ended(Instant::now()).code(), Some(0));

    let server = launch.start().await;
    let session = server.client(&bot).get(&format!("/v1/sessions/{id}")).await.done(200);
    assert_eq!(session.text("/agent"), "slow writer");
}
