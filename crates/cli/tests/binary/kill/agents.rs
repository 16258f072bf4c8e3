//! Clients of agents: they ask, wait, take and complete. Some abandon an answer that they took, and others take it over.

use std::sync::Arc;
use std::time::Instant;

use serde_json::json;

use super::record::{Asked, Crowd, Record};
use super::wire::Wire;

/// Number of questions in a session.
const A_SESSION: usize = 12;

/// Asks, waits by long poll, and takes the answer, until no new questions are wanted.
pub(crate) async fn ask_and_go_on(mut wire: Wire, name: String, record: Arc<Record>) {
    let mut session = String::new();
    let mut number = 0;
    while record.asking() {
        if number % A_SESSION == 0 {
            session = start(&mut wire, &format!("{name}:start:{number}"), &record).await;
        }
        number += 1;
        let question = ask(&mut wire, &session, &format!("{name}:ask:{number}"), &record).await;
        while wire.look(&format!("/v1/interactions/{question}?wait=5")).await["status"] == "pending" {}
        if wire.rng.u8(..6) > 0 {
            go_on(&mut wire, &question, &format!("{name}:{number}"), &record).await;
        }
    }
}

/// Takes the deliveries that wait for this agent until the test is over.
pub(crate) async fn take_over(mut wire: Wire, name: String, record: Arc<Record>) {
    let mut number = 0;
    while !record.over() {
        let waiting = wire.look("/v1/deliveries?wait=1&limit=5").await;
        for delivery in waiting["deliveries"].as_array().unwrap() {
            number += 1;
            let question = delivery["id"].as_str().unwrap();
            go_on(&mut wire, question, &format!("{name}:{number}"), &record).await;
        }
    }
}

async fn start(wire: &mut Wire, once: &str, record: &Record) -> String {
    let opened = wire.command("/v1/sessions", &json!({ "agent": "killed" }), Some(once)).await;
    *record.in_doubt.lock() += opened.in_doubt;
    let session = opened.reply.done(201).text("/id");
    record.sessions.lock().push(session.clone());
    session
}

async fn ask(wire: &mut Wire, session: &str, once: &str, record: &Record) -> String {
    let title = format!("{once} {:016x}", wire.rng.u64(..));
    let mut body = json!({
        "kind": "choice", "title": title,
        "options": [{ "id": "yes", "label": "Yes" }, { "id": "no", "label": "No" }],
    });
    let crowd = match wire.rng.u8(..24) {
        0 => Crowd::Nobody,
        1 | 2 => Crowd::Latecomers,
        _ => Crowd::Everybody,
    };
    if crowd != Crowd::Everybody {
        body["deadline_seconds"] = json!(1);
        if wire.rng.bool() {
            body["fallback"] = json!({ "option": "no" });
        }
    }
    let asked = wire.command(&format!("/v1/sessions/{session}/interactions"), &body, Some(once)).await;
    *record.in_doubt.lock() += asked.in_doubt;
    let id = asked.reply.done(201).text("/id");
    let session = session.to_owned();
    record.post(Asked { id: id.clone(), session, title, at: Instant::now(), crowd });
    id
}

/// Takes an answer if no other client has it and completes the delivery. At random it abandons the answer after taking it.
async fn go_on(wire: &mut Wire, question: &str, name: &str, record: &Record) {
    let path = format!("/v1/interactions/{question}/delivery");
    let once = format!("{name}:take");
    let taken = wire.command(&format!("{path}/take"), &json!({ "lease_seconds": 1 }), Some(&once)).await;
    *record.in_doubt.lock() += taken.in_doubt;
    if taken.reply.status == 409 {
        let code = taken.reply.text("/code");
        assert!(code == "delivery_taken" || code == "delivery_closed", "{code}");
        return;
    }
    let lease = taken.reply.done(200).text("/lease");
    if wire.rng.u8(..8) == 0 {
        *record.walked_away.lock() += 1;
        return;
    }
    let (path, body, once) = (format!("{path}/complete"), json!({ "lease": lease }), format!("{name}:complete"));
    let completed = wire.command(&path, &body, Some(&once)).await;
    *record.in_doubt.lock() += completed.in_doubt;
    if completed.reply.status == 409 {
        let code = completed.reply.text("/code");
        assert!(code == "lease_lost" || code == "delivery_closed", "{code}");
        return;
    }
    let reply = completed.reply.done(200);
    record.completed.lock().push((question.to_owned(), lease));
    if wire.rng.u8(..8) == 0 {
        let again = wire.command(&path, &body, Some(&once)).await;
        assert_eq!(again.reply, reply, "a replay gives the first result");
    }
}
