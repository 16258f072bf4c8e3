//! Flows: questions before steps, values passed between steps, attempts, and the step that follows each end.

use domain::{AnswerDraft, Effect, SessionStatus};
use engine::StepCommand;
use holdpoint_agent::model::{Message, ModelError};
use serde_json::{Value, json};

use crate::worker::world::World;

fn release() -> Value {
    json!([{
        "name": "release", "version": "1",
        "steps": [
            { "name": "plan", "agent": "guide", "input": "Plan {{ input.what }}", "pass": { "plan": "{{ output.text }}" } },
            { "name": "build", "agent": "guide", "input": "Build {{ shared.plan }} as {{ answer.option }}",
              "question": { "kind": "choice", "title": "How is {{ input.what }} built?",
                            "options": [{ "id": "fast", "label": "Fast", "effect": "provide" },
                                        { "id": "no", "label": "Not at all", "effect": "reject" }] },
              "attempts": 2, "delay_seconds": 1, "on_rejection": "tell", "on_failure": "tell" },
            { "name": "tell", "agent": "guide", "input": "Tell" },
        ],
    }])
}

pub(crate) async fn steps(world: &World, alice: &domain::Caller, id: domain::SessionId) -> Vec<(String, String)> {
    let (_, _, steps) = world.engine.session(alice, id).await.unwrap();
    let one = |step: domain::Step| {
        let phase = serde_json::to_value(&step.phase).unwrap();
        (step.name.unwrap(), phase["how"].as_str().unwrap_or("running").to_owned())
    };
    steps.into_iter().map(one).collect()
}

pub(crate) fn named(steps: &[(&str, &str)]) -> Vec<(String, String)> {
    steps.iter().map(|(name, how)| ((*name).to_owned(), (*how).to_owned())).collect()
}

#[tokio::test]
async fn steps_run_in_order_and_pass_values_on() {
    let world = World::new(release());
    let alice = world.person("alice").await;
    world.says("the plan", &[]);
    world.says("built", &[]);
    world.says("told", &[]);
    let session = world.opens(&alice, None, Some("release"), json!({ "what": "1.4" })).await;
    let asked = world.asked(&alice).await;
    assert_eq!(asked.question.title, "How is 1.4 built?");
    let draft = AnswerDraft { options: vec!["fast".into()], ..AnswerDraft::default() };
    world.engine.interaction_answer(&alice, asked.id, draft, None).await.unwrap();
    let ended = world.ended(&alice, session.id).await;
    assert_eq!(ended.status(), SessionStatus::Completed);
    let expected = named(&[("plan", "completed"), ("build", "completed"), ("tell", "completed")]);
    assert_eq!(steps(&world, &alice, session.id).await, expected);
    assert_eq!(world.shown()[0], Message::User { content: "Tell".into() });
}

#[tokio::test]
async fn rejection_leads_to_the_step_of_on_rejection() {
    let world = World::new(release());
    let alice = world.person("alice").await;
    world.says("the plan", &[]);
    world.says("told", &[]);
    let session = world.opens(&alice, None, Some("release"), json!({ "what": "1.4" })).await;
    let asked = world.asked(&alice).await;
    world
        .answers(&alice, asked.id, Effect::Reject, AnswerDraft { options: vec!["no".into()], ..AnswerDraft::default() })
        .await;
    world.ended(&alice, session.id).await;
    let expected = named(&[("plan", "completed"), ("build", "rejected"), ("tell", "completed")]);
    assert_eq!(steps(&world, &alice, session.id).await, expected);
}

#[tokio::test]
async fn step_is_retried_up_to_its_attempts_and_then_follows_on_failure() {
    let flow = json!([{ "name": "f", "version": "1", "steps": [
        { "name": "try", "agent": "guide", "input": "Try", "attempts": 2, "delay_seconds": 1, "on_failure": "mend" },
        { "name": "mend", "agent": "guide", "input": "Mend", "on_success": "end" }] }]);
    let world = World::new(flow);
    let alice = world.person("alice").await;
    world.model_fails(ModelError::Unavailable("busy".into()));
    world.model_fails(ModelError::Unavailable("busy".into()));
    world.says("mended", &[]);
    let session = world.opens(&alice, None, Some("f"), Value::Null).await;
    let ended = world.ended(&alice, session.id).await;
    assert_eq!(ended.status(), SessionStatus::Completed);
    let expected = named(&[("try", "failed"), ("try", "failed"), ("mend", "completed")]);
    assert_eq!(steps(&world, &alice, session.id).await, expected);
}

#[tokio::test]
async fn questions_of_a_failed_step_are_cancelled_before_the_next_step() {
    let flow = json!([{ "name": "f", "version": "1", "steps": [
        { "name": "try", "agent": "guide", "input": "Try", "attempts": 1, "on_failure": "mend" },
        { "name": "mend", "agent": "guide", "input": "Mend", "on_success": "end" }] }]);
    let world = World::new(flow);
    let alice = world.person("alice").await;
    let write = [("write_file", json!({ "path": "a" }))];
    // One round of questions more than the limit of a step.
    (0..11).for_each(|_| world.says("I write.", &write));
    world.says("Is this mended?", &[("ask_user_clarify", json!({ "question": "Is it?" }))]);
    let session = world.opens(&alice, None, Some("f"), Value::Null).await;
    for _ in 0..10 {
        let asked = world.asked(&alice).await;
        world.answers(&alice, asked.id, Effect::Approve, AnswerDraft::default()).await;
    }
    world.until(|| async { (steps(&world, &alice, session.id).await.len() == 2).then_some(()) }).await;
    assert_eq!(world.asked(&alice).await.question.title, "Is it?");
    assert_eq!(world.runs().len(), 10);
}

#[tokio::test]
async fn a_failed_step_is_retried_skipped_or_approved_by_a_person() {
    let flow = json!([{ "name": "f", "version": "1", "steps": [
        { "name": "one", "agent": "guide", "input": "One" }, { "name": "two", "agent": "guide", "input": "Two" }] }]);
    for command in [StepCommand::Retry, StepCommand::Skip, StepCommand::Approve(Value::Null)] {
        let world = World::new(flow.clone());
        let alice = world.person("alice").await;
        world.model_fails(ModelError::Refused("no".into()));
        world.says("said", &[]);
        world.says("said", &[]);
        let session = world.opens(&alice, None, Some("f"), Value::Null).await;
        let ended = world.ended(&alice, session.id).await;
        assert_eq!(ended.status(), SessionStatus::Failed);
        world.engine.step_control(&alice, (session.id, None), command.clone(), None, None).await.unwrap();
        let ended = world.ended(&alice, session.id).await;
        assert_eq!(ended.status(), SessionStatus::Completed, "{command:?}");
        let expected = match command {
            StepCommand::Retry => named(&[("one", "failed"), ("one", "completed"), ("two", "completed")]),
            StepCommand::Skip => named(&[("one", "skipped"), ("two", "completed")]),
            StepCommand::Approve(_) => named(&[("one", "completed"), ("two", "completed")]),
        };
        assert_eq!(steps(&world, &alice, session.id).await, expected);
    }
}

#[tokio::test]
async fn template_with_a_missing_value_fails_the_step_with_a_reason() {
    let flow = json!([{ "name": "f", "version": "1", "steps": [
        { "name": "one", "agent": "guide", "input": "Build {{ input.missing }}" }] }]);
    let world = World::new(flow);
    let alice = world.person("alice").await;
    let session = world.opens(&alice, None, Some("f"), json!({})).await;
    let ended = world.ended(&alice, session.id).await;
    assert_eq!(ended.status(), SessionStatus::Failed);
    let reason = ended.ended.unwrap().1.reason.unwrap();
    assert!(reason.contains("input.missing"), "{reason}");
}

#[tokio::test]
async fn earlier_answers_are_suggested_with_their_counts() {
    let flow = json!([{ "name": "f", "version": "1", "steps": [
        { "name": "ask", "question": { "kind": "choice", "title": "Which?",
          "options": [{ "id": "a", "label": "A", "effect": "provide" }, { "id": "b", "label": "B", "effect": "provide" }] } }] }]);
    let world = World::new(flow);
    let alice = world.person("alice").await;
    for choice in ["b", "b", "a"] {
        let session = world.opens(&alice, None, Some("f"), json!({})).await;
        let asked = world.asked(&alice).await;
        let draft = AnswerDraft { options: vec![choice.into()], ..AnswerDraft::default() };
        world.engine.interaction_answer(&alice, asked.id, draft, None).await.unwrap();
        let ended = world.ended(&alice, session.id).await;
        assert_eq!(ended.status(), SessionStatus::Completed);
    }
    world.opens(&alice, None, Some("f"), json!({})).await;
    let asked = world.asked(&alice).await;
    let counted: Vec<_> =
        asked.question.suggestions.iter().map(|one| (one.option.clone().unwrap(), one.count.unwrap())).collect();
    assert_eq!(counted, [("b".to_owned(), 2), ("a".to_owned(), 1)]);
}

#[tokio::test]
async fn earlier_answer_that_does_not_fit_the_form_is_not_suggested() {
    let step = |version: &str, field: &str| {
        json!({ "name": "f", "version": version, "steps": [{ "name": "ask", "question": { "kind": "form", "title": "Fill in",
            "schema": { "type": "object", "required": [field], "properties": { field: { "type": "integer" } } } } }] })
    };
    let world = World::new(json!([step("1", "old"), step("2", "new")]));
    let alice = world.person("alice").await;
    for (version, data, suggested) in
        [("1", json!({ "old": 1 }), 0), ("1", json!({ "old": 1 }), 1), ("2", json!({ "new": 1 }), 0)]
    {
        let start =
            engine::Start { flow: Some("f".into()), flow_version: Some(version.into()), ..engine::Start::default() };
        let session = world.engine.session_start(&alice, start, None).await.unwrap();
        let asked = world.asked(&alice).await;
        assert_eq!(asked.question.suggestions.len(), suggested, "version {version}");
        world.answers(&alice, asked.id, Effect::Provide, AnswerDraft { data, ..AnswerDraft::default() }).await;
        world.ended(&alice, session.id).await;
    }
}

#[tokio::test]
async fn earlier_text_is_suggested_only_for_the_same_question() {
    let world = World::new(json!([]));
    let alice = world.person("alice").await;
    let mut suggested = Vec::new();
    for (question, answer) in [("Your name?", "Ada"), ("Which port?", "80"), ("Your name?", "Ada")] {
        world.says("I ask.", &[("ask_user_clarify", json!({ "question": question }))]);
        world.says("Thanks.", &[]);
        let session = world.opens(&alice, Some("guide"), None, json!("Go")).await;
        let asked = world.asked(&alice).await;
        suggested.push(asked.question.suggestions.iter().map(|one| one.data.clone()).collect::<Vec<_>>());
        world
            .answers(&alice, asked.id, Effect::Provide, AnswerDraft { data: json!(answer), ..AnswerDraft::default() })
            .await;
        world.ended(&alice, session.id).await;
    }
    assert_eq!(suggested, [vec![], vec![], vec![json!("Ada")]]);
}
