//! Tests the AsyncAPI document: its references resolve, its examples match their schemas, and real messages match it.

use jsonschema::Validator;
use reqwest::Method;
use serde_json::{Value, json};

use server_testkit::actions::{Scene, writing};
use server_testkit::client::{confirmation, reply, text};
use server_testkit::world::World;

/// Compiles the schema of a message, including the components that it refers to.
fn schema(document: &Value, name: &str) -> Validator {
    let mut schema = document["components"]["messages"][name]["payload"].clone();
    assert!(schema.is_object(), "{name} is not described");
    schema["components"] = json!({ "schemas": document["components"]["schemas"] });
    jsonschema::validator_for(&schema).unwrap()
}

fn fits(document: &Value, name: &str, message: &Value) {
    let problems: Vec<String> = schema(document, name)
        .iter_errors(message)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(problems.is_empty(), "{name}: {problems:?} in {message}");
}

/// Counts references, each of which must lead somewhere.
fn walk(value: &Value, document: &Value, seen: &mut usize) {
    if let Some(target) = value.get("$ref").and_then(Value::as_str) {
        assert!(document.pointer(target.trim_start_matches('#')).is_some(), "{target} leads nowhere");
        *seen += 1;
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| walk(item, document, seen)),
        Value::Object(fields) => fields.values().for_each(|field| walk(field, document, seen)),
        _ => {}
    }
}

#[tokio::test]
async fn asyncapi_document_is_served_and_its_references_resolve() {
    let world = World::new().await;
    let document = reply(world.http.request(Method::GET, "/asyncapi.json")).await.done();
    assert_eq!(document, server::asyncapi(dialects::dialects().channels));
    assert_eq!(document["asyncapi"], "3.0.0");
    let mut seen = 0;
    walk(&document, &document, &mut seen);
    assert!(seen > 50, "only {seen} references");
    for (name, message) in document["components"]["messages"].as_object().unwrap() {
        let used = document["operations"]
            .as_object()
            .unwrap()
            .values()
            .filter(|operation| operation["messages"][0]["$ref"].as_str().unwrap().ends_with(&format!("/{name}")));
        assert_eq!(used.count(), 1, "{name} is not in exactly one operation");
        assert!(message["summary"].as_str().is_some_and(|words| !words.is_empty()), "{name} has no summary");
    }
}

#[test]
fn every_example_fits_its_schema() {
    let document = server::asyncapi(dialects::dialects().channels);
    for (name, message) in document["components"]["messages"].as_object().unwrap() {
        let example = &message["examples"][0]["payload"];
        assert_eq!(example["type"], message["name"], "{name}");
        fits(&document, name, example);
        let mut other = example.clone();
        other["type"] = json!("other");
        assert!(!schema(&document, name).is_valid(&other), "{name} accepts another type");
    }
}

/// The server reads every example of a request. The objects that the examples name do not exist, which gives other
/// error codes.
#[tokio::test]
async fn every_example_of_a_request_can_be_read() {
    let scene = Scene::new().await;
    let document = server::asyncapi(dialects::dialects().channels);
    let mut read = 0;
    for (name, message) in document["components"]["messages"].as_object().unwrap() {
        let said = document["operations"].get(format!("{}_receive_{}", api_of(name), text(&message["name"])));
        if said.is_none() {
            continue;
        }
        let path = if api_of(name) == "v1" { "/v1/ws".to_owned() } else { format!("/ws/{}", scene.session) };
        let mut socket = scene.root.joins(&path).await;
        socket.says(message["examples"][0]["payload"].clone()).await;
        let reply = socket.hears().await;
        let code = reply["problem"]["code"].as_str().or(reply["code"].as_str()).unwrap_or_default();
        assert!(!["body_invalid", "malformed_json"].contains(&code), "{name}: {reply}");
        read += 1;
    }
    assert_eq!(read, 12);
}

fn api_of(name: &str) -> &str {
    name.split('_').next().unwrap()
}

/// Messages that the server sends match the schemas of the document.
#[tokio::test]
async fn messages_of_the_server_match_their_schemas() {
    let scene = Scene::new().await;
    let document = server::asyncapi(dialects::dialects().channels);
    let mut editor = scene.alice.joins(&format!("/ws/{}", scene.session)).await;
    let mut socket = scene.alice.joins("/v1/ws").await;
    socket.says(json!({ "type": "subscribe", "id": "s", "session": scene.session })).await;
    fits(&document, "v1_result", &socket.hears().await);
    scene.writes("call_1").await;
    let body = json!({ "kind": "approval", "title": "Run", "deadline_seconds": 100, "action": { "tool": "t", "arguments": {} } });
    let timed = scene.agent.asks_in(&scene.session, body).await;
    scene.agent.asks_in(&scene.session, confirmation()).await;
    for _ in 0..3 {
        fits(&document, "approvals_tool_call", &editor.hears().await);
    }
    editor.says(json!({ "type": "hitl_decision", "call_id": "call_1", "decision": "reject" })).await;
    fits(&document, "approvals_hitl_resolved", &editor.hears().await);
    editor.says(json!({ "type": "hitl_decision", "call_id": "call_1", "decision": "reject" })).await;
    fits(&document, "approvals_error", &editor.hears().await);
    scene.world.passes(50).await;
    fits(&document, "approvals_hitl_timeout_warning", &editor.hears().await);
    scene.world.passes(50).await;
    fits(&document, "approvals_hitl_expired", &editor.hears().await);
    assert_eq!(scene.alice.reads(&timed).await["status"], "expired");
    for _ in 0..8 {
        fits(&document, "v1_event", &socket.hears().await);
    }
    let mut again = writing("call_1");
    again["type"] = json!("propose");
    socket.says(again).await;
    let error = socket.hears_of("error").await;
    fits(&document, "v1_error", &error);
    scene.world.stops();
    let (_, said) = socket.closed().await;
    fits(&document, "v1_closing", said.last().unwrap());
}
