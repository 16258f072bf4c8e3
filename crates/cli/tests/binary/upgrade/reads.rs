//! Checks that the server under test shows everything that the API showed before the old server was killed. It may add
//! fields. The dialects, which translate, show a session of the old server event by event.

use serde_json::{Value, json};

use super::fixture::UpgradedServer;
use crate::common::Stream;

pub(super) async fn everything_is_shown_as_before(upgraded: &UpgradedServer) {
    let reads = upgraded.manifest["reads"].as_array().unwrap();
    assert!(reads.len() > 50);
    for read in reads {
        let (name, path) = (read["as"].as_str().unwrap(), read["path"].as_str().unwrap());
        let shown = upgraded.client(name).get(path).await.done(200).body;
        assert_shows(&read["body"], &shown, path);
    }
}

/// Checks that each dialect shows the agent that waits for the approval of a call.
pub(super) async fn dialects_show_an_agent_that_waits(upgraded: &UpgradedServer) {
    let alice = upgraded.client("alice");
    let (session, question) = (upgraded.text("/hosted/sessions/noter"), upgraded.text("/hosted/questions/noter"));
    let get = async |path: String| alice.get(&path).await.done(200).body;

    let flows = get(format!("/api/flows/{session}/snapshot")).await;
    let types = |event: &Value| event["type"].as_str().unwrap().to_owned();
    let events: Vec<String> = flows["events"].as_array().unwrap().iter().map(types).collect();
    assert_eq!(flows["state"]["status"], "WAITING_USER_INPUT");
    assert_eq!(
        events,
        ["FLOW_STARTED", "STEP_BEGUN", "MODEL_SAID", "MODEL_TURN", "HUMAN_INTERACTION_REQUIRED", "ACTION_WAITING"]
    );

    let hitl = get(format!("/hitl/conversations/{session}/pending")).await;
    let request = &hitl["requests"][0];
    assert_eq!(json!([hitl["total"], request["id"], request["request_type"]]), json!([1, question, "permission"]));

    let approvals = get(format!("/sessions/{session}/pending-approvals")).await;
    let call = &approvals["pending_approvals"][0];
    assert_eq!(json!([approvals["count"], call["interaction"], call["tool_name"]]), json!([1, question, "write_file"]));

    let path = format!("/api/agent/chat/react/stream?sessionId={session}");
    let (mut stream, mut names) = (Stream::open(alice, &path, None).await.unwrap(), Vec::new());
    while names.last().is_none_or(|last| last != "TOOL") {
        names.push(stream.next().await.unwrap().event);
    }
    assert_eq!(names, ["STARTED", "PARTIAL_RESULT", "THINKING", "ACTING", "INTERACTION", "TOOL"]);
}

/// Asserts that a reply contains everything of an earlier reply, with equal values.
pub(super) fn assert_shows(before: &Value, after: &Value, path: &str) {
    let mut differences = Vec::new();
    compare(before, after, path, &mut differences);
    assert!(differences.is_empty(), "{differences:#?}");
}

fn compare(before: &Value, after: &Value, at: &str, differences: &mut Vec<String>) {
    match (before, after) {
        (Value::Object(fields), Value::Object(others)) => {
            for (name, field) in fields {
                let other = others.get(name).unwrap_or(&Value::Null);
                compare(field, other, &format!("{at} /{name}"), differences);
            }
        }
        (Value::Array(items), Value::Array(others)) if items.len() == others.len() => {
            for (index, (item, other)) in items.iter().zip(others).enumerate() {
                compare(item, other, &format!("{at} /{index}"), differences);
            }
        }
        _ if before == after => {}
        _ => differences.push(format!("{at}: was {before}, is {after}")),
    }
}
