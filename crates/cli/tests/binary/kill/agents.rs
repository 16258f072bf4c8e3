//! Clients of agents: they ask, wait, take and complete. Some abandon an answer that they took, and others take it
//! over.

use std::sync::Arc;
use std::time::Instant;

use serde_json::json;

use super::record::{AcknowledgedQuestion, Answerers, Record};
use super::retrying_client::RetryingClient;

/// Number of questions in a session.
const A_SESSION: usize = 12;

/// Asks, waits by long poll, and takes the answer, until no new questions are wanted.
pub(crate) async fn ask_and_take_answers(mut client: RetryingClient, name: String, record: Arc<Record>) {
    let mut session = String::new();
    let mut number = 0;
    while record.asking() {
        if number % A_SESSION == 0 {
            session = start(&mut client, &format!("{name}:start:{number}"), &record).await;
        }
        number += 1;
        let question = ask(&mut client, &session, &format!("{name}:ask:{number}"), &record).await;
        while client.look(&format!("/v1/interactions/{question}?wait=5")).await["status"] == "pending" {}
        if client.rng.u8(..6) > 0 {
            take_and_complete(&mut client, &question, &format!("{name}:{number}"), &record).await;
        }
    }
}

/// Takes the deliveries that wait for this agent until the test is over.
pub(crate) async fn take_waiting_deliveries(mut client: RetryingClient, name: String, record: Arc<Record>) {
    let mut number = 0;
    while !record.is_over() {
        let waiting = client.look("/v1/deliveries?wait=1&limit=5").await;
        for delivery in waiting["deliveries"].as_array().unwrap() {
            number += 1;
            let question = delivery["id"].as_str().unwrap();
            take_and_complete(&mut client, question, &format!("{name}:{number}"), &record).await;
        }
    }
}

async fn start(client: &mut RetryingClient, idempotency_key: &str, record: &Record) -> String {
    let opened = client.command("/v1/sessions", &json!({ "agent": "killed" }), Some(idempotency_key)).await;
    *record.in_doubt.lock() += opened.in_doubt;
    let session = opened.reply.done(201).text("/id");
    record.sessions.lock().push(session.clone());
    session
}

async fn ask(client: &mut RetryingClient, session: &str, idempotency_key: &str, record: &Record) -> String {
    let title = format!("{idempotency_key} {:016x}", client.rng.u64(..));
    let mut body = json!({
        "kind": "choice", "title": title,
        "options": [{ "id": "yes", "label": "Yes" }, { "id": "no", "label": "No" }],
    });
    let crowd = match client.rng.u8(..24) {
        0 => Answerers::Nobody,
        1 | 2 => Answerers::Latecomers,
        _ => Answerers::Everybody,
    };
    if crowd != Answerers::Everybody {
        body["deadline_seconds"] = json!(1);
        if client.rng.bool() {
            body["fallback"] = json!({ "option": "no" });
        }
    }
    let asked = client.command(&format!("/v1/sessions/{session}/interactions"), &body, Some(idempotency_key)).await;
    *record.in_doubt.lock() += asked.in_doubt;
    let id = asked.reply.done(201).text("/id");
    let session = session.to_owned();
    record.post(AcknowledgedQuestion { id: id.clone(), session, title, at: Instant::now(), crowd });
    id
}

/// Takes an answer if no other client has it and completes the delivery. At random it abandons the answer after taking
/// it.
async fn take_and_complete(client: &mut RetryingClient, question: &str, name: &str, record: &Record) {
    let path = format!("/v1/interactions/{question}/delivery");
    let idempotency_key = format!("{name}:take");
    let taken = client.command(&format!("{path}/take"), &json!({ "lease_seconds": 1 }), Some(&idempotency_key)).await;
    *record.in_doubt.lock() += taken.in_doubt;
    if taken.reply.status == 409 {
        let code = taken.reply.text("/code");
        assert!(code == "delivery_taken" || code == "delivery_closed", "{code}");
        return;
    }
    let lease = taken.reply.done(200).text("/lease");
    if client.rng.u8(..8) == 0 {
        *record.walked_away.lock() += 1;
        return;
    }
    let (path, body, idempotency_key) =
        (format!("{path}/complete"), json!({ "lease": lease }), format!("{name}:complete"));
    let completed = client.command(&path, &body, Some(&idempotency_key)).await;
    *record.in_doubt.lock() += completed.in_doubt;
    if completed.reply.status == 409 {
        let code = completed.reply.text("/code");
        assert!(code == "lease_lost" || code == "delivery_closed", "{code}");
        return;
    }
    let reply = completed.reply.done(200);
    record.completed.lock().push((question.to_owned(), lease));
    if client.rng.u8(..8) == 0 {
        let again = client.command(&path, &body, Some(&idempotency_key)).await;
        assert_eq!(again.reply, reply, "a replay gives the first result");
    }
}
