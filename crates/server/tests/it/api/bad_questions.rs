//! Tests bad input: questions that nobody could answer, and forms whose schema could do harm.

use serde_json::{Value, json};

use server_testkit::client::confirmation;
use server_testkit::world::World;

/// Texts with NUL, control or bidirectional characters are refused, because they could disguise their meaning.
#[tokio::test]
async fn texts_with_control_or_bidirectional_characters_are_refused() {
    let world = World::new().await;
    let agent = world.agent().await;
    let session = agent.opens(json!({})).await;
    let path = format!("/v1/sessions/{session}/interactions");
    let before = world.everything().await;
    for disguise in ["a\u{0}b", "safe\u{202E}gpj.exe", "x\u{2066}y\u{2069}", "a\u{1b}[31m", "two\nlines", "", " \t "] {
        let title = json!({ "kind": "confirmation", "title": disguise });
        agent.post(&path, title).await.refused(422, "body_invalid");
        agent.post("/v1/sessions", json!({ "title": disguise })).await.refused(422, "body_invalid");
        let label = json!({ "kind": "choice", "title": "Which?", "options": [{ "id": "a", "label": disguise }] });
        agent.post(&path, label).await.refused(422, "body_invalid");
        let tool = json!({ "kind": "approval", "title": "Go?", "action": { "tool": disguise, "arguments": {} } });
        agent.post(&path, tool).await.refused(422, "body_invalid");
    }
    for text in ["a\u{0}b", "a\u{1b}[31m"] {
        let message = json!({ "kind": "confirmation", "title": "Go?", "message": text });
        agent.post(&path, message).await.refused_at(422, "body_invalid", &["/message"]);
        let reason = json!({ "command": "pause", "reason": text });
        let control = agent.post(&format!("/v1/sessions/{session}/control"), reason).await;
        control.refused_at(422, "body_invalid", &["/reason"]);
    }
    for channel in ["a b", "", "a\u{0}b", "käse"] {
        let reply = agent.post("/v1/sessions", json!({ "channel": channel })).await;
        reply.refused_at(422, "body_invalid", &["/channel"]);
    }
    let long = json!({ "kind": "confirmation", "title": "x".repeat(301) });
    agent.post(&path, long).await.refused_at(422, "body_invalid", &["/title"]);
    assert_eq!(world.everything().await, before);
}

/// NUL in a person's feedback is refused; in data, which is never shown as text, it is stored unchanged.
#[tokio::test]
async fn nul_in_an_answer_is_refused_in_feedback_and_stored_in_data() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let question = world.asks(json!({ "kind": "question", "title": "Which region?" })).await;
    let said = json!({ "feedback": "a\u{0}b" });
    alice.answers(&question, said).await.refused_at(422, "answer_invalid", &["/feedback"]);
    alice.answers(&question, json!({ "data": "a\u{0}b" })).await.done();
    assert_eq!(agent.takes(&question).await.done()["answer"]["data"], "a\u{0}b");
}

/// A question that contradicts itself is refused with a pointer to the field.
#[tokio::test]
async fn contradictory_question_is_refused_with_a_pointer() {
    let world = World::new().await;
    let agent = world.agent().await;
    let path = format!("/v1/sessions/{}/interactions", agent.opens(json!({})).await);
    let before = world.everything().await;
    let with = |more: Value| {
        let mut body = confirmation();
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let option = json!({ "id": "a", "label": "A" });
    for (body, pointers) in [
        (with(json!({ "deadline_seconds": 0 })), ["/deadline_seconds"]),
        (with(json!({ "deadline_seconds": -5 })), ["/deadline_seconds"]),
        (with(json!({ "deadline_seconds": i64::MAX })), ["/deadline_seconds"]),
        (with(json!({ "fallback": "deny" })), ["/fallback"]),
        (with(json!({ "deadline_seconds": 60, "fallback": { "option": "maybe" } })), ["/fallback/option"]),
        (with(json!({ "deadline_seconds": 60, "fallback": { "value": 1 } })), ["/fallback/value"]),
        (with(json!({ "audience": { "quorum": 0 } })), ["/audience/quorum"]),
        (with(json!({ "audience": { "users": ["a"], "quorum": 2 } })), ["/audience/quorum"]),
        (with(json!({ "audience": { "roles": ["agent"] } })), ["/audience/roles"]),
        (with(json!({ "audience": { "users": ["a", "a"] } })), ["/audience/users/1"]),
        (with(json!({ "multiple": true })), ["/multiple"]),
        (with(json!({ "secrets": [{ "name": "A" }] })), ["/secrets"]),
        (with(json!({ "kind": "form" })), ["/schema"]),
        (with(json!({ "kind": "secret" })), ["/secrets"]),
        (with(json!({ "kind": "secret", "secrets": [{ "name": "A", "type": "telepathy" }] })), ["/secrets/0/type"]),
        (with(json!({ "kind": "secret", "secrets": [{ "name": "A" }, { "name": "A" }] })), ["/secrets/1/name"]),
        (with(json!({ "fresh": true })), ["/fresh"]),
        (with(json!({ "kind": "two words" })), ["/kind"]),
        (with(json!({ "kind": "choice", "options": [option, option] })), ["/options/1/id"]),
        (with(json!({ "action": { "tool": "deploy", "arguments": [] } })), ["/action/arguments"]),
        (with(json!({ "suggestions": [{ "id": "s", "label": "S", "option": "x" }] })), ["/suggestions/0/option"]),
    ] {
        agent.post(&path, body).await.refused_at(422, "body_invalid", &pointers);
    }
    assert_eq!(world.everything().await, before);
}

/// Schemas that are deep, remote, recursive or invalid are refused, and so are patterns that could take very long.
#[tokio::test]
async fn deep_remote_recursive_or_expensive_schema_is_refused() {
    let world = World::new().await;
    let agent = world.agent().await;
    let path = format!("/v1/sessions/{}/interactions", agent.opens(json!({})).await);
    let before = world.everything().await;
    let deep = (0..40).fold(json!({ "type": "string" }), |inner, _| json!({ "items": inner }));
    let doubling = json!({ "$ref": "#/$defs/0", "$defs": (0..30).map(|level: u32| {
        let next = json!({ "$ref": format!("#/$defs/{}", level + 1) });
        (level.to_string(), if level == 29 { json!(true) } else { json!({ "allOf": [next, next] }) })
    }).collect::<serde_json::Map<_, _>>() });
    for schema in [
        deep,
        doubling,
        json!({ "$ref": "https://example.com/schema.json" }),
        json!({ "$ref": "file:///etc/passwd" }),
        json!({ "$ref": "#" }),
        json!({ "$ref": "#/nowhere" }),
        json!({ "type": "strin" }),
        json!({ "$schema": "https://example.com/mine" }),
        json!({ "pattern": "(?=x)y" }),
        json!({ "pattern": "(a)\\1" }),
        json!({ "pattern": "(" }),
        json!({ "pattern": "(((((a{100}){100}){100}){100}){100})" }),
        json!({ "pattern": "a".repeat(513) }),
        json!({ "description": "x".repeat(65 * 1024) }),
        json!([]),
        json!(5),
    ] {
        let problem = agent.post(&path, json!({ "kind": "form", "title": "Fill in", "schema": schema })).await;
        let problem = problem.refused(422, "schema_invalid");
        assert!(problem["errors"][0]["pointer"].as_str().unwrap().starts_with("/schema"), "{problem}");
    }
    let secret = json!({ "kind": "secret", "title": "Token?", "secrets": [{ "name": "A", "pattern": "(?<=x)y" }] });
    agent.post(&path, secret).await.refused_at(422, "schema_invalid", &["/secrets/0/pattern"]);
    assert_eq!(world.everything().await, before);
}

/// A pattern that is catastrophic for backtracking engines is matched at once: the server does not backtrack.
#[tokio::test]
async fn pattern_with_nested_repetition_is_matched_without_backtracking() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string", "pattern": "^(a+)+$" } } });
    let question = world.asks(json!({ "kind": "form", "title": "Name?", "schema": schema })).await;
    let evil = format!("{}!", "a".repeat(100_000));
    let answer = alice.answers(&question, json!({ "data": { "name": evil } })).await;
    answer.refused_at(422, "answer_invalid", &["/data/name"]);
    alice.answers(&question, json!({ "data": { "name": "aaa" } })).await.done();
}

/// A fallback value must fit the schema of its form.
#[tokio::test]
async fn a_fallback_that_does_not_fit_its_form_is_refused() {
    let world = World::new().await;
    let agent = world.agent().await;
    let path = format!("/v1/sessions/{}/interactions", agent.opens(json!({})).await);
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    let form = |value: Value| {
        json!({ "kind": "form", "title": "How many?", "schema": schema, "deadline_seconds": 60,
                "fallback": { "value": value } })
    };
    agent.post(&path, form(json!({ "n": "x" }))).await.refused_at(422, "body_invalid", &["/fallback/value/n"]);
    agent.post(&path, form(json!({ "n": 1 }))).await.done();
}

/// A lease may last from one second to one day.
#[tokio::test]
async fn lease_duration_outside_its_bounds_is_refused() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let question = world.asks(confirmation()).await;
    alice.answers(&question, json!({ "option": "confirm" })).await.done();
    let before = world.everything().await;
    for seconds in [0, -1, 86_401, i64::MAX] {
        let reply = agent.post(&question.path("/delivery/take"), json!({ "lease_seconds": seconds })).await;
        reply.refused_at(422, "body_invalid", &["/lease_seconds"]);
    }
    assert_eq!(world.everything().await, before);
}
