//! Clients that propose actions, have them approved, start them and report the outcome, while servers are killed.

use std::sync::Arc;

use serde_json::json;

use super::record::{FinishedAction, Record};
use super::retrying_client::RetryingClient;

/// Number of actions in a session.
const A_SESSION: usize = 12;

/// Proposes, approves, starts and reports one action after another until no new actions are wanted.
pub(crate) async fn act(mut agent: RetryingClient, mut person: RetryingClient, name: String, record: Arc<Record>) {
    let mut session = String::new();
    let mut number = 0;
    while record.asking() {
        if number % A_SESSION == 0 {
            let idempotency_key = format!("{name}:start:{number}");
            let opened = agent.command("/v1/sessions", &json!({ "agent": "killed" }), Some(&idempotency_key)).await;
            session = opened.reply.done(201).text("/id");
            record.sessions.lock().push(session.clone());
            record.acting.lock().insert(session.clone());
        }
        number += 1;
        let call = format!("{name}.{number}");
        run(&mut agent, &mut person, &session, &call).await;
        record.ran.lock().push(FinishedAction { session: session.clone(), call });
    }
}

async fn run(agent: &mut RetryingClient, person: &mut RetryingClient, session: &str, call: &str) {
    let path = format!("/v1/sessions/{session}/actions");
    let body = json!({ "call_id": call, "tool": "write_file", "arguments": { "path": call } });
    // The `call_id` makes the proposal idempotent, so no idempotency key is needed.
    let asked = agent.command(&path, &body, None).await.reply.done(202).text("/interaction");
    let idempotency_key = format!("{call}:approve");
    let answer = format!("/v1/interactions/{asked}/answer");
    person.command(&answer, &json!({ "option": "approve" }), Some(&idempotency_key)).await.reply.done(200);
    let permit = agent.command(&path, &body, None).await.reply.done(200).text("/permit");
    let (start, idempotency_key) = (format!("{path}/{call}/start"), format!("{call}:start"));
    let started = agent.command(&start, &json!({ "permit": permit }), Some(&idempotency_key)).await.reply.done(200);
    assert_eq!(started.text("/state"), "started");
    agent.command(&start, &json!({ "permit": permit }), None).await.reply.problem(409, "action_state");
    let (outcome, idempotency_key) = (format!("{path}/{call}/outcome"), format!("{call}:outcome"));
    agent.command(&outcome, &json!({ "outcome": "done" }), Some(&idempotency_key)).await.reply.done(200);
}
