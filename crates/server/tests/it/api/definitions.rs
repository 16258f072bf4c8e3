//! Tests agents and flows: adding, listing, using and retiring versions.

use domain::{AgentVersion, Role};
use engine::Definitions;
use reqwest::Method;
use serde_json::{Value, json};

use server_testkit::client::{ApiClient, reply, text};
use server_testkit::definitions::{notes, scribe};
use server_testkit::world::World;

fn version(mut definition: Value, version: &str) -> Value {
    definition["version"] = json!(version);
    definition
}

async fn listed(caller: &ApiClient, path: &str, noun: &str) -> (Vec<String>, Value) {
    let page = caller.get(path).await.done();
    let of = |one: &Value| format!("{}@{} {}", text(&one["name"]), text(&one["version"]), text(&one["source"]));
    (page[noun].as_array().unwrap().iter().map(of).collect(), page["next"].clone())
}

#[tokio::test]
async fn agent_version_is_added_once_listed_read_and_retired() {
    let world = World::new().await;
    let (admin, viewer) = (world.admin().await, world.someone("default", Role::Viewer, "vera", &[]).await);
    let added = admin.post("/v1/agents", scribe()).await;
    assert_eq!(added.status, 201);
    let added = added.done();
    assert_eq!((&added["source"], &added["added_by"]["name"]), (&json!("project"), &json!("root")));
    assert_eq!(viewer.get("/v1/agents/scribe/1").await.done(), added);
    assert_eq!(added["definition"]["model"]["provider"], "scripted");

    assert_eq!(admin.post("/v1/agents", scribe()).await.status, 201, "adding an equal version changes nothing");
    let mut other = scribe();
    other["instructions"] = json!("Write nothing.");
    admin.post("/v1/agents", other).await.refused(409, "version_exists");

    let gone = reply(admin.request(Method::DELETE, "/v1/agents/scribe/1")).await;
    assert_eq!(gone.status, 204);
    assert!(viewer.get("/v1/agents/scribe/1").await.done()["retired_at"].is_string());
    let bot = world.agent().await;
    let start = json!({ "agent": "scribe", "agent_version": "1" });
    // No new session runs a retired version, and the refusal says so.
    bot.post("/v1/sessions", start).await.refused(422, "body_invalid");
    reply(admin.request(Method::DELETE, "/v1/agents/scribe/2")).await.refused(404, "not_found");
}

#[tokio::test]
async fn repeated_idempotency_key_adds_a_definition_once() {
    let world = World::new().await;
    let admin = world.admin().await;
    let first = admin.post_once("k", "/v1/flows", notes()).await;
    assert_eq!(admin.post_once("k", "/v1/flows", notes()).await.body, first.body);
    admin.post_once("k", "/v1/flows", version(notes(), "2")).await.refused(409, "idempotency_conflict");
}

#[tokio::test]
async fn lists_include_definitions_of_files_and_are_paged_by_version() {
    let world = World::new().await;
    let admin = world.admin().await;
    for name in ["1", "3"] {
        admin.post("/v1/agents", version(scribe(), name)).await.done();
    }
    let filed: AgentVersion = serde_json::from_value(version(scribe(), "2")).unwrap();
    world.engine.set_definitions(Definitions { agents: vec![filed], flows: Vec::new() });
    let (first, next) = listed(&admin, "/v1/agents?limit=2", "agents").await;
    assert_eq!((first, next), (vec!["scribe@1 project".into(), "scribe@2 file".into()], json!("scribe@2")));
    let (rest, next) = listed(&admin, "/v1/agents?limit=2&cursor=scribe@2", "agents").await;
    assert_eq!((rest, next), (vec!["scribe@3 project".to_owned()], Value::Null));
    admin.get("/v1/agents?cursor=scribe").await.refused(400, "query_invalid");

    let shown = admin.get("/v1/agents/scribe/2").await.done();
    assert_eq!((&shown["source"], &shown["added_at"]), (&json!("file"), &Value::Null));
    admin.post("/v1/sessions", json!({ "agent": "scribe", "agent_version": "2" })).await.done();
    let shown = admin.get("/v1/agents/scribe/2").await.done();
    assert_eq!(shown["source"], "file", "the version still comes from a file");
    assert!(shown["added_at"].is_string());
    assert_eq!(reply(admin.request(Method::DELETE, "/v1/agents/scribe/2")).await.status, 204);
    // The version stays retired although the file still defines it.
    admin.post("/v1/sessions", json!({ "agent": "scribe", "agent_version": "2" })).await.refused(422, "body_invalid");
}

/// Only definition files may use settings that read the server's environment or start a program on its machine.
#[tokio::test]
async fn settings_reserved_for_definition_files_are_refused_over_the_api() {
    let world = World::new().await;
    let admin = world.admin().await;
    let mut body = scribe();
    body["tools"] = json!(["execute_command"]);
    body["workspace"] = json!("notes");
    body["model"] = json!({ "provider": "openai", "name": "m", "key_env": "HOME" });
    body["mcp"] = json!([{ "name": "files", "command": ["sh"] }]);
    let places = ["/model/key_env", "/tools/0", "/workspace", "/mcp/0/command"];
    admin.post("/v1/agents", body).await.refused_at(422, "body_invalid", &places);
    assert_eq!(listed(&admin, "/v1/agents", "agents").await.0, Vec::<String>::new());
}

#[tokio::test]
async fn session_shows_its_flow_agent_and_steps() {
    let world = World::new().await;
    let (admin, bot) = (world.admin().await, world.agent().await);
    admin.post("/v1/agents", scribe()).await.done();
    admin.post("/v1/flows", notes()).await.done();
    let opened = bot.post("/v1/sessions", json!({ "flow": "notes", "input": { "what": "it" } })).await.done();
    assert_eq!(
        (&opened["flow"], &opened["flow_version"], &opened["driven"]),
        (&json!("notes"), &json!("1"), &json!(true))
    );
    let step = &bot.session(&text(&opened["id"])).await["steps"][0];
    assert_eq!((&step["name"], &step["agent"]), (&json!("write"), &json!("scribe")));
    assert_eq!((&step["agent_version"], &step["attempt"]), (&json!("1"), &json!(1)));
    bot.post("/v1/sessions", json!({ "flow": "other" })).await.refused(404, "not_found");
    let both = json!({ "flow": "notes", "agent": "scribe" });
    bot.post("/v1/sessions", both).await.refused(422, "body_invalid");
}

#[tokio::test]
async fn messages_and_step_commands_require_a_hosted_session() {
    let world = World::new().await;
    let (admin, bot, alice) = (world.admin().await, world.agent().await, world.person("alice").await);
    let foreign = bot.opens(json!({ "agent": "elsewhere" })).await;
    let messages = format!("/v1/sessions/{foreign}/messages");
    alice.post(&messages, json!({ "content": "Hello" })).await.refused(409, "not_driven");
    alice.commands(&foreign, "retry_step").await.refused(409, "not_driven");

    admin.post("/v1/agents", scribe()).await.done();
    let ours = bot.opens(json!({ "agent": "scribe" })).await;
    let messages = format!("/v1/sessions/{ours}/messages");
    let said = alice.post_once("m", &messages, json!({ "content": "Hello" })).await;
    assert_eq!(said.status, 202);
    assert_eq!(alice.post_once("m", &messages, json!({ "content": "Hello" })).await.body, said.body);
    alice.post(&messages, json!({ "content": " " })).await.refused(422, "body_invalid");
    alice.commands(&ours, "retry_step").await.refused(409, "step_not_failed");
    let step = text(&alice.session(&ours).await["steps"][0]["id"]);
    let control = format!("/v1/sessions/{ours}/control");
    alice.post(&control, json!({ "command": "pause", "step": step })).await.refused(422, "body_invalid");
    let skip = json!({ "command": "skip_step", "step": step, "reason": "not needed" });
    assert_eq!(alice.post(&control, skip).await.done()["status"], "completed");
    let shown = alice.session(&ours).await;
    assert_eq!((&shown["steps"][0]["status"], &shown["steps"][0]["reason"]), (&json!("skipped"), &json!("not needed")));
    assert!(shown["steps"][0]["ended_at"].is_string());
    alice.post(&messages, json!({ "content": "Hello" })).await.refused(409, "session_ended");
    assert!(alice.events(&ours).await.contains(&"message.sent".to_owned()));
}
