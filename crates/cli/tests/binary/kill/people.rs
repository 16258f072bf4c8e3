//! Clients of people: all answer the same questions, some with idempotency keys, some close to the deadline.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::record::{AcknowledgedQuestion, Answerers, ReceivedReply, Record};
use super::retrying_client::RetryingClient;

/// Answers each question that is meant for this person as fast as possible, until the test is over.
pub(crate) async fn answer(mut client: RetryingClient, name: String, latecomer: bool, record: Arc<Record>) {
    let mine = if latecomer { Answerers::Latecomers } else { Answerers::Everybody };
    let mut number = 0;
    while let Some(asked) = record.question(number).await {
        number += 1;
        if asked.crowd != mine {
            continue;
        }
        if latecomer {
            // The deadline is one second after the question: some answers come before it, some after it.
            let moment = asked.at + Duration::from_millis(client.rng.u64(900..1030));
            tokio::time::sleep_until(moment.into()).await;
        }
        send_answer(&mut client, &name, number, &asked, &record).await;
    }
}

async fn send_answer(
    client: &mut RetryingClient,
    name: &str,
    number: usize,
    asked: &AcknowledgedQuestion,
    record: &Record,
) {
    let token = format!("{name} on question {number}");
    let option = if client.rng.bool() { "yes" } else { "no" };
    let body = json!({ "option": option, "feedback": token });
    let idempotency_key = client.rng.bool().then(|| format!("answer:{number}"));
    let path = format!("/v1/interactions/{}/answer", asked.id);
    let definite = client.command(&path, &body, idempotency_key.as_deref()).await;
    if let (Some(idempotency_key), 200, 0) = (&idempotency_key, definite.reply.status, client.rng.u8(..4)) {
        let again = client.command(&path, &body, Some(idempotency_key)).await;
        assert_eq!(again.reply, definite.reply, "a replay gives the first result");
        let other = json!({ "option": option, "feedback": "something else" });
        let other = client.command(&path, &other, Some(idempotency_key)).await;
        other.reply.problem(409, "idempotency_conflict");
    }
    *record.in_doubt.lock() += definite.in_doubt;
    record.told.lock().push(ReceivedReply {
        question: asked.id.clone(),
        token,
        keyed: idempotency_key.is_some(),
        in_doubt: definite.in_doubt,
        status: definite.reply.status,
        body: definite.reply.body,
    });
}
