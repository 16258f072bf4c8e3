//! Tests that one engine serves `/v1` and every dialect: each kind of question is asked through each API that can ask
//! it, answered through each API, resolved once, and seen by all readers.
//!
//! `table.rs` lists the kinds that each API can ask, and the reason for each kind that it cannot ask;
//! `docs/guides/wires.md` repeats that table.

mod answering;
mod asking;
mod edits;
mod figures;
mod table;
mod watching;

use serde_json::json;

use crate::cross::answering::{answered, refused};
use crate::cross::asking::{Stage, asked};
use crate::cross::table::{KINDS, Kind, WIRES, Wire, asks};
use server_testkit::client::text;

/// Asks every kind through one API, once for each API that answers it.
async fn crosses(asking: Wire) {
    let stage = Stage::new().await;
    let mut crossed = 0;
    for kind in KINDS.iter().filter(|kind| asks(asking, kind.name).is_ok()) {
        for answering in WIRES {
            one(&stage, asking, kind, answering).await;
            crossed += 1;
        }
    }
    assert!(crossed >= WIRES.len(), "{asking:?} asks nothing");
}

async fn one(stage: &Stage, asking: Wire, kind: &Kind, answering: Wire) {
    let label = format!("{} asked on {asking:?}, answered on {answering:?}", kind.name);
    let (asked, mut watchers) = asked(stage, asking, kind).await;
    watchers.hear_that_it_is_asked(&asked, &label).await;
    watchers.lists_hold(&asked, (true, true), &label).await;

    answered(&stage.alice, &asked, kind, answering, &label).await;
    let shown = stage.alice.get(&format!("/v1/interactions/{}", asked.id)).await.done();
    let answer = &shown["resolution"]["answer"];
    assert_eq!((&shown["status"], &answer["by"]["name"]), (&json!("answered"), &json!("alice")), "{label}: {shown}");
    assert_eq!(answer["wire"], json!(answering.name()), "{label}: {answer}");
    for (field, expected) in kind.means.as_object().unwrap() {
        assert_eq!(answer[field], *expected, "{label}: {answer}");
    }
    for wire in WIRES {
        refused(&stage.bob, &asked, kind, wire, ("interaction_already_resolved", &label)).await;
    }
    assert_eq!(
        stage.alice.get(&format!("/v1/interactions/{}", asked.id)).await.done()["resolution"],
        shown["resolution"]
    );

    let last = stage.root.asks_in(&asked.session, json!({ "kind": "confirmation", "title": "The last one" })).await;
    watchers.hear_once_how_it_ended(&asked, &last.id, &label).await;
    watchers.lists_hold(&asked, (false, false), &label).await;
    watchers.were_told_no_secret(&label);
    stage.resolved_once(&asked, answering, &label).await;
}

impl Stage {
    /// The end of a question gives one event and one audit entry, and the entry names the API.
    async fn resolved_once(&self, asked: &asking::Asked, answering: Wire, label: &str) {
        let ended = |event: &&serde_json::Value| {
            event["interaction"] == json!(asked.id) && watching::ends(&text(&event["type"]))
        };
        let page = self.alice.get(&format!("/v1/sessions/{}/events?limit=200", asked.session)).await.done();
        assert_eq!(page["events"].as_array().unwrap().iter().filter(ended).count(), 1, "{label}");
        let caller = self.world.engine.authenticate(&self.root.key).await.unwrap();
        let filter = store::AuditFilter { session: Some(asked.session.parse().unwrap()), ..Default::default() };
        let page = store::Page { after: None, limit: 200 };
        self.world.engine.chain().await.unwrap();
        let (trail, _) = self.world.engine.audit(&caller, filter, page).await.unwrap();
        let about = trail.iter().map(|audited| &audited.entry).filter(|entry| {
            entry.interaction.is_some_and(|id| id.to_string() == asked.id) && watching::ends(&entry.name)
        });
        let wires: Vec<serde_json::Value> = about.map(|entry| json!(entry.how.entry_point)).collect();
        assert_eq!(wires, [json!(answering.name())], "{label}");
    }
}

#[tokio::test]
async fn what_is_asked_over_http_is_answered_anywhere() {
    crosses(Wire::Http).await;
}

#[tokio::test]
async fn what_is_asked_on_the_socket_of_v1_is_answered_anywhere() {
    crosses(Wire::Ws).await;
}

#[tokio::test]
async fn what_is_asked_by_a_flow_is_answered_anywhere() {
    crosses(Wire::Flows).await;
}

#[tokio::test]
async fn what_is_asked_on_the_wire_of_requests_is_answered_anywhere() {
    crosses(Wire::Hitl).await;
}

#[tokio::test]
async fn what_is_asked_on_the_socket_of_tool_approval_is_answered_anywhere() {
    crosses(Wire::Tools).await;
}

#[tokio::test]
async fn what_is_asked_in_a_conversation_is_answered_anywhere() {
    crosses(Wire::React).await;
}

/// A question that was handed over cannot be answered through any API in its first session. All readers receive a
/// message about the handover and later about the end of the question.
#[tokio::test]
async fn what_is_handed_over_is_answered_on_no_wire_where_it_was() {
    let stage = Stage::new().await;
    for kind in ["action", "confirmation"] {
        let kind = KINDS.iter().find(|one| one.name == kind).unwrap();
        let label = format!("{} handed over", kind.name);
        let (asked, mut watchers) = asked(&stage, Wire::Http, kind).await;
        watchers.hear_that_it_is_asked(&asked, &label).await;
        let path = format!("/v1/interactions/{}/handover", asked.id);
        let went = stage.bob.post(&path, json!({ "note": "ask the others" })).await.done()["handed_over"].clone();
        for wire in WIRES {
            refused(&stage.alice, &asked, kind, wire, ("interaction_handed_over", &label)).await;
        }
        watchers.hear_that_it_went(&asked, &label).await;
        watchers.lists_hold(&asked, (false, true), &label).await;
        let path = format!("/v1/interactions/{}/answer", text(&went["interaction"]));
        stage.alice.post(&path, kind.answer.clone()).await.done();
        let last = stage.root.asks_in(&asked.session, json!({ "kind": "confirmation", "title": "The last one" })).await;
        watchers.hear_once_how_it_ended(&asked, &last.id, &label).await;
    }
}

/// The guide contains the table of these tests.
#[test]
fn the_guide_has_this_table() {
    let guide = include_str!("../../../../docs/guides/wires.md");
    let table = table::written();
    assert!(guide.contains(&table), "docs/guides/wires.md lacks:\n{table}");
}
