//! A step that is retried continues where the previous attempt ended, without repeating anything.

use domain::{AnswerDraft, Caller, Command, Effect, Outcome, Refusal, Role, Session, SessionStatus, StepStatus};
use engine::{Error, StepCommand};
use holdpoint_agent::model::{Message, ModelError};
use serde_json::{Value, json};

use crate::worker::flows::{named, steps};
use crate::worker::world::{SOON, World, results};

fn flow(steps: Value) -> Value {
    json!([{ "name": "f", "version": "1", "steps": steps }])
}

fn user(content: &str) -> Message {
    Message::User { content: content.into() }
}

async fn commands(world: &World, by: &Caller, session: &Session, command: StepCommand) -> Result<Session, Error> {
    world.engine.step_control(by, (session.id, None), command, None, None).await
}

#[tokio::test]
async fn next_attempt_knows_earlier_results_and_repeats_no_action() {
    let world = World::new(flow(json!([
        { "name": "try", "agent": "guide", "input": "Try", "attempts": 2, "delay_seconds": 1 }])));
    let alice = world.person("alice").await;
    world.says("I write.", &[("write_file", json!({ "path": "a" }))]);
    world.model_fails(ModelError::Unavailable("busy".into()));
    world.says("I write on.", &[("write_file", json!({ "path": "b" }))]);
    world.says("Done.", &[]);
    let session = world.opens(&alice, None, Some("f"), Value::Null).await;
    for path in ["a", "b"] {
        let asked = world.asked(&alice).await;
        assert_eq!(asked.question.call.as_ref().unwrap().arguments["path"], path);
        world.answers(&alice, asked.id, Effect::Approve, AnswerDraft::default()).await;
    }
    assert_eq!(world.ended(&alice, session.id).await.status(), SessionStatus::Completed);
    assert_eq!(steps(&world, &alice, session.id).await, named(&[("try", "failed"), ("try", "completed")]));
    assert_eq!(world.runs().len(), 2);
    assert_eq!(results(&world.shown()).len(), 2, "the last turn has read both results");
    assert_eq!(world.turns(), 4, "the model was not asked again for earlier turns");
}

#[tokio::test]
async fn retried_conversation_keeps_its_history_and_open_message() {
    let world = World::new(json!([]));
    let alice = world.person("alice").await;
    let session = world.opens(&alice, Some("guide"), None, Value::Null).await;
    world.says("Hello.", &[]);
    world.engine.session_message(&alice, session.id, "Hi".into(), false, None).await.unwrap();
    world.until(|| async { (world.turns() == 1).then_some(()) }).await;
    world.model_fails(ModelError::Refused("no".into()));
    world.engine.session_message(&alice, session.id, "And now?".into(), false, None).await.unwrap();
    assert_eq!(world.ended(&alice, session.id).await.status(), SessionStatus::Failed);
    world.says("Now this.", &[]);
    commands(&world, &alice, &session, StepCommand::Retry).await.unwrap();
    world.until(|| async { (world.turns() == 3).then_some(()) }).await;
    let shown = world.shown();
    assert_eq!((&shown[0], shown.len()), (&user("Hi"), 3));
    assert_eq!(shown[2], user("And now?"));
}

#[tokio::test]
async fn model_gets_another_turn_if_its_output_cannot_be_passed_on() {
    let world = World::new(flow(json!([
        { "name": "plan", "agent": "guide", "input": "Plan", "attempts": 2, "delay_seconds": 1,
          "pass": { "days": "{{ output.data.days }}" } },
        { "name": "tell", "agent": "guide", "input": "Tell {{ shared.days }}" }])));
    let alice = world.person("alice").await;
    world.says("Three days.", &[]);
    world.says(r#"{"days": 3}"#, &[]);
    world.says("Told.", &[]);
    let session = world.opens(&alice, None, Some("f"), Value::Null).await;
    assert_eq!(world.ended(&alice, session.id).await.status(), SessionStatus::Completed);
    let expected = named(&[("plan", "failed"), ("plan", "completed"), ("tell", "completed")]);
    assert_eq!(steps(&world, &alice, session.id).await, expected);
    let second = world.shown_at(1);
    let Message::User { content } = &second[2] else { unreachable!("{second:?}") };
    assert!(content.contains("pass.days"), "{content}");
    assert_eq!(world.shown()[0], user("Tell 3"));
}

#[tokio::test]
async fn output_that_cannot_be_passed_on_follows_on_failure() {
    let plan = json!({ "name": "plan", "agent": "guide", "input": "Plan", "pass": { "days": "{{ output.data.days }}" },
                       "on_failure": "mend" });
    let mend = json!({ "name": "mend", "agent": "guide", "input": "Mend", "on_success": "end" });
    let world = World::new(flow(json!([plan, mend])));
    let alice = world.person("alice").await;
    world.says("Three days.", &[]);
    world.says("Mended.", &[]);
    let session = world.opens(&alice, None, Some("f"), Value::Null).await;
    assert_eq!(world.ended(&alice, session.id).await.status(), SessionStatus::Completed);
    assert_eq!(steps(&world, &alice, session.id).await, named(&[("plan", "failed"), ("mend", "completed")]));

    let mut plan = plan;
    plan.as_object_mut().unwrap().remove("on_failure");
    let tell = json!({ "name": "tell", "agent": "guide", "input": "Tell {{ shared.days }} of {{ steps.plan.output.data.days }}" });
    let world = World::new(flow(json!([plan, tell])));
    let alice = world.person("alice").await;
    world.says("Three days.", &[]);
    world.says("Told.", &[]);
    let session = world.opens(&alice, None, Some("f"), Value::Null).await;
    let ended = world.ended(&alice, session.id).await;
    assert!(ended.ended.unwrap().1.reason.unwrap().contains("pass.days"));
    let refused = commands(&world, &alice, &session, StepCommand::Approve(json!({ "data": {} }))).await;
    let Err(Error::Refused(Refusal::QuestionInvalid(problems))) = refused else { unreachable!("{refused:?}") };
    assert_eq!(problems[0].pointer, "/output");
    assert_eq!(steps(&world, &alice, session.id).await, named(&[("plan", "failed")]), "a refused command does nothing");
    commands(&world, &alice, &session, StepCommand::Approve(json!({ "data": { "days": 4 } }))).await.unwrap();
    assert_eq!(world.ended(&alice, session.id).await.status(), SessionStatus::Completed);
    assert_eq!(world.shown()[0], user("Tell 4 of 4"));
}

#[tokio::test]
async fn scheduled_attempt_can_be_started_early_and_a_running_one_not() {
    let world = World::new(flow(json!([
        { "name": "try", "agent": "guide", "input": "Try", "attempts": 2, "delay_seconds": 3600 }])));
    let alice = world.person("alice").await;
    world.model_fails(ModelError::Unavailable("busy".into()));
    world.says("I write.", &[("write_file", json!({ "path": "a" }))]);
    let session = world.opens(&alice, None, Some("f"), Value::Null).await;
    world.until(|| async { (steps(&world, &alice, session.id).await.len() == 2).then_some(()) }).await;
    commands(&world, &alice, &session, StepCommand::Retry).await.unwrap();
    world.asked(&alice).await;
    let refused = commands(&world, &alice, &session, StepCommand::Retry).await;
    assert!(matches!(refused, Err(Error::Refused(Refusal::StepNotFailed))), "{refused:?}");
}

#[tokio::test]
async fn retry_of_a_step_without_an_agent_asks_people_again() {
    let world = World::new(flow(json!([
        { "name": "plan", "question": { "kind": "form", "title": "Days?", "schema": { "type": "object" } },
          "pass": { "days": "{{ output.data.days }}" } }])));
    let alice = world.person("alice").await;
    let session = world.opens(&alice, None, Some("f"), Value::Null).await;
    let first = world.asked(&alice).await;
    world.answers(&alice, first.id, Effect::Provide, AnswerDraft { data: json!({}), ..AnswerDraft::default() }).await;
    assert_eq!(world.ended(&alice, session.id).await.status(), SessionStatus::Failed);
    commands(&world, &alice, &session, StepCommand::Retry).await.unwrap();
    let second = world.asked(&alice).await;
    assert_ne!(first.id, second.id);
    world
        .answers(
            &alice,
            second.id,
            Effect::Provide,
            AnswerDraft { data: json!({ "days": 1 }), ..AnswerDraft::default() },
        )
        .await;
    assert_eq!(world.ended(&alice, session.id).await.status(), SessionStatus::Completed);
}

#[tokio::test]
async fn cancelled_step_records_its_reason() {
    for terminated in [false, true] {
        let world = World::new(json!([]));
        let alice = world.person("alice").await;
        world.rules(crate::worker::answer_effects::RULES).await;
        world.says("I write.", &[("write_file", json!({ "path": "a" }))]);
        let session = world.opens(&alice, Some("guide"), None, json!("Go")).await;
        let asked = world.asked(&alice).await;
        if terminated {
            let stop = AnswerDraft { options: vec!["stop".into()], ..AnswerDraft::default() };
            world.engine.interaction_answer(&alice, asked.id, stop, None).await.unwrap();
        } else {
            let reason = Some("enough".to_owned());
            world.engine.session_control(&alice, session.id, domain::Command::Cancel, reason, None).await.unwrap();
        }
        let events = world.events(&alice, session.id).await;
        let why = if terminated { "ended by alice" } else { "enough" };
        for name in ["step.cancelled", "session.cancelled"] {
            let told: Vec<_> = events.iter().filter(|event| event.name == name).collect();
            assert_eq!((told.len(), told[0].data["reason"].as_str()), (1, Some(why)), "{name}");
        }
        let (_, _, steps) = world.engine.session(&alice, session.id).await.unwrap();
        assert_eq!(steps[0].status(0), StepStatus::Cancelled);
    }
}

#[tokio::test]
async fn interrupted_tool_asks_people_about_its_outcome() {
    let mut world = World::new(json!([]));
    let alice = world.person("alice").await;
    world.says("I write.", &[("write_file", json!({ "path": "a", "until_cut": true }))]);
    let session = world.opens(&alice, Some("guide"), None, json!("Go")).await;
    let asked = world.asked(&alice).await;
    world.answers(&alice, asked.id, Effect::Approve, AnswerDraft::default()).await;
    world.until(|| async { (world.runs().len() == 1).then_some(()) }).await;
    world.stop().await;
    world.work();
    let asked = world.asked(&alice).await;
    assert_eq!(asked.question.title, "What happened to write_file?");
    world.says("I see.", &[]);
    world
        .engine
        .interaction_answer(
            &alice,
            asked.id,
            AnswerDraft { options: vec!["it_ran".into()], ..AnswerDraft::default() },
            None,
        )
        .await
        .unwrap();
    world.ended(&alice, session.id).await;
    assert_eq!(world.runs().len(), 1);
}

#[tokio::test]
async fn approved_action_runs_while_another_tool_is_running() {
    let mut world = World::new(json!([]));
    world.rules("version = 1\n[[rule]]\nname = \"lists\"\ntools = [\"list_files\"]\nverdict = \"allow\"\n").await;
    let alice = world.person("alice").await;
    world.says("Both.", &[("list_files", json!({ "until_cut": true })), ("read_file", json!({ "path": "a" }))]);
    world.opens(&alice, Some("guide"), None, json!("Go")).await;
    let asked = world.asked(&alice).await;
    world.until(|| async { (world.runs().len() == 1).then_some(()) }).await;
    world.answers(&alice, asked.id, Effect::Approve, AnswerDraft::default()).await;
    world.until(|| async { (world.runs().len() == 2).then_some(()) }).await;
    assert_eq!(world.runs()[1].0, "read_file");
    world.stop().await;
}

#[tokio::test]
async fn next_attempt_reads_how_the_open_calls_of_the_last_one_ended() {
    let world = World::new(json!([]));
    let (alice, bot) = (world.person("alice").await, world.key("bot", Role::Agent).await);
    world.says(
        "All at once.",
        &[
            ("write_file", json!({ "path": "a" })),
            ("write_file", json!({ "path": "b" })),
            ("open_editor", json!({ "line": 1 })),
            ("ask_user_clarify", json!({ "question": "Which?" })),
            ("open_editor", json!({ "line": 2 })),
        ],
    );
    world.says("I see.", &[]);
    let session = world.opens(&bot, Some("guide"), None, json!("Go")).await;
    let open = world.open(&alice, 5).await;
    let of = |call: &str| open.iter().find(|asked| asked.question.call_id.as_deref() == Some(call)).unwrap().id;
    let (first, editor, later) = (of("s1t1c0"), of("s1t1c2"), of("s1t1c4"));
    let which = open.iter().find(|asked| asked.question.title == "Which?").unwrap().id;
    world.answers(&alice, editor, Effect::Approve, AnswerDraft::default()).await;
    let place = (session.id, "s1t1c2".to_owned());
    let acted = world.engine.action_get(&bot, place.0, place.1.clone(), SOON).await.unwrap();
    world.engine.action_start(&bot, place.clone(), acted.permit.unwrap(), None, None).await.unwrap();
    world.answers(&alice, later, Effect::Approve, AnswerDraft::default()).await;
    let unspent = (session.id, "s1t1c4".to_owned());
    let allowed = world.engine.action_get(&bot, unspent.0, unspent.1.clone(), SOON).await.unwrap();
    // The session is paused, so that no worker journals the reports and answers that follow.
    world.engine.session_control(&alice, session.id, Command::Pause, None, None).await.unwrap();
    let broke = Outcome::Failed { message: "no such line".into(), result: Value::Null };
    world.engine.action_outcome(&bot, place, broke, None, None).await.unwrap();
    world
        .answers(
            &alice,
            first,
            Effect::Reject,
            AnswerDraft { feedback: Some("not a".into()), ..AnswerDraft::default() },
        )
        .await;
    world
        .engine
        .interaction_answer(&alice, which, AnswerDraft { data: json!("that one"), ..AnswerDraft::default() }, None)
        .await
        .unwrap();
    world.engine.session_control(&bot, session.id, Command::Fail, Some("enough".into()), None).await.unwrap();
    commands(&world, &alice, &session, StepCommand::Retry).await.unwrap();
    world.engine.session_control(&alice, session.id, Command::Resume, None, None).await.unwrap();
    assert_eq!(world.ended(&alice, session.id).await.status(), SessionStatus::Completed);
    let told = results(&world.shown());
    assert_eq!(told[0], ("This was not run: a person (alice) rejected it.\nReason: not a".into(), false));
    let withdrawn = "This was not run. The question was withdrawn before anybody had answered it.";
    assert_eq!(told[1], (withdrawn.into(), false));
    assert_eq!(told[2], ("This failed: no such line".into(), true));
    assert_eq!(told[3], ("A person (alice) answered.\nGiven: that one".into(), false));
    assert_eq!(told[4], ("This failed: its step ended before it started: enough".into(), true));
    let void = world.engine.action_start(&bot, unspent, allowed.permit.unwrap(), None, None).await;
    assert!(void.is_err(), "a permit of the failed attempt is void");
    assert_eq!((world.runs().len(), world.turns()), (0, 2));
}
