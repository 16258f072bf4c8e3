//! `approvals`: tests the checklist of its clients, one test for each line.

use serde_json::{Value, json};

use server_testkit::actions::Scene;
use server_testkit::client::text;
use server_testkit::world::World;

fn decision(call: &str, decision: &str) -> Value {
    json!({ "type": "hitl_decision", "call_id": call, "decision": decision })
}

/// A person rejects a call: it is no longer pending.
#[tokio::test]
async fn a_rejected_call_is_no_longer_pending() {
    let scene = Scene::new().await;
    let mut editor = scene.alice.joins(&format!("/ws/{}", scene.session)).await;
    let waiting = scene.writes("call_1").await;
    editor.hears_of("tool_call").await;
    editor.says(decision("call_1", "reject")).await;
    editor.hears_of("hitl_resolved").await;
    let listed = scene.alice.get(&format!("/sessions/{}/pending-approvals", scene.session)).await.done();
    assert_eq!(listed["count"], 0);
    assert_eq!(scene.alice.reads(&waiting.question()).await["status"], "answered");
}

/// The agent is informed of a rejection once, and not by a tool result.
#[tokio::test]
async fn rejection_is_reported_once_and_not_as_a_tool_result() {
    let scene = Scene::new().await;
    let mut editor = scene.alice.joins(&format!("/ws/{}", scene.session)).await;
    scene.writes("call_1").await;
    editor.hears_of("tool_call").await;
    editor.says(decision("call_1", "reject")).await;
    editor.hears_of("hitl_resolved").await;
    // Old clients send a tool result as well.
    let old = json!({ "type": "tool_result", "call_id": "call_1", "error": "Error: Операция отклонена: write_file" });
    editor.is_refused(old, "role_forbids").await;
    let told = scene.agent.events(&scene.session).await;
    let told: Vec<&str> = told.iter().map(String::as_str).filter(|name| name.starts_with("action.")).collect();
    assert_eq!(told, ["action.waiting", "action.rejected"]);
}

/// A client that reconnects does not receive a rejected call.
#[tokio::test]
async fn reconnecting_client_does_not_receive_a_rejected_call() {
    let scene = Scene::new().await;
    let path = format!("/ws/{}", scene.session);
    let mut editor = scene.alice.joins(&path).await;
    scene.writes("call_1").await;
    scene.writes("call_2").await;
    for _ in 0..2 {
        editor.hears_of("tool_call").await;
    }
    editor.says(decision("call_1", "reject")).await;
    editor.hears_of("hitl_resolved").await;
    editor.leaves().await;
    let mut again = scene.alice.joins(&path).await;
    assert_eq!(again.hears().await["call_id"], "call_2");
    let error = again.is_refused(json!({ "type": "nothing" }), "body_invalid").await;
    assert_eq!(error["type"], "error", "a rejected call would come before the error");
}

/// A person approves after a rejection: the tool runs once.
#[tokio::test]
async fn call_approved_after_a_rejection_runs_once() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let play = world.plays();
    let session = alice.edits().await;
    let mut editor = alice.joins(&format!("/ws/{session}")).await;
    let write = ("w", "write_file", json!({ "path": "a.md", "content": "x" }));
    play.says("", std::slice::from_ref(&write));
    play.says("", &[write]);
    play.says("Done.", &[]);
    editor.says(json!({ "type": "user_message", "content": "Write it." })).await;
    let first = text(&editor.hears_of("tool_call").await["call_id"]);
    editor.says(decision(&first, "reject")).await;
    assert_eq!(editor.hears_of("hitl_resolved").await["decision"], "reject");
    editor.is_refused(decision(&first, "approve"), "interaction_already_resolved").await;
    let second = text(&editor.hears_of("tool_call").await["call_id"]);
    assert_ne!(first, second);
    editor.says(decision(&second, "approve")).await;
    let mut runs = Vec::new();
    loop {
        let message = editor.hears().await;
        if message["type"] == "tool_call" {
            assert_eq!(message["requires_approval"], false);
            runs.push(text(&message["call_id"]));
            editor.says(json!({ "type": "tool_result", "call_id": second, "result": "ok" })).await;
        }
        if message["is_final"] == true {
            break;
        }
    }
    assert_eq!(runs, [second]);
}

/// Several pending approvals: each is decided on its own.
#[tokio::test]
async fn pending_approvals_are_decided_separately() {
    let scene = Scene::new().await;
    let mut editor = scene.alice.joins(&format!("/ws/{}", scene.session)).await;
    let calls = ["call_1", "call_2", "call_3"];
    let mut waiting = Vec::new();
    for call in calls {
        waiting.push(scene.writes(call).await);
        editor.hears_of("tool_call").await;
    }
    let decisions = json!([{ "call_id": "call_3", "decision": "approve" }, { "call_id": "absent", "decision": "approve" },
                           { "call_id": "call_1", "decision": "perhaps" }, { "call_id": "call_1", "decision": "reject" }]);
    editor.says(json!({ "type": "hitl_decisions", "decisions": decisions })).await;
    let mut told = Vec::new();
    for _ in 0..4 {
        let message = editor.hears().await;
        told.push((text(&message["type"]), text(&message["call_id"])));
    }
    told.sort();
    let expected = [("error", "absent"), ("error", "call_1"), ("hitl_resolved", "call_1"), ("hitl_resolved", "call_3")];
    assert_eq!(told, expected.map(|(kind, call)| (kind.to_owned(), call.to_owned())));
    let mut states = Vec::new();
    for action in &waiting {
        states.push(scene.agent.state(action).await);
    }
    assert_eq!(states, ["rejected", "waiting", "allowed"]);
}

async fn rejected_with(feedback: Value) -> String {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let play = world.plays();
    let session = alice.edits().await;
    let mut editor = alice.joins(&format!("/ws/{session}")).await;
    play.says("", &[("w", "write_file", json!({ "path": "a.md", "content": "x" }))]);
    play.says("I see.", &[]);
    editor.says(json!({ "type": "user_message", "content": "Write it." })).await;
    let call = text(&editor.hears_of("tool_call").await["call_id"]);
    let mut rejection = decision(&call, "reject");
    rejection["feedback"] = feedback;
    editor.says(rejection).await;
    while editor.hears_of("assistant_message").await["is_final"] != true {}
    let results = play.results();
    assert_eq!(results.len(), 1, "the rejection is the only result of its call");
    results[0].0.clone()
}

/// A rejection with feedback: the model reads it.
#[tokio::test]
async fn feedback_reaches_the_model() {
    let told = rejected_with(json!("Слишком рискованно")).await;
    assert!(told.contains("Слишком рискованно") && told.contains("a person (alice) rejected it"), "{told}");
}

/// A rejection without feedback: the model reads a default text.
#[tokio::test]
async fn rejection_without_feedback_has_a_default_text() {
    for nothing in [Value::Null, json!("")] {
        assert_eq!(
            rejected_with(nothing).await,
            "This was not run: a person (alice) rejected it.\nNo reason was given."
        );
    }
}
