//! The JSON forms of events and of audit details, which databases and clients depend on. A row of a table never changes; new forms get rows
//! of their own.

use std::collections::BTreeSet;

use crate::common::people::{at, caller, session, uuid};
use holdpoint_domain::audit::AuditDetails;
use holdpoint_domain::audit::details::{DefinitionDetails, PolicyDiffDetails, RejectionDetails};
use holdpoint_domain::event::{InteractionAnswered, InteractionDeadline};
use holdpoint_domain::{
    Actor, AuditDraft, AuditKind, Effect, Event, EventDraft, EventId, EventKind, InteractionId, Role, audit,
};
use serde_json::{Value, json};

/// Payloads of every kind as they are stored and sent today, without the actor.
const EVENTS: &str = include_str!("events/today.jsonl");
/// Payloads of every kind in the form in which a server of schema version 20 stored them.
const STORED_EVENTS: &str = include_str!("events/stored.jsonl");
/// Details of every kind of audit entry as they are recorded today.
const AUDIT: &str = include_str!("events/today_audit.jsonl");
/// Details that a server of schema version 20 recorded.
const STORED_AUDIT: &str = include_str!("events/stored_audit.jsonl");

/// The lines of a table: a name and a payload each.
fn rows(table: &str) -> Vec<(String, Value)> {
    let row = |line: &str| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        (row["type"].as_str().unwrap().to_owned(), row["data"].take())
    };
    table.lines().map(row).collect()
}

fn event(name: &str, data: Value) -> Event {
    Event {
        id: EventId::from_uuid(uuid(1)),
        session: session().id,
        seq: 1,
        name: name.to_owned(),
        at: at(0),
        step: None,
        interaction: None,
        data,
    }
}

fn names(table: &str) -> BTreeSet<String> {
    rows(table).into_iter().map(|(name, _)| name).collect()
}

fn alice() -> Actor {
    caller("alice", Role::Operator, &[]).actor
}

#[test]
fn every_kind_of_event_has_its_json_form() {
    for (name, data) in rows(EVENTS) {
        let kind = EventKind::read(&name, &data).unwrap_or_else(|| panic!("{name} {data} cannot be read"));
        assert_eq!((kind.name(), kind.data()), (name.as_str(), data));
    }
    assert_eq!(names(EVENTS), EventKind::NAMES.iter().map(|&name| name.to_owned()).collect());
}

#[test]
fn every_kind_of_audit_entry_has_its_json_form() {
    for (name, data) in rows(AUDIT) {
        let kind = AuditKind::read(&name, &data).unwrap_or_else(|| panic!("{name} {data} cannot be read"));
        assert_eq!((kind.name(), kind.data()), (name.as_str(), data));
    }
    assert_eq!(names(AUDIT), AuditKind::NAMES.iter().map(|&name| name.to_owned()).collect());
}

#[test]
fn stored_events_are_read_without_loss() {
    for (name, data) in rows(STORED_EVENTS) {
        let stored = event(&name, data.clone());
        let kind = stored.kind().unwrap_or_else(|| panic!("{name} {data} cannot be read"));
        let again = match stored.by() {
            Some(actor) => EventDraft::by(&actor, kind),
            None => EventDraft::plain(kind),
        };
        assert_eq!(again.data(), data, "{name}");
    }
    assert_eq!(names(STORED_EVENTS), EventKind::NAMES.iter().map(|&name| name.to_owned()).collect());
}

#[test]
fn stored_audit_details_are_read_without_loss() {
    for (name, data) in rows(STORED_AUDIT) {
        let kind = AuditKind::read(&name, &data).unwrap_or_else(|| panic!("{name} {data} cannot be read"));
        let diff = data.get("diff").map(|diff| PolicyDiffDetails { diff: diff.as_str().map(str::to_owned) });
        let definition = data.get("definition").map(|definition| DefinitionDetails { definition: definition.clone() });
        let details = diff.map(AuditDetails::PolicyDiff).or(definition.map(AuditDetails::Definition));
        let draft = AuditDraft { details, ..AuditDraft::plain(kind) };
        assert_eq!(audit::Particulars::from(&draft).data, data, "{name}");
    }
}

#[test]
fn payloads_of_earlier_versions_lack_newer_fields() {
    for (name, data) in [
        ("session.started", json!({ "agent": "bot", "channel": "c", "title": null })),
        ("interaction.overdue", json!({ "deadline": at(9) })),
        ("interaction.asked", json!({ "kind": "approval", "title": "May I?", "channel": "c" })),
        ("interaction.voted", json!({ "effect": "approve", "votes": 1, "quorum": 2 })),
        ("model.turn", json!({ "turn": 1, "text": "Done." })),
        ("action.allowed", json!({ "call_id": "c", "tool": "t", "verdict": "allow", "policy": "v", "reason": "r" })),
        ("action.done", json!({ "call_id": "c", "tool": "t" })),
        ("step.failed", json!({ "name": "write", "agent": "scribe", "attempt": 1, "reason": "no" })),
    ] {
        let kind = event(name, data.clone()).kind();
        assert_eq!(kind.as_ref().map(EventKind::name), Some(name), "{data}");
    }
}

#[test]
fn an_event_of_a_later_version_is_read_as_an_event_without_a_kind() {
    for (name, data) in [
        ("interaction.pondered", json!({ "depth": 3, "by": { "kind": "user", "name": "alice" } })),
        ("pondered", json!({})),
        ("interaction.voted", json!({ "effect": "ponder", "votes": 1, "quorum": 2 })),
        ("interaction.voted", Value::Null),
    ] {
        let sent = serde_json::to_value(event(name, data.clone())).unwrap();
        let later: Event = serde_json::from_value(sent).unwrap();
        assert_eq!((later.kind(), later.name.as_str(), &later.data), (None, name, &data));
    }
    assert_eq!(event("pondered", json!({ "by": { "kind": "user", "name": "alice" } })).by(), Some(alice()));
    assert_eq!(event("pondered", json!({ "by": "alice" })).by(), None);
}

#[test]
fn a_draft_adds_the_actor_to_the_event_and_the_record_to_the_entry() {
    let second = InteractionId::from_uuid(uuid(7));
    let answered = InteractionAnswered { effect: Effect::Approve, options: vec!["yes".into()] };
    let draft = EventDraft::by(&alice(), EventKind::InteractionAnswered(answered))
        .through(second)
        .recording(AuditDetails::Rejection(RejectionDetails { feedback: Some("go".into()) }));
    let by = json!({ "kind": "user", "name": "alice" });
    assert_eq!(draft.data(), json!({ "effect": "approve", "options": ["yes"], "through": second, "by": by }));
    let entry = audit::Particulars::from(&draft);
    assert_eq!((entry.name, entry.by), ("interaction.answered", Some(alice())));
    let data = json!({ "effect": "approve", "options": ["yes"], "through": second, "feedback": "go" });
    assert_eq!(entry.data, data);

    let deadline = InteractionDeadline { deadline: None };
    let draft = EventDraft::plain(EventKind::InteractionWarned(deadline));
    assert_eq!(draft.data(), json!({ "deadline": null }));
    assert_eq!(audit::Particulars::from(&draft).by, None);
}
