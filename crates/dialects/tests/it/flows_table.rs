//! `flows`: tests every command in every state of a question, with its reply and its effect.

use domain::SignedDuration;
use serde_json::{Value, json};

use server_testkit::client::{ApiClient, Question};
use server_testkit::flows::bare;
use server_testkit::world::World;

/// Expected replies: status and code of a refusal, or status 202 with the status of the question and the source of its
/// response.
const TABLE: &str = "
state        | respond                          | skip                             | auto                             | expire                           | mismatch
pending      | 202 ANSWERED USER                | 202 ANSWERED USER                | 202 AUTO_RESOLVED SYSTEM         | 202 EXPIRED SYSTEM               | 400 channel_mismatch
claimed      | 409 claimed_by_other             | 409 claimed_by_other             | 202 AUTO_RESOLVED SYSTEM         | 202 EXPIRED SYSTEM               | 400 channel_mismatch
half voted   | 202 ANSWERED USER                | 202 PENDING                      | 403 needs_others                 | 202 EXPIRED SYSTEM               | 400 channel_mismatch
paused       | 202 ANSWERED USER                | 202 ANSWERED USER                | 202 AUTO_RESOLVED SYSTEM         | 202 EXPIRED SYSTEM               | 400 channel_mismatch
past due     | 410 interaction_expired          | 410 interaction_expired          | 410 interaction_expired          | 202 EXPIRED SYSTEM               | 400 channel_mismatch
handed over  | 409 interaction_handed_over      | 409 interaction_handed_over      | 409 interaction_handed_over      | 409 interaction_handed_over      | 400 channel_mismatch
answered     | 409 interaction_already_resolved | 409 interaction_already_resolved | 409 interaction_already_resolved | 409 interaction_already_resolved | 400 channel_mismatch
skipped      | 409 interaction_already_resolved | 409 interaction_already_resolved | 409 interaction_already_resolved | 409 interaction_already_resolved | 400 channel_mismatch
auto         | 409 interaction_already_resolved | 409 interaction_already_resolved | 409 interaction_already_resolved | 409 interaction_already_resolved | 400 channel_mismatch
expired      | 409 interaction_already_resolved | 409 interaction_already_resolved | 409 interaction_already_resolved | 409 interaction_already_resolved | 400 channel_mismatch
cancelled    | 409 interaction_already_resolved | 409 interaction_already_resolved | 409 interaction_already_resolved | 409 interaction_already_resolved | 400 channel_mismatch
";

/// The callers that a question needs.
struct People {
    agent: ApiClient,
    alice: ApiClient,
    bob: ApiClient,
    root: ApiClient,
}

async fn question_in_state(world: &World, people: &People, state: &str) -> Question {
    let quorum = if state == "half voted" { 2 } else { 1 };
    let deadline = if state == "past due" { json!(60) } else { Value::Null };
    let asked = json!({ "kind": "form", "title": "How much?", "required": false, "audience": { "quorum": quorum },
        "deadline_seconds": deadline, "schema": { "type": "object", "required": ["amount"],
        "properties": { "amount": { "type": "integer" } } } });
    let session = people.agent.opens(json!({})).await;
    let question = people.agent.asks_in(&session, asked).await;
    let amount = json!({ "payload": { "amount": 3 } });
    match state {
        "pending" => {}
        "claimed" => drop(people.bob.post(&question.path("/claim"), json!({})).await.done()),
        "half voted" => drop(people.bob.flows(&question, "respond", amount).await.done()),
        "paused" => drop(people.alice.commands(&session, "pause").await.done()),
        "past due" => world.clock.advance(SignedDuration::from_secs(60)),
        "handed over" => drop(people.bob.post(&question.path("/handover"), json!({})).await.done()),
        "answered" => drop(people.bob.flows(&question, "respond", amount).await.done()),
        "skipped" => drop(people.bob.flows(&question, "skip", json!({})).await.done()),
        "auto" => drop(people.root.flows(&question, "auto", amount).await.done()),
        "expired" => drop(people.bob.flows(&question, "expire", json!({})).await.done()),
        "cancelled" => drop(people.agent.post(&question.path("/cancel"), json!({})).await.done()),
        other => unreachable!("{other} is not a state of the table"),
    }
    question
}

#[tokio::test]
async fn every_command_has_the_listed_reply_in_every_state() {
    let world = World::new().await;
    let people = People {
        agent: world.agent().await,
        alice: world.person("alice").await,
        bob: world.person("bob").await,
        root: world.admin().await,
    };
    let mut rows = TABLE.trim().lines().map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    let verbs = rows.next().unwrap();
    let mut cells = 0;
    for row in rows {
        for (verb, expected) in verbs[1..].iter().zip(&row[1..]) {
            let question = question_in_state(&world, &people, row[0]).await;
            let before = people.alice.reads(&question).await;
            let reply = match *verb {
                "respond" => people.alice.flows(&question, verb, json!({ "payload": { "amount": 3 } })).await,
                "auto" => people.root.flows(&question, verb, json!({ "payload": { "amount": 4 } })).await,
                "mismatch" => {
                    people
                        .alice
                        .flows_in("elsewhere", &question, "respond", json!({ "payload": { "amount": 3 } }))
                        .await
                }
                verb => people.alice.flows(&question, verb, json!({})).await,
            };
            let told = match reply.status {
                202 => {
                    let response = reply.body["response"]["source"].as_str().unwrap_or_default();
                    format!("202 {} {response}", reply.body["status"].as_str().unwrap())
                }
                status => format!("{status} {}", reply.body["code"].as_str().unwrap()),
            };
            assert_eq!(told.trim(), *expected, "{verb} in {}", row[0]);
            let after = people.alice.reads(&question).await;
            if reply.status == 202 {
                assert_eq!(reply.body["requestId"], bare(&question.id));
                assert_ne!(after["revision"], before["revision"]);
            } else {
                assert_eq!(after, before, "{verb} in {}: refused, but the state changed", row[0]);
            }
            cells += 1;
        }
    }
    assert_eq!(cells, 55);
}

/// Idempotency keys work in this dialect, and the refusal of a second answer names the person who answered first.
#[tokio::test]
async fn first_answer_wins_and_can_be_repeated_with_its_idempotency_key() {
    let world = World::new().await;
    let (alice, bob, question) = (
        world.person("alice").await,
        world.person("bob").await,
        world.asks(server_testkit::client::confirmation()).await,
    );
    let path = server_testkit::flows::flow(&question.session, &format!("/interactions/{}/respond", bare(&question.id)));
    let send = async |action: &str| {
        let request = alice.request(reqwest::Method::POST, &path).header("idempotency-key", "k");
        let channel = question.shown["channel"].as_str().unwrap();
        let body = json!({ "payload": { "action": action } });
        server_testkit::client::reply(request.header("X-Chat-Session-Id", channel).json(&body)).await
    };
    let first = send("confirm").await;
    assert_eq!((first.status, &send("confirm").await.body), (202, &first.body));
    send("cancel").await.refused(409, "idempotency_conflict");
    let lost = bob.flows(&question, "respond", json!({ "payload": "cancel" })).await;
    let lost = lost.refused(409, "interaction_already_resolved");
    assert_eq!(lost["resolution"]["by"]["name"], "alice");
}

/// Auto-resolving without a payload uses the fallback of the question and never runs an action.
#[tokio::test]
async fn auto_without_a_payload_uses_the_fallback_or_rejects() {
    let world = World::new().await;
    let root = world.admin().await;
    let action = json!({ "tool": "delete_file", "arguments": { "path": "a" } });
    let later = json!({ "id": "later", "label": "Later", "default": true });
    for (asked, payload) in [
        (json!({ "kind": "approval", "title": "Q", "action": action }), json!({ "action": "reject" })),
        (
            json!({ "kind": "question", "title": "Q", "deadline_seconds": 60, "fallback": { "value": "Europe" } }),
            json!({ "answer": "Europe" }),
        ),
        (
            json!({ "kind": "choice", "title": "Q", "options": [later, { "id": "now", "label": "Now" }] }),
            json!({ "action": "later" }),
        ),
        (json!({ "kind": "form", "title": "Q", "schema": { "type": "object" } }), Value::Null),
        (json!({ "kind": "notice", "title": "Q" }), Value::Null),
    ] {
        let question = world.asks(asked.clone()).await;
        let done = root.flows(&question, "auto", json!({ "source": "AUTO_POLICY" })).await;
        assert_eq!(done.status, 202, "{asked}: {}", done.body);
        let response = &done.body["response"];
        assert_eq!((&response["source"], &response["payload"]), (&json!("AUTO_POLICY"), &payload), "{asked}");
    }
    let question = world.asks(server_testkit::client::confirmation()).await;
    root.flows(&question, "auto", json!({ "source": "USER" })).await.refused_at(422, "body_invalid", &["/source"]);
    root.flows(&question, "expire", json!({ "payload": 1 })).await.refused_at(422, "body_invalid", &["/payload"]);
    let alice = world.person("alice").await;
    alice.flows(&question, "auto", json!({})).await.refused(403, "role_forbids");
}
