//! Tests messages of agents that require a reply: a question in the channel of the session, whose answer is a message
//! too.

use serde_json::{Value, json};

use server_testkit::client::{ApiClient, Question, text};
use server_testkit::world::World;

async fn said(by: &ApiClient, session: &str) -> Vec<(String, Value)> {
    let page = by.get(&format!("/v1/sessions/{session}/events?limit=200")).await.done();
    let events = page["events"].as_array().cloned().unwrap().into_iter();
    let messages = events.filter(|event| event["type"] == "message.sent");
    messages.map(|event| (text(&event["data"]["by"]["name"]), event)).collect()
}

#[tokio::test]
async fn message_that_requires_a_reply_opens_a_question() {
    let world = World::new().await;
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = agent.opens(json!({ "channel": "chat-1" })).await;
    let path = format!("/v1/sessions/{session}/messages");
    agent.post(&path, json!({ "content": "I begin." })).await.done();
    assert_eq!(agent.session(&session).await["waiting_on"], 0);
    let asked = agent.post(&path, json!({ "content": "Which region?", "requires_reply": true })).await;
    assert_eq!((asked.status, &asked.body["status"]), (202, &json!("waiting_user_input")));
    let open = alice.get("/v1/interactions?channel=chat-1&status=pending").await.done()["interactions"][0].clone();
    assert_eq!(
        (&open["kind"], &open["title"], &open["requires_reply"]),
        (&json!("question"), &json!("Which region?"), &json!(true))
    );
    let question = Question { id: text(&open["id"]), session: session.clone(), shown: open };
    let answered = alice.flows(&question, "respond", json!({ "payload": { "answer": "Europe" } })).await.done();
    assert_eq!(answered["response"]["payload"], json!({ "answer": "Europe" }));
    let messages = said(&alice, &session).await;
    let names: Vec<(&str, &Value)> =
        messages.iter().map(|(by, event)| (by.as_str(), &event["data"]["content"])).collect();
    assert_eq!(names, [("bot", &json!("I begin.")), ("bot", &json!("Which region?")), ("alice", &json!("Europe"))]);
    assert_eq!(messages[1].1["data"]["requires_reply"], true);
    for (_, message) in &messages[1..] {
        assert_eq!(message["interaction"], json!(question.id), "the message and its reply name the question");
    }
    assert_eq!(agent.takes(&question).await.done()["answer"]["data"], "Europe");
}

#[tokio::test]
async fn agent_sends_messages_in_its_own_sessions_only() {
    let world = World::new().await;
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = agent.opens(json!({})).await;
    let path = format!("/v1/sessions/{session}/messages");
    let asking = json!({ "content": "Which?", "requires_reply": true });
    alice.post(&path, asking.clone()).await.refused_at(422, "body_invalid", &["/requires_reply"]);
    alice.post(&path, json!({ "content": "Hello" })).await.refused(409, "not_driven");
    let other = world.someone("default", domain::Role::Agent, "other", &[]).await;
    other.post(&path, asking.clone()).await.refused(404, "not_found");
    agent.post(&path, json!({ "content": " ", "requires_reply": true })).await.refused(422, "body_invalid");
    agent.commands(&session, "complete").await.done();
    agent.post(&path, asking).await.refused(409, "session_ended");
    agent.post(&path, json!({ "content": "Late" })).await.refused(409, "session_ended");
}
