//! The eight effects of an answer, through the worker and the engine: the calls that run, and the exact text that the
//! model reads next.

use domain::{ActionState, AnswerDraft, Command, Effect, SessionStatus};
use holdpoint_agent::model::{Message, ModelCall};
use serde_json::{Value, json};

use crate::worker::world::{SOON, World, results};

/// A rule that offers every effect.
pub(crate) const RULES: &str = r#"
version = 1
[[rule]]
name = "writes"
tools = ["write_file"]
verdict = "ask"
[rule.ask]
options = [
  { id = "yes", label = "Write it", effect = "approve" },
  { id = "other", label = "Write something else", effect = "edit" },
  { id = "again", label = "Think again", effect = "retry", requires_input = true },
  { id = "no", label = "Do not", effect = "reject" },
  { id = "stop", label = "Stop everything", effect = "terminate" },
  { id = "tell", label = "Say something", effect = "provide", requires_input = true },
  { id = "leave", label = "Go on without", effect = "skip" },
  { id = "draft", label = "Keep as a draft", effect = "custom", metadata = { folder = "drafts", keep = 3 } },
]
"#;

fn arguments() -> Value {
    json!({ "content": "x", "path": "a" })
}

fn chosen(option: &str) -> AnswerDraft {
    AnswerDraft { options: vec![option.into()], ..AnswerDraft::default() }
}

/// Answers a question about a write, then checks which calls ran and the whole text that the model reads next.
async fn check(draft: AnswerDraft, ran: &[Value], read: &str) {
    let world = World::new(json!([]));
    let alice = world.person("alice").await;
    world.rules(RULES).await;
    world.says("I write.", &[("write_file", arguments())]);
    world.says("Done.", &[]);
    let session = world.opens(&alice, Some("guide"), None, json!("Write")).await;
    let asked = world.asked(&alice).await;
    assert_eq!((world.runs(), world.turns()), (vec![], 1), "nothing runs before a person has answered");
    world.engine.interaction_answer(&alice, asked.id, draft, None).await.unwrap();
    assert_eq!(world.ended(&alice, session.id).await.status(), SessionStatus::Completed);
    let runs: Vec<(String, Value)> = ran.iter().map(|arguments| ("write_file".to_owned(), arguments.clone())).collect();
    assert_eq!((world.runs(), world.turns()), (runs, 2));
    let call = ModelCall { id: "call_0".into(), tool: "write_file".into(), arguments: arguments() };
    let (tool, content) = ("write_file".to_owned(), read.to_owned());
    assert_eq!(
        world.shown(),
        [
            Message::User { content: "Write".into() },
            Message::Assistant { text: "I write.".into(), calls: vec![call], provider: Value::Null },
            Message::Result { call: "call_0".into(), tool, content, failed: false },
        ]
    );
}

#[tokio::test]
async fn approve_runs_the_call_once_and_the_model_reads_the_result() {
    check(chosen("yes"), &[arguments()], r#"{"ran":"write_file"}"#).await;
}

#[tokio::test]
async fn edit_runs_the_edited_call_once_and_the_model_reads_it() {
    let edited = json!({ "content": "y", "path": "b" });
    let draft = AnswerDraft { arguments: Some(edited.clone()), ..chosen("other") };
    let read = "A person changed the arguments before this ran. It ran with these, not with yours: \
                {\"content\":\"y\",\"path\":\"b\"}\nResult:\n{\"ran\":\"write_file\"}";
    check(draft, &[edited], read).await;
}

#[tokio::test]
async fn retry_runs_nothing_and_the_model_reads_the_feedback() {
    let draft = AnswerDraft { feedback: Some("Use the staging directory.".into()), ..chosen("again") };
    let read = "This was not run: a person (alice) wants you to reconsider and to do it in another way.\nFeedback: Use \
                the staging directory.";
    check(draft, &[], read).await;
}

#[tokio::test]
async fn reject_runs_nothing_and_the_model_reads_the_reason() {
    let draft = AnswerDraft { feedback: Some("Not on a Friday.".into()), ..chosen("no") };
    let read = "This was not run: a person (alice) rejected it.\nReason: Not on a Friday.";
    check(draft, &[], read).await;
    let read = "This was not run: a person (alice) rejected it.\nNo reason was given.";
    check(chosen("no"), &[], read).await;
}

#[tokio::test]
async fn provide_runs_nothing_and_the_model_reads_the_information() {
    let draft = AnswerDraft { data: json!({ "city": "Porto" }), feedback: Some("By train.".into()), ..chosen("tell") };
    let read = "This was not run: a person (alice) gave you this information instead.\nChosen: tell\n\
                Given: {\"city\":\"Porto\"}\nFeedback: By train.";
    check(draft, &[], read).await;
}

#[tokio::test]
async fn skip_runs_nothing_and_the_model_reads_that_it_was_skipped() {
    check(chosen("leave"), &[], "This was not run: a person (alice) skipped it. Continue without it.").await;
}

#[tokio::test]
async fn custom_runs_nothing_and_the_model_reads_option_and_metadata() {
    let draft = AnswerDraft { feedback: Some("Later.".into()), ..chosen("draft") };
    let read = "This was not run: a person (alice) decided otherwise.\nChosen: draft\nMetadata of that choice: \
                {\"folder\":\"drafts\",\"keep\":3}\nFeedback: Later.";
    check(draft, &[], read).await;
}

#[tokio::test]
async fn terminate_ends_the_session_and_its_open_questions() {
    let world = World::new(json!([]));
    let alice = world.person("alice").await;
    world.rules(RULES).await;
    world.says("I write.", &[("write_file", arguments()), ("write_file", json!({ "path": "b" }))]);
    let session = world.opens(&alice, Some("guide"), None, json!("Write")).await;
    let asked = world.open(&alice, 2).await;
    world.engine.interaction_answer(&alice, asked[0].id, chosen("stop"), None).await.unwrap();
    assert_eq!(world.ended(&alice, session.id).await.status(), SessionStatus::Cancelled);
    assert_eq!(world.open(&alice, 0).await, []);
    world.engine.interaction_answer(&alice, asked[1].id, chosen("yes"), None).await.unwrap_err();
    assert_eq!((world.runs(), world.turns()), (vec![], 1));
}

#[tokio::test]
async fn rejected_call_never_runs() {
    let world = World::new(json!([]));
    let alice = world.person("alice").await;
    world.rules(RULES).await;
    world.says("Both.", &[("write_file", json!({ "path": "a" })), ("write_file", json!({ "path": "b" }))]);
    world.says("Then b again.", &[("write_file", json!({ "path": "b" }))]);
    world.says("Done.", &[]);
    let session = world.opens(&alice, Some("guide"), None, json!("Write")).await;
    let asked = world.open(&alice, 2).await;
    world.engine.interaction_answer(&alice, asked[0].id, chosen("no"), None).await.unwrap();
    world.engine.interaction_answer(&alice, asked[0].id, chosen("yes"), None).await.unwrap_err();
    world.engine.interaction_answer(&alice, asked[1].id, chosen("yes"), None).await.unwrap();
    let again = world.asked(&alice).await;
    world.engine.interaction_answer(&alice, again.id, chosen("yes"), None).await.unwrap();
    world.ended(&alice, session.id).await;
    let ran: Vec<Value> = world.runs().into_iter().map(|(_, arguments)| arguments).collect();
    assert_eq!(ran, [json!({ "path": "b" }), json!({ "path": "b" })], "the call was proposed twice and approved twice");
}

/// Answers a question of the model and checks the text that the model reads.
async fn answered(tool: &str, arguments: Value, draft: AnswerDraft, read: &str) {
    let world = World::new(json!([]));
    let alice = world.person("alice").await;
    world.says("Let me ask.", &[(tool, arguments)]);
    world.says("I see.", &[]);
    let session = world.opens(&alice, Some("guide"), None, json!("Paint")).await;
    let asked = world.asked(&alice).await;
    world.engine.interaction_answer(&alice, asked.id, draft, None).await.unwrap();
    world.ended(&alice, session.id).await;
    assert_eq!(results(&world.shown()), [(read.to_owned(), false)], "{tool}");
    let events = world.events(&alice, session.id).await;
    assert_eq!(events.iter().filter(|event| event.name == "delivery.completed").count(), 1, "{tool}");
}

#[tokio::test]
async fn model_reads_the_chosen_option_with_its_metadata() {
    let options = json!([
        { "id": "blue", "label": "Blue" },
        { "id": "red", "label": "Red", "metadata": { "hex": "#f00", "coats": 2 } },
    ]);
    let arguments = json!({ "question": "Which?", "options": options });
    let read = "A person (alice) answered.\nChosen: red\nMetadata of that choice: {\"coats\":2,\"hex\":\"#f00\"}";
    answered("ask_user_choose", arguments, chosen("red"), read).await;
}

#[tokio::test]
async fn model_reads_answers_to_its_own_questions_word_for_word() {
    let question = || json!({ "question": "Which?" });
    let said = |data: Value| AnswerDraft { data, ..AnswerDraft::default() };
    let read = "A person (alice) answered.\nGiven: The blue one.";
    answered("ask_user_clarify", question(), said(json!("The blue one.")), read).await;
    let mut form = question();
    form["schema"] = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    answered("ask_user_form", form, said(json!({ "n": 7 })), "A person (alice) answered.\nGiven: {\"n\":7}").await;
    let yes = "A person (alice) said yes.\nChosen: confirm";
    answered("ask_user_confirm", question(), chosen("confirm"), yes).await;
    let no = AnswerDraft { feedback: Some("Not today.".into()), ..chosen("cancel") };
    let read = "A person (alice) said no.\nChosen: cancel\nFeedback: Not today.";
    answered("ask_user_confirm", question(), no, read).await;
    let skipped = AnswerDraft { effect: Some(Effect::Skip), ..AnswerDraft::default() };
    let optional = json!({ "question": "Which?", "optional": true });
    let read = "A person (alice) skipped this question. Continue without an answer.";
    answered("ask_user_clarify", optional, skipped, read).await;
}

/// An approved action that is denied before it starts does not run, and its approver reads the same reason as the
/// model.
#[tokio::test]
async fn approved_action_denied_before_its_start_shows_the_reason() {
    let world = World::new(json!([]));
    let alice = world.person("alice").await;
    world.says("I write.", &[("write_file", json!({ "path": "a" }))]);
    world.says("I see.", &[]);
    let session = world.opens(&alice, Some("guide"), None, json!("Go")).await;
    let asked = world.asked(&alice).await;
    world.engine.session_control(&alice, session.id, Command::Pause, None, None).await.unwrap();
    world.answers(&alice, asked.id, Effect::Approve, AnswerDraft::default()).await;
    let closed = "version = 1\n[[rule]]\nname = \"closed\"\ntools = [\"write_file\"]\nverdict = \"deny\"\nreason = \"closed now\"\n";
    world.rules(closed).await;
    world.engine.session_control(&alice, session.id, Command::Resume, None, None).await.unwrap();
    assert_eq!(world.ended(&alice, session.id).await.status(), SessionStatus::Completed);
    let why = "the policy now denies this action: closed now";
    assert_eq!(results(&world.shown()), [(format!("This failed: {why}"), true)]);
    let acted = world.engine.action_get(&alice, session.id, asked.question.call_id.unwrap(), SOON).await.unwrap();
    let ActionState::Failed { message, .. } = acted.action.state else { unreachable!("{:?}", acted.action) };
    assert_eq!((message.as_str(), world.runs().len()), (why, 0));
}
