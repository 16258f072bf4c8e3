//! Tests traces over OTLP, and the trace context that passes through to the agent.

use serde_json::json;

use super::collector::Collector;
use crate::common::Deployment;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN: &str = "00f067aa0ba902b7";

#[tokio::test]
async fn spans_have_their_attributes_and_continue_the_callers_trace() {
    let collector = Collector::start();
    let deployment = Deployment::sqlite();
    let launch = deployment.launch();
    let (listen, data) = (launch.address(), deployment.data().display().to_string());
    let launch = launch.by_environment(&[
        ("HOLDPOINT_LISTEN", &listen),
        ("HOLDPOINT_DATA", &data),
        ("HOLDPOINT_OTLP_ENDPOINT", &collector.endpoint()),
    ]);
    let server = launch.start().await;
    let key = deployment.key("agent", "bot");
    let (bot, alice) = (server.client(&key), server.client(&deployment.key("operator", "alice")));
    let session = bot.post("/v1/sessions", json!({ "channel": "room-7" })).await.done(201).text("/id");
    let traceparent = format!("00-{TRACE}-{SPAN}-01");
    let ask = bot.request("POST", &format!("/v1/sessions/{session}/interactions")).header("traceparent", &traceparent);
    let ask = ask.json(&json!({ "kind": "confirmation", "title": "traced" }));
    let question = bot.attempt(ask).await.unwrap().done(201).text("/id");
    alice.approve(&question).await;
    let taken = bot.post(&format!("/v1/interactions/{question}/delivery/take"), json!({})).await.done(200);
    assert_eq!(taken.text("/traceparent"), traceparent);

    // The server sends its buffered traces when it stops.
    assert!(server.stop().success());
    for expected in
        ["interactionId", "chatSessionId", "interactionStatus", &question, "room-7", "answered", "holdpoint"]
    {
        assert!(collector.has(expected.as_bytes()), "no {expected} in the traces");
    }
    assert!(collector.has(&bytes(TRACE)), "the caller's trace is not continued");
    assert!(collector.has(&bytes(SPAN)), "the caller's span is not the parent");
    assert!(!collector.has(key.rsplit_once('_').unwrap().1.as_bytes()), "a key was sent");
}

#[tokio::test]
async fn server_works_without_a_reachable_trace_collector() {
    let deployment = Deployment::sqlite();
    let launch = deployment.launch().with(&["--otlp-endpoint", "http://127.0.0.1:9/v1/traces"]);
    let server = launch.start().await;
    let bot = server.client(&deployment.key("agent", "bot"));
    bot.ask_plainly("untraced").await;
    assert!(server.stop().success());
    for line in launch.logged().lines() {
        assert!(line.starts_with('{') || line.starts_with("holdpoint: the last traces could not be sent"), "{line}");
    }
}

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let pairs = hexadecimal.as_bytes().chunks_exact(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}
