//! Permissions to steer a step, and the fate of the questions and messages that a step leaves.

use std::sync::atomic::Ordering;

use domain::{AnswerDraft, Caller, Command, Effect, Refusal, Role, Session, SessionStatus};
use engine::{Error, StepCommand};
use holdpoint_agent::model::{Message, ModelError};
use serde_json::{Value, json};

use crate::worker::flows::{named, steps};
use crate::worker::world::World;

/// A flow whose `deploy` step follows a question to this audience.
fn gated(audience: &Value) -> Value {
    let question = json!({ "kind": "approval", "title": "Deploy?", "audience": audience });
    json!([{ "name": "f", "version": "1", "steps": [
        { "name": "gate", "question": question }, { "name": "deploy", "agent": "guide", "input": "Deploy" }] }])
}

async fn commands(world: &World, by: &Caller, session: &Session, command: StepCommand) -> Result<Session, Error> {
    world.engine.step_control(by, (session.id, None), command, None, None).await
}

fn both() -> [StepCommand; 2] {
    [StepCommand::Skip, StepCommand::Approve(json!({ "by": "alice", "effect": "approve" }))]
}

#[tokio::test]
async fn agent_key_cannot_skip_or_approve_a_step_with_a_question() {
    let world = World::new(gated(&json!({})));
    let (bob, bot) = (world.person("bob").await, world.key("bot", Role::Agent).await);
    let session = world.opens(&bot, None, Some("f"), Value::Null).await;
    let asked = world.asked(&bob).await;
    for answered in [false, true] {
        if answered {
            world.answers(&bob, asked.id, Effect::Reject, AnswerDraft::default()).await;
            world.ended(&bob, session.id).await;
        }
        for command in both() {
            let refused = commands(&world, &bot, &session, command).await;
            assert!(matches!(refused, Err(Error::Refused(Refusal::RoleForbids { .. }))), "{refused:?}");
        }
    }
    assert_eq!(world.turns(), 0, "nothing was deployed");
    // Nor may an agent's key have the question asked again, or complete the session while the question is open.
    let refused = commands(&world, &bot, &session, StepCommand::Retry).await;
    assert!(matches!(refused, Err(Error::Refused(Refusal::RoleForbids { .. }))), "{refused:?}");
    commands(&world, &bob, &session, StepCommand::Retry).await.unwrap();
    assert_ne!(world.asked(&bob).await.id, asked.id);
    let refused = world.engine.session_control(&bot, session.id, Command::Complete, None, None).await;
    assert!(matches!(refused, Err(Error::Refused(Refusal::QuestionInvalid(_)))), "{refused:?}");
    assert_eq!(world.engine.session(&bob, session.id).await.unwrap().0.status(), SessionStatus::WaitingUserInput);
}

#[tokio::test]
async fn caller_outside_the_audience_cannot_skip_or_approve_the_step() {
    let check = |audience: Value, by: &'static str, expected: &'static str| async move {
        let world = World::new(gated(&audience));
        let alice = world.person("alice").await;
        let caller = if by == "alice" { alice.clone() } else { world.key(by, Role::Admin).await };
        let session = world.opens(&alice, None, Some("f"), Value::Null).await;
        world
            .until(|| async { world.engine.session(&alice, session.id).await.ok().filter(|found| found.0.open > 0) })
            .await;
        for command in both() {
            let refused = format!("{:?}", commands(&world, &caller, &session, command).await.unwrap_err());
            assert!(refused.contains(expected), "{audience} {by}: {refused}");
        }
        assert_eq!(steps(&world, &alice, session.id).await, named(&[("gate", "running")]));
    };
    check(json!({ "users": ["bob"] }), "alice", "NotInAudience").await;
    check(json!({ "users": ["bob"] }), "root", "NotInAudience").await;
    check(json!({ "four_eyes": true }), "alice", "FourEyes").await;
    check(json!({ "quorum": 2 }), "root", "several people").await;
}

#[tokio::test]
async fn caller_in_the_audience_can_skip_the_step() {
    let world = World::new(gated(&json!({ "users": ["bob"] })));
    let (alice, bob) = (world.person("alice").await, world.person("bob").await);
    world.says("Deployed.", &[]);
    let session = world.opens(&alice, None, Some("f"), Value::Null).await;
    world.asked(&bob).await;
    commands(&world, &bob, &session, StepCommand::Skip).await.unwrap();
    assert_eq!(world.ended(&alice, session.id).await.status(), SessionStatus::Completed);
    assert_eq!(steps(&world, &alice, session.id).await, named(&[("gate", "skipped"), ("deploy", "completed")]));
}

#[tokio::test]
async fn agent_cannot_resume_a_session_that_a_person_paused() {
    let world = World::new(json!([]));
    let (alice, bot) = (world.person("alice").await, world.key("bot", Role::Agent).await);
    let session = world.opens(&bot, Some("guide"), None, Value::Null).await;
    world.engine.session_control(&alice, session.id, Command::Pause, None, None).await.unwrap();
    let refused = world.engine.session_control(&bot, session.id, Command::Resume, None, None).await;
    assert!(matches!(refused, Err(Error::Refused(Refusal::RoleForbids { .. }))), "{refused:?}");
    world.engine.session_control(&alice, session.id, Command::Resume, None, None).await.unwrap();
    world.engine.session_control(&bot, session.id, Command::Pause, None, None).await.unwrap();
    world.engine.session_control(&bot, session.id, Command::Resume, None, None).await.unwrap();
    // A person may also pause a session that an agent has paused; then only a person can resume it.
    world.engine.session_control(&bot, session.id, Command::Pause, None, None).await.unwrap();
    world.engine.session_control(&alice, session.id, Command::Pause, None, None).await.unwrap();
    for (by, command) in [(&bot, Command::Pause), (&alice, Command::Pause), (&bot, Command::Resume)] {
        world.engine.session_control(by, session.id, command, None, None).await.unwrap_err();
    }
    world.engine.session_control(&alice, session.id, Command::Resume, None, None).await.unwrap();

    let hers = world.opens(&alice, Some("guide"), None, json!("Go")).await;
    let namesake = world.key("alice", Role::Agent).await;
    let refused = world.engine.session_control(&namesake, hers.id, Command::Cancel, None, None).await;
    assert!(matches!(refused, Err(Error::Refused(Refusal::NotFound("session")))), "{refused:?}");
}

#[tokio::test]
async fn actions_of_a_skipped_step_are_neither_started_nor_asked_about() {
    let flow = json!([{ "name": "f", "version": "1", "steps": [
        { "name": "one", "agent": "guide", "input": "One" }, { "name": "two", "agent": "guide", "input": "Two" }] }]);
    let world = World::new(flow);
    let alice = world.person("alice").await;
    world.says("Open it.", &[("open_editor", json!({ "line": 1 }))]);
    world.says("Why?", &[("ask_user_clarify", json!({ "question": "Why?" }))]);
    let session = world.opens(&alice, None, Some("f"), Value::Null).await;
    let asked = world.asked(&alice).await;
    let call = asked.question.call_id.clone().unwrap();
    world.answers(&alice, asked.id, Effect::Approve, AnswerDraft::default()).await;
    let acted = world.engine.action_get(&alice, session.id, call.clone(), std::time::Duration::ZERO).await.unwrap();
    commands(&world, &alice, &session, StepCommand::Skip).await.unwrap();
    let started = world.engine.action_start(&alice, (session.id, call), acted.permit.unwrap(), None, None).await;
    assert!(matches!(started, Err(Error::Refused(Refusal::ActionStepEnded))), "{started:?}");
    assert_eq!(world.asked(&alice).await.question.title, "Why?", "the next step alone asks");
}

#[tokio::test]
async fn running_tool_of_a_skipped_step_asks_no_question() {
    let flow = json!([{ "name": "f", "version": "1", "steps": [
        { "name": "one", "agent": "guide", "input": "One" }, { "name": "two", "agent": "guide", "input": "Two" }] }]);
    let world = World::new(flow);
    let alice = world.person("alice").await;
    world.says("I write.", &[("write_file", json!({ "path": "a", "until_cut": true }))]);
    world.says("Done.", &[]);
    let session = world.opens(&alice, None, Some("f"), Value::Null).await;
    let asked = world.asked(&alice).await;
    world.answers(&alice, asked.id, Effect::Approve, AnswerDraft::default()).await;
    world.until(|| async { (world.runs().len() == 1).then_some(()) }).await;
    commands(&world, &alice, &session, StepCommand::Skip).await.unwrap();
    assert_eq!(world.ended(&alice, session.id).await.status(), SessionStatus::Completed);
    assert_eq!(world.open(&alice, 0).await, []);
}

#[tokio::test]
async fn message_between_attempts_is_shown_at_the_next_turn() {
    let flow = json!([{ "name": "f", "version": "1", "steps": [
        { "name": "try", "agent": "guide", "input": "Try", "attempts": 2, "delay_seconds": 3600 }] }]);
    let world = World::new(flow);
    let alice = world.person("alice").await;
    world.model_fails(ModelError::Unavailable("busy".into()));
    world.says("Then not.", &[]);
    let session = world.opens(&alice, None, Some("f"), Value::Null).await;
    world.until(|| async { (steps(&world, &alice, session.id).await.len() == 2).then_some(()) }).await;
    world.engine.session_message(&alice, session.id, "Stop.".into(), false, None).await.unwrap();
    let (_, _, found) = world.engine.session(&alice, session.id).await.unwrap();
    assert!(found[1].in_trouble().is_some(), "the step still waits and shows the reason");
    commands(&world, &alice, &session, StepCommand::Retry).await.unwrap();
    world.ended(&alice, session.id).await;
    assert_eq!(world.shown().last(), Some(&Message::User { content: "Stop.".into() }));
    assert_eq!(world.turns(), 2, "the last turn of the model has read the message");
}

#[tokio::test]
async fn retried_model_reads_that_tools_no_longer_get_its_secrets() {
    let world = World::new(json!([]));
    let alice = world.person("alice").await;
    let ask = json!({ "question": "The key?", "secrets": [{ "name": "TOKEN" }] });
    world.says("I need a key.", &[("ask_user_secret", ask)]);
    world.model_fails(ModelError::Refused("no".into()));
    world.says("I ask again.", &[]);
    let session = world.opens(&alice, Some("guide"), None, json!("Go")).await;
    let asked = world.asked(&alice).await;
    let draft = AnswerDraft { data: json!({ "TOKEN": "s3cr3t" }), ..AnswerDraft::default() };
    world.engine.interaction_answer(&alice, asked.id, draft, None).await.unwrap();
    world.ended(&alice, session.id).await;
    commands(&world, &alice, &session, StepCommand::Retry).await.unwrap();
    world.ended(&alice, session.id).await;
    let Some(Message::User { content }) = world.shown().last().cloned() else { unreachable!("{:?}", world.shown()) };
    assert!(content.contains("Your tools no longer get the secret values"), "{content}");
}

#[tokio::test]
async fn message_after_the_last_turn_gives_the_model_another_turn() {
    let world = World::new(json!([]));
    let alice = world.person("alice").await;
    world.says("Done.", &[]);
    world.says("That too.", &[]);
    world.play.slow.store(true, Ordering::Release);
    let session = world.opens(&alice, Some("guide"), None, json!("Go")).await;
    world.until(|| async { (world.turns() == 1).then_some(()) }).await;
    world.engine.session_control(&alice, session.id, Command::Pause, None, None).await.unwrap();
    world.play.slow.store(false, Ordering::Release);
    let spoken = |event: &domain::Event| event.name == "model.turn";
    world.until(|| async { world.events(&alice, session.id).await.iter().any(spoken).then_some(()) }).await;
    world.engine.session_message(&alice, session.id, "One more thing.".into(), false, None).await.unwrap();
    world.engine.session_control(&alice, session.id, Command::Resume, None, None).await.unwrap();
    assert_eq!(world.ended(&alice, session.id).await.status(), SessionStatus::Completed);
    assert_eq!(world.shown().last(), Some(&Message::User { content: "One more thing.".into() }));
    assert_eq!(world.turns(), 2);
}

#[tokio::test]
async fn message_to_a_step_without_an_agent_is_refused() {
    let world = World::new(gated(&json!({})));
    let bob = world.person("bob").await;
    let session = world.opens(&bob, None, Some("f"), Value::Null).await;
    world.asked(&bob).await;
    let refused = world.engine.session_message(&bob, session.id, "Go on.".into(), false, None).await;
    assert!(matches!(refused, Err(Error::Refused(Refusal::NobodyListens))), "{refused:?}");
}

#[tokio::test]
async fn session_that_its_agent_failed_can_be_retried() {
    let world = World::new(json!([]));
    let (alice, bot) = (world.person("alice").await, world.key("bot", Role::Agent).await);
    world.says("Which?", &[("ask_user_clarify", json!({ "question": "Which?" }))]);
    world.says("Then all.", &[]);
    let session = world.opens(&bot, Some("guide"), None, json!("Go")).await;
    world.asked(&alice).await;
    world.engine.session_control(&bot, session.id, Command::Fail, Some("enough".into()), None).await.unwrap();
    commands(&world, &alice, &session, StepCommand::Retry).await.unwrap();
    assert_eq!(world.ended(&alice, session.id).await.status(), SessionStatus::Completed);
    assert_eq!(world.turns(), 2);
}

#[tokio::test]
async fn question_answered_with_retry_in_the_first_step_is_asked_again() {
    let flow = json!([{ "name": "f", "version": "1", "steps": [
        { "name": "deploy", "agent": "guide", "input": "Deploy", "question": { "kind": "approval", "title": "Deploy?" } }] }]);
    let world = World::new(flow);
    let bob = world.person("bob").await;
    world.says("Deployed.", &[]);
    let session = world.opens(&bob, None, Some("f"), Value::Null).await;
    let first = world.asked(&bob).await;
    world.engine.session_message(&bob, session.id, "Be quick.".into(), false, None).await.unwrap();
    world
        .answers(
            &bob,
            first.id,
            Effect::Retry,
            AnswerDraft { feedback: Some("not yet".into()), ..AnswerDraft::default() },
        )
        .await;
    assert_eq!(world.ended(&bob, session.id).await.status(), SessionStatus::Failed);
    commands(&world, &bob, &session, StepCommand::Retry).await.unwrap();
    let second = world.asked(&bob).await;
    assert_ne!(first.id, second.id);
    world.answers(&bob, second.id, Effect::Approve, AnswerDraft::default()).await;
    assert_eq!(world.ended(&bob, session.id).await.status(), SessionStatus::Completed);
    let user = |content: &str| Message::User { content: content.into() };
    assert_eq!(world.shown_at(0), [user("Deploy"), user("Be quick.")], "the task comes first");
}

#[tokio::test]
async fn question_shows_replaced_content_only_if_reading_it_is_allowed() {
    let check = |rules: &'static str, (path, old): (&'static str, String), expected: Value| async move {
        let world = World::new(json!([]));
        world.rules(rules).await;
        let alice = world.person("alice").await;
        world.says("I write.", &[("write_file", json!({ "path": path, "content": "new", "replaces": old }))]);
        world.opens(&alice, Some("guide"), None, json!("Go")).await;
        assert_eq!(world.asked(&alice).await.question.context, expected, "{path}");
    };
    let rules = r#"
version = 1
[[rule]]
name = "reads"
tools = ["read_file"]
verdict = "allow"
when = 'args.path == "a"'
"#;
    check(rules, ("a", "old".into()), json!({ "before": "old" })).await;
    check(rules, ("b", "old".into()), Value::Null).await;
    // The arguments and the replaced content together are too large for a question.
    check(rules, ("a", "\u{1}".repeat(20 << 10)), Value::Null).await;
}

#[tokio::test]
async fn message_to_a_skipped_step_is_shown_to_the_next_step() {
    for effect in [Effect::Skip, Effect::Retry] {
        let question = json!({ "kind": "approval", "title": "Two?", "options": [
            { "id": "yes", "label": "Yes", "effect": "approve" },
            { "id": "without", "label": "Without it", "effect": "skip" },
            { "id": "again", "label": "Once more", "effect": "retry" }] });
        let flow = json!([{ "name": "f", "version": "1", "steps": [
            { "name": "one", "agent": "guide", "input": "One" },
            { "name": "two", "agent": "guide", "input": "Two", "question": question },
            { "name": "three", "agent": "guide", "input": "Three" }] }]);
        let world = World::new(flow);
        let bob = world.person("bob").await;
        world.says("One is done.", &[]);
        world.says("It is done again, or three is.", &[]);
        let session = world.opens(&bob, None, Some("f"), Value::Null).await;
        let asked = world.asked(&bob).await;
        world.engine.session_message(&bob, session.id, "Mind the gap.".into(), false, None).await.unwrap();
        world
            .answers(&bob, asked.id, effect, AnswerDraft { feedback: Some("so".into()), ..AnswerDraft::default() })
            .await;
        world.until(|| async { (world.turns() == 2).then_some(()) }).await;
        let said = Message::User { content: "Mind the gap.".into() };
        assert_eq!(world.shown_at(1).iter().filter(|one| **one == said).count(), 1, "{effect:?}");
    }
}

#[tokio::test]
async fn retried_conversation_without_messages_waits_for_one() {
    let world = World::new(json!([]));
    let (alice, bot) = (world.person("alice").await, world.key("bot", Role::Agent).await);
    world.says("Hello.", &[]);
    let session = world.opens(&bot, Some("guide"), None, Value::Null).await;
    world.engine.session_control(&bot, session.id, Command::Fail, None, None).await.unwrap();
    commands(&world, &alice, &session, StepCommand::Retry).await.unwrap();
    world.engine.session_message(&alice, session.id, "Hello?".into(), false, None).await.unwrap();
    world.until(|| async { (world.turns() == 1).then_some(()) }).await;
    assert_eq!(world.shown(), [Message::User { content: "Hello?".into() }]);
}

#[tokio::test]
async fn replaced_secret_stays_redacted() {
    let world = World::new(json!([]));
    world.rules("version = 1\n[[rule]]\nname = \"reads\"\ntools = [\"read_file\"]\nverdict = \"allow\"\n").await;
    let alice = world.person("alice").await;
    for value in ["f1rst-value", "s3cond-value"] {
        let ask = json!({ "question": "The key?", "secrets": [{ "name": "TOKEN" }], "fresh": true });
        world.says("I need a key.", &[("ask_user_secret", ask)]);
        if value.starts_with('s') {
            world.says("I write.", &[("write_file", json!({ "path": "a", "replaces": "f1rst-value, s3cond-value" }))]);
        }
    }
    world.opens(&alice, Some("guide"), None, json!("Go")).await;
    for value in ["f1rst-value", "s3cond-value"] {
        let asked = world.asked(&alice).await;
        let draft = AnswerDraft { data: json!({ "TOKEN": value }), ..AnswerDraft::default() };
        world.engine.interaction_answer(&alice, asked.id, draft, None).await.unwrap();
    }
    let asked = world.asked(&alice).await;
    assert_eq!(asked.question.context, json!({ "before": "[secret TOKEN], [secret TOKEN]" }));
    world.answers(&alice, asked.id, Effect::Approve, AnswerDraft::default()).await;
    world.until(|| async { (!world.secrets().is_empty()).then_some(()) }).await;
    assert_eq!(
        world.secrets(),
        [[("TOKEN".to_owned(), "s3cond-value".to_owned())].into()],
        "tools get the later value"
    );
}
