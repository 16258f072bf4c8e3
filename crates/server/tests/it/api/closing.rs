//! Tests the lessons about closing a question.

use futures::future::join_all;
use serde_json::json;

use server_testkit::client::confirmation;
use server_testkit::world::World;

/// One of several racing answers wins; each of the others receives 409 with the name of the winner and the time.
/// Regression test: two answers were accepted, or the second produced a 500.
#[tokio::test(flavor = "multi_thread")]
async fn one_of_sixteen_concurrent_answers_wins_and_the_others_learn_whose() {
    let world = World::new().await;
    let question = world.asks(confirmation()).await;
    let names: Vec<String> = (0..16).map(|number| format!("person-{number}")).collect();
    let people = join_all(names.iter().map(|name| world.person(name))).await;

    let replies = join_all(people.iter().map(|person| person.answers(&question, json!({ "option": "confirm" })))).await;

    let (won, lost): (Vec<_>, Vec<_>) = replies.into_iter().partition(|reply| reply.status == 200);
    assert_eq!((won.len(), lost.len()), (1, 15));
    let resolution = &won[0].body["resolution"];
    assert_eq!(resolution["status"], "answered");
    assert!(names.iter().any(|name| resolution["by"] == json!({ "kind": "user", "name": name })));
    for reply in lost {
        assert_eq!(reply.refused(409, "interaction_already_resolved")["resolution"], *resolution);
    }
    assert_eq!(
        people[0].events(&question.session).await,
        ["session.started", "interaction.asked", "interaction.answered"]
    );
}

/// An idempotency key that is repeated with an equal body returns the first result; with another body it gets 409.
#[tokio::test]
async fn repeated_idempotency_key_returns_the_first_result() {
    let world = World::new().await;
    let (alice, question) = (world.person("alice").await, world.asks(confirmation()).await);
    let path = question.path("/answer");

    let first = alice.post_once("k1", &path, json!({ "option": "confirm" })).await.done();
    let again = alice.post_once("k1", &path, json!({ "option": "confirm" })).await.done();
    assert_eq!(first, again);
    alice.post_once("k1", &path, json!({ "option": "cancel" })).await.refused(409, "idempotency_conflict");
    alice.post_once("k2", &path, json!({ "option": "confirm" })).await.refused(409, "interaction_already_resolved");
    let bob = world.person("bob").await;
    bob.post_once("k1", &path, json!({ "option": "confirm" })).await.refused(409, "interaction_already_resolved");
    assert_eq!(alice.reads(&question).await, first);
}

/// Idempotency keys work for every command; the path is part of the command.
#[tokio::test]
async fn a_repeated_question_is_asked_once() {
    let world = World::new().await;
    let agent = world.agent().await;
    let opened = agent.post_once("s", "/v1/sessions", json!({})).await.done();
    assert_eq!(agent.post_once("s", "/v1/sessions", json!({})).await.done(), opened);
    let path = format!("/v1/sessions/{}/interactions", opened["id"].as_str().unwrap());
    let asked = agent.post_once("q", &path, confirmation()).await.done();
    assert_eq!(agent.post_once("q", &path, confirmation()).await.done(), asked);
    let other = format!("/v1/sessions/{}/interactions", agent.opens(json!({})).await);
    agent.post_once("q", &other, confirmation()).await.refused(409, "idempotency_conflict");
    assert_eq!(agent.get("/v1/interactions").await.done()["interactions"], json!([asked]));
}

/// A batch that is repeated under its idempotency key repeats none of its answers.
#[tokio::test]
async fn a_repeated_batch_gives_the_same_results() {
    let world = World::new().await;
    let (alice, question) = (world.person("alice").await, world.asks(confirmation()).await);
    let batch = json!({ "answers": [{ "interaction": question.id, "option": "confirm" }] });
    let first = alice.post_once("b", "/v1/interactions/answers", batch.clone()).await.done();
    assert_eq!(first["results"][0]["status"], 200);
    assert_eq!(alice.post_once("b", "/v1/interactions/answers", batch).await.done(), first);
}

/// An answer after the deadline gets 410, whether or not the server has expired the question yet.
#[tokio::test]
async fn answer_after_the_deadline_is_refused() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let question =
        world.asks(json!({ "kind": "confirmation", "title": "Delete the file?", "deadline_seconds": 10 })).await;
    world.clock.advance(domain::SignedDuration::from_secs(10));
    alice.answers(&question, json!({ "option": "confirm" })).await.refused(410, "interaction_expired");
    assert_eq!(alice.reads(&question).await["status"], "pending");
    world.engine.fire_due().await.unwrap();
    alice.answers(&question, json!({ "option": "confirm" })).await.refused(410, "interaction_expired");
    assert_eq!(alice.reads(&question).await["resolution"]["status"], "expired");
}

/// Delivery is retried from the stored answer. Regression test: the agent was signalled before the answer was stored,
/// so that a crash in between lost it.
#[tokio::test]
async fn stored_answer_is_delivered_after_a_restart() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let question = world.asks(confirmation()).await;
    let answered = alice.answers(&question, json!({ "option": "confirm" })).await.done();

    let world = world.restarts().await;

    let agent = agent.at(&world);
    assert_eq!(agent.reads(&question).await, answered);
    assert_eq!(agent.deliveries().await, [question.id.as_str()]);
    assert_eq!(agent.takes(&question).await.done()["answer"], answered["resolution"]["answer"]);
}

/// Regression test: `success: true` was returned for a session, request or option that does not exist.
#[tokio::test]
async fn request_for_an_absent_object_never_succeeds() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let question = world.asks(confirmation()).await;
    let nobody = "00000000-0000-7000-8000-000000000000";
    let asked = agent.post(&format!("/v1/sessions/ses_{nobody}/interactions"), confirmation()).await;
    assert_eq!(asked.refused(404, "not_found")["title"], "there is no such session");
    let answered = alice.post(&format!("/v1/interactions/int_{nobody}/answer"), json!({ "option": "confirm" })).await;
    assert_eq!(answered.refused(404, "not_found")["title"], "there is no such interaction");
    alice.answers(&question, json!({ "option": "maybe" })).await.refused_at(422, "answer_invalid", &["/option"]);
    alice.answers(&question, json!({})).await.refused_at(422, "answer_invalid", &["/option"]);
    assert_eq!(alice.reads(&question).await, question.shown);
}

/// Regression test: an answer of the wrong type was accepted.
#[tokio::test]
async fn answer_that_does_not_fit_its_question_is_refused() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let choice = world
        .asks(json!({ "kind": "choice", "title": "Which plan?", "options": [
            { "id": "a", "label": "A" }, { "id": "b", "label": "B", "requires_input": true }] }))
        .await;
    for (body, pointers) in [
        (json!({ "option": "confirm" }), ["/option"]),
        (json!({ "effect": "approve" }), ["/effect"]),
        (json!({ "effect": "provide" }), ["/effect"]),
        (json!({ "options": ["a", "b"] }), ["/options"]),
        (json!({ "option": "a", "effect": "reject" }), ["/effect"]),
        (json!({ "option": "a", "arguments": { "x": 1 } }), ["/arguments"]),
        (json!({ "option": "b" }), ["/feedback"]),
        (json!({ "option": "b", "feedback": "  " }), ["/feedback"]),
    ] {
        alice.answers(&choice, body).await.refused_at(422, "answer_invalid", &pointers);
    }
    assert_eq!(alice.reads(&choice).await, choice.shown);
    alice.answers(&choice, json!({ "option": "b", "feedback": "with a cache" })).await.done();
}

/// An empty allow-list allows nothing. Regression test: it accepted everything.
#[tokio::test]
async fn empty_audience_and_empty_options_are_refused() {
    let world = World::new().await;
    let agent = world.agent().await;
    let path = format!("/v1/sessions/{}/interactions", agent.opens(json!({})).await);
    let nobody =
        json!({ "kind": "confirmation", "title": "Go?", "audience": { "users": [], "groups": [], "roles": [] } });
    agent.post(&path, nobody).await.refused_at(422, "body_invalid", &["/audience"]);
    let nothing = json!({ "kind": "choice", "title": "Which?", "options": [] });
    agent.post(&path, nothing).await.refused_at(422, "body_invalid", &["/options"]);
}

/// A question without options and without a schema accepts free text. Regression test: it could not be answered.
#[tokio::test]
async fn question_without_options_and_schema_accepts_free_text() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    for kind in ["question", "custom", "something_of_ours"] {
        let question = world.asks(json!({ "kind": kind, "title": "Which region?" })).await;
        let answered = alice.answers(&question, json!({ "feedback": "Europe" })).await.done();
        let answer = &answered["resolution"]["answer"];
        assert_eq!((&answer["effect"], &answer["feedback"]), (&json!("provide"), &json!("Europe")), "{kind}");
    }
    let silent = world.asks(json!({ "kind": "question", "title": "Which region?" })).await;
    alice.answers(&silent, json!({})).await.refused_at(422, "answer_invalid", &["/data"]);
}

/// Skip, reject and terminate carry no form. Regression test: a form with required fields could not be skipped, because
/// the empty payload was validated.
#[tokio::test]
async fn form_with_required_fields_can_be_skipped_rejected_or_terminated() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let schema = json!({ "type": "object", "properties": { "amount": { "type": "integer" } }, "required": ["amount"] });
    let form = json!({ "kind": "form", "title": "How much?", "schema": schema, "required": false, "options": [
        { "id": "send", "label": "Send", "effect": "provide" }, { "id": "stop", "label": "Stop", "effect": "terminate" }] });
    for (body, effect) in [
        (json!({ "effect": "skip" }), "skip"),
        (json!({ "effect": "skip", "data": {} }), "skip"),
        (json!({ "effect": "reject", "feedback": "not today" }), "reject"),
        (json!({ "option": "stop" }), "terminate"),
    ] {
        let question = world.asks(form.clone()).await;
        let answered = alice.answers(&question, body).await.done();
        assert_eq!(answered["resolution"]["answer"]["effect"], effect);
        assert_eq!(answered["resolution"]["answer"].get("data"), None);
    }
    let question = world.asks(form).await;
    alice.answers(&question, json!({ "option": "send" })).await.refused_at(422, "answer_invalid", &["/data"]);
    alice.answers(&question, json!({ "option": "send", "data": {} })).await.refused_at(
        422,
        "answer_invalid",
        &["/data/amount"],
    );
    alice.answers(&question, json!({ "option": "send", "data": { "amount": 3 } })).await.done();
}

/// A required question cannot be skipped.
#[tokio::test]
async fn required_question_cannot_be_skipped() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let question = world.asks(json!({ "kind": "question", "title": "Which region?" })).await;
    alice.answers(&question, json!({ "effect": "skip" })).await.refused_at(422, "answer_invalid", &["/effect"]);
}

/// A decision is a message of its own, and a failed tool is not a rejected tool. Regression test: a rejection was
/// recognised by the text of an error.
#[tokio::test]
async fn failed_delivery_with_the_word_rejected_is_not_a_rejection() {
    let world = World::new().await;
    let (alice, agent) = (world.person("alice").await, world.agent().await);
    let question = world.asks(confirmation()).await;
    alice.answers(&question, json!({ "option": "confirm" })).await.done();
    let lease = agent.takes(&question).await.done()["lease"].clone();
    let failed = json!({ "lease": lease, "reason": "rejected by user" });
    let after = agent.post(&question.path("/delivery/fail"), failed).await.done();
    assert_eq!(after["resolution"]["answer"]["effect"], "approve");
    assert_eq!(after["status"], "answered");
    assert_eq!(
        after["delivery"],
        json!({ "state": "failed", "attempt": 1, "at": "2026-01-01T00:00:00Z", "reason": "rejected by user" })
    );
}
