//! Tests the lessons about field names in JSON and about helpful form errors.

use std::time::Duration;

use engine::{Content, Courier, Parcel, Receipt};
use futures::future::BoxFuture;
use parking_lot::Mutex;
use protocol::WebhookAnswerView;
use serde_json::{Value, json};

use server_testkit::actions::writing;
use server_testkit::client::masked;
use server_testkit::world::World;

/// Every field of a question is returned under the name that it was sent with. Regression test: `isDangerous` was
/// serialised as `dangerous`, so the page never showed the warning.
#[tokio::test]
async fn every_field_of_a_question_keeps_its_name() {
    let world = World::new().await;
    let option = json!({
        "id": "approve", "label": "Deploy", "description": "To all regions", "effect": "approve", "default": true,
        "dangerous": true, "recommended": true, "requires_input": true, "input_prompt": "Ticket?", "risk": "high",
        "cost": "12 EUR", "duration": "5 min", "metadata": { "plan": "a" }
    });
    let sent = json!({
        "kind": "approval", "title": "Deploy 1.4?", "message": "It is ready.", "details": "All tests are green.",
        "context": { "commit": "abc" }, "action": { "tool": "deploy", "arguments": { "version": "1.4" } },
        "options": [option], "multiple": false, "schema": { "type": "object" }, "required": false,
        "audience": { "users": ["alice"], "groups": ["ops", "sec"], "roles": ["admin"], "quorum": 2,
                      "distinct_groups": true, "four_eyes": true },
        "fallback": "hold", "metadata": { "ticket": "OPS-17" },
        "suggestions": [{ "id": "s", "label": "As usual", "source": "rule", "option": "approve", "data": { "n": 1 } }]
    });
    let mut body = sent.clone();
    body["deadline_seconds"] = json!(300);
    let shown = world.asks(body).await.shown;
    let mut expected = sent;
    let inputs = json!([{ "input": "form", "required": true }, { "input": "feedback", "required": false }]);
    let approve = json!({ "option": "approve", "label": "Deploy", "effect": "approve", "dangerous": true, "takes": inputs,
                          "does": "run_action" });
    let skip = json!({ "effect": "skip", "dangerous": false, "takes": [], "does": "resume" });
    for (name, value) in [
        ("id", json!("int_…")),
        ("moves", json!([approve, skip])),
        ("session", json!("ses_…")),
        ("step", json!("stp_…")),
        ("channel", json!("…")),
        ("agent", json!("release-bot")),
        ("asked_by", json!({ "kind": "agent", "name": "bot" })),
        ("created_at", json!("2026-01-01T00:00:00Z")),
        ("deadline", json!("2026-01-01T00:05:00Z")),
        ("warn_at", json!("2026-01-01T00:04:00Z")),
        ("status", json!("pending")),
        ("overdue", json!(false)),
        ("revision", json!(1)),
    ] {
        expected[name] = value;
    }
    expected["action"]["digest"] = shown["action"]["digest"].clone();
    assert_eq!(masked(&shown), expected);
    assert_eq!(shown["action"]["digest"].as_str().unwrap().len(), 64);
}

/// Each kind has its default options, with their names and effects.
#[tokio::test]
async fn each_kind_offers_its_usual_options() {
    let world = World::new().await;
    let action = json!({ "tool": "deploy", "arguments": {} });
    for (kind, action, expected) in [
        (
            "approval",
            Some(&action),
            json!([
                ["approve", "approve"],
                ["edit", "edit"],
                ["retry", "retry"],
                ["reject", "reject"],
                ["terminate", "terminate"]
            ]),
        ),
        (
            "approval",
            None,
            json!([["approve", "approve"], ["retry", "retry"], ["reject", "reject"], ["terminate", "terminate"]]),
        ),
        ("confirmation", None, json!([["confirm", "approve"], ["cancel", "reject"]])),
        ("review", None, json!([["approve", "approve"], ["revise", "retry"], ["reject", "reject"]])),
        ("question", None, json!([])),
        ("notice", None, json!([])),
    ] {
        let shown = world.asks(json!({ "kind": kind, "title": "Go?", "action": action })).await.shown;
        let options = shown["options"].as_array().unwrap().iter();
        let offered: Value = options.map(|option| json!([option["id"], option["effect"]])).collect();
        assert_eq!(offered, expected, "{kind}");
    }
}

/// Every view of a question over HTTP has its moves; a closed question has an empty list.
#[tokio::test]
async fn a_question_shows_its_moves_until_it_is_closed() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let question = world.asks(json!({ "kind": "confirmation", "title": "Go?" })).await;
    let reason = json!([{ "input": "feedback", "required": false }]);
    let moves = json!([
        { "option": "confirm", "label": "Confirm", "effect": "approve", "dangerous": false, "takes": [], "does": "resume" },
        { "option": "cancel", "label": "Cancel", "effect": "reject", "dangerous": false, "takes": reason, "does": "refuse" },
    ]);
    let path = format!("/v1/interactions/{}", question.id);
    assert_eq!(question.shown["moves"], moves);
    assert_eq!(alice.get(&path).await.done()["moves"], moves);
    assert_eq!(alice.get("/v1/interactions").await.done()["interactions"][0]["moves"], moves);
    let answered = alice.answers(&question, json!({ "option": "confirm" })).await.done();
    assert_eq!(answered["moves"], json!([]));
    assert_eq!(alice.get(&path).await.done()["moves"], json!([]));
    assert_eq!(world.agent().await.takes(&question).await.done()["interaction"]["moves"], json!([]));
    // A vote does not close the question.
    let quorum = json!({ "kind": "confirmation", "title": "Go?", "audience": { "quorum": 2 } });
    let votes = json!({ "answers": [{ "interaction": world.asks(quorum).await.id, "option": "confirm" }] });
    let voted = alice.post("/v1/interactions/answers", votes).await.done();
    assert_eq!(voted["results"][0]["result"]["moves"], moves);
}

/// The views of a question on a socket and in the message of a webhook have its moves, too.
#[tokio::test]
async fn a_question_shows_its_moves_on_sockets_and_to_webhooks() {
    let world = World::new().await;
    let (agent, alice, root) = (world.agent().await, world.person("alice").await, world.admin().await);
    let webhook = json!({ "url": "https://hooks.example.com/holdpoint", "answers_of": "bot" });
    root.post("/v1/webhooks", webhook).await.done();
    let session = agent.opens(json!({})).await;
    let ask = json!({ "type": "ask", "session": session, "kind": "confirmation", "title": "Go?" });
    let asked = agent.joins("/v1/ws").await.asks(ask).await;
    let options: Vec<&Value> =
        asked["result"]["moves"].as_array().unwrap().iter().map(|made| &made["option"]).collect();
    assert_eq!(options, ["confirm", "cancel"]);
    let answer = json!({ "type": "answer", "interaction": asked["result"]["id"], "option": "confirm" });
    let answered = alice.joins("/v1/ws").await.asks(answer).await;
    assert_eq!(answered["result"]["moves"], json!([]));
    let endpoint = RecordingEndpoint::default();
    world.engine.send_webhooks(&endpoint).await.unwrap();
    let sent = endpoint.answers.lock().clone();
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert_eq!(sent[0]["interaction"]["moves"], json!([]));
}

/// Endpoint of webhooks that keeps the answers that it is sent.
#[derive(Default)]
struct RecordingEndpoint {
    answers: Mutex<Vec<Value>>,
}

impl Courier for RecordingEndpoint {
    fn post<'a>(&'a self, parcel: &'a Parcel) -> BoxFuture<'a, Receipt> {
        if let Content::Answer { interaction, lease } = &parcel.content {
            self.answers.lock().push(json!(WebhookAnswerView::new((**interaction).clone(), *lease)));
        }
        Box::pin(async { Receipt { status: Some(204), note: String::new(), wait: None, took: Duration::ZERO } })
    }
}

/// The JSON of a session and of its events has exactly these fields.
#[tokio::test]
async fn a_session_and_its_events_keep_their_names() {
    let world = World::new().await;
    let agent = world.agent().await;
    let body = json!({ "agent": "release-bot", "channel": "chat-7", "title": "Release 1.4", "input": { "a": 1 },
                       "metadata": { "ticket": "OPS-17" } });
    let session = agent.opens(body).await;
    agent.asks_in(&session, json!({ "kind": "confirmation", "title": "Go?" })).await;
    let by_bot = json!({ "kind": "agent", "name": "bot" });
    assert_eq!(
        masked(&agent.session(&session).await),
        json!({
            "id": "ses_…", "status": "waiting_user_input", "paused": false, "waiting_on": 1, "channel": "chat-7",
            "agent": "release-bot", "driven": false, "title": "Release 1.4", "started_by": by_bot,
            "created_at": "2026-01-01T00:00:00Z", "last_seq": 2, "input": { "a": 1 }, "metadata": { "ticket": "OPS-17" },
            "steps": [{ "id": "stp_…", "status": "blocked_waiting_user", "agent": "release-bot", "attempt": 1,
                        "created_at": "2026-01-01T00:00:00Z" }]
        })
    );
    let page = agent.get(&format!("/v1/sessions/{session}/events")).await.done();
    assert_eq!(
        masked(&page),
        json!({ "next": 2, "events": [
            { "id": "evt_…", "seq": 1, "type": "session.started", "at": "2026-01-01T00:00:00Z", "session": "ses_…",
              "step": "stp_…",
              "data": { "agent": "release-bot", "channel": "chat-7", "title": "Release 1.4", "by": by_bot } },
            { "id": "evt_…", "seq": 2, "type": "interaction.asked", "at": "2026-01-01T00:00:00Z", "session": "ses_…",
              "step": "stp_…", "interaction": "int_…",
              "data": page["events"][1]["data"] }] })
    );
    assert_eq!(page["events"][1]["data"]["title"], "Go?");
}

/// The stats of a project count its open and closed questions.
#[tokio::test]
async fn stats_count_open_and_closed_questions() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let question = world.asks(json!({ "kind": "confirmation", "title": "Go?" })).await;
    world.passes(30).await;
    world.asks(json!({ "kind": "question", "title": "Where?" })).await;
    alice.answers(&question, json!({ "option": "confirm" })).await.done();
    assert_eq!(
        alice.get("/v1/stats").await.done(),
        json!({ "open": { "question": 1 }, "oldest_open_at": "2026-01-01T00:00:30Z", "window_seconds": 86400,
                "closed": { "answered": 1 }, "wait_seconds_p50": 30.0, "wait_seconds_p95": 30.0, "deliveries_waiting": 1 })
    );
}

/// The detailed stats show who answered the questions of a rule, and how fast.
#[tokio::test]
async fn detailed_stats_name_people_and_rules() {
    let world = World::new().await;
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = agent.opens(json!({})).await;
    let acted = agent.proposes(&session, writing("one")).await;
    world.passes(30).await;
    alice.decides(&acted, json!({ "option": "reject", "feedback": "No." })).await.done();
    let details = alice.get("/v1/stats/details?window_seconds=60&parts=1").await.done();
    let tally = |name: &str| {
        json!([{ "name": name, "closed": { "answered": 1 }, "effects": { "reject": 1 },
                 "wait_seconds_p50": 30.0, "wait_seconds_p95": 30.0 }])
    };
    assert_eq!(
        details,
        json!({ "window_seconds": 60,
                "ages": [{ "younger_than_seconds": 60, "open": 0 }, { "younger_than_seconds": 600, "open": 0 },
                         { "younger_than_seconds": 3600, "open": 0 }, { "younger_than_seconds": 86400, "open": 0 }, { "open": 0 }],
                "times": [{ "from": "2025-12-31T23:59:30Z", "closed": { "answered": 1 } }],
                "kinds": tally("approval"), "people": tally("alice"), "rules": tally("ask-before-changing") })
    );
}

/// A call that no rule matches is asked about by default and counted under an empty rule name; a question that an agent
/// asks by itself has no rule.
#[tokio::test]
async fn detailed_stats_count_default_questions_under_an_empty_rule_name() {
    let world = World::new().await;
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = agent.opens(json!({})).await;
    let call = json!({ "call_id": "one", "tool": "brew_tea", "arguments": { "cups": 2 } });
    let acted = agent.proposes(&session, call).await;
    alice.decides(&acted, json!({ "option": "approve" })).await.done();
    let question = world.asks(json!({ "kind": "confirmation", "title": "Go?" })).await;
    alice.answers(&question, json!({ "option": "confirm" })).await.done();
    let details = alice.get("/v1/stats/details?window_seconds=60&parts=1").await.done();
    let rules = details["rules"].as_array().cloned().unwrap_or_default();
    let counted: Vec<_> = rules.iter().map(|rule| (&rule["name"], &rule["closed"])).collect();
    assert_eq!(counted, [(&json!(""), &json!({ "answered": 1 }))]);
}

/// Each of these errors has a helpful message, and the corrected form is accepted. Regression test: a datetime of the
/// browser's control had no offset and was always refused; `integer` was refused as a type; a JSON field was sent
/// parsed where text was expected.
#[tokio::test]
async fn form_errors_have_a_pointer_and_a_message() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let schema = json!({ "type": "object", "required": ["at"], "additionalProperties": false, "properties": {
        "at": { "type": "string", "format": "date-time" },
        "count": { "type": "integer", "maximum": 10 },
        "settings": { "type": "string" },
        "lines": { "type": "array", "items": { "type": "object", "required": ["price"],
            "properties": { "price": { "type": "number", "minimum": 0 } } } }
    } });
    let question = world.asks(json!({ "kind": "form", "title": "When?", "schema": schema })).await;
    for (data, pointer, hint) in [
        (json!({ "at": "2026-01-01T10:00" }), "/data/at", "offset"),
        (json!({ "at": "tomorrow" }), "/data/at", ""),
        (json!({}), "/data/at", "required"),
        (json!({ "at": "2026-01-01T10:00:00Z", "count": 1.5 }), "/data/count", ""),
        (json!({ "at": "2026-01-01T10:00:00Z", "count": 11 }), "/data/count", "10"),
        (json!({ "at": "2026-01-01T10:00:00Z", "settings": { "a": 1 } }), "/data/settings", "text"),
        (
            json!({ "at": "2026-01-01T10:00:00Z", "lines": [{ "price": 1 }, { "price": -1 }] }),
            "/data/lines/1/price",
            "",
        ),
        (json!({ "at": "2026-01-01T10:00:00Z", "a/b": 1 }), "/data/a~1b", ""),
    ] {
        let reply = alice.answers(&question, json!({ "data": data })).await;
        let problem = reply.refused_at(422, "answer_invalid", &[pointer]);
        let message = problem["errors"][0]["message"].as_str().unwrap();
        assert!(message.contains(hint), "{message}");
    }
    let data =
        json!({ "at": "2026-01-01T10:00:00+02:00", "count": 3, "settings": "{\"a\":1}", "lines": [{ "price": 2.5 }] });
    let answered = alice.answers(&question, json!({ "data": data })).await.done();
    assert_eq!(answered["resolution"]["answer"]["data"], data);
}
