//! `react`: tests every message of a client in every state, and the isolation of tenants.

use serde_json::{Value, json};

use crate::react::{STREAM, api_key, refused, responds, until};
use crate::react_agents::says;
use server_testkit::client::{ApiClient, Question, reply, text};
use server_testkit::scripted_worker::{ScriptedWorker, scripted};
use server_testkit::world::World;

const STATES: [&str; 5] = ["pending", "answered", "expired", "cancelled", "session ended"];

async fn in_state(world: &World, person: &ApiClient, state: &str) -> Question {
    let agent = world.agent().await;
    let session = agent.opens(json!({ "channel": "session-123" })).await;
    let mut body = api_key();
    body["deadline_seconds"] = json!(300);
    let asked = agent.asks_in(&session, body).await;
    match state {
        "answered" => drop(responds(person, "session-123", &asked.id, "skip", None).await.done()),
        "expired" => world.passes(300).await,
        "cancelled" => drop(person.post(&asked.path("/cancel"), json!({})).await.done()),
        "session ended" => drop(person.commands(&session, "cancel").await.done()),
        _ => {}
    }
    asked
}

/// A response is accepted once, while the request is open; in other states it is refused and changes nothing.
#[tokio::test]
async fn response_is_accepted_only_while_the_request_is_open() {
    let world = World::new().await;
    let person = world.person("alice").await;
    for state in STATES {
        let asked = in_state(&world, &person, state).await;
        let before = person.reads(&asked).await;
        let said = responds(&person, "session-123", &asked.id, "provide", Some("ow-key")).await;
        match state {
            "pending" => assert_eq!(said.done()["success"], json!(true)),
            "expired" => drop(refused(said, 410, "interaction_expired", "session-123")),
            _ => drop(refused(said, 409, "interaction_already_resolved", "session-123")),
        }
        assert_eq!(person.reads(&asked).await == before, state != "pending", "{state}");
    }
}

/// A session of an external agent refuses messages in every state; only hosted agents accept them.
#[tokio::test]
async fn message_to_a_session_of_an_external_agent_is_refused() {
    let world = World::new().await;
    let person = world.person("alice").await;
    for state in STATES {
        let asked = in_state(&world, &person, state).await;
        let body = json!({ "message": "用户消息", "sessionId": asked.session, "userId": "user-456" });
        let code = if state == "session ended" { "session_ended" } else { "not_driven" };
        let said = person.post(STREAM, body).await.refused(409, code);
        assert_eq!(said["success"], json!(false));
    }
}

/// A hosted session accepts messages in every state except ended. A message to the id of an ended session is refused; a
/// message to its channel starts a new session. A stream can be read in every state of the session.
#[tokio::test]
async fn hosted_session_accepts_messages_and_readers_until_it_ends() {
    for (state, agent) in [("listens", "speaks"), ("waits", "asks"), ("paused", "asks"), ("ended", "speaks")] {
        let world = World::live().await;
        let fine = json!({ "say": "Fine.", "again": true });
        let deletes = json!({ "calls": [{ "tool": "delete_file", "arguments": { "path": "a.txt" } }] });
        let agents = vec![scripted("speaks", json!([fine])), scripted("asks", json!([deletes, fine]))];
        let _scripted_worker = ScriptedWorker::of(&world, agents);
        let person = world.person("alice").await;
        let body = json!({ "message": "Go.", "sessionId": "session-123", "agent": agent });
        let mut frames = says(&person, body).await;
        let (seen, _) = until(&mut frames, if agent == "asks" { "INTERACTION" } else { "COMPLETED" }).await;
        let session = text(&person.get("/v1/sessions").await.done()["sessions"][0]["id"]);
        match state {
            "paused" => drop(person.commands(&session, "pause").await.done()),
            "ended" => drop(person.commands(&session, "cancel").await.done()),
            _ => {}
        }
        for name in [session.as_str(), "session-123"] {
            let mut frames = person.follows(&format!("{STREAM}?sessionId={name}"), Some(&seen)).await;
            if state == "ended" {
                assert_eq!(until(&mut frames, "COMPLETED").await.1["data"]["status"], "cancelled");
                assert!(frames.next().await.is_none());
            }
        }
        let by_id = json!({ "message": "And now?", "sessionId": session });
        if state == "ended" {
            person.post(STREAM, by_id).await.refused(409, "session_ended");
        } else {
            let (_, heard) = says(&person, by_id).await.event().await;
            assert_eq!((&heard["type"], &heard["data"]["message"]), (&json!("STARTED"), &json!("And now?")), "{state}");
        }
        let (_, heard) = says(&person, json!({ "message": "Hello?", "sessionId": "session-123" })).await.event().await;
        assert_eq!(heard["type"], "STARTED", "{state}");
        let sessions = person.get("/v1/sessions").await.done()["sessions"].as_array().map(Vec::len);
        assert_eq!(sessions, Some(if state == "ended" { 2 } else { 1 }), "{state}");
    }
}

/// Unknown sessions, requests and options are refused and change nothing.
#[tokio::test]
async fn unknown_sessions_requests_and_options_are_refused() {
    let world = World::new().await;
    let person = world.person("alice").await;
    let asked = in_state(&world, &person, "pending").await;
    let check = async |session: &str, request: &str, option: &str, status: u16, code: &str| {
        let said = responds(&person, session, request, option, Some("x")).await;
        refused(said, status, code, session);
        assert_eq!(person.reads(&asked).await, asked.shown);
    };
    let other = "int_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01";
    check("session-999", &asked.id, "provide", 404, "not_found").await;
    check("session-123", "request-456", "provide", 404, "not_found").await;
    check("session-123", other, "provide", 404, "not_found").await;
    check("session-123", &asked.id, "approve", 422, "answer_invalid").await;
    let path = "/api/agent/chat/react/interaction_response";
    let short = person.post(path, json!({ "sessionId": "session-123" })).await.refused(422, "body_invalid");
    assert_eq!(short["success"], json!(false));
    person.get(&format!("{STREAM}?sessionId=session-999")).await.refused(404, "not_found");
    person.get(&format!("{STREAM}?sessionId=%00")).await.refused(400, "query_invalid");
    person.get(STREAM).await.refused(400, "query_invalid");
    for body in [json!({ "message": " " }), json!({ "message": "x", "sessionId": "with spaces", "agent": "nobody" })] {
        person.post(STREAM, body).await.refused(422, "body_invalid");
    }
    for body in [
        json!({ "message": "x" }),
        json!({ "message": "x", "agent": "nobody" }),
        json!({ "message": "x", "sessionId": "ses_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01" }),
    ] {
        person.post(STREAM, body).await.refused(404, "not_found");
    }
    assert_eq!(person.get("/v1/sessions").await.done()["sessions"].as_array().map(Vec::len), Some(1));
}

/// A session is found by its channel, its id and the UUID in it; a session of another tenant is not found.
#[tokio::test]
async fn sessions_of_another_tenant_are_not_found() {
    let world = World::new().await;
    let (person, stranger, agent) = (world.person("alice").await, world.stranger().await, world.agent().await);
    let asked = in_state(&world, &person, "pending").await;
    let bare = asked.session.trim_start_matches("ses_").to_owned();
    for name in ["session-123", asked.session.as_str(), bare.as_str()] {
        stranger.get(&format!("{STREAM}?sessionId={name}")).await.refused(404, "not_found");
        let theirs = responds(&stranger, name, &asked.id, "skip", None).await;
        refused(theirs, 404, "not_found", name);
        refused(responds(&agent, name, &asked.id, "skip", None).await, 403, "role_forbids", name);
        drop(person.follows(&format!("{STREAM}?sessionId={name}"), None).await);
    }
    let nobody = world.http.request(reqwest::Method::POST, STREAM).json(&json!({ "message": "x" }));
    let body: Value = reply(nobody).await.refused(401, "unauthenticated");
    assert_eq!(body["success"], json!(false));
    assert_eq!(person.reads(&asked).await, asked.shown);
    responds(&person, &bare, &asked.id.replace("int_", ""), "skip", None).await.done();
}
