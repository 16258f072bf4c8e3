//! Clients of people: all answer the same questions, some with idempotency keys, some close to the deadline.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::record::{Asked, Crowd, Record, Told};
use super::wire::Wire;

/// Answers each question that is meant for this person as fast as possible, until the test is over.
pub(crate) async fn answer(mut wire: Wire, name: String, latecomer: bool, record: Arc<Record>) {
    let mine = if latecomer { Crowd::Latecomers } else { Crowd::Everybody };
    let mut number = 0;
    while let Some(asked) = record.question(number).await {
        number += 1;
        if asked.crowd != mine {
            continue;
        }
        if latecomer {
            // The deadline is one second after the question: some answers come before it, some after it.
            let moment = asked.at + Duration::from_millis(wire.rng.u64(900..1030));
            tokio::time::sleep_until(moment.into()).await;
        }
        say(&mut wire, &name, number, &asked, &record).await;
    }
}

async fn say(wire: &mut Wire, name: &str, number: usize, asked: &Asked, record: &Record) {
    let token = format!("{name} on question {number}");
    let option = if wire.rng.bool() { "yes" } else { "no" };
    let body = json!({ "option": option, "feedback": token });
    let once = wire.rng.bool().then(|| format!("answer:{number}"));
    let path = format!("/v1/interactions/{}/answer", asked.id);
    let definite = wire.command(&path, &body, once.as_deref()).await;
    if let (Some(once), 200, 0) = (&once, definite.reply.status, wire.rng.u8(..4)) {
        let again = wire.command(&path, &body, Some(once)).await;
        assert_eq!(again.reply, definite.reply, "a replay gives the first result");
        let other = json!({ "option": option, "feedback": "something else" });
        let other = wire.command(&path, &other, Some(once)).await;
        other.reply.problem(409, "idempotency_conflict");
    }
    *record.in_doubt.lock() += definite.in_doubt;
    record.told.lock().push(Told {
        question: asked.id.clone(),
        token,
        keyed: once.is_some(),
        in_doubt: definite.in_doubt,
        status: definite.reply.status,
        body: definite.reply.body,
    });
}
