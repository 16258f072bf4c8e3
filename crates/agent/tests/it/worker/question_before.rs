//! The question before a step: every effect of its answer. It is asked once, and the answer is final.

use domain::step::StepEnding;
use domain::{AnswerDraft, Effect, Interaction, SessionStatus};
use engine::{InteractionQuery, StepCommand};
use holdpoint_agent::model::{Message, ModelError};
use serde_json::{Value, json};
use store::Page;

use crate::worker::flows::{named, steps};
use crate::worker::world::World;

/// A flow whose agent drafts, and that asks people this question before it publishes.
fn reviewed(question: Value) -> Value {
    json!([{ "name": "f", "version": "1", "steps": [
        { "name": "draft", "agent": "guide", "input": "AnswerDraft" },
        { "name": "publish", "agent": "guide", "input": "Publish", "question": question,
          "attempts": 3, "delay_seconds": 0, "on_success": "end", "on_rejection": "mend" },
        { "name": "mend", "agent": "guide",
          "input": "Mend: {{ steps.publish.rejection.feedback }} says {{ steps.publish.rejection.by }}" }] }])
}

fn review() -> Value {
    reviewed(json!({ "kind": "review", "title": "Is it good?" }))
}

fn feedback(text: &str) -> AnswerDraft {
    AnswerDraft { feedback: Some(text.into()), ..AnswerDraft::default() }
}

fn said(shown: &[Message]) -> Vec<String> {
    let content = |message: &Message| match message {
        Message::User { content } => Some(content.clone()),
        _ => None,
    };
    shown.iter().filter_map(content).collect()
}

/// All questions that were ever asked.
async fn questions(world: &World, by: &domain::Caller) -> Vec<Interaction> {
    let page = Page { after: None, limit: 200 };
    world.engine.interaction_list(by, InteractionQuery::default(), page).await.unwrap().0
}

#[tokio::test]
async fn revise_repeats_the_previous_step_with_feedback_and_asks_again() {
    let world = World::new(review());
    let alice = world.person("alice").await;
    world.says("a long draft", &[]);
    world.says("a short draft", &[]);
    world.says("published", &[]);
    let session = world.opens(&alice, None, Some("f"), Value::Null).await;
    let first = world.asked(&alice).await;
    world.answers(&alice, first.id, Effect::Retry, feedback("shorter")).await;
    let second = world.until(|| async { world.open(&alice, 1).await.pop().filter(|now| now.id != first.id) }).await;
    let told = said(&world.shown());
    assert_eq!(told[0], "AnswerDraft", "nothing was published meanwhile");
    for part in ["shorter", "alice", "a long draft"] {
        assert!(told[1].contains(part), "{told:?}");
    }
    world.answers(&alice, second.id, Effect::Approve, AnswerDraft::default()).await;
    assert_eq!(world.ended(&alice, session.id).await.status(), SessionStatus::Completed);
    let expected =
        named(&[("draft", "completed"), ("publish", "sent_back"), ("draft", "completed"), ("publish", "completed")]);
    assert_eq!(steps(&world, &alice, session.id).await, expected);
    assert_eq!(world.turns(), 3);
}

#[tokio::test]
async fn revise_asks_the_previous_step_of_people_again_with_feedback() {
    let flow = json!([{ "name": "f", "version": "1", "steps": [
        { "name": "colour", "question": { "kind": "question", "title": "Which colour?" } },
        { "name": "paint", "agent": "guide", "input": "Paint it {{ steps.colour.output.feedback }}",
          "question": { "kind": "review", "title": "This one?" } }] }]);
    let world = World::new(flow);
    let alice = world.person("alice").await;
    world.says("painted", &[]);
    let session = world.opens(&alice, None, Some("f"), Value::Null).await;
    let next = |title: &'static str| {
        let (world, alice) = (&world, &alice);
        async move {
            let found = || async { world.open(alice, 1).await.pop().filter(|now| now.question.title == title) };
            world.until(found).await
        }
    };
    let colour = next("Which colour?").await;
    world.answers(&alice, colour.id, Effect::Provide, feedback("red")).await;
    let review = next("This one?").await;
    world.answers(&alice, review.id, Effect::Retry, feedback("too loud")).await;
    let colour = next("Which colour?").await;
    assert_eq!(colour.question.context["feedback"], "too loud");
    world.answers(&alice, colour.id, Effect::Provide, feedback("blue")).await;
    let review = next("This one?").await;
    world.answers(&alice, review.id, Effect::Approve, AnswerDraft::default()).await;
    world.ended(&alice, session.id).await;
    assert_eq!(said(&world.shown()), ["Paint it blue"]);
}

#[tokio::test]
async fn revise_in_the_first_step_is_a_rejection_with_feedback() {
    let flow = json!([{ "name": "f", "version": "1", "steps": [
        { "name": "go", "agent": "guide", "input": "Go", "question": { "kind": "review", "title": "Go?" },
          "on_success": "end", "on_rejection": "mend" },
        { "name": "mend", "agent": "guide", "input": "Mend: {{ steps.go.rejection.feedback }}" }] }]);
    let world = World::new(flow);
    let alice = world.person("alice").await;
    world.says("mended", &[]);
    let session = world.opens(&alice, None, Some("f"), Value::Null).await;
    let asked = world.asked(&alice).await;
    world.answers(&alice, asked.id, Effect::Retry, feedback("not like this")).await;
    world.ended(&alice, session.id).await;
    assert_eq!(steps(&world, &alice, session.id).await, named(&[("go", "rejected"), ("mend", "completed")]));
    assert_eq!(said(&world.shown()), ["Mend: not like this"]);
}

#[tokio::test]
async fn reject_follows_on_rejection_and_passes_its_reason_on() {
    let world = World::new(review());
    let alice = world.person("alice").await;
    world.says("a draft", &[]);
    world.says("mended", &[]);
    let session = world.opens(&alice, None, Some("f"), Value::Null).await;
    let asked = world.asked(&alice).await;
    world.answers(&alice, asked.id, Effect::Reject, feedback("not this year")).await;
    assert_eq!(world.ended(&alice, session.id).await.status(), SessionStatus::Completed);
    assert_eq!(said(&world.shown()), ["Mend: not this year says alice"]);
    let (_, _, steps) = world.engine.session(&alice, session.id).await.unwrap();
    let rejected = serde_json::to_value(&steps[1].phase).unwrap();
    assert_eq!(
        (&rejected["output"]["feedback"], &rejected["reason"]),
        (&json!("not this year"), &json!("not this year"))
    );
}

#[tokio::test]
async fn skip_and_terminate_run_nothing() {
    let options = json!([{ "id": "skip", "label": "Skip", "effect": "skip" },
                         { "id": "stop", "label": "Stop", "effect": "terminate" }]);
    for (effect, status, how) in [
        (Effect::Skip, SessionStatus::Completed, StepEnding::Skipped),
        (Effect::Terminate, SessionStatus::Cancelled, StepEnding::Cancelled),
    ] {
        let world = World::new(reviewed(json!({ "kind": "choice", "title": "Well?", "options": options })));
        let alice = world.person("alice").await;
        world.says("a draft", &[]);
        let session = world.opens(&alice, None, Some("f"), Value::Null).await;
        let asked = world.asked(&alice).await;
        world.answers(&alice, asked.id, effect, feedback("no time")).await;
        assert_eq!(world.ended(&alice, session.id).await.status(), status);
        let (_, _, steps) = world.engine.session(&alice, session.id).await.unwrap();
        let phase = serde_json::to_value(&steps[1].phase).unwrap();
        assert_eq!((&phase["how"], &phase["reason"]), (&json!(how), &json!("no time")));
        assert_eq!((steps.len(), world.turns()), (2, 1));
    }
}

#[tokio::test]
async fn answer_reaches_an_agent_whose_input_does_not_name_it() {
    let options = json!([{ "id": "later", "label": "Later", "effect": "custom", "metadata": { "days": 3 } }]);
    let question = json!({ "kind": "choice", "title": "When?", "options": options });
    let world = World::new(reviewed(question));
    let alice = world.person("alice").await;
    world.says("a draft", &[]);
    world.says("published", &[]);
    let session = world.opens(&alice, None, Some("f"), Value::Null).await;
    let asked = world.asked(&alice).await;
    world.answers(&alice, asked.id, Effect::Custom, feedback("in peace")).await;
    world.ended(&alice, session.id).await;
    let told = said(&world.shown());
    assert_eq!(told[0], "Publish");
    for part in ["When?", "alice", "later", "\"days\":3", "in peace"] {
        assert!(told[1].contains(part), "{part} in {told:?}");
    }
}

#[tokio::test]
async fn question_before_a_step_is_asked_once_for_all_attempts() {
    let world = World::new(review());
    let alice = world.person("alice").await;
    world.says("a draft", &[]);
    world.model_fails(ModelError::Unavailable("busy".into()));
    world.model_fails(ModelError::Unavailable("busy".into()));
    world.model_fails(ModelError::Unavailable("busy".into()));
    world.says("published", &[]);
    let session = world.opens(&alice, None, Some("f"), Value::Null).await;
    let asked = world.asked(&alice).await;
    world.answers(&alice, asked.id, Effect::Approve, AnswerDraft::default()).await;
    assert_eq!(world.ended(&alice, session.id).await.status(), SessionStatus::Failed);
    // A retry by a person does not ask the question again either.
    world.engine.step_control(&alice, (session.id, None), StepCommand::Retry, None, None).await.unwrap();
    assert_eq!(world.ended(&alice, session.id).await.status(), SessionStatus::Completed);
    assert_eq!(questions(&world, &alice).await.len(), 1);
    let tried = steps(&world, &alice, session.id).await;
    assert_eq!(
        tried[1..],
        named(&[("publish", "failed"), ("publish", "failed"), ("publish", "failed"), ("publish", "completed")])
    );
}

#[tokio::test]
async fn expired_question_is_asked_again_only_after_a_retry_command() {
    let question = json!({ "kind": "review", "title": "Is it good?", "deadline_seconds": 1 });
    let world = World::new(reviewed(question));
    let alice = world.person("alice").await;
    world.says("a draft", &[]);
    let session = world.opens(&alice, None, Some("f"), Value::Null).await;
    let ended = world.ended(&alice, session.id).await;
    assert_eq!(ended.status(), SessionStatus::Failed);
    assert_eq!(questions(&world, &alice).await.len(), 1);
    assert_eq!(steps(&world, &alice, session.id).await, named(&[("draft", "completed"), ("publish", "failed")]));
    world.engine.step_control(&alice, (session.id, None), StepCommand::Retry, None, None).await.unwrap();
    world.until(|| async { (questions(&world, &alice).await.len() == 2).then_some(()) }).await;
}
