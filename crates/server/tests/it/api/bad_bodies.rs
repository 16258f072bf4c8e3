//! Tests bad input: bodies that cannot be read.

use reqwest::Method;
use serde_json::{Value, json};

use server_testkit::client::{Reply, confirmation, reply};
use server_testkit::world::{Setup, World};

/// A body that is not JSON is refused.
#[tokio::test]
async fn malformed_json_changes_nothing() {
    let world = World::new().await;
    let agent = world.agent().await;
    let before = world.everything().await;
    for body in ["{", "{\"title\": }", "not json", "{} {}", "{\"title\": \"a\"", "[1,", "\u{feff}{}", "{\"input\":01}"]
    {
        agent.post_raw("/v1/sessions", body).await.refused(400, "malformed_json");
    }
    agent.post_raw("/v1/sessions", &b"{\"title\": \"\xff\xfe\"}"[..]).await.refused(400, "malformed_json");
    agent.post_raw("/v1/sessions", &b"{\"title\": \"\\ud800\"}"[..]).await.refused(400, "malformed_json");
    assert_eq!(world.everything().await, before);
}

/// A number that would be rounded when it is read is refused anywhere in a body. So is a tool name with invisible or
/// lookalike characters.
#[tokio::test]
async fn rounded_numbers_and_invisible_characters_in_names_are_refused() {
    let world = World::new().await;
    let agent = world.agent().await;
    let question = world.asks(confirmation()).await;
    let (ask, propose) = (
        format!("/v1/sessions/{}/interactions", question.session),
        format!("/v1/sessions/{}/actions", question.session),
    );
    let before = world.everything().await;
    for (path, body, pointer) in [
        (&propose, r#"{"call_id": "c1", "tool": "pay", "arguments": {"amount": 1e-400}}"#, "/arguments/amount"),
        (&propose, r#"{"call_id": "c1", "tool": "pay", "arguments": {"n": 18446744073709551617}}"#, "/arguments/n"),
        (&ask, r#"{"kind": "confirmation", "title": "Go?", "context": {"n": [1, 1e-400]}}"#, "/context/n/1"),
        (&ask, r#"{"kind": "confirmation", "title": "Go?", "context": 0.10000000000000000555}"#, "/context"),
    ] {
        agent.post_raw(path, body).await.refused_at(422, "body_invalid", &[pointer]);
    }
    let unseen = ["pay\u{2028}", "pay\u{3164}", "pay\u{E0041}", "pay\u{2800}"];
    for tool in unseen.into_iter().chain(["pay\u{A0}me", " pay", "pay ", "\u{3000}pay", "ｐａｙ", "𝐩𝐚𝐲"]) {
        let call = json!({ "call_id": "c1", "tool": tool, "arguments": {} });
        agent.post(&propose, call).await.refused_at(422, "body_invalid", &["/tool"]);
    }
    for name in unseen {
        agent.post("/v1/sessions", json!({ "agent": name })).await.refused_at(422, "body_invalid", &["/agent"]);
    }
    assert_eq!(world.everything().await, before);
}

/// Numbers that a double or 64 bits can hold are stored exactly, in arguments and elsewhere.
#[tokio::test]
async fn exactly_representable_numbers_are_returned_unchanged() {
    let world = World::new().await;
    let agent = world.agent().await;
    let session = agent.opens(json!({})).await;
    let numbers = "[1e22, 100000000000000000000, 9007199254740993, 18446744073709551615, -0.1, 1e300]";
    let expected = json!([1e22, 1e20, 9_007_199_254_740_993_u64, u64::MAX, -0.1, 1e300]);
    let path = format!("/v1/sessions/{session}/actions");
    let body = format!(r#"{{"call_id": "c1", "tool": "pay", "arguments": {{"n": {numbers}}}, "context": {numbers}}}"#);
    agent.post_raw(&path, body).await.done();
    assert_eq!(agent.get(&format!("{path}/c1")).await.done()["arguments"]["n"], expected);
    let asked = agent.get(&format!("/v1/interactions?session={session}")).await.done();
    assert_eq!(asked["interactions"][0]["context"], expected);
    assert_eq!(asked["interactions"][0]["action"]["arguments"]["n"], expected);
}

/// JSON of the wrong shape is refused with a pointer: wrong types, unknown or missing fields, unknown values, duplicate
/// fields.
#[tokio::test]
async fn body_of_the_wrong_shape_is_refused_with_a_pointer() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let question = world.asks(confirmation()).await;
    let (ask, answer) = (format!("/v1/sessions/{}/interactions", question.session), question.path("/answer"));
    let before = world.everything().await;
    for (path, body, pointer) in [
        ("/v1/sessions", json!({ "title": 5 }), "/title"),
        ("/v1/sessions", json!({ "titel": "x" }), "/titel"),
        ("/v1/sessions", json!([]), ""),
        ("/v1/sessions", json!([null, null, "a list is not an object"]), ""),
        ("/v1/sessions", json!("x"), ""),
        ("/v1/sessions", json!(null), ""),
        (&ask, json!({ "kind": "confirmation" }), ""),
        (&ask, json!({ "title": "Go?" }), ""),
        (&ask, json!({ "kind": "confirmation", "title": "Go?", "deadline_seconds": "soon" }), "/deadline_seconds"),
        (&ask, json!({ "kind": "confirmation", "title": "Go?", "deadline_seconds": 1.5 }), "/deadline_seconds"),
        (&ask, json!({ "kind": "confirmation", "title": "Go?", "fallback": "panic" }), "/fallback"),
        (&ask, json!({ "kind": "choice", "title": "Go?", "options": [{ "id": "a" }] }), "/options/0"),
        (
            &ask,
            json!({ "kind": "choice", "title": "Go?", "options": [{ "id": "a", "label": "A", "effect": "explode" }] }),
            "/options/0/effect",
        ),
        (
            &ask,
            json!({ "kind": "choice", "title": "Go?", "options": [{ "id": "a", "label": "A", "isDangerous": true }] }),
            "/options/0/isDangerous",
        ),
        (&ask, json!({ "kind": "choice", "title": "Go?", "audience": { "roles": ["king"] } }), "/audience/roles/0"),
        (&ask, json!({ "kind": "choice", "title": "Go?", "audience": { "quorum": -1 } }), "/audience/quorum"),
    ] {
        let problem = agent.post(path, body).await.refused_at(422, "body_invalid", &[pointer]);
        assert!(!problem["errors"][0]["message"].as_str().unwrap().contains(" at line "), "{problem}");
    }
    for (body, pointer) in [
        (json!({ "option": 5 }), "/option"),
        (json!({ "effect": "explode" }), "/effect"),
        (json!({ "selectedOptionId": "confirm" }), "/selectedOptionId"),
        (json!({ "options": "confirm" }), "/options"),
    ] {
        alice.post(&answer, body).await.refused_at(422, "body_invalid", &[pointer]);
    }
    let twice = r#"{"option": "confirm", "option": "cancel"}"#.to_owned();
    alice.post_raw(&answer, twice).await.refused(422, "body_invalid");
    let control = format!("/v1/sessions/{}/control", question.session);
    for body in [json!({ "command": "explode" }), json!({ "command": 1 })] {
        alice.post(&control, body).await.refused_at(422, "body_invalid", &["/command"]);
    }
    alice.post(&control, json!({})).await.refused(422, "body_invalid");
    assert_eq!(world.everything().await, before);
}

/// A body larger than the limit is refused, with or without a `Content-Length` header.
#[tokio::test]
async fn a_huge_body_is_refused() {
    let mut setup = Setup::default();
    setup.limits.body_bytes = 16 * 1024;
    let world = World::with(setup).await;
    let agent = world.agent().await;
    let before = world.everything().await;
    let huge = json!({ "input": "x".repeat(16 * 1024) }).to_string();
    agent.post_raw("/v1/sessions", huge.clone()).await.refused(413, "body_too_large");
    let pieces =
        huge.into_bytes().chunks(1000).map(|piece| Ok::<_, std::io::Error>(piece.to_vec())).collect::<Vec<_>>();
    let unannounced = reqwest::Body::wrap_stream(futures::stream::iter(pieces));
    agent.post_raw("/v1/sessions", unannounced).await.refused(413, "body_too_large");
    assert_eq!(world.everything().await, before);
    agent.post("/v1/sessions", json!({ "input": "x".repeat(15 * 1024) })).await.done();
}

/// JSON that is nested too deeply is refused.
#[tokio::test]
async fn deep_json_is_refused() {
    let world = World::new().await;
    let agent = world.agent().await;
    let session = agent.opens(json!({})).await;
    let before = world.everything().await;
    let bottomless = format!("{{\"input\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    agent.post_raw("/v1/sessions", bottomless).await.refused(400, "malformed_json");
    let deep = (0..65).fold(Value::Null, |inner, _| json!([inner]));
    agent.post("/v1/sessions", json!({ "input": deep })).await.refused_at(422, "body_invalid", &["/input"]);
    let ask = json!({ "kind": "question", "title": "Go?", "context": deep });
    let asked = agent.post(&format!("/v1/sessions/{session}/interactions"), ask).await;
    asked.refused_at(422, "body_invalid", &["/context"]);
    assert_eq!(world.everything().await, before);
}

/// A body without a JSON content type is refused; an empty body counts as an empty object.
#[tokio::test]
async fn another_content_type_is_refused() {
    let world = World::new().await;
    let agent = world.agent().await;
    let before = world.everything().await;
    let sent = async |kind: Option<&str>, body: &'static str| -> Reply {
        let mut request = agent.request(Method::POST, "/v1/sessions").body(body);
        if let Some(kind) = kind {
            request = request.header("content-type", kind);
        }
        reply(request).await
    };
    for kind in
        [None, Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("application/jsonp"), Some("")]
    {
        sent(kind, "{}").await.refused(415, "not_json");
    }
    assert_eq!(world.everything().await, before);
    for kind in
        ["application/json", "application/json; charset=utf-8", "Application/JSON", "application/merge-patch+json"]
    {
        sent(Some(kind), "{}").await.done();
    }
    sent(None, "").await.done();
}

/// An idempotency key that is empty, too long or not printable is refused.
#[tokio::test]
async fn a_bad_idempotency_key_is_refused() {
    let world = World::new().await;
    let agent = world.agent().await;
    let before = world.everything().await;
    for key in [&b""[..], &[b'k'; 256][..], "schlüssel".as_bytes(), &b"\xff"[..]] {
        let value = reqwest::header::HeaderValue::from_bytes(key).unwrap();
        let request = agent.request(Method::POST, "/v1/sessions").header("idempotency-key", value);
        reply(request.json(&json!({}))).await.refused(400, "header_invalid");
    }
    assert_eq!(world.everything().await, before);
    agent.post_once(&"k".repeat(255), "/v1/sessions", json!({})).await.done();
}

/// An unknown path, and an unknown method on a known path, give problem documents too.
#[tokio::test]
async fn unknown_paths_and_methods_give_problem_documents() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    for path in ["/v1/nothing", "/v1", "/", "/v1/interactions/", "/v2/sessions", "/v1/sessions/a/b/c"] {
        alice.get(path).await.refused(404, "route_not_found");
    }
    reply(alice.request(Method::PUT, "/v1/sessions")).await.refused(405, "method_not_allowed");
    reply(alice.request(Method::DELETE, "/v1/interactions")).await.refused(405, "method_not_allowed");
    reply(alice.request(Method::POST, "/healthz")).await.refused(405, "method_not_allowed");
}
