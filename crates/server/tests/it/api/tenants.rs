//! Tests the isolation of definition files: only the projects that a file names list, read, start or message its agents
//! and flows. Nobody is shown the commands and addresses in a file. Secrets and grants of a hosted agent are not
//! available to a key with an equal name.

use std::collections::BTreeSet;

use domain::{AgentVersion, DefinitionKind, FlowVersion, ProjectName, Projects, Role};
use engine::{Definitions, Owners};
use serde_json::{Value, json};

use server_testkit::client::{ApiClient, ids, text};
use server_testkit::world::World;

const HIDDEN: [&str; 6] =
    ["tok-SECRET-123", "apikey=SECRET-456", "mcp-tickets", "10.0.0.7", "OPS_MODEL_KEY", "WIKI_TOKEN"];

/// Returns an agent with every setting that only a file may have.
fn ops() -> AgentVersion {
    serde_json::from_value(json!({
        "name": "ops", "version": "1", "workspace": "shop", "tools": ["execute_command", "ask_user"],
        "model": { "provider": "openai", "name": "m", "endpoint": "http://10.0.0.7/v1", "key_env": "OPS_MODEL_KEY" },
        "mcp": [
            { "name": "tickets", "command": ["mcp-tickets", "--token", "tok-SECRET-123"] },
            { "name": "wiki", "url": "https://wiki.internal/mcp?apikey=SECRET-456", "token_env": "WIKI_TOKEN" },
        ],
    }))
    .unwrap()
}

fn release() -> FlowVersion {
    serde_json::from_value(json!({
        "name": "release", "version": "1", "steps": [{ "name": "draft", "agent": "ops", "input": "AnswerDraft." }],
    }))
    .unwrap()
}

fn only_project(tenant: &str, project: &str) -> Projects {
    Projects::Named(BTreeSet::from([ProjectName::new(tenant, project)]))
}

/// Makes the server's files define `ops` and `release` for these projects.
fn define_for_projects(world: &World, projects: &Projects) {
    let mut owners = Owners::default();
    owners.insert(DefinitionKind::Agent, ("ops", "1"), projects.clone());
    owners.insert(DefinitionKind::Flow, ("release", "1"), projects.clone());
    world.engine.set_definitions_for(Definitions { agents: vec![ops()], flows: vec![release()] }, owners);
}

async fn names(by: &ApiClient, kind: &str) -> Vec<String> {
    let page = by.get(&format!("/v1/{kind}")).await.done();
    page[kind].as_array().unwrap().iter().map(|one| text(&one["name"])).collect()
}

/// A file without projects applies to the default project only. Regression test: any project could start an agent of
/// the files.
#[tokio::test]
async fn agent_file_without_projects_applies_to_the_default_project_only() {
    let world = World::new().await;
    world.engine.set_definitions(Definitions { agents: vec![ops()], flows: vec![release()] });
    let (admin, stranger) = (world.admin().await, world.stranger().await);
    assert_eq!(
        (names(&admin, "agents").await, names(&admin, "flows").await),
        (vec!["ops".into()], vec!["release".into()])
    );
    assert_eq!(admin.post("/v1/sessions", json!({ "agent": "ops" })).await.done()["driven"], true);
    assert_eq!(admin.post("/v1/sessions", json!({ "flow": "release" })).await.done()["driven"], true);

    assert_eq!(names(&stranger, "agents").await, Vec::<String>::new());
    assert_eq!(names(&stranger, "flows").await, Vec::<String>::new());
    stranger.get("/v1/agents/ops/1").await.refused(404, "not_found");
    stranger.get("/v1/flows/release/1").await.refused(404, "not_found");
    stranger.post("/v1/sessions", json!({ "flow": "release" })).await.refused(404, "not_found");
    // A session may name any agent, but no hosted agent runs in it.
    let opened = stranger.post("/v1/sessions", json!({ "agent": "ops", "input": "RUN: id" })).await.done();
    assert_eq!(opened["driven"], false);
    let session = text(&opened["id"]);
    stranger
        .post(&format!("/v1/sessions/{session}/messages"), json!({ "content": "RUN: id" }))
        .await
        .refused(409, "not_driven");
    let chat = json!({ "message": "RUN: id", "agent": "ops" });
    assert_eq!(stranger.post("/api/agent/chat/react/stream", chat).await.status, 404);
    // A flow of the tenant's own does not reach the agent either.
    let flow =
        json!({ "name": "mine", "version": "1", "steps": [{ "name": "draft", "agent": "ops", "input": "RUN: id" }] });
    stranger.post("/v1/flows", flow).await.done();
    stranger.post("/v1/sessions", json!({ "flow": "mine" })).await.refused(422, "body_invalid");
}

#[tokio::test]
async fn agent_file_applies_to_the_projects_that_it_names() {
    let world = World::new().await;
    let (admin, stranger) = (world.admin().await, world.stranger().await);
    define_for_projects(&world, &only_project("elsewhere", "default"));
    assert_eq!(names(&admin, "agents").await, Vec::<String>::new());
    assert_eq!(names(&stranger, "agents").await, ["ops"]);
    assert_eq!(stranger.post("/v1/sessions", json!({ "flow": "release" })).await.done()["driven"], true);
    define_for_projects(&world, &Projects::All);
    assert_eq!(
        (names(&admin, "agents").await, names(&stranger, "agents").await),
        (vec!["ops".into()], vec!["ops".into()])
    );
    define_for_projects(&world, &only_project("Elsewhere", "default"));
    assert_eq!(names(&stranger, "agents").await, Vec::<String>::new(), "names are compared exactly");
}

/// A version that another project stored earlier can no longer be started; a running session continues, but accepts no
/// messages.
#[tokio::test]
async fn version_stored_by_a_project_that_lost_access_cannot_be_started() {
    let world = World::new().await;
    let stranger = world.stranger().await;
    define_for_projects(&world, &Projects::All);
    let session = stranger.opens(json!({ "agent": "ops" })).await;
    world.engine.set_definitions(Definitions { agents: vec![ops()], flows: vec![release()] });
    for start in [json!({ "agent": "ops" }), json!({ "agent": "ops", "agent_version": "1" })] {
        stranger.post("/v1/sessions", start).await.refused(422, "body_invalid");
    }
    assert_eq!(names(&stranger, "agents").await, Vec::<String>::new());
    stranger.get("/v1/agents/ops/1").await.refused(404, "not_found");
    let path = format!("/v1/sessions/{session}/messages");
    stranger.post(&path, json!({ "content": "RUN: id" })).await.refused(409, "nobody_listens");
    assert_eq!(stranger.session(&session).await["status"], "running");
    // Without a file, the version belongs to the default project only.
    world.engine.set_definitions(Definitions::default());
    stranger.post("/v1/sessions", json!({ "agent": "ops", "agent_version": "1" })).await.refused(422, "body_invalid");
    stranger.post(&path, json!({ "content": "RUN: id" })).await.refused(409, "nobody_listens");
}

#[tokio::test]
async fn settings_reserved_for_the_operator_are_refused_over_the_api() {
    let world = World::new().await;
    let admin = world.admin().await;
    let agent = json!({ "name": "a", "version": "1", "model": { "provider": "openai", "name": "m" } });
    for (key, value) in [("projects", json!(["*"])), ("network", json!(true)), ("read_only", json!(["/srv"]))] {
        let mut body = agent.clone();
        body[key] = value;
        let refused = admin.post("/v1/agents", body).await.refused_at(422, "body_invalid", &[&format!("/{key}")]);
        let said = refused.to_string();
        assert!(said.contains("is allowed only in a file of the server's operator"), "{said}");
    }
    let flow = json!({ "name": "f", "version": "1", "projects": ["*"], "steps": [] });
    admin.post("/v1/flows", flow).await.refused_at(422, "body_invalid", &["/projects"]);
}

/// Regression test: commands, addresses and variables of the operator's files were shown to every reader.
#[tokio::test]
async fn commands_addresses_and_variables_of_agent_files_are_hidden() {
    let world = World::new().await;
    world.engine.set_definitions(Definitions { agents: vec![ops()], flows: Vec::new() });
    let admin = world.admin().await;
    let unused = admin.get("/v1/agents/ops/1").await.done();
    admin.opens(json!({ "agent": "ops" })).await;
    let used = admin.get("/v1/agents/ops/1").await.done();
    let audit = admin.get("/v1/audit?type=definition.added").await.done();
    let export = admin.get("/v1/audit/export").await;
    for shown in [&unused, &used, &audit, &export.body] {
        let shown = shown.to_string();
        assert!(HIDDEN.iter().all(|hidden| !shown.contains(hidden)), "{shown}");
    }
    assert_eq!(used["definition"]["mcp"], json!([{ "name": "tickets" }, { "name": "wiki" }]));
    assert_eq!(audit["entries"].as_array().unwrap().len(), 1, "{audit}");
    assert_eq!(audit["entries"][0]["data"]["definition"]["name"], "ops");
}

/// A workspace of the default project must not have the name of a tenant, because it would contain the workspaces of
/// that tenant.
#[tokio::test]
async fn workspace_with_the_name_of_a_tenant_is_refused() {
    let world = World::new().await;
    let admin = world.admin().await;
    let mut agent = ops();
    agent.workspace = Some("elsewhere".into());
    let mut owners = Owners::default();
    owners.insert(DefinitionKind::Agent, ("ops", "1"), Projects::All);
    world.engine.set_definitions_for(Definitions { agents: vec![agent], flows: Vec::new() }, owners);
    admin.opens(json!({ "agent": "ops" })).await;
    // The stranger's tenant has this name, so its workspaces would lie inside the one in use.
    let stranger = world.stranger().await;
    let refused = admin.post("/v1/sessions", json!({ "agent": "ops" })).await.refused(422, "body_invalid");
    assert!(refused.to_string().contains("is also the name of a tenant"), "{refused}");
    let refused = stranger.post("/v1/sessions", json!({ "agent": "ops" })).await.refused(422, "body_invalid");
    assert!(!refused.to_string().contains("default/default"), "{refused}");
    // Another tenant is not affected.
    let third = world.someone("third", Role::Admin, "carol", &[]).await;
    assert_eq!(third.post("/v1/sessions", json!({ "agent": "ops" })).await.done()["driven"], true);
}

/// A secret that is kept for a hosted agent is not available to a key with an equal name.
#[tokio::test]
async fn secret_of_a_hosted_agent_is_not_given_to_a_key_of_that_name() {
    let world = World::new().await;
    let (alice, namesake) = (world.person("alice").await, world.someone("default", Role::Agent, "ops", &[]).await);
    let put = json!({ "agent": "ops", "name": "TOKEN", "value": "s3cret-of-ours" });
    let kept = alice.post("/v1/secrets", put).await.done();
    assert_eq!((&kept["agent"], &kept["driven"], kept.get("value")), (&json!("ops"), &json!(true), None));
    let asking = json!({ "kind": "secret", "title": "A token", "secrets": [{ "name": "TOKEN" }] });
    let session = namesake.opens(json!({})).await;
    let question = namesake.asks_in(&session, asking.clone()).await;
    assert_eq!(question.shown["status"], "pending", "people are asked");
    // A secret that is kept for the key is a different one, and both are listed.
    alice.answers(&question, json!({ "data": { "TOKEN": "s3cret-of-theirs" }, "keep": true })).await.done();
    assert_eq!(namesake.asks_in(&session, asking).await.shown["status"], "auto_resolved");
    let listed = alice.get("/v1/secrets").await.done();
    let kinds: Vec<&Value> = listed["secrets"].as_array().unwrap().iter().map(|one| &one["driven"]).collect();
    assert_eq!(kinds, [&json!(false), &json!(true)]);
    assert_eq!(ids(&listed["secrets"]).len(), 2);
    for wrong in
        [json!({ "agent": "../x", "name": "T", "value": "v" }), json!({ "agent": "ops", "name": "T", "value": "" })]
    {
        alice.post("/v1/secrets", wrong).await.refused(422, "body_invalid");
    }
}

/// A grant for a hosted agent does not apply to a key with an equal name.
#[tokio::test]
async fn grant_for_a_hosted_agent_does_not_apply_to_a_key_of_that_name() {
    let world = World::new().await;
    let play = world.plays();
    let (alice, namesake) = (world.person("alice").await, world.someone("default", Role::Agent, "editor", &[]).await);
    play.says("I write.", &[("c1", "write_file", json!({ "path": "notes.txt", "content": "x" }))]);
    let session = alice.opens(json!({ "agent": "editor", "input": "Write." })).await;
    let asked = open_in(&alice, &session).await;
    let remember = json!({ "scope": "project", "arguments": "any" });
    let approval = json!({ "option": "approve", "remember": remember });
    alice.post(&format!("/v1/interactions/{asked}/answer"), approval).await.done();
    let grants = alice.get("/v1/grants").await.done();
    assert_eq!(grants["grants"][0]["agent"], "editor", "{grants}");
    let own = namesake.opens(json!({})).await;
    let body = json!({ "call_id": "w1", "tool": "write_file", "arguments": { "path": "notes.txt", "content": "x" } });
    let proposed = namesake.post(&format!("/v1/sessions/{own}/actions"), body).await.body;
    assert_eq!(proposed["state"], "waiting", "{proposed}");
    assert_eq!(namesake.get("/v1/grants").await.done(), json!({ "grants": [] }), "the key does not see the grant");
}

/// Waits for the open question of a session.
async fn open_in(someone: &ApiClient, session: &str) -> String {
    loop {
        let page = someone.get(&format!("/v1/interactions?session={session}&status=pending")).await.done();
        if let Some(first) = ids(&page["interactions"]).first() {
            return first.clone();
        }
        let seen = someone.get(&format!("/v1/sessions/{session}")).await.done()["last_seq"].clone();
        someone.get(&format!("/v1/sessions/{session}/events?after={seen}&wait=5")).await.done();
    }
}
