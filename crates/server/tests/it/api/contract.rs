//! Tests every operation of the OpenAPI document: its refusals and its description.

use std::collections::BTreeMap;

use domain::Role;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use server_testkit::actions::{policy, writing};
use server_testkit::client::{Question, Reply, Someone, confirmation, reply, text};
use server_testkit::definitions::{notes, scribe};
use server_testkit::world::World;

/// An operation of the document.
pub(crate) struct Operation {
    pub(crate) id: String,
    pub(crate) method: Method,
    path: String,
    described: Value,
}

/// A valid body of an operation, and the roles that the operation refuses.
pub(crate) struct Sample {
    pub(crate) body: Option<Value>,
    refuses: &'static [Role],
}

const LEASE: &str = "lea_00000000-0000-7000-8000-000000000000";
/// Operations that need no credential.
const OPEN: &[&str] = &["healthz", "readyz", "metrics", "sign_in_get", "sign_in_password", "sign_in_link"];

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
    assert!(!refuses.contains(&Admin), "an admin may do everything");
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
pub(crate) struct Things {
    question: Question,
    key: Someone,
    grant: String,
    project: String,
    webhook: String,
    sent: String,
}

impl Things {
    /// Creates a question, and in its session an action called `done` that was approved with a standing grant.
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

fn document() -> Value {
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
        assert!(found.is_some(), "{} has no sample in this table: add one, and with it its refusals", self.id);
        found.unwrap()
    }

    /// Path of the operation with the ids of existing objects.
    pub(crate) fn path_to(&self, things: &Things) -> String {
        let Things { question, key, grant, project, webhook, sent } = things;
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

    async fn called_by(&self, caller: &Someone, path: &str) -> Reply {
        let request = in_its_channel(caller.request(self.method.clone(), path), path);
        match self.sample().body {
            Some(body) => reply(request.json(&body)).await,
            None => reply(request).await,
        }
    }
}

/// `flows` requires the channel in a header. The channel of these sessions is their own id.
fn in_its_channel(request: RequestBuilder, path: &str) -> RequestBuilder {
    let session = path.strip_prefix("/api/flows/").and_then(|rest| rest.split('/').next());
    match session.and_then(|session| session.strip_prefix("ses_")) {
        Some(channel) => request.header("X-Chat-Session-Id", channel),
        None => request,
    }
}

/// Every operation refuses a request without a credential, even if the rest of the request is invalid too.
#[tokio::test]
async fn every_operation_refuses_whoever_has_no_credential() {
    let world = World::new().await;
    let things = Things::of(&world).await;
    let before = world.everything().await;
    for operation in operations() {
        for path in [operation.path_to(&things), operation.path.replace(['{', '}'], "x") + "?unknown=1"] {
            let request = world.door.request(operation.method.clone(), &path);
            let request = operation.sample().body.iter().fold(request, |request, body| request.json(body));
            let refused = reply(request).await;
            assert_eq!(refused.headers["www-authenticate"], "Bearer", "{}", operation.id);
            assert_eq!(refused.headers["cache-control"], "no-store", "{}", operation.id);
            refused.refused(401, "unauthenticated");
        }
    }
    assert_eq!(world.everything().await, before);
}

/// To an admin of another tenant, every object looks absent.
#[tokio::test]
async fn every_operation_on_one_thing_refuses_another_tenant() {
    let world = World::new().await;
    let things = Things::of(&world).await;
    let (stranger, before) = (world.stranger().await, world.everything().await);
    let mut walked = 0;
    for operation in operations().into_iter().filter(|operation| operation.path.contains('{')) {
        operation.called_by(&stranger, &operation.path_to(&things)).await.refused(404, "not_found");
        walked += 1;
    }
    assert!(walked >= 35, "only {walked} operations on one thing");
    assert_eq!(world.everything().await, before);
}

/// An operation that names no object neither shows nor changes data of another tenant.
#[tokio::test]
async fn every_other_operation_stays_within_its_tenant() {
    let world = World::new().await;
    let things = Things::of(&world).await;
    let (stranger, before) = (world.stranger().await, world.everything().await);
    let Things { question, key, grant, webhook, sent, .. } = &things;
    let (agent, flow) = ("scribe".to_owned(), "notes".to_owned());
    let theirs = [&question.id, &question.session, &key.key_id, grant, webhook, sent, &agent, &flow];
    for operation in operations().into_iter().filter(|operation| !operation.path.contains('{')) {
        if operation.id == "project_stream" {
            let mut stream = stranger.follows("/v1/events/stream?after=0-0", None).await;
            let own = stranger.opens(json!({})).await;
            assert_eq!(stream.event().await.1["session"], json!(own), "the first event of the log is another tenant's");
            continue;
        }
        if ["agent_add", "flow_add", "secret_put"].contains(&operation.id.as_str()) {
            // The reply repeats the request. The list operations show to which tenant the object belongs.
            continue;
        }
        let said = operation.called_by(&stranger, &operation.path).await.body.to_string();
        assert!(!theirs.iter().any(|id| said.contains(id.as_str())), "{}: {said}", operation.id);
    }
    let answer = json!({ "answers": [{ "interaction": question.id, "option": "confirm" }] });
    let answered = stranger.post("/v1/interactions/answers", answer).await.done();
    assert_eq!(answered["results"][0]["problem"]["code"], json!("not_found"));
    assert_eq!(world.everything().await, before);
}

/// Each role is refused exactly the operations of the table; to an agent, a session of others is absent.
#[tokio::test]
async fn every_operation_refuses_the_roles_that_it_should() {
    let world = World::new().await;
    let mut callers = Vec::new();
    for role in Role::ALL {
        callers.push((role, world.someone("default", role, &format!("some-{}", role.name()), &[]).await));
    }
    for operation in operations() {
        for (role, caller) in &callers {
            let things = Things::of(&world).await;
            let refuses = operation.sample().refuses.contains(role);
            if operation.id == "key_revoke" && !refuses {
                // A revocation takes a second, until no node trusts the key; it has a test of its own.
                continue;
            }
            let answered = operation.called_by(caller, &operation.path_to(&things)).await;
            if refuses && !(*role == Role::Agent && answered.status == 404) {
                answered.refused(403, "role_forbids");
                assert_eq!(things.key.reads(&things.question).await, things.question.shown);
            } else {
                let code = answered.body["code"].as_str().unwrap_or_default();
                assert_ne!(code, "role_forbids", "{} as {}", operation.id, role.name());
                assert!(answered.status < 500, "{} as {}: {}", operation.id, role.name(), answered.body);
            }
        }
    }
}

/// An unknown query parameter is refused by name in `/v1`; the dialects ignore it.
#[tokio::test]
async fn no_operation_of_ours_ignores_a_parameter() {
    let world = World::new().await;
    let (things, admin) = (Things::of(&world).await, world.admin().await);
    let before = world.everything().await;
    let mut walked = 0;
    for operation in operations().into_iter().filter(|operation| operation.path.starts_with("/v1/")) {
        for query in ["surely_unknown=1", "surely_unknown", "%73urely_unknown=1&wait=1"] {
            let path = format!("{}?{query}", operation.path_to(&things));
            let refused = operation.called_by(&admin, &path).await.refused(400, "query_invalid");
            assert!(text(&refused["detail"]).contains("surely_unknown"), "{}: {refused}", operation.id);
        }
        walked += 1;
    }
    assert!(walked >= 60, "only {walked} operations of ours");
    assert_eq!(world.everything().await, before);
    let own = admin.post("/v1/sessions", json!({})).await.done();
    let session = format!("/v1/sessions/{}/actions", text(&own["id"]));
    let refused = admin.post(&format!("{session}?wait=5"), writing("new")).await.refused(400, "query_invalid");
    assert!(text(&refused["detail"]).starts_with("wait:"), "{refused}");
    admin.post(&session, writing("new")).await.done();
    world.door.request(Method::GET, "/healthz?x=1").send().await.unwrap().error_for_status().unwrap();
}

/// No reply may be cached, because it is only for the caller and only for the moment.
#[tokio::test]
async fn no_reply_may_be_kept_on_the_way() {
    let world = World::new().await;
    let (things, admin) = (Things::of(&world).await, world.admin().await);
    let kept = |operation: &Operation| !operation.id.ends_with("_stream") && operation.id != "key_revoke";
    for operation in operations().into_iter().filter(kept) {
        let reply = operation.called_by(&admin, &operation.path_to(&things)).await;
        assert_eq!(reply.headers["cache-control"], "no-store", "{}: {}", operation.id, reply.body);
    }
}

/// The document and the page that renders it are served without a credential.
#[tokio::test]
async fn the_document_is_served() {
    let world = World::new().await;
    let served = reply(world.door.request(Method::GET, "/openapi.json")).await.done();
    assert_eq!(served, document());
    assert_eq!(served["openapi"], "3.1.0");
    let page = reply(world.door.request(Method::GET, "/docs/")).await;
    assert_eq!(page.status, 200);
    assert!(page.body.as_str().unwrap().contains("swagger-ui"));
}

/// Every operation has a unique name, a summary, an example of its body and a described success reply.
#[test]
fn every_operation_is_described() {
    let document = document();
    let mut seen = BTreeMap::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, described) in methods.as_object().unwrap() {
            let id = described["operationId"].as_str().unwrap();
            assert_eq!(seen.insert(id.to_owned(), format!("{method} {path}")), None, "{id} is used twice");
            assert!(
                described["summary"].as_str().is_some_and(|words| words.ends_with(['.', ':'])),
                "{id}: no sentence"
            );
            assert!(described["tags"].as_array().is_some_and(|tags| tags.len() == 1), "{id}: not one tag");
            let replies = described["responses"].as_object().unwrap();
            let successes: Vec<_> =
                replies.iter().filter(|(status, _)| status.starts_with('2') || *status == "101").collect();
            let decided = ["action_propose", "action_get", "react_session_stream", "flows_poll"].contains(&id);
            assert_eq!(successes.len(), 1 + usize::from(decided), "{id}: not one reply of success");
            for (status, success) in successes {
                assert!(success["description"].as_str().is_some_and(|words| !words.is_empty()), "{id} {status}");
                let described = success["content"].is_object();
                assert_eq!(
                    described,
                    !["101", "204"].contains(&status.as_str()),
                    "{id} {status}: what comes back is not described"
                );
            }
        }
    }
    assert!(OPEN.iter().all(|id| seen.contains_key(*id)));
    for operation in operations() {
        for status in ["400", "401", "403", "404", "409", "422", "429", "500", "503"] {
            let problem = resolved(&document, &operation.described["responses"][status]);
            let problem = &problem["content"]["application/problem+json"]["schema"];
            assert_eq!(problem["$ref"], "#/components/schemas/ProblemBody", "{} {status}", operation.id);
        }
        let sample = operation.sample();
        let body = &operation.described["requestBody"];
        assert_eq!(body.is_object(), sample.body.is_some(), "{}: body or sample missing", operation.id);
        let named = operation.path.matches('{').count();
        let parameters = operation.described["parameters"].as_array().cloned().unwrap_or_default();
        assert_eq!(parameters.iter().filter(|parameter| parameter["in"] == "path").count(), named, "{}", operation.id);
    }
}

/// Every body and every reply has an example that fits its schema.
#[test]
fn every_body_and_every_reply_has_an_example_that_fits() {
    let document = document();
    let check = |what: &str, described: &Value| {
        for (content, described) in described["content"].as_object().into_iter().flatten() {
            let schema = resolved(&document, &described["schema"]);
            let example = described.get("example").or_else(|| schema.get("example"));
            let Some(example) = example else { panic!("{what} has no example as {content}") };
            fits(&document, &described["schema"], example, what);
        }
    };
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, described) in methods.as_object().unwrap() {
            check(&format!("the body of {method} {path}"), &described["requestBody"]);
            for (status, reply) in described["responses"].as_object().unwrap() {
                if status.starts_with('2') {
                    check(&format!("{status} of {method} {path}"), reply);
                }
            }
        }
    }
}

fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(target) => document.pointer(target.trim_start_matches('#')).unwrap(),
        None => schema,
    }
}

/// Asserts that an example has every required field and no unknown field, at every depth.
fn fits(document: &Value, schema: &Value, example: &Value, place: &str) {
    let schema = resolved(document, schema);
    if let Some(items) = example.as_array() {
        items.iter().for_each(|item| fits(document, &schema["items"], item, &format!("{place}[]")));
    }
    let parts = schema["allOf"].as_array();
    let parts: Vec<&Value> = parts.map_or_else(|| vec![schema], |parts| parts.iter().collect());
    let parts: Vec<&Value> = parts.into_iter().map(|part| resolved(document, part)).collect();
    let known = |name: &str| parts.iter().find_map(|part| part["properties"].get(name));
    let (Some(fields), true) = (example.as_object(), parts.iter().any(|part| part["properties"].is_object())) else {
        return;
    };
    for required in parts.iter().filter_map(|part| part["required"].as_array()).flatten() {
        assert!(fields.contains_key(required.as_str().unwrap()), "{place} lacks {required}");
    }
    for (name, value) in fields {
        let schema = known(name);
        assert!(schema.is_some(), "{place} has {name}, which is not described");
        fits(document, schema.unwrap(), value, &format!("{place}/{name}"));
    }
}

/// Every reference in the document can be resolved.
#[test]
fn every_reference_leads_somewhere() {
    fn walk(value: &Value, document: &Value) {
        if let Some(target) = value.get("$ref").and_then(Value::as_str) {
            assert!(document.pointer(target.trim_start_matches('#')).is_some(), "{target} leads nowhere");
        }
        match value {
            Value::Array(items) => items.iter().for_each(|item| walk(item, document)),
            Value::Object(fields) => fields.values().for_each(|field| walk(field, document)),
            _ => {}
        }
    }
    walk(&document(), &document());
}

/// The server can read the example of every request body.
#[tokio::test]
async fn every_example_of_a_request_can_be_read() {
    let world = World::new().await;
    let (root, document) = (world.admin().await, document());
    for operation in operations().into_iter().filter(|operation| operation.described["requestBody"].is_object()) {
        let things = Things::of(&world).await;
        let schema =
            operation.described["requestBody"]["content"]["application/json"]["schema"]["$ref"].as_str().unwrap();
        let example = document.pointer(schema.trim_start_matches('#')).unwrap()["example"].clone();
        let path = operation.path_to(&things);
        let request = in_its_channel(root.request(operation.method.clone(), &path), &path);
        let answered = reply(request.json(&example)).await;
        assert_ne!(answered.status, 405, "{}", operation.id);
        let code = answered.body["code"].as_str().unwrap_or_default();
        assert!(!["malformed_json", "body_invalid"].contains(&code), "{}: {}", operation.id, answered.body);
    }
}
