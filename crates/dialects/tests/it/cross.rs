//! Tests that one engine serves `/v1` and every dialect: each kind of question is asked through each API that can ask
//! it, answered through each API, resolved once, and seen by all readers.
//!
//! `table.rs` lists the kinds that each API can ask, and the reason for each kind that it cannot ask;
//! `docs/guides/dialects.md` repeats that table.

mod answering;
mod asking;
mod deadlines;
mod edits;
mod table;
mod watching;

use serde_json::json;

use crate::cross::answering::{answered, refused};
use crate::cross::asking::{DialectWorld, asked};
use crate::cross::table::{APIS, Api, KINDS, Kind, asks};
use server_testkit::client::text;

/// Asks every kind through one API, once for each API that answers it.
async fn check_every_answering_api(asking: Api) {
    let stage = DialectWorld::new().await;
    let mut crossed = 0;
    for kind in KINDS.iter().filter(|kind| asks(asking, kind.name).is_ok()) {
        for answering in APIS {
            check_one_pair(&stage, asking, kind, answering).await;
            crossed += 1;
        }
    }
    assert!(crossed >= APIS.len(), "{asking:?} asks nothing");
}

async fn check_one_pair(stage: &DialectWorld, asking: Api, kind: &Kind, answering: Api) {
    let label = format!("{} asked on {asking:?}, answered on {answering:?}", kind.name);
    let (asked, mut watchers) = asked(stage, asking, kind).await;
    watchers.expect_question(&asked, &label).await;
    watchers.assert_listed(&asked, true, true, &label).await;

    answered(&stage.alice, &asked, kind, answering, &label).await;
    let shown = stage.alice.get(&format!("/v1/interactions/{}", asked.id)).await.done();
    let answer = &shown["resolution"]["answer"];
    assert_eq!((&shown["status"], &answer["by"]["name"]), (&json!("answered"), &json!("alice")), "{label}: {shown}");
    assert_eq!(answer["wire"], json!(answering.name()), "{label}: {answer}");
    for (field, expected) in kind.means.as_object().unwrap() {
        assert_eq!(answer[field], *expected, "{label}: {answer}");
    }
    for api in APIS {
        refused(&stage.bob, &asked, kind, api, ("interaction_already_resolved", &label)).await;
    }
    assert_eq!(
        stage.alice.get(&format!("/v1/interactions/{}", asked.id)).await.done()["resolution"],
        shown["resolution"]
    );

    let last = stage.root.asks_in(&asked.session, json!({ "kind": "confirmation", "title": "The last one" })).await;
    watchers.expect_one_end(&asked, &last.id, &label).await;
    watchers.assert_listed(&asked, false, false, &label).await;
    watchers.assert_no_secret(&label);
    stage.assert_resolved_once(&asked, answering, &label).await;
}

impl DialectWorld {
    /// The end of a question gives one event and one audit entry, and the entry names the API.
    async fn assert_resolved_once(&self, asked: &asking::AskedQuestion, answering: Api, label: &str) {
        let ended = |event: &&serde_json::Value| {
            event["interaction"] == json!(asked.id) && watching::ends(&text(&event["type"]))
        };
        let page = self.alice.get(&format!("/v1/sessions/{}/events?limit=200", asked.session)).await.done();
        assert_eq!(page["events"].as_array().unwrap().iter().filter(ended).count(), 1, "{label}");
        let caller = self.world.engine.authenticate(&self.root.key).await.unwrap();
        let filter = store::AuditFilter { session: Some(asked.session.parse().unwrap()), ..Default::default() };
        let page = store::Page { after: None, limit: 200 };
        self.world.engine.chain_audit().await.unwrap();
        let (trail, _) = self.world.engine.audit_list(&caller, filter, page).await.unwrap();
        let about = trail.iter().map(|audited| &audited.entry).filter(|entry| {
            entry.interaction.is_some_and(|id| id.to_string() == asked.id) && watching::ends(&entry.name)
        });
        let dialects: Vec<serde_json::Value> = about.map(|entry| json!(entry.how.entry_point)).collect();
        assert_eq!(dialects, [json!(answering.name())], "{label}");
    }
}

#[tokio::test]
async fn question_asked_over_http_is_answered_through_every_api() {
    check_every_answering_api(Api::Http).await;
}

#[tokio::test]
async fn question_asked_on_the_v1_socket_is_answered_through_every_api() {
    check_every_answering_api(Api::Ws).await;
}

#[tokio::test]
async fn question_asked_in_flows_is_answered_through_every_api() {
    check_every_answering_api(Api::Flows).await;
}

#[tokio::test]
async fn question_asked_in_hitl_is_answered_through_every_api() {
    check_every_answering_api(Api::Hitl).await;
}

#[tokio::test]
async fn question_asked_in_approvals_is_answered_through_every_api() {
    check_every_answering_api(Api::Tools).await;
}

#[tokio::test]
async fn question_asked_in_react_is_answered_through_every_api() {
    check_every_answering_api(Api::React).await;
}

/// A question that was handed over cannot be answered through any API in its first session. All readers receive a
/// message about the handover and later about the end of the question.
#[tokio::test]
async fn handed_over_question_is_refused_in_its_first_session_by_every_api() {
    let stage = DialectWorld::new().await;
    for kind in ["action", "confirmation"] {
        let kind = KINDS.iter().find(|one| one.name == kind).unwrap();
        let label = format!("{} handed over", kind.name);
        let (asked, mut watchers) = asked(&stage, Api::Http, kind).await;
        watchers.expect_question(&asked, &label).await;
        let path = format!("/v1/interactions/{}/handover", asked.id);
        let went = stage.bob.post(&path, json!({ "note": "ask the others" })).await.done()["handed_over"].clone();
        for api in APIS {
            refused(&stage.alice, &asked, kind, api, ("interaction_handed_over", &label)).await;
        }
        watchers.expect_handover(&asked, &label).await;
        watchers.assert_listed(&asked, false, true, &label).await;
        let path = format!("/v1/interactions/{}/answer", text(&went["interaction"]));
        stage.alice.post(&path, kind.answer.clone()).await.done();
        let last = stage.root.asks_in(&asked.session, json!({ "kind": "confirmation", "title": "The last one" })).await;
        watchers.expect_one_end(&asked, &last.id, &label).await;
    }
}

/// The guide contains the table of these tests.
#[test]
fn guide_contains_the_table_of_kinds_and_dialects() {
    let guide = include_str!("../../../../docs/guides/dialects.md");
    let table = table::written();
    assert!(guide.contains(&table), "docs/guides/dialects.md lacks:\n{table}");
}
