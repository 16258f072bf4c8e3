//! Tests the lessons about waiting, pausing and time.

use serde_json::{Value, json};

use server_testkit::client::confirmation;
use server_testkit::world::World;

/// Paused and waiting are independent facts. Regression test: pausing a waiting session and then answering lost the
/// pause.
#[tokio::test]
async fn paused_and_waiting_are_independent() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let question = world.asks(confirmation()).await;
    let facts = async || {
        let session = alice.session(&question.session).await;
        json!([session["status"], session["paused"], session["waiting_on"], session["steps"][0]["status"]])
    };
    assert_eq!(facts().await, json!(["waiting_user_input", false, 1, "blocked_waiting_user"]));
    alice.commands(&question.session, "pause").await.done();
    assert_eq!(facts().await, json!(["paused", true, 1, "blocked_waiting_user"]));
    alice.answers(&question, json!({ "option": "confirm" })).await.done();
    assert_eq!(facts().await, json!(["paused", true, 0, "running"]));

    assert_eq!(agent.deliveries().await, [""; 0]);
    agent.takes(&question).await.refused(409, "session_paused");
    alice.commands(&question.session, "pause").await.refused(409, "session_already_paused");

    alice.commands(&question.session, "resume").await.done();
    assert_eq!(facts().await, json!(["running", false, 0, "running"]));
    assert_eq!(agent.deliveries().await, [question.id.as_str()]);
    agent.takes(&question).await.done();
    alice.commands(&question.session, "resume").await.refused(409, "session_not_paused");
}

/// Regression test: resuming a paused session with an open request marked it running.
#[tokio::test]
async fn a_resumed_session_with_an_open_question_still_waits() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let question = world.asks(confirmation()).await;
    alice.commands(&question.session, "pause").await.done();
    let resumed = alice.commands(&question.session, "resume").await.done();
    assert_eq!((&resumed["status"], &resumed["waiting_on"]), (&json!("waiting_user_input"), &json!(1)));
}

/// Regression test: pausing closed the event stream, because "PAUSED" ends in "ED".
#[tokio::test]
async fn stream_stays_open_after_a_pause_and_after_the_end_of_the_session() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let session = agent.opens(json!({})).await;
    let mut stream = agent.follows(&format!("/v1/sessions/{session}/events/stream"), None).await;
    stream.events(1).await;
    alice.commands(&session, "pause").await.done();
    assert_eq!(stream.event().await.1["type"], "session.paused");
    agent.asks_in(&session, confirmation()).await;
    assert_eq!(stream.event().await.1["type"], "interaction.asked");
    alice.commands(&session, "resume").await.done();
    assert_eq!(stream.event().await.1["type"], "session.resumed");
    alice.commands(&session, "cancel").await.done();
    let names: Vec<String> = stream.events(2).await.into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["interaction.cancelled", "session.cancelled"]);
}

/// Regression test: deadlines were stored but never enforced, or only checked when somebody read the question.
#[tokio::test]
async fn the_server_enforces_a_deadline_by_itself() {
    let world = World::live().await;
    let agent = world.agent().await;
    let question = world.asks(json!({ "kind": "question", "title": "Which region?", "deadline_seconds": 1 })).await;
    let ended = agent.get(&question.path("?wait=300")).await.done();
    assert_eq!(ended["status"], "expired");
    let (due, at) = (&ended["deadline"], &ended["resolution"]["at"]);
    let [due, at] = [due, at].map(|time| time.as_str().unwrap().parse::<domain::Timestamp>().unwrap());
    let late = at.duration_since(due);
    assert!(late.as_secs() == 0 && !late.is_negative(), "resolved {late} after the deadline");
}

/// The question itself, and not the scheduler, defines the fallback that applies at its deadline.
#[tokio::test]
async fn each_fallback_takes_effect_at_the_deadline() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let ended = async |mut body: Value, fallback: Value| {
        body["deadline_seconds"] = json!(30);
        body["fallback"] = fallback;
        let question = world.asks(body).await;
        world.passes(30).await;
        let seen = alice.reads(&question).await;
        assert_eq!(agent.deliveries().await.contains(&question.id), seen["status"] != "pending");
        let resolution = &seen["resolution"];
        let answer = &resolution["answer"];
        (question, json!([seen["status"], resolution["source"], answer["effect"], answer["option"], answer["data"]]))
    };
    let choice = json!({ "kind": "choice", "title": "Which?", "options": [
        { "id": "a", "label": "A", "metadata": { "plan": 1 } }, { "id": "b", "label": "B" }] });
    let asked = json!({ "kind": "question", "title": "Which region?" });

    let (by_option, seen) = ended(choice, json!({ "option": "a" })).await;
    assert_eq!(seen, json!(["auto_resolved", "system", "provide", "a", null]));
    assert_eq!(agent.takes(&by_option).await.done()["answer"]["metadata"], json!({ "plan": 1 }));
    let (_, seen) = ended(asked.clone(), json!({ "value": "Europe" })).await;
    assert_eq!(seen, json!(["auto_resolved", "system", "provide", null, "Europe"]));
    let (_, seen) = ended(confirmation(), json!("deny")).await;
    assert_eq!(seen, json!(["auto_resolved", "system", "reject", null, null]));
    let (_, seen) = ended(asked, Value::Null).await;
    assert_eq!(seen, json!(["expired", "system", null, null, null]));
    let (held, seen) = ended(confirmation(), json!("hold")).await;
    assert_eq!(seen, json!(["pending", null, null, null, null]));
    assert_eq!(alice.reads(&held).await["overdue"], true);
    let overdue = alice.get("/v1/interactions?overdue=true&status=pending").await.done();
    assert_eq!(server_testkit::client::ids(&overdue["interactions"]), [held.id.as_str()]);
    assert_eq!(alice.events(&held.session).await.last().unwrap(), "interaction.overdue");
    alice.answers(&held, json!({ "option": "confirm" })).await.done();
}

/// Expiry is final and happens once, however often the timers run. Regression test: an expired question was asked again
/// for ever.
#[tokio::test(flavor = "multi_thread")]
async fn expiry_is_final_and_happens_once() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let question = world.asks(json!({ "kind": "question", "title": "Which region?", "deadline_seconds": 120 })).await;
    world.clock.advance(domain::SignedDuration::from_secs(121));
    let looks = futures::future::join_all((0..4).map(|_| world.engine.fire_due())).await;
    assert!(looks.iter().all(Result::is_ok));
    world.passes(3600).await;
    let ended = alice.reads(&question).await;
    assert_eq!(ended["status"], "expired");
    alice.answers(&question, json!({ "feedback": "Europe" })).await.refused(410, "interaction_expired");
    alice.post(&question.path("/expire"), json!({})).await.refused(409, "interaction_already_resolved");
    assert_eq!(alice.reads(&question).await, ended);
    assert_eq!(alice.events(&question.session).await, ["session.started", "interaction.asked", "interaction.expired"]);
}

/// A warning event is recorded one minute before the deadline.
#[tokio::test]
async fn people_are_warned_one_minute_before() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let question = world.asks(json!({ "kind": "question", "title": "Which region?", "deadline_seconds": 300 })).await;
    assert_eq!(question.shown["deadline"], "2026-01-01T00:05:00Z");
    assert_eq!(question.shown["warn_at"], "2026-01-01T00:04:00Z");
    let mut stream = alice.follows(&format!("/v1/sessions/{}/events/stream", question.session), Some("2")).await;
    world.passes(239).await;
    assert_eq!(alice.events(&question.session).await.len(), 2);
    world.passes(1).await;
    let (_, warned) = stream.event().await;
    assert_eq!((&warned["type"], &warned["at"]), (&json!("interaction.warned"), &json!("2026-01-01T00:04:00Z")));
    assert_eq!(warned["data"], json!({ "deadline": "2026-01-01T00:05:00Z" }));
    world.passes(59).await;
    world.passes(1).await;
    let (_, expired) = stream.event().await;
    assert_eq!((&expired["type"], &expired["at"]), (&json!("interaction.expired"), &json!("2026-01-01T00:05:00Z")));
}

/// A timer that was due while the server was down fires once after the restart.
#[tokio::test]
async fn timer_that_was_due_during_downtime_fires_after_the_restart() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let question =
        world.asks(json!({ "kind": "confirmation", "title": "Go?", "deadline_seconds": 90, "fallback": "deny" })).await;
    let clock = world.clock.clone();
    let world = world.restarts().await;
    clock.advance(domain::SignedDuration::from_hours(5));
    world.passes(0).await;
    let seen = alice.at(&world).reads(&question).await;
    assert_eq!(seen["resolution"]["answer"]["effect"], "reject");
    assert_eq!(seen["resolution"]["at"], "2026-01-01T05:00:00Z");
}

/// An operator may end a question early, with the effect of its deadline.
#[tokio::test]
async fn a_question_can_be_ended_before_its_deadline() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let held =
        world.asks(json!({ "kind": "confirmation", "title": "Go?", "deadline_seconds": 90, "fallback": "hold" })).await;
    assert_eq!(alice.post(&held.path("/expire"), json!({})).await.done()["overdue"], true);
    alice.post(&held.path("/expire"), json!({})).await.refused(409, "interaction_already_overdue");
    let plain = world.asks(confirmation()).await;
    assert_eq!(alice.post(&plain.path("/expire"), json!({})).await.done()["status"], "expired");
}

/// A clock that jumps back neither undoes nor repeats an event.
#[tokio::test]
async fn clock_that_jumps_back_repeats_no_event() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let question = world.asks(json!({ "kind": "question", "title": "Where?", "deadline_seconds": 120 })).await;
    world.passes(120).await;
    world.passes(-3600).await;
    let later = agent.asks_in(&question.session, confirmation()).await;
    let listed = alice.get(&format!("/v1/interactions?session={}", question.session)).await.done();
    assert_eq!(server_testkit::client::ids(&listed["interactions"]), [question.id.clone(), later.id]);
    world.passes(3600).await;
    assert_eq!(
        alice.events(&question.session).await,
        ["session.started", "interaction.asked", "interaction.expired", "interaction.asked"]
    );
}
