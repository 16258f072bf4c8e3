//! Tests the lessons about resuming, as far as they concern external agents.

use serde_json::{Value, json};

use server_testkit::client::confirmation;
use server_testkit::world::World;

/// The chosen option and its metadata are delivered to the agent. Regression test: a choice never reached it.
#[tokio::test]
async fn chosen_option_is_delivered_with_its_id_and_metadata() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let question = world
        .asks(json!({ "kind": "choice", "title": "Which plan?", "options": [
            { "id": "a", "label": "Cache", "metadata": { "plan": "redis", "size": 3 } },
            { "id": "b", "label": "Index", "metadata": { "plan": "btree" } }] }))
        .await;
    alice.answers(&question, json!({ "option": "a" })).await.done();
    let taken = agent.takes(&question).await.done();
    assert_eq!(
        server_testkit::client::masked(&taken["answer"]),
        json!({
            "id": "ans_…", "by": { "kind": "user", "name": "alice" }, "wire": "http", "at": "2026-01-01T00:00:00Z",
            "effect": "provide", "option": "a", "options": ["a"], "metadata": { "plan": "redis", "size": 3 }
        })
    );
}

/// Each effect is delivered with its own fields; only approve and edit may run the action. Regression test: reject,
/// retry and skip all ran the tool.
#[tokio::test]
async fn each_effect_is_delivered_with_its_own_fields() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let approval = json!({ "kind": "approval", "title": "Deploy?",
        "action": { "tool": "deploy", "arguments": { "version": "1.4" } } });
    let edited = json!({ "version": "1.5" });
    for (body, effect, arguments, feedback) in [
        (json!({ "option": "approve" }), "approve", None, None),
        (json!({ "option": "edit", "arguments": edited }), "edit", Some(&edited), None),
        (json!({ "option": "retry", "feedback": "smaller" }), "retry", None, Some("smaller")),
        (json!({ "option": "reject", "feedback": "not now" }), "reject", None, Some("not now")),
        (json!({ "option": "terminate" }), "terminate", None, None),
    ] {
        let question = world.asks(approval.clone()).await;
        alice.answers(&question, body).await.done();
        let taken = agent.takes(&question).await.done();
        assert_eq!(taken["answer"]["effect"], effect);
        assert_eq!(taken["answer"].get("arguments"), arguments, "{effect}");
        assert_eq!(taken["answer"].get("feedback"), feedback.map(Value::from).as_ref(), "{effect}");
        assert_eq!(taken["interaction"]["action"]["arguments"], json!({ "version": "1.4" }));
        let status = agent.session(&question.session).await["status"].clone();
        assert_eq!(status, if effect == "terminate" { "cancelled" } else { "running" });
    }
}

/// Regression test: an unknown (custom) effect cleared the resume point, and the agent never resumed.
#[tokio::test]
async fn answer_to_a_custom_question_is_delivered_with_its_resume_point() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let question = world
        .asks(json!({ "kind": "pick_a_seat", "title": "Where?", "resume_point": { "at": 3 }, "options": [
            { "id": "12A", "label": "Window", "effect": "custom", "metadata": { "row": 12 } }] }))
        .await;
    assert_eq!((&question.shown["kind"], &question.shown["custom_kind"]), (&json!("custom"), &json!("pick_a_seat")));
    alice.answers(&question, json!({ "option": "12A" })).await.done();
    let taken = agent.takes(&question).await.done();
    assert_eq!(taken["answer"]["effect"], "custom");
    assert_eq!(taken["answer"]["metadata"], json!({ "row": 12 }));
    assert_eq!(taken["resume_point"], json!({ "at": 3 }));
}

/// Parallel questions are all stored, each with its own snapshot and answer. Regression test: the context was saved by
/// reference and changed later, and a second request overwrote the only resume point of the session.
#[tokio::test]
async fn parallel_questions_have_their_own_answers_and_resume_points() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let session = agent.opens(json!({})).await;
    let mut questions = Vec::new();
    for number in 0..3 {
        let body =
            json!({ "kind": "question", "title": format!("Question {number}"), "resume_point": { "call": number } });
        questions.push(agent.asks_in(&session, body).await);
    }
    assert_eq!(agent.session(&session).await["waiting_on"], 3);
    for number in [1, 2, 0] {
        let said = json!({ "feedback": format!("answer {number}") });
        alice.answers(&questions[number], said).await.done();
        let left = agent.session(&session).await;
        assert_eq!(left["status"] == "running", left["waiting_on"] == 0);
    }
    for (number, question) in questions.iter().enumerate() {
        let taken = agent.takes(question).await.done();
        assert_eq!(taken["answer"]["feedback"], format!("answer {number}"));
        assert_eq!(taken["resume_point"], json!({ "call": number }));
        assert_eq!(taken["attempt"], 1);
    }
}

/// An answer belongs to one question. Regression test: an answer left over from one request was consumed by the next
/// request of its type.
#[tokio::test]
async fn answer_to_one_question_is_not_delivered_for_the_next() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let session = agent.opens(json!({})).await;
    let first = agent.asks_in(&session, confirmation()).await;
    alice.answers(&first, json!({ "option": "confirm" })).await.done();
    let second = agent.asks_in(&session, confirmation()).await;
    assert_eq!(agent.reads(&second).await["status"], "pending");
    agent.takes(&second).await.refused(409, "interaction_pending");
    assert_eq!(agent.deliveries().await, [first.id]);
}

/// An answer that arrives before the agent waits is stored, and a wait finds it without sleeping.
#[tokio::test]
async fn answer_given_before_the_wait_is_returned_at_once() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let question = world.asks(confirmation()).await;
    let answered = alice.answers(&question, json!({ "option": "confirm" })).await.done();
    // No further event occurs: a request that slept would take five minutes, and the test would fail.
    assert_eq!(agent.get(&question.path("?wait=300")).await.done(), answered);
    let waiting = agent.get("/v1/deliveries?wait=300").await.done();
    assert_eq!(waiting["deliveries"], json!([answered]));
}

/// Regression test: a session was deleted when its stream ended, while a person was still deciding.
#[tokio::test]
async fn question_stays_open_when_the_stream_of_its_asker_ends() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let question = world.asks(confirmation()).await;
    let mut stream = agent.follows(&format!("/v1/sessions/{}/events/stream", question.session), None).await;
    stream.events(2).await;
    drop(stream);
    world.listened_to(0).await;
    assert_eq!(agent.session(&question.session).await["status"], "waiting_user_input");
    alice.answers(&question, json!({ "option": "confirm" })).await.done();
    assert_eq!(agent.deliveries().await, [question.id]);
}

/// Cancelling a session closes every open question with its reason, and the agent receives each of them.
#[tokio::test]
async fn a_cancelled_session_closes_its_questions_with_its_reason() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let session = agent.opens(json!({})).await;
    let first = agent.asks_in(&session, confirmation()).await;
    let second = agent.asks_in(&session, confirmation()).await;
    let body = json!({ "command": "cancel", "reason": "the release is off" });
    let ended = alice.post(&format!("/v1/sessions/{session}/control"), body).await.done();
    assert_eq!((&ended["status"], &ended["waiting_on"]), (&json!("cancelled"), &json!(0)));
    for question in [&first, &second] {
        let closed = alice.reads(question).await;
        assert_eq!(closed["resolution"]["reason"], "the release is off");
        assert_eq!(closed["resolution"]["by"]["name"], "alice");
        assert_eq!(agent.takes(question).await.done().get("answer"), None);
    }
    alice.commands(&session, "resume").await.refused(409, "session_ended");
    let late = agent.post(&format!("/v1/sessions/{session}/interactions"), confirmation()).await;
    assert_eq!(late.refused(409, "session_ended")["title"], "this session is cancelled");
}
