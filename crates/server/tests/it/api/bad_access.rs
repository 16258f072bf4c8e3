//! Tests bad input: ids, query parameters, and credentials.

use domain::{Role, SignedDuration};
use engine::NewKey;
use reqwest::Method;
use serde_json::json;

use server_testkit::client::{ApiClient, confirmation, reply};
use server_testkit::world::World;

/// Ids of the wrong kind and texts that are not ids are refused. The bare UUID of an id is accepted.
#[tokio::test]
async fn an_id_of_the_wrong_kind_is_refused() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let question = world.asks(confirmation()).await;
    let before = world.everything().await;
    for id in [question.session.as_str(), "int_", "int_123", "x", "%00", "int_%F0%9F%98%80", "..%2F..%2Fetc"] {
        alice.get(&format!("/v1/interactions/{id}")).await.refused(400, "id_invalid");
        let answer = alice.post(&format!("/v1/interactions/{id}/answer"), json!({ "option": "confirm" })).await;
        answer.refused(400, "id_invalid");
    }
    alice.get("/v1/interactions/%FF").await.refused(400, "id_invalid");
    alice.get(&format!("/v1/sessions/{}", question.id)).await.refused(400, "id_invalid");
    let lease = json!({ "lease": question.id });
    agent.post(&question.path("/delivery/complete"), lease).await.refused_at(422, "body_invalid", &["/lease"]);
    let many = json!({ "answers": [{ "interaction": question.session, "option": "confirm" }] });
    let many = alice.post("/v1/interactions/answers", many).await;
    let problem = &many.body["results"][0]["problem"];
    assert_eq!(
        (&problem["code"], &problem["errors"][0]["pointer"]),
        (&json!("body_invalid"), &json!("/answers/0/interaction"))
    );
    assert_eq!(world.everything().await, before);
    let bare = question.id.trim_start_matches("int_");
    assert_eq!(alice.get(&format!("/v1/interactions/{bare}")).await.done(), question.shown);
}

/// Query parameters that are unknown, of the wrong type or out of bounds are refused.
#[tokio::test]
async fn a_bad_query_parameter_is_refused() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let question = world.asks(confirmation()).await;
    let (one, session) = (question.path(""), format!("/v1/sessions/{}", question.session));
    for (path, queries) in [
        ("/v1/sessions", &["status=open", "limit=0", "limit=201", "limit=x", "limit=-1", "cursor=x", "unknown=1"][..]),
        ("/v1/interactions", &["status=open", "sort=random", "mine=maybe", "overdue=2", "limit=0", "cursor=x"]),
        ("/v1/interactions", &["session=x", "session=int_1", "Status=pending", "status=pending&status=pending"]),
        ("/v1/interactions", &["q=%00", "channel=a%00b", "agent=%00", "kind=%00"]),
        (&one, &["wait=301", "wait=-1", "wait=x", "wait=", "wait=1.5", "wait=99999999999999999999", "unknown=1"]),
        (&format!("{session}/events"), &["after=x", "after=-1", "after=9223372036854775808", "limit=0", "wait=301"]),
        (&format!("{session}/events/stream"), &["after=x", "after=-1", "after=9223372036854775808", "limit=1"]),
        (
            "/v1/events/stream",
            &["after=x", "after=1", "after=1-x", "after=-1-1", "after=0-9223372036854775808", "wait=1"],
        ),
        ("/v1/events/stream", &["after=9223372036854775808-0"]),
        ("/v1/stats", &["window_seconds=0", "window_seconds=2592001", "window_seconds=x"]),
        ("/v1/stats/details", &["window_seconds=0", "parts=0", "parts=201", "parts=x"]),
    ] {
        for query in queries {
            let reply = alice.get(&format!("{path}?{query}")).await;
            assert_eq!(reply.status, 400, "{path}?{query}: {}", reply.body);
            reply.refused(400, "query_invalid");
        }
    }
    agent.get("/v1/deliveries?wait=301").await.refused(400, "query_invalid");
    let last = alice.request(Method::GET, &format!("{session}/events/stream")).header("last-event-id", "x");
    reply(last).await.refused(400, "query_invalid");
    let unreadable = reqwest::header::HeaderValue::from_bytes(b"\xff").unwrap();
    let last = alice.request(Method::GET, &format!("{session}/events/stream")).header("last-event-id", unreadable);
    reply(last).await.refused(400, "header_invalid");
}

/// A malformed or unknown credential is refused.
#[tokio::test]
async fn malformed_credential_is_refused() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let key = alice.key.clone();
    let (id, secret) = key.trim_start_matches("hp_").split_once('_').unwrap();
    let flipped = if secret.starts_with('0') { "1" } else { "0" };
    for header in [
        String::new(),
        "Bearer".into(),
        "Bearer ".into(),
        "Bearer x".into(),
        "Bearer hp_".into(),
        "Bearer hp__".into(),
        "Basic YWxpY2U6cGFzcw==".into(),
        key.clone(),
        format!("Token {key}"),
        format!("Bearer {id}_{secret}"),
        format!("Bearer hp_{id}_{}", &secret[1..]),
        format!("Bearer hp_{id}_{flipped}{}", &secret[1..]),
        format!("Bearer hp_{id}_{}", "z".repeat(64)),
        format!("Bearer hp_00000000000070008000000000000000_{secret}"),
        format!("Bearer {key} {key}"),
        format!("Bearer {}", "x".repeat(10_000)),
    ] {
        let request = world.http.request(Method::GET, "/v1/sessions").header("authorization", &header);
        reply(request).await.refused(401, "unauthenticated");
    }
    let unreadable = reqwest::header::HeaderValue::from_bytes(b"Bearer \xff\xfe").unwrap();
    let request = world.http.request(Method::GET, "/v1/sessions").header("authorization", unreadable);
    reply(request).await.refused(401, "unauthenticated");
    let request = world.http.request(Method::GET, "/v1/sessions").header("authorization", format!("bEaReR {key}"));
    reply(request).await.done();
    let by_query = world.http.request(Method::GET, &format!("/v1/sessions?key={key}"));
    reply(by_query).await.refused(401, "unauthenticated");
}

/// A key is refused from its expiry time on.
#[tokio::test]
async fn an_expired_key_is_refused() {
    let world = World::new().await;
    let lifetime = Some(SignedDuration::from_secs(60));
    let new = NewKey { lifetime, ..NewKey::named(Role::Operator, "temp") };
    let (key, secret) = world.engine.key_install("default", "default", new).await.unwrap();
    let temp = ApiClient { http: world.http.clone(), key: secret, key_id: key.id.to_string() };
    let question = world.asks(confirmation()).await;
    world.passes(59).await;
    temp.reads(&question).await;
    world.passes(1).await;
    temp.answers(&question, json!({ "option": "confirm" })).await.refused(401, "unauthenticated");
    assert_eq!(world.person("alice").await.reads(&question).await, question.shown);
}

/// As soon as a revocation has replied, the key is refused.
#[tokio::test]
async fn a_revoked_key_is_refused() {
    let world = World::new().await;
    let (root, alice) = (world.admin().await, world.person("alice").await);
    let question = world.asks(confirmation()).await;
    alice.reads(&question).await;
    let path = format!("/v1/keys/{}", alice.key_id);
    assert_eq!(reply(root.request(Method::DELETE, &path)).await.status, 204);
    alice.answers(&question, json!({ "option": "confirm" })).await.refused(401, "unauthenticated");
    reply(root.request(Method::DELETE, &path)).await.refused(404, "not_found");
    let keys = root.get("/v1/keys").await.done()["keys"].as_array().cloned().unwrap();
    let revoked = keys.iter().find(|key| key["id"] == alice.key_id).unwrap();
    assert_eq!(revoked["revoked_at"], "2026-01-01T00:00:00Z");
    assert_eq!(root.reads(&question).await, question.shown);
}

/// A key with an invalid role, name, group or lifetime is not created.
#[tokio::test]
async fn key_with_an_invalid_field_is_not_created() {
    let world = World::new().await;
    let root = world.admin().await;
    let before = world.everything().await;
    for (body, pointer) in [
        (json!({ "role": "king" }), "/role"),
        (json!({ "role": "viewer", "user": "two words" }), "/user"),
        (json!({ "role": "viewer", "user": "" }), "/user"),
        (json!({ "role": "viewer", "groups": ["ok", "a\u{0}b"] }), "/groups/1"),
        (json!({ "role": "viewer", "expires_in_seconds": 0 }), "/expires_in_seconds"),
        (json!({ "role": "viewer", "tenant": "elsewhere" }), "/tenant"),
    ] {
        root.post("/v1/keys", body).await.refused_at(422, "body_invalid", &[pointer]);
    }
    assert_eq!(world.everything().await, before);
}
