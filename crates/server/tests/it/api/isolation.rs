//! Tests the lessons about access: tenants are isolated, and the routing of a question does not authenticate its
//! answer.

use domain::Role;
use engine::NewKey;
use reqwest::Method;
use serde_json::json;

use server_testkit::client::{ApiClient, confirmation, ids, reply};
use server_testkit::world::World;

/// No list, statistic or stream shows data of another tenant; `contract.rs` checks that each operation answers 404 for
/// foreign ids. Regression test: tenant prefixes were promised but missing.
#[tokio::test]
async fn lists_stats_and_streams_show_no_data_of_another_tenant() {
    let world = World::new().await;
    let (stranger, alice) = (world.stranger().await, world.person("alice").await);
    let session = stranger.opens(json!({ "agent": "release-bot", "channel": "chat-7" })).await;
    let mut theirs = stranger.follows("/v1/events/stream", None).await;
    let ours = alice.opens(json!({ "agent": "release-bot", "channel": "chat-7" })).await;
    let question = alice.asks_in(&ours, confirmation()).await;

    assert_eq!(ids(&stranger.get("/v1/sessions").await.done()["sessions"]), [session.as_str()]);
    assert_eq!(ids(&alice.get("/v1/sessions").await.done()["sessions"]), [ours.as_str()]);
    for filter in ["", "?channel=chat-7", "?agent=release-bot", &format!("?session={ours}"), "?q=file", "?mine=true"] {
        let listed = stranger.get(&format!("/v1/interactions{filter}")).await.done();
        assert_eq!(listed, json!({ "interactions": [] }), "{filter}");
    }
    assert_eq!(stranger.get("/v1/deliveries").await.done(), json!({ "deliveries": [] }));
    assert_eq!(stranger.get("/v1/stats").await.done()["open"], json!({}));
    assert_eq!(ids(&stranger.get("/v1/keys").await.done()["keys"]), [stranger.key_id.as_str()]);
    // An event of alice's session would come before this one.
    stranger.commands(&session, "pause").await.done();
    assert_eq!(theirs.event().await.1["session"], session);
    assert_eq!(alice.reads(&question).await, question.shown);
}

/// Another project of the tenant is isolated as another tenant is.
#[tokio::test]
async fn projects_of_one_tenant_are_isolated() {
    let world = World::new().await;
    let question = world.asks(confirmation()).await;
    let new = NewKey::named(Role::Admin, "root");
    let (key, secret) = world.engine.key_install("default", "another", new).await.unwrap();
    let neighbour = ApiClient { http: world.http.clone(), key: secret, key_id: key.id.to_string() };
    neighbour.get(&question.path("")).await.refused(404, "not_found");
    neighbour.answers(&question, json!({ "option": "confirm" })).await.refused(404, "not_found");
    assert_eq!(neighbour.get("/v1/interactions").await.done(), json!({ "interactions": [] }));
}

/// Idempotency keys of equal caller names in two tenants are independent.
#[tokio::test]
async fn idempotency_keys_of_two_tenants_are_independent() {
    let world = World::new().await;
    let ours = world.someone("default", Role::Agent, "bot", &[]).await;
    let theirs = world.someone("elsewhere", Role::Agent, "bot", &[]).await;
    let opened = ours.post_once("s", "/v1/sessions", json!({ "title": "ours" })).await.done();
    let foreign = theirs.post_once("s", "/v1/sessions", json!({ "title": "theirs" })).await.done();
    assert_ne!(opened["id"], foreign["id"]);
}

/// A chat session id routes a question but is not a credential. Regression test: knowing two identifiers was enough to
/// answer.
#[tokio::test]
async fn channel_name_does_not_authenticate_an_answer() {
    let world = World::new().await;
    let agent = world.agent().await;
    let session = agent.opens(json!({ "channel": "chat-7" })).await;
    let question = agent.asks_in(&session, confirmation()).await;
    let path = question.path("/answer");
    for header in ["x-chat-session-id", "authorization"] {
        let request = world.http.request(Method::POST, &path).header(header, "chat-7");
        reply(request.json(&json!({ "option": "confirm" }))).await.refused(401, "unauthenticated");
    }
    let carol = world.someone("default", Role::Viewer, "carol", &[]).await;
    let request = carol.request(Method::POST, &path).header("x-chat-session-id", "chat-7");
    reply(request.json(&json!({ "option": "confirm" }))).await.refused(403, "not_in_audience");
    agent.post(&path, json!({ "option": "confirm", "channel": "chat-7" })).await.refused(422, "body_invalid");
    assert_eq!(agent.reads(&question).await, question.shown);
}

/// An agent can neither control the session of another agent nor withdraw its questions.
#[tokio::test]
async fn agent_controls_its_own_sessions_only() {
    let world = World::new().await;
    let agent = world.agent().await;
    let other = world.someone("default", Role::Agent, "other-bot", &[]).await;
    let question = world.asks(confirmation()).await;
    other.commands(&question.session, "cancel").await.refused(404, "not_found");
    other.post(&question.path("/cancel"), json!({})).await.refused(404, "not_found");
    let alice = world.person("alice").await;
    alice.commands(&question.session, "complete").await.refused(403, "role_forbids");
    assert_eq!(agent.commands(&question.session, "complete").await.done()["status"], "completed");
}
