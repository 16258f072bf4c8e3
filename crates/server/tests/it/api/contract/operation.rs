//! The operations of the OpenAPI document, and a valid request of each.

use domain::Role;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use server_testkit::actions::{policy, writing};
use server_testkit::client::{ApiClient, Question, Reply, confirmation, reply, text};
use server_testkit::definitions::{notes, scribe};
use server_testkit::world::World;

/// An operation of the document.
pub(crate) struct Operation {
    pub(crate) id: String,
    pub(crate) method: Method,
    pub(super) path: String,
    pub(super) described: Value,
}

/// A valid body of an operation, and the roles that the operation refuses.
pub(crate) struct Sample {
    pub(crate) body: Option<Value>,
    pub(super) refuses: &'static [Role],
}

const LEASE: &str = "lea_00000000-0000-7000-8000-000000000000";
/// Operations that need no credential.
pub(super) const OPEN: &[&str] = &["healthz", "readyz", "metrics", "sign_in_get", "sign_in_password", "sign_in_link"];

#[expect(clippy::too_many_lines, reason = "a table with one row for each operation")]
fn sample(operation: &str) -> Option<Sample> {
    use Role::{Admin, Agent, Operator, Viewer};
    let (body, refuses): (Option<Value>, &[Role]) = match operation {
        "session_list" | "session_get" | "event_list" | "event_stream" | "project_stream" | "interaction_list"
        | "interaction_get" | "interaction_schema" | "audit_key" | "socket_open" | "approvals_open"
        | "approvals_pending" => (None, &[]),
        "stats_get" | "stats_details" => (None, &[Agent]),
        "ticket_create" => (Some(json!({})), &[]),
        "audit_list" | "audit_export" => (None, &[Operator, Viewer, Agent]),
        "session_start" => (Some(json!({})), &[Viewer]),
        "session_message" => (Some(json!({ "content": "Go on." })), &[Viewer, Agent]),
        "session_control" => (Some(json!({ "command": "pause" })), &[Viewer, Agent]),
        "interaction_ask" => (Some(confirmation()), &[Viewer]),
        "interaction_answer" => (Some(json!({ "option": "confirm" })), &[Agent]),
        "interaction_answer_many" => {
            (Some(json!({ "answers": [{ "interaction": LEASE.replace("lea", "int") }] })), &[Agent])
        }
        "interaction_auto" => (Some(json!({ "option": "confirm" })), &[Operator, Viewer, Agent]),
        "interaction_cancel" | "interaction_expire" => (Some(json!({})), &[Viewer, Agent]),
        "interaction_claim" | "interaction_release" | "interaction_handover" | "interaction_abstain" => {
            (Some(json!({})), &[Agent])
        }
        "flows_poll" | "flows_snapshot" | "flows_interactions" | "flows_stream" => (None, &[]),
        "flows_start" => (Some(json!({})), &[Viewer]),
        "flows_control" => (Some(json!({ "command": "pause" })), &[Viewer, Agent]),
        "flows_respond" => (Some(json!({ "payload": { "action": "confirm" } })), &[Agent]),
        "flows_skip" => (Some(json!({})), &[Agent]),
        "flows_auto" => (Some(json!({})), &[Operator, Viewer, Agent]),
        "flows_expire" => (Some(json!({})), &[Viewer, Agent]),
        "delivery_list" => (None, &[Operator, Viewer]),
        "delivery_take" => (Some(json!({})), &[Operator, Viewer]),
        "delivery_heartbeat" | "delivery_complete" => (Some(json!({ "lease": LEASE })), &[Operator, Viewer]),
        "delivery_fail" => (Some(json!({ "lease": LEASE, "reason": "gone" })), &[Operator, Viewer]),
        "action_list" | "action_get" | "grant_list" | "policy_get" | "policy_version_list" => (None, &[]),
        "action_propose" => (Some(writing("new")), &[Viewer]),
        "action_start" => (Some(json!({ "permit": "prm_1.0" })), &[Operator, Viewer]),
        "action_outcome" => (Some(json!({ "outcome": "done" })), &[Operator, Viewer]),
        "grant_revoke" => (None, &[Viewer, Agent]),
        "policy_put" => (Some(json!({ "text": policy("") })), &[Operator, Viewer, Agent]),
        "policy_reset" => (Some(json!({})), &[Operator, Viewer, Agent]),
        "policy_check" => (Some(json!({ "text": "" })), &[]),
        "policy_explain" => (Some(json!({ "tool": "write_file", "arguments": {} })), &[]),
        "policy_simulate" => (Some(json!({ "text": policy("") })), &[Agent]),
        "suggestion_adopt" => (Some(json!({})), &[Operator, Viewer, Agent]),
        "suspension_lift" => (Some(json!({ "reason": "a test" })), &[Operator, Viewer, Agent]),
        "policy_shadow_put" => (Some(json!({ "text": policy("") })), &[Operator, Viewer, Agent]),
        "policy_shadow_remove" => (None, &[Operator, Viewer, Agent]),
        "policy_switch" => (Some(json!({ "enabled": false, "reason": "a test" })), &[Operator, Viewer, Agent]),
        "agent_list" | "agent_get" | "flow_list" | "flow_get" => (None, &[]),
        "agent_add" => (Some(scribe()), &[Operator, Viewer, Agent]),
        "flow_add" => (Some(notes()), &[Operator, Viewer, Agent]),
        "agent_retire" | "flow_retire" => (None, &[Operator, Viewer, Agent]),
        "key_create" => (Some(json!({ "role": "viewer" })), &[Operator, Viewer, Agent]),
        "secret_list" | "secret_forget" => (None, &[Viewer, Agent]),
        "secret_put" => (Some(json!({ "agent": "scribe", "name": "OPENAI_KEY", "value": "sk-1" })), &[Viewer, Agent]),
        "me_get" | "sign_out" | "project_settings_get" | "policy_shadow_get" | "suggestion_list" => (None, &[]),
        "project_settings_put" => (Some(json!({ "agents_read": "own" })), &[Operator, Viewer, Agent]),
        "me_project" => (Some(json!({ "project": LEASE.replace("lea", "prj") })), &[]),
        "me_password" => (Some(json!({ "new": "correct horse battery" })), &[]),
        "user_create" => (Some(json!({ "name": "carol", "role": "viewer" })), &[Operator, Viewer, Agent]),
        "user_link" => (Some(json!({})), &[Operator, Viewer, Agent]),
        "user_change" => (Some(json!({ "role": "viewer" })), &[Operator, Viewer, Agent]),
        "user_list" | "user_disable" | "key_list" | "key_revoke" => (None, &[Operator, Viewer, Agent]),
        "webhook_create" => (Some(json!({ "url": "https://hooks.example.com/" })), &[Operator, Viewer, Agent]),
        "webhook_list" | "webhook_get" | "webhook_delete" | "webhook_delivery_list" => {
            (None, &[Operator, Viewer, Agent])
        }
        "webhook_switch" => (Some(json!({ "enabled": true })), &[Operator, Viewer, Agent]),
        "webhook_rotate" | "webhook_test" | "webhook_delivery_replay" => (Some(json!({})), &[Operator, Viewer, Agent]),
        operation => return of_dialect(operation.trim_end_matches("_long")),
    };
    assert!(!refuses.contains(&Admin), "no operation refuses an admin");
    Some(Sample { body, refuses })
}

/// Samples of the operations of the dialects.
fn of_dialect(operation: &str) -> Option<Sample> {
    use Role::{Agent, Viewer};
    let request = LEASE.replace("lea", "int");
    let (body, refuses): (Option<Value>, &[Role]) = match operation {
        "hitl_conversation_pending" | "hitl_project_pending" | "hitl_request" | "react_session_stream" => (None, &[]),
        "hitl_ask" => {
            let body = json!({ "conversation_id": "nobody", "request_type": "clarification", "question": "Where?" });
            (Some(body), &[Viewer])
        }
        "hitl_respond" => {
            let data = json!({ "action": "allow" });
            (Some(json!({ "request_id": request, "hitl_type": "permission", "response_data": data })), &[Agent])
        }
        "hitl_cancel" => (Some(json!({ "request_id": request })), &[]),
        "react_chat_stream" => (Some(json!({ "message": "Good morning.", "agent": "scribe" })), &[Viewer]),
        "react_interaction_response" => {
            let body = json!({ "sessionId": "nobody", "requestId": request, "selectedOptionId": "approve" });
            (Some(body), &[Agent])
        }
        _ => return None,
    };
    Some(Sample { body, refuses })
}

/// One object of each kind that an operation can name.
pub(crate) struct SampleObjects {
    pub(super) question: Question,
    pub(super) key: ApiClient,
    pub(super) grant: String,
    project: String,
    pub(super) webhook: String,
    pub(super) sent: String,
}

impl SampleObjects {
    /// Creates a question, and in its session an action called `done` that was approved with a grant.
    pub(crate) async fn of(world: &World) -> Self {
        world.signs_up("alice", Role::Operator).await;
        let key = world.person("reviewer").await;
        let (question, agent) = (world.asks(confirmation()).await, world.agent().await);
        let acted = agent.proposes(&question.session, writing("done")).await;
        if acted.shown["state"] == "waiting" {
            let body = json!({ "option": "approve", "remember": { "scope": "session", "arguments": "exact" } });
            key.decides(&acted, body).await.done();
        }
        let admin = world.admin().await;
        admin.post("/v1/agents", scribe()).await.done();
        admin.post("/v1/flows", notes()).await.done();
        let grant = key.grants().await.first().map(|grant| text(&grant["id"])).unwrap();
        let project = text(&admin.get("/v1/me").await.done()["project"]);
        let webhook = admin.post("/v1/webhooks", json!({ "url": "https://hooks.example.com/" })).await.done();
        let webhook = text(&webhook["id"]);
        let sent = text(&admin.post(&format!("/v1/webhooks/{webhook}/test"), json!({})).await.done()["id"]);
        Self { question, key, grant, project, webhook, sent }
    }
}

pub(super) fn document() -> Value {
    serde_json::to_value(server::document(dialects::dialects())).unwrap()
}

/// Returns every operation that needs a credential.
pub(crate) fn operations() -> Vec<Operation> {
    let mut found = Vec::new();
    for (path, methods) in document()["paths"].as_object().unwrap() {
        for (method, described) in methods.as_object().unwrap() {
            let id = described["operationId"].as_str().unwrap().to_owned();
            if !OPEN.contains(&id.as_str()) {
                let method = method.to_uppercase().parse().unwrap();
                found.push(Operation { id, method, path: path.clone(), described: described.clone() });
            }
        }
    }
    found
}

impl Operation {
    pub(crate) fn sample(&self) -> Sample {
        let found = sample(&self.id);
        assert!(found.is_some(), "{} has no sample in this table: add one with its refusals", self.id);
        found.unwrap()
    }

    /// Path of the operation with the ids of existing objects.
    pub(crate) fn path_to(&self, things: &SampleObjects) -> String {
        let SampleObjects { question, key, grant, project, webhook, sent } = things;
        let path = self.path.replace("{session}", &question.session).replace("{interaction}", &question.id);
        let path = path.replace("{sessionId}", &question.session).replace("{requestId}", &question.id);
        let path = path.replace("{flowId}", "notes");
        let path = path.replace("{key}", &key.key_id).replace("{call}", "done").replace("{grant}", grant);
        let named = if path.starts_with("/v1/flows") { "notes" } else { "scribe" };
        let path = path.replace("{name}", named).replace("{version}", "1");
        let path = path.replace("{user}", "alice").replace("{project}", project);
        let path = path.replace("{conversation}", &question.session).replace("{request}", &question.id);
        let path = path.replace("{webhook}", webhook).replace("{delivery}", sent);
        let path = path.replace("{suggestion}", "learnt-9f86d081884c").replace("{rule}", "learnt-9f86d081884c");
        let path = path.replace("{secret}", &LEASE.replace("lea", "sec"));
        assert!(!path.contains('{'), "{path}: a parameter without a sample");
        path
    }

    pub(super) async fn called_by(&self, caller: &ApiClient, path: &str) -> Reply {
        let request = in_its_channel(caller.request(self.method.clone(), path), path);
        match self.sample().body {
            Some(body) => reply(request.json(&body)).await,
            None => reply(request).await,
        }
    }
}

/// `flows` requires the channel in a header. The channel of these sessions is their own id.
pub(super) fn in_its_channel(request: RequestBuilder, path: &str) -> RequestBuilder {
    let session = path.strip_prefix("/api/flows/").and_then(|rest| rest.split('/').next());
    match session.and_then(|session| session.strip_prefix("ses_")) {
        Some(channel) => request.header("X-Chat-Session-Id", channel),
        None => request,
    }
}
