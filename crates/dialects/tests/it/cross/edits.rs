//! `approvals`: tests that an edit need only name the arguments that change.

use serde_json::{Value, json};

use server_testkit::client::{reply, text};
use server_testkit::scripted_worker::{ScriptedWorker, scripted};
use server_testkit::world::World;

#[tokio::test]
async fn edit_need_name_only_the_changed_arguments() {
    let world = World::new().await;
    world.engine.set_tool_schemas(agent::tools::schemas());
    let proposed = json!({ "path": "/src/main.py", "content": "..." });
    let turns = json!([{ "calls": [{ "tool": "write_file", "arguments": proposed }] }, { "say": "Written." }]);
    let mut editor = scripted("editor", turns);
    editor["tools"] = json!(["write_file"]);
    let scripted_worker = ScriptedWorker::of(&world, vec![editor]);
    let alice = world.person("alice").await;
    let mut socket = alice.joins("/ws/session_abc?agent=editor").await;
    socket.says(json!({ "type": "user_message", "content": "Go.", "role": "user" })).await;
    let call = socket.hears_of("tool_call").await;
    assert_eq!((&call["tool_name"], &call["arguments"]), (&json!("write_file"), &proposed));
    let decision = |decision: &str, arguments| json!({ "type": "hitl_decision", "call_id": call["call_id"], "decision": decision, "modified_arguments": arguments });
    // `/v1` requires complete arguments, and arguments that do not fit the schema of the tool are refused before
    // anything runs.
    let path = format!("/v1/interactions/{}/answer", text(&call["interaction"]));
    for (arguments, wrong) in [
        (json!({ "path": "/src/main_v2.py" }), "/arguments"),
        (json!({ "path": "a", "content": "b", "mode": 7 }), "/arguments"),
        (json!({ "path": 7, "content": "b" }), "/arguments/path"),
    ] {
        let refused = alice.post(&path, json!({ "effect": "edit", "arguments": arguments })).await;
        let refused = refused.refused(422, "answer_invalid");
        assert!(text(&refused["errors"][0]["pointer"]).starts_with(wrong), "{refused}");
    }
    let wrong = socket.is_refused(decision("edit", json!({ "path": 7 })), "answer_invalid").await;
    assert_eq!(wrong["errors"][0]["pointer"], "/modified_arguments/path", "{wrong}");
    // An approval applies to the arguments that were shown, so it cannot carry others.
    let other = decision("approve", json!({ "path": "/src/main_v2.py" }));
    let wrong = socket.is_refused(other, "answer_invalid").await;
    assert_eq!(wrong["errors"][0]["pointer"], "/modified_arguments", "{wrong}");
    let many = json!({ "type": "hitl_decisions", "decisions": [decision("edit", json!({ "path": 7 }))] });
    let wrong = socket.is_refused(many, "answer_invalid").await;
    assert_eq!(wrong["errors"][0]["pointer"], "/decisions/0/modified_arguments/path", "{wrong}");
    assert!(scripted_worker.runs.lock().is_empty());

    socket.says(decision("edit", json!({ "path": "/src/main_v2.py" }))).await;
    assert_eq!(socket.hears_of("hitl_resolved").await["decision"], "edit");
    while socket.hears_of("assistant_message").await["is_final"] != true {}
    let ran = json!({ "path": "/src/main_v2.py", "content": "..." });
    assert_eq!(*scripted_worker.runs.lock(), [("write_file".to_owned(), ran)]);
}

/// An approval with other arguments than those shown is refused in every API, for every kind of question.
#[tokio::test]
async fn approval_with_other_arguments_is_refused_in_every_api() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let session = agent.opens(json!({ "channel": "chat-k" })).await;
    let mut socket = alice.joins(&format!("/ws/{session}")).await;
    let arguments = json!({ "path": "a.txt", "force": false });
    for (kind, option) in [("approval", "approve"), ("confirmation", "confirm"), ("review", "approve")] {
        let action = json!({ "tool": "delete_file", "arguments": arguments });
        let asked = agent.asks_in(&session, json!({ "kind": kind, "title": "Well?", "action": action })).await;
        let call = socket.hears_of("tool_call").await;
        let decision = |arguments: &Value| json!({ "type": "hitl_decision", "call_id": call["call_id"], "decision": "approve", "modified_arguments": arguments });
        for other in [
            json!({ "path": "b.txt" }),
            json!({ "path": "a.txt", "force": true }),
            json!({ "path": "a.txt", "force": false, "deep": true }),
        ] {
            let wrong = socket.is_refused(decision(&other), "answer_invalid").await;
            assert_eq!(wrong["errors"][0]["pointer"], "/modified_arguments", "{kind}: {wrong}");
            let chosen =
                json!({ "sessionId": "chat-k", "requestId": asked.id, "selectedOptionId": option, "data": other });
            let said = alice.post("/api/agent/chat/react/interaction_response", chosen).await;
            said.refused_at(422, "answer_invalid", &["/data"]);
            let said = alice.answers(&asked, json!({ "option": option, "data": other })).await;
            said.refused_at(422, "answer_invalid", &["/data"]);
            let path = format!("/api/flows/{session}/interactions/{}/respond", asked.id);
            let said = alice.request(reqwest::Method::POST, &path).header("x-chat-session-id", "chat-k");
            let said = said.json(&json!({ "payload": { "action": option, "data": other } }));
            reply(said).await.refused(422, "answer_invalid");
        }
        assert_eq!(alice.reads(&asked).await, asked.shown, "{kind}");
        // An approval that repeats the arguments as shown is not an edit.
        socket.says(decision(if kind == "review" { &call["arguments"] } else { &arguments })).await;
        assert_eq!(socket.hears_of("hitl_resolved").await["decision"], "approve", "{kind}");
    }
}
