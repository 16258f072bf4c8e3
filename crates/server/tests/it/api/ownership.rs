//! Tests ownership: an agent asks, proposes, speaks and reads only in sessions that it opened or that name it.

use domain::Role;
use reqwest::Method;
use serde_json::{Value, json};

use server_testkit::client::{ApiClient, confirmation, ids, reply};
use server_testkit::world::World;

struct TwoAgents {
    world: World,
    bot: ApiClient,
    other: ApiClient,
    admin: ApiClient,
}

impl TwoAgents {
    async fn new() -> Self {
        let world = World::new().await;
        let (bot, admin) = (world.agent().await, world.admin().await);
        let other = world.someone("default", Role::Agent, "other-bot", &[]).await;
        Self { world, bot, other, admin }
    }

    async fn agents_read(&self, what: &str) -> Value {
        let request = self.admin.request(Method::PUT, "/v1/project/settings");
        reply(request.json(&json!({ "agents_read": what }))).await.done()
    }
}

/// Regression test: any agent could ask in any session of the project, which let it fill the session or have a person's
/// click end it.
#[tokio::test]
async fn agent_cannot_ask_propose_or_speak_in_the_session_of_another() {
    let two = TwoAgents::new().await;
    let session = two.bot.opens(json!({})).await;
    let question = two.bot.asks_in(&session, confirmation()).await;
    let before = two.admin.session(&session).await;
    let path = |rest: &str| format!("/v1/sessions/{session}{rest}");
    let ending = json!({ "kind": "choice", "title": "Fine?", "options": [{ "id": "ok", "label": "OK", "effect": "terminate" }] });
    let action = json!({ "call_id": "c1", "tool": "read_file", "arguments": { "path": "a" } });
    let speech = json!({ "content": "Hello." });
    let posts = [
        (path("/interactions"), ending.clone()),
        (path("/actions"), action.clone()),
        (path("/messages"), speech.clone()),
        (path("/control"), json!({ "command": "cancel" })),
        (question.path("/cancel"), json!({})),
    ];
    for (path, body) in &posts {
        two.other.post(path, body.clone()).await.refused(404, "not_found");
    }
    // A caller who may read the session is refused with the reason; its rights stay unchanged.
    two.agents_read("project").await;
    for (path, body) in &posts {
        let refused = two.other.post(path, body.clone()).await;
        assert_eq!(refused.status, 403, "{path}: {}", refused.body);
    }
    assert_eq!(two.admin.session(&session).await, before);
    // A session that names the agent belongs to it.
    let named = two.admin.opens(json!({ "agent": "other-bot" })).await;
    two.other.asks_in(&named, ending).await;
    two.other.post(&format!("/v1/sessions/{named}/actions"), action).await.done();
    two.other.post(&format!("/v1/sessions/{named}/messages"), speech).await.done();
}

#[tokio::test]
async fn agent_reads_its_own_sessions_only() {
    let two = TwoAgents::new().await;
    let session = two.bot.opens(json!({ "channel": "chat-7" })).await;
    let question = two.bot.asks_in(&session, confirmation()).await;
    let action = json!({ "call_id": "c1", "tool": "read_file", "arguments": { "path": "a" } });
    two.bot.post(&format!("/v1/sessions/{session}/actions"), action).await.done();
    let own = two.other.opens(json!({ "channel": "chat-7" })).await;
    let asked = two.other.asks_in(&own, confirmation()).await;

    let paths = [
        format!("/v1/sessions/{session}"),
        format!("/v1/sessions/{session}/events"),
        format!("/v1/sessions/{session}/events/stream"),
        format!("/v1/sessions/{session}/actions"),
        format!("/v1/sessions/{session}/actions/c1"),
        question.path(""),
    ];
    for path in &paths {
        two.other.get(path).await.refused(404, "not_found");
    }
    assert_eq!(ids(&two.other.get("/v1/sessions").await.done()["sessions"]), [own.as_str()]);
    for filter in ["", "?channel=chat-7", "?status=pending", "?q=file"] {
        let listed = two.other.get(&format!("/v1/interactions{filter}")).await.done();
        assert_eq!(ids(&listed["interactions"]), [asked.id.as_str()], "{filter}");
    }
    let of_other = two.other.get(&format!("/v1/interactions?session={session}")).await.done();
    assert_eq!(of_other, json!({ "interactions": [] }));

    assert_eq!(two.agents_read("project").await, json!({ "agents_read": "project" }));
    for path in paths.iter().filter(|path| !path.ends_with("stream")) {
        two.other.get(path).await.done();
    }
    assert_eq!(two.other.get("/v1/sessions").await.done()["sessions"].as_array().unwrap().len(), 2);
    two.agents_read("own").await;
    two.other.get(&paths[0]).await.refused(404, "not_found");
    let people = two.world.person("alice").await;
    assert_eq!(people.get("/v1/sessions").await.done()["sessions"].as_array().unwrap().len(), 2);
}

/// On the stream of the project an agent receives only its own sessions, or all if the project allows it.
#[tokio::test]
async fn project_stream_sends_an_agent_its_own_sessions_only() {
    let two = TwoAgents::new().await;
    let mut stream = two.other.follows("/v1/events/stream", None).await;
    let session = two.bot.opens(json!({})).await;
    two.bot.asks_in(&session, confirmation()).await;
    let own = two.other.opens(json!({})).await;
    // Events of the other agent's session would come first.
    assert_eq!(stream.event().await.1["session"], own);
    two.agents_read("project").await;
    let third = two.bot.opens(json!({})).await;
    assert_eq!(stream.event().await.1["session"], third);
}

/// Stats are computed over the sessions of all agents, so agents may not read them by default.
#[tokio::test]
async fn agent_cannot_read_the_stats_of_the_project() {
    let two = TwoAgents::new().await;
    let session = two.bot.opens(json!({})).await;
    two.bot.asks_in(&session, confirmation()).await;
    for path in ["/v1/stats", "/v1/stats/details"] {
        two.other.get(path).await.refused(403, "role_forbids");
        two.world.person("alice").await.get(path).await.done();
        two.agents_read("project").await;
        two.other.get(path).await.done();
        two.agents_read("own").await;
    }
}

/// Regression test: an agent could find out whether a question exists by trying to take its answer.
#[tokio::test]
async fn delivery_of_a_question_that_an_agent_cannot_read_looks_absent() {
    let two = TwoAgents::new().await;
    let session = two.bot.opens(json!({})).await;
    let question = two.bot.asks_in(&session, confirmation()).await;
    two.world.person("alice").await.answers(&question, json!({ "option": "confirm" })).await.done();
    let lease = two.bot.post(&question.path("/delivery/take"), json!({})).await.done()["lease"].clone();
    let posts = [
        ("/delivery/take", json!({})),
        ("/delivery/heartbeat", json!({ "lease": lease })),
        ("/delivery/complete", json!({ "lease": lease })),
        ("/delivery/fail", json!({ "lease": lease, "reason": "no" })),
    ];
    let absent = two.other.get(&question.path("")).await.refused(404, "not_found");
    for (path, body) in &posts {
        assert_eq!(
            two.other.post(&question.path(path), body.clone()).await.refused(404, "not_found"),
            absent,
            "{path}"
        );
    }
    // A caller who may read the question is refused with the reason.
    two.agents_read("project").await;
    for (path, body) in posts {
        two.other.post(&question.path(path), body).await.refused(403, "not_your_delivery");
    }
    two.bot.post(&question.path("/delivery/complete"), json!({ "lease": lease })).await.done();
}

#[tokio::test]
async fn only_an_admin_changes_agents_read_and_the_change_is_audited() {
    let two = TwoAgents::new().await;
    assert_eq!(two.other.get("/v1/project/settings").await.done(), json!({ "agents_read": "own" }));
    for wrong in [json!({ "agents_read": "all" }), json!({}), json!({ "agents_read": "own", "more": 1 })] {
        let request = two.admin.request(Method::PUT, "/v1/project/settings");
        reply(request.json(&wrong)).await.refused(422, "body_invalid");
    }
    two.agents_read("project").await;
    two.agents_read("project").await;
    let trail = two.admin.get("/v1/audit?type=project.settings_changed").await.done();
    let entries = trail["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 1, "a change without effect has no entry: {trail}");
    assert_eq!(entries[0]["data"]["after"], json!({ "agents_read": "project" }));
    // The setting applies only to this project.
    let stranger = two.world.stranger().await;
    assert_eq!(stranger.get("/v1/project/settings").await.done(), json!({ "agents_read": "own" }));
}

/// Regression test: the dialects showed the agent of the session as the asker of every question.
#[tokio::test]
async fn every_dialect_names_the_agent_that_asked() {
    let two = TwoAgents::new().await;
    let alice = two.world.person("alice").await;
    let session = two.bot.opens(json!({ "agent": "release-helper", "channel": "chat-7" })).await;
    let question = two.bot.asks_in(&session, confirmation()).await;
    assert_eq!(alice.reads(&question).await["asked_by"]["name"], "bot");
    let flows = alice.flows_questions(&session).await;
    assert!(flows.to_string().contains("\"agentId\":\"bot\""), "{flows}");
    let hitl = alice.get("/hitl/conversations/chat-7/pending").await.body;
    assert!(hitl.to_string().contains("\"asked_by\":\"bot\""), "{hitl}");
    let approvals = alice.get("/sessions/chat-7/pending-approvals").await.done();
    assert_eq!(approvals["pending_approvals"][0]["asked_by"], "bot", "{approvals}");
}
