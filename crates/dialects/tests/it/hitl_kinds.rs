//! `hitl`: tests kinds without a type of their own, and requests that agents create.

use serde_json::{Value, json};

use crate::hitl::{refused, responds, status};
use server_testkit::client::{Question, text};
use server_testkit::world::World;

/// Every kind is shown as the nearest type, names its kind, and is answered in the form of that type.
#[tokio::test]
async fn every_kind_of_question_can_be_answered() {
    let world = World::new().await;
    let person = world.person("alice").await;
    let check = async |body: Value, hitl_type: &str, data: Value, expected: Value| {
        let kind = body["kind"].clone();
        let question = world.asks(body).await;
        let shown = person.get(&format!("/hitl/requests/{}", question.id)).await.done();
        assert_eq!(
            (&shown["request_type"], &shown["metadata"]["kind"]),
            (&json!(hitl_type), &expected["kind"]),
            "{kind}"
        );
        responds(&person, &question.id, hitl_type, data).await.done();
        let answer = person.reads(&question).await["resolution"]["answer"].clone();
        let (effect, option) = (&expected["effect"], &expected["option"]);
        assert_eq!((&answer["effect"], &answer["option"]), (effect, option), "{kind}: {answer}");
        if !expected["data"].is_null() {
            assert_eq!(answer["data"], expected["data"], "{kind}: {answer}");
        }
    };
    let of = |kind: &str, effect: &str, option: Value, data: Value| json!({ "kind": kind, "effect": effect, "option": option, "data": data });
    let none = || Value::Null;
    let confirmation = json!({ "kind": "confirmation", "title": "Delete it?" });
    let yes = json!({ "action": "allow" });
    check(confirmation.clone(), "permission", yes, of("confirmation", "approve", json!("confirm"), none())).await;
    let no = json!({ "granted": false });
    check(confirmation, "permission", no, of("confirmation", "reject", json!("cancel"), none())).await;
    let review = json!({ "kind": "review", "title": "The draft" });
    let revise = json!({ "decision": "revise", "feedback": "shorter" });
    check(review, "decision", revise, of("review", "retry", json!("revise"), none())).await;
    let form = json!({ "kind": "form", "title": "Where to?", "schema": { "type": "object", "required": ["count"],
                       "properties": { "count": { "type": "integer" } } } });
    let filled = json!({ "values": { "count": 3 }, "save": false });
    check(form, "env_var", filled, of("form", "provide", none(), json!({ "count": 3 }))).await;
    let notice = json!({ "kind": "notice", "title": "It is done" });
    check(notice, "clarification", json!({ "answer": "" }), of("notice", "provide", none(), none())).await;
    let custom = json!({ "kind": "vote", "title": "Well?" });
    check(custom, "clarification", json!({ "answer": "aye" }), of("custom", "provide", none(), json!("aye"))).await;
    let custom = json!({ "kind": "vote", "title": "Well?", "options": [{ "id": "aye", "label": "Aye" }] });
    check(custom, "decision", json!({ "decision": "aye" }), of("custom", "provide", json!("aye"), none())).await;
}

/// Creates a request in a conversation of its own.
async fn requested(world: &World, body: Value) -> Question {
    let agent = world.agent().await;
    let session = agent.opens(json!({ "channel": "conv-uuid" })).await;
    let mut body = body;
    body["conversation_id"] = json!("conv-uuid");
    let shown = agent.post("/hitl/requests", body).await.done();
    Question { id: text(&shown["id"]), session, shown }
}

/// Without `timeout_seconds` the deadline is 300 seconds, and 60 for a permission. The request decides how the question
/// ends then.
#[tokio::test]
async fn request_ends_at_its_deadline_with_its_own_fallback() {
    let world = World::new().await;
    let person = world.person("alice").await;
    let check = async |body: Value, seconds: i64, after: &str, answer: Value| {
        let question = requested(&world, body.clone()).await;
        world.passes(seconds - 1).await;
        assert_eq!(status(&person, &question.id).await, "pending", "{body}");
        world.passes(1).await;
        assert_eq!(status(&person, &question.id).await, after, "{body}");
        let resolution = &person.reads(&question).await["resolution"];
        for (field, value) in answer.as_object().unwrap() {
            assert_eq!(resolution["answer"][field], *value, "{body}: {resolution}");
        }
    };
    let options = json!([{ "id": "a", "label": "A" }, { "id": "b", "label": "B", "recommended": true }]);
    let decision = json!({ "request_type": "decision", "question": "Which?", "options": options });
    check(decision.clone(), 300, "answered", json!({ "option": "b", "effect": "provide" })).await;
    let mut given = decision.clone();
    given["default_option"] = json!("a");
    check(given, 300, "answered", json!({ "option": "a" })).await;
    let plain = json!({ "request_type": "decision", "question": "Which?", "options": [{ "id": "a", "label": "A" }] });
    check(plain, 300, "timeout", json!({})).await;
    let mut timed = decision;
    timed["timeout_seconds"] = json!(30.0);
    check(timed.clone(), 30, "answered", json!({ "option": "b" })).await;
    timed["timeout_seconds"] = json!(0.5);
    check(timed.clone(), 1, "answered", json!({ "option": "b" })).await;
    let clarification = json!({ "request_type": "clarification", "question": "Where?" });
    check(clarification.clone(), 300, "timeout", json!({})).await;
    let mut given = clarification;
    given["default_value"] = json!("/srv");
    check(given, 300, "answered", json!({ "data": "/srv" })).await;
    let variables = json!({ "request_type": "env_var", "message": "A key", "fields": [{ "name": "KEY" }] });
    check(variables, 300, "timeout", json!({})).await;
    let permission = json!({ "request_type": "permission", "tool_name": "shell_execute", "action": "rm -rf ./temp/*",
                             "details": { "affected_files": 42 } });
    check(permission.clone(), 60, "answered", json!({ "effect": "reject" })).await;
    let mut allowing = permission;
    allowing["default_action"] = json!("allow");
    allowing["conversation_id"] = json!("conv-uuid");
    let agent = world.agent().await;
    let body = refused(agent.post("/hitl/requests", allowing).await, 422, "body_invalid");
    assert!(text(&body["message"]).contains("without a person's approval"), "{body}");
}

/// A request of this dialect is a normal question and can be answered through every API.
#[tokio::test]
async fn request_is_a_normal_question_that_v1_can_answer() {
    let world = World::new().await;
    let person = world.person("alice").await;
    let body = json!({ "request_type": "permission", "tool_name": "shell_execute", "action": "rm -rf ./temp/*",
                       "details": { "affected_files": 42 }, "description": "删除 temp 目录下的所有文件" });
    let question = requested(&world, body).await;
    let shown = person.reads(&question).await;
    assert_eq!((&shown["kind"], &shown["title"]), (&json!("approval"), &json!("rm -rf ./temp/*")));
    assert_eq!(shown["action"]["arguments"], json!({ "affected_files": 42, "action": "rm -rf ./temp/*" }));
    assert_eq!(shown["details"], json!("删除 temp 目录下的所有文件"));
    person.answers(&question, json!({ "option": "approve" })).await.done();
    assert_eq!(status(&person, &question.id).await, "answered");
    let agent = world.agent().await;
    refused(
        agent.post("/hitl/requests", json!({ "conversation_id": "conv-uuid", "request_type": "permission" })).await,
        422,
        "body_invalid",
    );
    let endless = json!({ "conversation_id": "conv-uuid", "request_type": "clarification", "question": "?", "timeout_seconds": 1e300 });
    refused(agent.post("/hitl/requests", endless).await, 422, "body_invalid");
    // Errors point to the fields of this dialect.
    for (field, value, pointer) in [
        ("timeout_seconds", json!(0), "/timeout_seconds"),
        ("question", json!("x".repeat(100_000)), "/question"),
        ("options", json!([{ "id": "a", "label": "A" }, { "id": "a", "label": "B" }]), "/options/1"),
    ] {
        let mut wrong = json!({ "conversation_id": "conv-uuid", "request_type": "decision", "question": "?",
                                "options": [{ "id": "a", "label": "A" }] });
        wrong[field] = value;
        let body = refused(agent.post("/hitl/requests", wrong).await, 422, "body_invalid");
        assert!(text(&body["errors"][0]["pointer"]).starts_with(pointer), "{body}");
    }
}
