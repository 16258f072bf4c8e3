//! `hitl`: tests every message of a client in every state of a request, and the state after a restart.

use serde_json::{Value, json};

use crate::hitl::{refused, responds, status};
use server_testkit::client::{ApiClient, Question, text};
use server_testkit::world::World;

const STATES: [&str; 6] = ["pending", "answered", "processing", "completed", "timeout", "cancelled"];

fn question() -> Value {
    json!({ "kind": "choice", "title": "Which?", "options": [{ "id": "a", "label": "A" }], "deadline_seconds": 300 })
}

fn choice_response() -> Value {
    json!({ "decision": "a" })
}

/// Brings a request into this state through the dialect.
async fn in_state(world: &World, person: &ApiClient, state: &str) -> Question {
    let asked = world.asks(question()).await;
    let agent = world.agent().await;
    let answered = async || responds(person, &asked.id, "decision", choice_response()).await.done();
    match state {
        "answered" => drop(answered().await),
        "processing" => {
            answered().await;
            agent.takes(&asked).await.done();
        }
        "completed" => {
            answered().await;
            let lease = agent.takes(&asked).await.done()["lease"].clone();
            agent.completes(&asked, &lease).await.done();
        }
        "timeout" => world.passes(300).await,
        "cancelled" => {
            let body = json!({ "request_id": asked.id, "reason": "no longer needed" });
            let said = person.post("/hitl/cancel", body).await.done();
            assert_eq!(said, json!({ "success": true, "message": "Request cancelled" }));
        }
        _ => {}
    }
    assert_eq!(status(person, &asked.id).await, state);
    asked
}

/// A response is accepted once, while the request is pending; in other states it is refused and changes nothing.
#[tokio::test]
async fn response_is_accepted_only_while_the_request_is_pending() {
    let world = World::new().await;
    let person = world.person("alice").await;
    for state in STATES {
        let asked = in_state(&world, &person, state).await;
        let before = person.reads(&asked).await;
        let reply = responds(&person, &asked.id, "decision", choice_response()).await;
        match state {
            "pending" => assert_eq!(reply.done(), json!({ "success": true, "message": "Response received" })),
            "timeout" => drop(refused(reply, 410, "interaction_expired")),
            _ => drop(refused(reply, 409, "interaction_already_resolved")),
        }
        let after = status(&person, &asked.id).await;
        assert_eq!(after, if state == "pending" { "answered" } else { state });
        assert_eq!(person.reads(&asked).await == before, state != "pending", "{state}");
    }
}

/// A request can be cancelled only while it is pending.
#[tokio::test]
async fn cancellation_is_accepted_only_while_the_request_is_pending() {
    let world = World::new().await;
    let person = world.person("alice").await;
    for state in STATES {
        let asked = in_state(&world, &person, state).await;
        let reply = person.post("/hitl/cancel", json!({ "request_id": asked.id, "reason": "wrong one" })).await;
        match state {
            "pending" => drop(reply.done()),
            _ => drop(refused(reply, 409, "interaction_already_resolved")),
        }
        let after = if state == "pending" { "cancelled" } else { state };
        assert_eq!(status(&person, &asked.id).await, after, "{state}");
    }
}

/// The list contains only pending requests.
#[tokio::test]
async fn list_contains_only_pending_requests() {
    let world = World::new().await;
    let person = world.person("alice").await;
    for state in STATES {
        let asked = in_state(&world, &person, state).await;
        for path in [format!("conversations/{}", asked.session), "projects/default".to_owned()] {
            let found = person.get(&format!("/hitl/{path}/pending?limit=200")).await.done();
            let listed = found["requests"].as_array().unwrap().iter().any(|item| item["id"] == json!(asked.id));
            assert_eq!(listed, state == "pending", "{state} in {path}");
        }
    }
}

/// All pending requests of a conversation are listed, oldest first, and each can be answered separately.
#[tokio::test]
async fn all_pending_requests_are_listed_oldest_first() {
    let world = World::new().await;
    let (agent, person) = (world.agent().await, world.person("alice").await);
    let session = agent.opens(json!({ "channel": "conv-uuid" })).await;
    let mut asked = Vec::new();
    for _ in 0..3 {
        asked.push(agent.asks_in(&session, question()).await);
    }
    let listed = async || {
        let found = person.get("/hitl/conversations/conv-uuid/pending").await.done();
        found["requests"].as_array().unwrap().iter().map(|item| text(&item["id"])).collect::<Vec<_>>()
    };
    assert_eq!(listed().await, [asked[0].id.clone(), asked[1].id.clone(), asked[2].id.clone()]);
    responds(&person, &asked[1].id, "decision", choice_response()).await.done();
    assert_eq!(listed().await, [asked[0].id.clone(), asked[2].id.clone()]);
}

/// When a lease runs out, the request goes back to `answered` and is not lost; a failed delivery is visible.
#[tokio::test]
async fn request_is_shown_as_answered_after_its_lease_expired() {
    let world = World::new().await;
    let (agent, person) = (world.agent().await, world.person("alice").await);
    let asked = in_state(&world, &person, "processing").await;
    world.passes(61).await;
    assert_eq!(status(&person, &asked.id).await, "answered");
    let lease = agent.takes(&asked).await.done()["lease"].clone();
    let failed = json!({ "lease": lease, "reason": "its state is gone", "retry": false });
    agent.post(&asked.path("/delivery/fail"), failed).await.done();
    let shown = person.get(&format!("/hitl/requests/{}", asked.id)).await.done();
    assert_eq!(shown["status"], json!("answered"));
    assert_eq!(
        (&shown["metadata"]["delivery"], &shown["metadata"]["failure"]),
        (&json!("failed"), &json!("its state is gone"))
    );
}

/// An answer that was not processed before a restart is offered to its agent afterwards.
#[tokio::test]
async fn answers_that_were_not_processed_are_offered_after_a_restart() {
    let world = World::new().await;
    let (agent, person) = (world.agent().await, world.person("alice").await);
    let mut asked = Vec::new();
    // The request that times out comes first, because advancing the clock would expire the others too.
    for state in ["timeout", "pending", "answered", "processing", "completed", "cancelled"] {
        asked.push((state, in_state(&world, &person, state).await));
    }
    let world = world.restarts().await;
    let (agent, person) = (agent.at(&world), person.at(&world));
    for (state, question) in &asked {
        assert_eq!(status(&person, &question.id).await, *state);
    }
    world.passes(61).await;
    let waiting = agent.deliveries().await;
    for (state, question) in &asked {
        let offered = ["answered", "processing", "timeout", "cancelled"].contains(state);
        assert_eq!(waiting.contains(&question.id), offered, "{state}");
    }
    for (_, question) in asked.iter().filter(|(state, _)| ["answered", "processing"].contains(state)) {
        let taken = agent.takes(question).await.done();
        assert_eq!(taken["answer"]["option"], json!("a"));
        assert_eq!(status(&person, &question.id).await, "processing");
        agent.completes(question, &taken["lease"]).await.done();
        assert_eq!(status(&person, &question.id).await, "completed");
    }
}
