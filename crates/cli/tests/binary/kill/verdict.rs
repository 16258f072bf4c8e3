//! Checks the data after the last kill.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::reader::ReaderLog;
use super::record::{AcknowledgedQuestion, Answerers, FinishedAction, ReceivedReply, Record};
use super::retrying_client::RetryingClient;
use crate::common::until;

/// Events that end a question.
const RESOLUTIONS: &[&str] =
    &["interaction.answered", "interaction.auto_resolved", "interaction.expired", "interaction.cancelled"];

/// Compares the data of the server with the replies that clients received, and returns a summary in numbers.
pub(crate) async fn judge(mut client: RetryingClient, record: &Record, seen: &ReaderLog) -> String {
    let asked = record.asked.lock().clone();
    let mut told: BTreeMap<String, Vec<ReceivedReply>> = BTreeMap::new();
    for one in record.told.lock().iter() {
        told.entry(one.question.clone()).or_default().push(one.clone());
    }
    let mut completed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (question, lease) in record.completed.lock().iter() {
        completed.entry(question.clone()).or_default().insert(lease.clone());
    }

    let mut log = Vec::new();
    let sessions = record.sessions.lock().clone();
    for session in sessions {
        log.extend(events_of(&mut client, &session).await);
    }
    let mut happened: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let acting = record.acting.lock().clone();
    let (acted, spoken): (Vec<&Value>, Vec<&Value>) =
        log.iter().partition(|event| acting.contains(event["session"].as_str().unwrap()));
    ran_once(record, &acted);
    for event in spoken {
        if let Some(question) = event["interaction"].as_str() {
            happened.entry(question).or_default().push(event["type"].as_str().unwrap());
        }
    }
    for question in &asked {
        let view = client.look(&format!("/v1/interactions/{}", question.id)).await;
        let happened = &happened[question.id.as_str()];
        asked_as_acknowledged(question, &view);
        answered_once(question, &view, told.get(&question.id).map_or(&[], Vec::as_slice));
        count(happened, &["interaction.asked"], 1, question);
        count(happened, RESOLUTIONS, 1, question);
        count(happened, &["delivery.completed"], 1, question);
        count(happened, &["delivery.failed"], 0, question);
        assert_eq!(completed[&question.id].len(), 1, "exactly one worker completed {question:?}");
    }
    assert_eq!(asked.len(), happened.len(), "a question that no client asked");
    read_once(&log, seen).await;
    summary(record, &log, &told, seen)
}

/// Checks that each acknowledged action was decided, started and ended exactly once, and that no other action was
/// started.
fn ran_once(record: &Record, acted: &[&Value]) {
    let ran = record.ran.lock();
    assert!(!ran.is_empty(), "nothing ran");
    for FinishedAction { session, call } in ran.iter() {
        let of = acted
            .iter()
            .filter(|event| event["session"] == session.as_str() && event["data"]["call_id"] == call.as_str());
        let names: Vec<&str> = of.map(|event| event["type"].as_str().unwrap()).collect();
        assert_eq!(names, ["action.waiting", "action.allowed", "action.started", "action.done"], "{call} of {session}");
    }
    let started = acted.iter().filter(|event| event["type"] == "action.started").count();
    assert_eq!(started, ran.len(), "an action ran without an acknowledged start");
}

/// Reads all events of a session and checks that their numbers have no gap.
async fn events_of(client: &mut RetryingClient, session: &str) -> Vec<Value> {
    let mut events = Vec::new();
    loop {
        let page = client.look(&format!("/v1/sessions/{session}/events?limit=200&after={}", events.len())).await;
        let found = page["events"].as_array().unwrap();
        if found.is_empty() {
            return events;
        }
        for event in found {
            assert_eq!(event["seq"], events.len() + 1, "a gap in {session}");
            events.push(event.clone());
        }
    }
}

fn asked_as_acknowledged(question: &AcknowledgedQuestion, view: &Value) {
    assert_eq!(view["title"], question.title.as_str());
    assert_eq!(view["session"], question.session.as_str());
    assert_eq!(view["delivery"]["state"], "completed");
}

/// Checks that at most one answer won and is the resolution, and that every other person was told that resolution.
fn answered_once(question: &AcknowledgedQuestion, view: &Value, told: &[ReceivedReply]) {
    let resolution = &view["resolution"];
    let winner = resolution["answer"]["feedback"].as_str().filter(|_| view["status"] == "answered");
    let taken: Vec<&ReceivedReply> = told.iter().filter(|told| told.status == 200).collect();
    match (taken.as_slice(), winner) {
        ([one], Some(winner)) => {
            assert_eq!(one.token, winner, "an acknowledged answer to {question:?} was lost");
            assert_eq!(&one.body["resolution"], resolution);
        }
        ([], Some(winner)) => {
            let silent = told.iter().find(|told| told.token == winner).unwrap();
            assert!(!silent.keyed && silent.in_doubt > 0, "the winner was never told: {silent:?}");
        }
        ([], None) => assert_ne!(question.crowd, Answerers::Everybody, "nobody won {question:?}: {view}"),
        (taken, winner) => panic!("{question:?}: {taken:?} were taken, {winner:?} is the resolution"),
    }
    for loser in told.iter().filter(|told| told.status != 200) {
        match loser.body["code"].as_str() {
            Some("interaction_already_resolved") => {
                assert_eq!(loser.status, 409);
                assert_eq!(&loser.body["resolution"], resolution, "the loser was told of another winner");
            }
            Some("interaction_expired") => {
                assert_eq!(loser.status, 410);
                assert_ne!(question.crowd, Answerers::Everybody);
                assert_ne!(view["status"], "answered");
            }
            _ => panic!("{loser:?}"),
        }
    }
}

fn count(happened: &[&str], names: &[&str], expected: usize, question: &AcknowledgedQuestion) {
    let found = happened.iter().filter(|name| names.contains(name)).count();
    assert_eq!(found, expected, "{names:?} of {question:?}: {happened:?}");
}

/// Checks that the reader of the project stream saw each event exactly once, and the events of a session in order.
async fn read_once(log: &[Value], seen: &ReaderLog) {
    until("the last event on the stream", async || (seen.events.lock().len() >= log.len()).then_some(())).await;
    let events = seen.events.lock();
    let id = |event: &Value| event["id"].as_str().unwrap().to_owned();
    let (kept, read): (BTreeSet<_>, BTreeSet<_>) = (log.iter().map(id).collect(), events.iter().map(id).collect());
    assert_eq!(kept, read);
    assert_eq!(events.len(), read.len(), "an event was shown twice");
    let mut last: BTreeMap<&str, u64> = BTreeMap::new();
    for event in events.iter() {
        let number = last.entry(event["session"].as_str().unwrap()).or_default();
        *number += 1;
        assert_eq!(event["seq"], *number, "out of order: {event}");
    }
}

fn summary(record: &Record, log: &[Value], told: &BTreeMap<String, Vec<ReceivedReply>>, seen: &ReaderLog) -> String {
    let named = |name: &str| log.iter().filter(|event| event["type"] == name).count();
    let said = told.values().flatten();
    let (won, lost): (Vec<&ReceivedReply>, Vec<&ReceivedReply>) = said.partition(|told| told.status == 200);
    let late = lost.iter().filter(|told| told.status == 410).count();
    let (asked, completed) = (record.asked.lock().len(), record.completed.lock().len());
    let (sessions, in_doubt) = (record.sessions.lock().len(), *record.in_doubt.lock());
    let ran = record.ran.lock().len();
    let (walked_away, offered) = (*record.walked_away.lock(), named("delivery.offered"));
    let acknowledged = sessions + asked + won.len() + completed + named("delivery.taken");
    assert!(!lost.is_empty() && offered > 0 && walked_away > 0, "no answers raced, or no delivery was taken over");
    format!(
        "{acknowledged} commands acknowledged ({asked} asked, {} answered, {completed} completed, {ran} actions run), {} refused ({late} late), \
         {} expired, {} auto-resolved, {offered} taken over, {in_doubt} replies lost, {} events over {} streams",
        won.len(),
        lost.len(),
        named("interaction.expired"),
        named("interaction.auto_resolved"),
        log.len(),
        *seen.connections.lock(),
    )
}
