//! `approvals`: the example messages of its clients, and the messages to all readers.

use serde_json::{Value, json};

use server_testkit::actions::{Proposed, Scene, call, writing};
use server_testkit::client::{confirmation, text};
use server_testkit::world::World;

/// A `tool_call` that needs approval.
const TOOL_CALL: &str = r#"{
  "type": "tool_call",
  "call_id": "call_abc123",
  "tool_name": "write_file",
  "arguments": { "path": "/src/main.py", "content": "..." },
  "requires_approval": true
}"#;
/// A decision that approves.
const APPROVE: &str = r#"{
  "type": "hitl_decision",
  "call_id": "call_abc123",
  "decision": "approve"
}"#;
/// A decision that edits, with `modified_arguments`.
const EDIT: &str = r#"{
  "type": "hitl_decision",
  "call_id": "call_abc123",
  "decision": "edit",
  "modified_arguments": { "path": "/src/main_v2.py" }
}"#;
/// A decision that edits and repeats the complete arguments, as some clients send it.
const EDIT_WHOLE: &str = r#"{
  "type": "hitl_decision",
  "call_id": "call_abc123",
  "decision": "edit",
  "modified_arguments": {
    "path": "/src/main_v2.py",
    "content": "..."
  }
}"#;
/// A decision that rejects.
const REJECT: &str = r#"{
  "type": "hitl_decision",
  "call_id": "call_abc123",
  "decision": "reject",
  "feedback": "Operation too risky"
}"#;
/// A decision that rejects, with feedback.
const REJECT_RUSSIAN: &str = r#"{
  "type": "hitl_decision",
  "call_id": "call_abc123",
  "decision": "reject",
  "feedback": "Эта операция слишком рискованная"
}"#;

/// Asserts that a message has every field of an example with an equal value.
fn assert_has_fields(message: &Value, example: &Value) {
    for (name, value) in example.as_object().unwrap() {
        assert_eq!(&message[name], value, "{name} of {message}");
    }
}

/// Proposes the call of the examples, decides on it with an example, and returns the `hitl_resolved` message and the
/// action.
async fn decide_with_example(example: &str) -> (Value, Value) {
    let scene = Scene::new().await;
    let mut editor = scene.alice.joins(&format!("/ws/{}", scene.session)).await;
    let shown: Value = serde_json::from_str(TOOL_CALL).unwrap();
    let proposed = scene.proposes(call("call_abc123", "write_file", shown["arguments"].clone())).await;
    assert_has_fields(&editor.hears().await, &shown);
    editor.says(serde_json::from_str(example).unwrap()).await;
    let resolved = editor.hears().await;
    (resolved, scene.agent.sees(&proposed).await.shown)
}

#[tokio::test]
async fn example_decisions_of_the_clients_are_accepted() {
    let original = json!({ "path": "/src/main.py", "content": "..." });
    for (example, decision, state, arguments, feedback) in [
        (APPROVE, "approve", "allowed", original.clone(), Value::Null),
        (EDIT, "edit", "allowed", json!({ "path": "/src/main_v2.py" }), Value::Null),
        (EDIT_WHOLE, "edit", "allowed", json!({ "path": "/src/main_v2.py", "content": "..." }), Value::Null),
        (REJECT, "reject", "rejected", original.clone(), json!("Operation too risky")),
        (REJECT_RUSSIAN, "reject", "rejected", original.clone(), json!("Эта операция слишком рискованная")),
    ] {
        let (resolved, action) = decide_with_example(example).await;
        let expected = json!({ "type": "hitl_resolved", "call_id": "call_abc123", "decision": decision, "source": "user", "by": "alice" });
        assert_has_fields(&resolved, &expected);
        assert_eq!((&action["state"], &action["arguments"]), (&json!(state), &arguments), "{example}");
        assert_eq!(action["feedback"], feedback, "{example}");
    }
}

/// Every connected client receives a decision, also if the decision was made through another API.
#[tokio::test]
async fn decision_made_through_another_api_reaches_every_client() {
    let scene = Scene::new().await;
    let path = format!("/ws/{}", scene.session);
    let (mut first, mut second) = (scene.alice.joins(&path).await, scene.alice.joins(&path).await);
    let waiting = scene.writes("call_1").await;
    for editor in [&mut first, &mut second] {
        assert_has_fields(
            &editor.hears().await,
            &json!({ "type": "tool_call", "call_id": "call_1", "requires_approval": true }),
        );
    }
    scene.approved(&waiting).await;
    for editor in [&mut first, &mut second] {
        assert_has_fields(
            &editor.hears().await,
            &json!({ "type": "hitl_resolved", "call_id": "call_1", "decision": "approve" }),
        );
    }
    let auto = scene.writes("call_2").await;
    let body = json!({ "option": "reject", "source": "auto_policy" });
    scene.root.post(&auto.question().path("/auto"), body).await.done();
    first.hears_of("tool_call").await;
    assert_has_fields(
        &first.hears().await,
        &json!({ "type": "hitl_resolved", "call_id": "call_2", "source": "auto_policy" }),
    );
}

/// The list has the fields of the dialect, and the name of the session as the client wrote it.
#[tokio::test]
async fn pending_approvals_are_listed_by_id_by_uuid_and_by_channel() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let session = agent.opens(json!({ "channel": "chat-7" })).await;
    agent.proposes(&session, writing("call_1")).await;
    let in_channel = format!("{session}:call_1");
    for (name, call) in [
        (session.clone(), "call_1"),
        (session.replace("ses_", ""), "call_1"),
        ("chat-7".to_owned(), in_channel.as_str()),
    ] {
        let listed = alice.get(&format!("/sessions/{name}/pending-approvals")).await.done();
        assert_eq!((&listed["session_id"], &listed["count"]), (&json!(name), &json!(1)));
        let item = &listed["pending_approvals"][0];
        assert_has_fields(item, &json!({ "call_id": call, "tool_name": "write_file" }));
        assert_eq!(item["arguments"], json!({ "path": "notes.md", "content": "hello" }));
        assert!(item["reason"].is_string() && item["created_at"].is_string(), "{item}");
    }
    alice.get("/sessions/chat-8/pending-approvals").await.refused(404, "not_found");
    world.stranger().await.get("/sessions/chat-7/pending-approvals").await.refused(404, "not_found");
}

/// Clients receive a warning a minute before the deadline, and a message when it has passed.
#[tokio::test]
async fn clients_are_warned_before_the_deadline_and_informed_after_it() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let session = agent.opens(json!({})).await;
    let mut editor = alice.joins(&format!("/ws/{session}")).await;
    let body = json!({ "kind": "approval", "title": "Run it", "deadline_seconds": 300,
                       "action": { "tool": "write_file", "arguments": { "path": "a" } } });
    let question = agent.asks_in(&session, body).await;
    let shown = editor.hears().await;
    assert_has_fields(&shown, &json!({ "type": "tool_call", "call_id": question.id, "tool_name": "write_file" }));
    world.passes(240).await;
    let warning = editor.hears().await;
    assert_has_fields(&warning, &json!({ "type": "hitl_timeout_warning", "call_id": question.id, "seconds_left": 60 }));
    assert_eq!(warning["expires_at"], shown["expires_at"]);
    world.passes(60).await;
    assert_has_fields(&editor.hears().await, &json!({ "type": "hitl_expired", "call_id": question.id }));
    let late = json!({ "type": "hitl_decision", "call_id": question.id, "decision": "approve" });
    editor.is_refused(late, "interaction_expired").await;
}

/// A question that is not a tool approval is shown under its kind and can be answered.
#[tokio::test]
async fn every_kind_of_question_is_shown_and_can_be_answered() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    let options = json!([{ "id": "a", "label": "A" }, { "id": "b", "label": "B" }]);
    for (asked, said, effect) in [
        (confirmation(), json!({ "decision": "approve" }), "approve"),
        (confirmation(), json!({ "decision": "reject", "feedback": "no" }), "reject"),
        (
            json!({ "kind": "choice", "title": "Which?", "options": options }),
            json!({ "decision": "edit", "modified_arguments": { "option": "b" } }),
            "provide",
        ),
        (
            json!({ "kind": "question", "title": "Where?" }),
            json!({ "decision": "edit", "modified_arguments": { "feedback": "here" } }),
            "provide",
        ),
        (
            json!({ "kind": "form", "title": "How many?", "schema": schema }),
            json!({ "decision": "edit", "modified_arguments": { "data": { "n": 3 } } }),
            "provide",
        ),
        (json!({ "kind": "review", "title": "Good?" }), json!({ "decision": "approve" }), "approve"),
    ] {
        let session = agent.opens(json!({})).await;
        let mut editor = alice.joins(&format!("/ws/{session}")).await;
        let question = agent.asks_in(&session, asked.clone()).await;
        let shown = editor.hears().await;
        assert_eq!((&shown["kind"], &shown["tool_name"]), (&asked["kind"], &asked["kind"]));
        assert_eq!((&shown["call_id"], &shown["arguments"]["title"]), (&json!(question.id), &asked["title"]));
        let mut message = said.clone();
        message["type"] = json!("hitl_decision");
        message["call_id"] = json!(question.id);
        editor.says(message).await;
        let resolved = editor.hears().await;
        assert_eq!(
            (&resolved["type"], &resolved["effect"]),
            (&json!("hitl_resolved"), &json!(effect)),
            "{asked} {resolved}"
        );
        assert_eq!(alice.reads(&question).await["status"], "answered");
    }
}

/// `approve` does not answer a choice: the answer must name an option.
#[tokio::test]
async fn choice_cannot_be_answered_with_approve() {
    let scene = Scene::new().await;
    let mut editor = scene.alice.joins(&format!("/ws/{}", scene.session)).await;
    let started: Proposed = scene.started("call_1").await;
    scene.agent.reports(&started, json!({ "outcome": "unknown" })).await.done();
    let asked = loop {
        let message = editor.hears_of("tool_call").await;
        if message["kind"] == "choice" {
            break message;
        }
    };
    assert_eq!(asked["call_id"], asked["interaction"], "a second question about the call has its own id");
    let approve = |call: &Value| json!({ "type": "hitl_decision", "call_id": call, "decision": "approve" });
    let wrong = editor.is_refused(approve(&asked["call_id"]), "answer_invalid").await;
    assert_eq!(wrong["errors"][0]["pointer"], "/modified_arguments/option", "{wrong}");
    editor.is_refused(approve(&json!("call_1")), "interaction_already_resolved").await;
    let again = json!({ "type": "hitl_decision", "call_id": asked["call_id"], "decision": "edit",
                        "modified_arguments": { "option": "it_ran", "feedback": "5 bytes" } });
    editor.says(again).await;
    assert_eq!(editor.hears_of("hitl_resolved").await["effect"], "provide");
    assert_eq!(text(&scene.agent.sees(&started).await.shown["state"]), "done");
}

/// Knowing the id of a session gives no access to it.
#[tokio::test]
async fn socket_requires_a_credential_with_access_to_the_session() {
    let scene = Scene::new().await;
    let path = format!("/ws/{}", scene.session);
    let nobody = scene.world.http.joins(scene.world.http.handshake(&path)).await;
    nobody.err().unwrap().refused(401, "unauthenticated");
    let stranger = scene.world.stranger().await;
    stranger.is_refused_at_handshake(&path).await.refused(404, "not_found");
    let absent = "/ws/ses_00000000-0000-7000-8000-000000000000";
    scene.alice.is_refused_at_handshake(absent).await.refused(404, "not_found");
    // An invalid channel name opens no socket.
    for name in ["%00", "with%20space", "t%C3%BCr", &"x".repeat(129)] {
        scene.alice.is_refused_at_handshake(&format!("/ws/{name}")).await.refused(400, "id_invalid");
        scene.alice.get(&format!("/sessions/{name}/pending-approvals")).await.refused(400, "id_invalid");
    }
    drop(scene.alice.joins(&format!("/ws/{}", "x".repeat(128))).await);
    // An agent may watch but may not decide.
    let mut agent = scene.agent.joins(&path).await;
    scene.writes("call_1").await;
    agent.hears_of("tool_call").await;
    let decision = json!({ "type": "hitl_decision", "call_id": "call_1", "decision": "approve" });
    agent.is_refused(decision.clone(), "role_forbids").await;
    // The socket of one session does not decide about a call of another session.
    let other = scene.agent.opens(json!({})).await;
    let mut elsewhere = scene.alice.joins(&format!("/ws/{other}")).await;
    elsewhere.is_refused(decision, "not_found").await;
    let plain = scene.alice.get(&path).await;
    plain.refused(426, "upgrade_required");
}
