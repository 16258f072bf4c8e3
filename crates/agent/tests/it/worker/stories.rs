//! Stories of one agent and the people around it.

use domain::{AnswerDraft, Effect, SessionStatus};
use holdpoint_agent::model::{Message, ModelError};
use serde_json::{Value, json};

use crate::worker::world::{World, results};

fn write(path: &str) -> (&'static str, Value) {
    ("write_file", json!({ "path": path, "content": "x" }))
}

#[tokio::test]
async fn a_task_without_questions_runs_to_its_end() {
    let world = World::new(json!([]));
    let alice = world.person("alice").await;
    world.says("I look.", &[("read_file", json!({ "path": "a" })), ("list_files", json!({ "path": "." }))]);
    world.says("All is well.", &[]);
    let session = world.opens(&alice, Some("guide"), None, json!("Look around")).await;
    let ended = world.ended(&alice, session.id).await;
    assert_eq!(ended.status(), SessionStatus::Completed);
    assert_eq!(world.runs().len(), 2);
    let shown = world.shown();
    assert_eq!(shown[0], Message::User { content: "Look around".into() });
    assert_eq!(results(&shown).len(), 2);
    let (_, _, steps) = world.engine.session(&alice, session.id).await.unwrap();
    let phase = serde_json::to_value(&steps[0].phase).unwrap();
    assert_eq!((&phase["how"], &phase["output"]["text"]), (&json!("completed"), &json!("All is well.")));
    let names: Vec<String> = world.events(&alice, session.id).await.into_iter().map(|event| event.name).collect();
    for name in ["session.started", "step.begun", "model.turn", "action.allowed", "action.started", "action.done"] {
        assert!(names.iter().any(|known| known == name), "{name} in {names:?}");
    }
    assert_eq!(names.last().unwrap(), "session.completed");
}

#[tokio::test]
async fn turn_continues_when_all_its_parallel_calls_are_settled() {
    let world = World::new(json!([]));
    let alice = world.person("alice").await;
    let calls = [write("a"), ("read_file", json!({ "path": "r" })), write("b"), write("c")];
    world.says("All at once.", &calls);
    world.says("Done.", &[]);
    let session = world.opens(&alice, Some("guide"), None, json!("Go")).await;
    let asked = world.open(&alice, 3).await;
    // The answers come out of order on purpose.
    world.answers(&alice, asked[2].id, Effect::Approve, AnswerDraft::default()).await;
    let no = AnswerDraft { feedback: Some("no".into()), ..AnswerDraft::default() };
    world.answers(&alice, asked[0].id, Effect::Reject, no).await;
    assert_eq!(world.turns(), 1);
    world.answers(&alice, asked[1].id, Effect::Approve, AnswerDraft::default()).await;
    world.ended(&alice, session.id).await;
    assert_eq!(world.turns(), 2);
    let told = results(&world.shown());
    assert_eq!(told.len(), 4);
    assert!(told[0].0.contains("no"), "{told:?}");
    let ran: Vec<Value> = world.runs().into_iter().map(|(_, arguments)| arguments["path"].clone()).collect();
    assert_eq!(ran.len(), 3);
    assert!(!ran.contains(&json!("a")));
}

#[tokio::test]
async fn model_asks_people_and_reads_the_chosen_option() {
    let world = World::new(json!([]));
    let alice = world.person("alice").await;
    let arguments = json!({ "question": "Which?", "options": [
        { "id": "blue", "label": "Blue" }, { "id": "red", "label": "Red" }] });
    world.says("Let me ask.", &[("ask_user_choose", arguments)]);
    world.says("Red it is.", &[]);
    let session = world.opens(&alice, Some("guide"), None, json!("Paint")).await;
    let asked = world.asked(&alice).await;
    let draft = AnswerDraft { options: vec!["red".into()], ..AnswerDraft::default() };
    world.engine.interaction_answer(&alice, asked.id, draft, None).await.unwrap();
    world.ended(&alice, session.id).await;
    assert!(results(&world.shown())[0].0.contains("red"), "{:?}", world.shown());
    let events = world.events(&alice, session.id).await;
    assert!(events.iter().any(|event| event.name == "delivery.completed"));
}

#[tokio::test]
async fn a_secret_reaches_the_tools_and_never_the_model() {
    let world = World::new(json!([]));
    let alice = world.person("alice").await;
    let arguments = json!({ "question": "A token", "secrets": [{ "name": "TOKEN" }] });
    world.says("I need one.", &[("ask_user_secret", arguments)]);
    world.says("I look.", &[("read_file", json!({ "path": "a" }))]);
    world.says("Done.", &[]);
    let session = world.opens(&alice, Some("guide"), None, json!("Go")).await;
    let asked = world.asked(&alice).await;
    let draft = AnswerDraft { data: json!({ "TOKEN": "s3cr3t-value" }), ..AnswerDraft::default() };
    world.engine.interaction_answer(&alice, asked.id, draft, None).await.unwrap();
    world.ended(&alice, session.id).await;
    assert_eq!(world.secrets(), [[("TOKEN".to_owned(), "s3cr3t-value".to_owned())].into()]);
    let shown = format!("{:?}", world.shown());
    assert!(shown.contains("TOKEN") && !shown.contains("s3cr3t-value"), "{shown}");
    let events = serde_json::to_string(&world.events(&alice, session.id).await).unwrap();
    assert!(!events.contains("s3cr3t-value"));
}

/// A question of the model with `requires_reply` belongs to the channel of its session; the question and its answer
/// are sent as messages too.
#[tokio::test]
async fn question_that_requires_a_reply_is_also_sent_as_messages() {
    let world = World::new(json!([]));
    let alice = world.person("alice").await;
    let arguments = json!({ "question": "Which region?", "requires_reply": true });
    world.says("Let me ask.", &[("ask_user_clarify", arguments)]);
    world.says("Europe it is.", &[]);
    let session = world.opens(&alice, Some("guide"), None, json!("Deploy")).await;
    let asked = world.asked(&alice).await;
    assert_eq!(asked.origin.channel, session.head.channel);
    let draft = AnswerDraft { data: json!("Europe"), ..AnswerDraft::default() };
    world.engine.interaction_answer(&alice, asked.id, draft, None).await.unwrap();
    world.ended(&alice, session.id).await;
    assert!(results(&world.shown())[0].0.contains("Europe"), "{:?}", world.shown());
    let events = world.events(&alice, session.id).await;
    let said = events.iter().filter(|event| event.name == "message.sent").map(|event| {
        (event.data["by"]["name"].clone(), event.data["content"].clone(), event.interaction == Some(asked.id))
    });
    let expected = [(json!("guide"), json!("Which region?"), true), (json!("alice"), json!("Europe"), true)];
    assert_eq!(said.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn conversation_continues_with_each_message() {
    let world = World::new(json!([]));
    let alice = world.person("alice").await;
    world.says("Hello.", &[]);
    world.says("Good bye.", &[]);
    let session = world.opens(&alice, Some("guide"), None, Value::Null).await;
    world.engine.session_message(&alice, session.id, "Hi".into(), false, None).await.unwrap();
    world.until(|| async { (world.turns() == 1).then_some(()) }).await;
    world.engine.session_message(&alice, session.id, "Bye".into(), false, None).await.unwrap();
    world.until(|| async { (world.turns() == 2).then_some(()) }).await;
    let said: Vec<Message> = world.shown();
    assert_eq!(said.first(), Some(&Message::User { content: "Hi".into() }));
    assert_eq!(said.last(), Some(&Message::User { content: "Bye".into() }));
    let (session, ..) = world.engine.session(&alice, session.id).await.unwrap();
    assert_eq!(session.status(), SessionStatus::Running);
}

#[tokio::test]
async fn model_error_fails_the_session_and_a_person_can_retry_it() {
    let world = World::new(json!([]));
    let alice = world.person("alice").await;
    world.model_fails(ModelError::Refused("no such model".into()));
    world.says("There.", &[]);
    let session = world.opens(&alice, Some("guide"), None, json!("Go")).await;
    let ended = world.ended(&alice, session.id).await;
    assert_eq!(ended.status(), SessionStatus::Failed);
    assert!(ended.ended.unwrap().1.reason.unwrap().contains("no such model"));
    let command = engine::StepCommand::Retry;
    world.engine.step_control(&alice, (session.id, None), command, None, None).await.unwrap();
    let ended = world.ended(&alice, session.id).await;
    assert_eq!(ended.status(), SessionStatus::Completed);
}

#[tokio::test]
async fn unknown_tool_and_invalid_arguments_are_reported_to_the_model() {
    let world = World::new(json!([]));
    let alice = world.person("alice").await;
    world.says("I try.", &[("teleport", json!({})), ("read_file", json!("{\"path\": "))]);
    world.says("I see.", &[]);
    let session = world.opens(&alice, Some("guide"), None, json!("Go")).await;
    world.ended(&alice, session.id).await;
    let told = results(&world.shown());
    assert!(told[0].1 && told[0].0.contains("teleport"), "{told:?}");
    assert!(told[1].1 && told[1].0.contains("JSON"), "{told:?}");
    assert_eq!(world.runs(), []);
}

#[tokio::test]
async fn paused_session_runs_nothing_until_it_is_resumed() {
    let world = World::new(json!([]));
    let alice = world.person("alice").await;
    world.says("I write.", &[write("a")]);
    world.says("Done.", &[]);
    let session = world.opens(&alice, Some("guide"), None, json!("Go")).await;
    let asked = world.asked(&alice).await;
    world.engine.session_control(&alice, session.id, domain::Command::Pause, None, None).await.unwrap();
    world.answers(&alice, asked.id, Effect::Approve, AnswerDraft::default()).await;
    assert_eq!(world.runs(), []);
    world.engine.session_control(&alice, session.id, domain::Command::Resume, None, None).await.unwrap();
    world.ended(&alice, session.id).await;
    assert_eq!(world.runs().len(), 1);
}

#[tokio::test]
async fn a_client_runs_its_own_tools() {
    let world = World::new(json!([]));
    let alice = world.person("alice").await;
    world.says("Open it.", &[("open_editor", json!({ "file": "a" }))]);
    world.says("Thanks.", &[]);
    let session = world.opens(&alice, Some("guide"), None, json!("Go")).await;
    let asked = world.asked(&alice).await;
    let call = asked.question.call_id.clone().unwrap();
    world.answers(&alice, asked.id, Effect::Approve, AnswerDraft::default()).await;
    let acted = world.engine.action_get(&alice, session.id, call.clone(), crate::worker::world::SOON).await.unwrap();
    let place = (session.id, call);
    world.engine.action_start(&alice, place.clone(), acted.permit.unwrap(), None, None).await.unwrap();
    let outcome = domain::Outcome::Done { result: json!("opened") };
    world.engine.action_outcome(&alice, place, outcome, None, None).await.unwrap();
    world.ended(&alice, session.id).await;
    assert!(results(&world.shown())[0].0.contains("opened"));
}

#[tokio::test]
async fn messages_while_questions_are_asked_lose_no_question() {
    let world = World::new(json!([]));
    let alice = world.person("alice").await;
    let calls: Vec<_> = (0..12).map(|index| ("ask_user_clarify", json!({ "question": format!("{index}?") }))).collect();
    world.says("Questions.", &calls);
    world.says("Thanks.", &[]);
    let session = world.opens(&alice, Some("guide"), None, json!("Go")).await;
    world.until(|| async { (world.turns() == 1).then_some(()) }).await;
    for _ in 0..40 {
        world.engine.session_message(&alice, session.id, "And?".into(), false, None).await.unwrap();
    }
    for asked in world.open(&alice, 12).await {
        let draft = AnswerDraft { data: json!("so"), ..AnswerDraft::default() };
        world.engine.interaction_answer(&alice, asked.id, draft, None).await.unwrap();
    }
    let ended = world.ended(&alice, session.id).await;
    assert_eq!(ended.status(), SessionStatus::Completed);
    assert_eq!(results(&world.shown()).len(), 12);
}
