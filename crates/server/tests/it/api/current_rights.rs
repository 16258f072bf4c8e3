//! Tests that the rights of a caller are checked at the moment of the change: after a slow body, and on an open socket.

use domain::Role;
use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::api::contract::{Operation, SampleObjects, operations};
use crate::api::signing_in::signed_in;
use server_testkit::client::{ApiClient, HttpClient, confirmation, reply, text};
use server_testkit::websocket::Socket;
use server_testkit::world::{PATIENCE, World};

/// A request whose head the server has read and whose body has not been sent yet.
struct PendingRequest {
    connection: TcpStream,
    body: String,
}

/// Begins a request and returns when the server has read the head and waits for the body.
async fn begin_request(
    http: &HttpClient,
    (method, path): (Method, &str),
    credential: &str,
    body: &Value,
) -> PendingRequest {
    let body = body.to_string();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {}\r\n{credential}\r\ncontent-type: application/json\r\n{}\
         content-length: {}\r\nconnection: close\r\nexpect: 100-continue\r\n\r\n",
        http.address,
        channel_of(path),
        body.len()
    );
    let mut connection = TcpStream::connect(http.address).await.unwrap();
    connection.write_all(head.as_bytes()).await.unwrap();
    let mut go_on = vec![0; b"HTTP/1.1 100 Continue\r\n\r\n".len()];
    tokio::time::timeout(PATIENCE, connection.read_exact(&mut go_on)).await.unwrap().unwrap();
    assert_eq!(String::from_utf8_lossy(&go_on), "HTTP/1.1 100 Continue\r\n\r\n", "{method} {path}");
    PendingRequest { connection, body }
}

/// `flows` requires the channel in a header. The channel of these sessions is their own id.
fn channel_of(path: &str) -> String {
    let session = path.strip_prefix("/api/flows/").and_then(|rest| rest.split('/').next());
    let channel = session.and_then(|session| session.strip_prefix("ses_"));
    channel.map(|channel| format!("x-chat-session-id: {channel}\r\n")).unwrap_or_default()
}

fn bearer(someone: &ApiClient) -> String {
    format!("authorization: Bearer {}", someone.key)
}

impl PendingRequest {
    /// Sends the body, and returns the status of the reply and the code of a refusal.
    async fn ends(mut self) -> (u16, String) {
        self.connection.write_all(self.body.as_bytes()).await.unwrap();
        let mut reply = Vec::new();
        tokio::time::timeout(PATIENCE, self.connection.read_to_end(&mut reply)).await.unwrap().unwrap();
        let reply = String::from_utf8_lossy(&reply).into_owned();
        let status = reply.split(' ').nth(1).unwrap().parse().unwrap();
        let body: Value = reply.split_once("\r\n\r\n").map_or(Value::Null, |(_, body)| {
            serde_json::from_str(body).unwrap_or_else(|_| Value::String(body.to_owned()))
        });
        (status, body["code"].as_str().unwrap_or_default().to_owned())
    }
}

/// A key that is revoked while the body arrives cannot answer.
#[tokio::test]
async fn key_revoked_while_the_body_arrives_cannot_answer() {
    let world = World::new().await;
    let (root, alice) = (world.admin().await, world.person("alice").await);
    let question = world.asks(confirmation()).await;
    let path = question.path("/answer");
    let body = json!({ "option": "confirm" });
    let begun = begin_request(&world.http, (Method::POST, &path), &bearer(&alice), &body).await;
    let revoked = reply(root.request(Method::DELETE, &format!("/v1/keys/{}", alice.key_id))).await;
    assert_eq!(revoked.status, 204);
    assert_eq!(begun.ends().await, (401, "unauthenticated".into()));
    assert_eq!(root.reads(&question).await, question.shown);
}

/// A key that is revoked while the body arrives cannot propose. This is not in the table below, because an agent
/// proposes only in its own session.
#[tokio::test]
async fn key_revoked_while_the_body_arrives_cannot_propose() {
    let world = World::new().await;
    let (root, agent) = (world.admin().await, world.agent().await);
    let path = format!("/v1/sessions/{}/actions", agent.opens(json!({})).await);
    let body = server_testkit::actions::writing("call_1");
    let begun = begin_request(&world.http, (Method::POST, &path), &bearer(&agent), &body).await;
    let revoked = reply(root.request(Method::DELETE, &format!("/v1/keys/{}", agent.key_id))).await;
    assert_eq!(revoked.status, 204);
    assert_eq!(begun.ends().await, (401, "unauthenticated".into()));
    assert_eq!(root.get(&path).await.done()["actions"], json!([]));
}

/// A person who is disabled while the body arrives cannot answer.
#[tokio::test]
async fn person_disabled_while_the_body_arrives_cannot_answer() {
    let world = World::new().await;
    let (root, cookie) = (world.admin().await, signed_in(&world, "carol").await);
    let question = world.asks(confirmation()).await;
    let credential = format!("cookie: {cookie}\r\nx-holdpoint-page: 1");
    let path = question.path("/answer");
    let begun = begin_request(&world.http, (Method::POST, &path), &credential, &json!({ "option": "confirm" })).await;
    let change = root.request(Method::PATCH, "/v1/users/carol").json(&json!({ "disabled": true }));
    reply(change).await.done();
    assert_eq!(begun.ends().await, (401, "unauthenticated".into()));
    assert_eq!(root.reads(&question).await, question.shown);
}

/// Operations that take a body and change nothing.
const READS: &[&str] = &["policy_check", "policy_explain", "policy_simulate"];

/// Operations whose sample is refused for every caller before a transaction begins, because the object does not exist
/// or a key may not call them. Their refusals have other tests; this test still checks that they changed nothing.
const ELSEWHERE: &[&str] = &[
    "me_password",
    "me_project",
    "action_propose",
    "interaction_answer_many",
    "hitl_ask",
    "hitl_respond",
    "hitl_cancel",
    "react_interaction_response",
    "suggestion_adopt",
];

/// Every operation with a body refuses a key that is revoked between head and body, and changes nothing.
#[tokio::test]
async fn every_operation_refuses_a_key_revoked_while_the_body_arrives() {
    let world = World::new().await;
    let things = SampleObjects::of(&world).await;
    let before = world.everything().await;
    let takes_body =
        |operation: &Operation| operation.sample().body.is_some() && !READS.contains(&operation.id.as_str());
    let operations: Vec<Operation> = operations().into_iter().filter(takes_body).collect();
    let walks = operations.iter().map(async |operation| {
        let caller = world.admin().await;
        let (path, body) = (operation.path_to(&things), operation.sample().body.unwrap());
        let begun = begin_request(&world.http, (operation.method.clone(), &path), &bearer(&caller), &body).await;
        let id = caller.key_id.parse().unwrap();
        world.engine.key_uninstall("default", "default", id).await.unwrap();
        (operation.id.as_str(), begun.ends().await)
    });
    let ended = join_all(walks).await;
    let carried_out = |(operation, (status, code)): &&(&str, (u16, String))| {
        let refused = *status == 401 && code == "unauthenticated";
        !refused && !ELSEWHERE.contains(&operation.trim_end_matches("_long"))
    };
    let carried_out: Vec<_> = ended.iter().filter(carried_out).collect();
    assert!(carried_out.is_empty(), "{carried_out:?}");
    let walked: Vec<&str> = ended.iter().map(|(operation, _)| *operation).collect();
    let wanted = ["interaction_answer", "interaction_claim", "action_start", "key_create", "policy_put"];
    assert!(wanted.iter().all(|operation| walked.contains(operation)), "{walked:?}");
    assert!(walked.len() >= 40, "only {} operations take a body", walked.len());
    assert_eq!(world.everything().await, before);
}

/// Opens a socket of a browser with a ticket.
async fn open_socket(world: &World, cookie: &str, path: &str) -> Socket {
    let request = world.http.request(Method::POST, "/v1/tickets").header("cookie", cookie);
    let ticket = reply(request.header("x-holdpoint-page", "1").json(&json!({}))).await.done();
    match world.http.joins(world.http.handshake(&format!("{path}?ticket={}", text(&ticket["ticket"])))).await {
        Ok(socket) => socket,
        Err(shut) => panic!("{} {}", shut.status, shut.body),
    }
}

/// Changes of a person's groups apply to open sockets: a removed group can no longer answer there, and an added one
/// can.
#[tokio::test]
async fn group_changes_apply_to_open_sockets() {
    let world = World::new().await;
    let (root, cookie) = (world.admin().await, signed_in(&world, "bob").await);
    let groups = async |groups: Value| {
        reply(root.request(Method::PATCH, "/v1/users/bob").json(&json!({ "groups": groups }))).await.done();
    };
    groups(json!(["security"])).await;
    let mut socket = open_socket(&world, &cookie, "/v1/ws").await;
    let mut ask = confirmation();
    ask["audience"] = json!({ "groups": ["security"] });
    let question = world.asks(ask).await;
    groups(json!([])).await;
    let answer = json!({ "type": "answer", "interaction": question.id, "option": "confirm" });
    let refused = socket.asks(answer.clone()).await;
    assert_eq!(
        (&refused["status"], &refused["problem"]["code"]),
        (&json!(403), &json!("not_in_audience")),
        "{refused}"
    );
    groups(json!(["security"])).await;
    let answered = socket.asks(answer).await;
    assert_eq!((&answered["status"], &answered["result"]["status"]), (&json!(200), &json!("answered")), "{answered}");
}

/// Changes of a person's groups apply to an open socket of `approvals`.
#[tokio::test]
async fn group_changes_apply_to_open_approvals_sockets() {
    let world = World::new().await;
    let (root, cookie) = (world.admin().await, signed_in(&world, "bob").await);
    let agent = world.agent().await;
    let rule =
        "[[rule]]\nname = \"all\"\ntools = [\"*\"]\nverdict = \"ask\"\nask.audience = { groups = [\"security\"] }\n";
    let put = json!({ "text": server_testkit::actions::policy(rule) });
    reply(root.request(Method::PUT, "/v1/policy").json(&put)).await.done();
    let groups = async |groups: Value| {
        reply(root.request(Method::PATCH, "/v1/users/bob").json(&json!({ "groups": groups }))).await.done();
    };
    groups(json!(["security"])).await;
    let session = agent.opens(json!({})).await;
    let mut socket = open_socket(&world, &cookie, &format!("/ws/{session}")).await;
    let action = agent.proposes(&session, server_testkit::actions::writing("call_1")).await;
    socket.hears_of("tool_call").await;
    groups(json!([])).await;
    let approve = json!({ "type": "hitl_decision", "call_id": "call_1", "decision": "approve" });
    socket.is_refused(approve, "not_in_audience").await;
    assert_eq!(agent.state(&action).await, "waiting");
}

/// A key in the name of a person is refused as soon as the person loses one of the key's groups.
#[tokio::test]
async fn key_of_a_person_is_refused_after_the_person_loses_a_group() {
    let world = World::new().await;
    let root = world.admin().await;
    root.post("/v1/users", json!({ "name": "carl", "role": "operator", "groups": ["security"] })).await.done();
    let key = world.member(Role::Operator, "carl", &["security"]).await;
    let mut ask = confirmation();
    ask["audience"] = json!({ "groups": ["security"] });
    let question = world.asks(ask).await;
    reply(root.request(Method::PATCH, "/v1/users/carl").json(&json!({ "groups": [] }))).await.done();
    key.answers(&question, json!({ "option": "confirm" })).await.refused(401, "unauthenticated");
    assert_eq!(root.reads(&question).await, question.shown);
}

/// A browser session does not extend to a project that adds the person later.
#[tokio::test]
async fn browser_session_does_not_extend_to_a_project_added_later() {
    let world = World::new().await;
    let cookie = signed_in(&world, "carol").await;
    let new = engine::NewKey::named(Role::Admin, "boss");
    let (key, secret) = world.engine.key_install("default", "b", new).await.unwrap();
    let boss = ApiClient { http: world.http.clone(), key: secret, key_id: key.id.to_string() };
    let made = boss.post("/v1/users", json!({ "name": "carol", "role": "admin" })).await;
    assert_eq!((made.status, &made.body["existing"]), (201, &json!(true)), "the admin is told: {}", made.body);
    let project = boss.get("/v1/me").await.done()["project"].clone();
    let moving = world.http.request(Method::PUT, "/v1/me/project").header("cookie", cookie);
    let moved = reply(moving.header("x-holdpoint-page", "1").json(&json!({ "project": project }))).await;
    moved.refused(401, "unauthenticated");
    boss.post("/v1/users/carol/link", json!({})).await.refused(403, "user_elsewhere");
    let fresh = boss.post("/v1/users", json!({ "name": "dora", "role": "viewer" })).await.done();
    assert!(fresh.get("existing").is_none(), "{fresh}");
}
