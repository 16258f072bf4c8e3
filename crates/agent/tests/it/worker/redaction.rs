//! Secrets are never shown to anybody, however their session continues or ends.

use domain::{AnswerDraft, Caller, Effect, Outcome, Refusal, Session, SessionStatus, SignedDuration};
use engine::{Error, Settings, StepCommand};
use holdpoint_agent::model::ModelError;
use serde_json::{Value, json};

use crate::worker::world::{SOON, World, results};

const VALUE: &str = "s3cr3t-value";

/// A flow of two steps of one agent, so that the first step has a successor.
fn flow() -> Value {
    json!([{ "name": "f", "version": "1", "steps": [
        { "name": "one", "agent": "guide", "input": "One" }, { "name": "two", "agent": "guide", "input": "Two" }] }])
}

/// Runs a session whose model asks for a secret, receives it, and then fails.
async fn run_until_failure_with_a_secret(world: &World, by: &Caller) -> Session {
    let ask = json!({ "question": "The key?", "secrets": [{ "name": "TOKEN" }] });
    world.says("I need a key.", &[("ask_user_secret", ask)]);
    world.model_fails(ModelError::Refused("no".into()));
    let session = world.opens(by, None, Some("f"), Value::Null).await;
    given(world, by).await;
    assert_eq!(world.ended(by, session.id).await.status(), SessionStatus::Failed);
    session
}

async fn given(world: &World, by: &Caller) {
    let asked = world.asked(by).await;
    let draft = AnswerDraft { data: json!({ "TOKEN": VALUE }), ..AnswerDraft::default() };
    world.engine.interaction_answer(by, asked.id, draft, None).await.unwrap();
}

async fn commands(world: &World, by: &Caller, session: &Session, command: StepCommand) -> Result<Session, Error> {
    world.engine.step_control(by, (session.id, None), command, None, None).await
}

#[tokio::test]
async fn secret_stays_redacted_after_a_failed_session_continues() {
    for command in [StepCommand::Retry, StepCommand::Skip, StepCommand::Approve(json!({ "text": "fine" }))] {
        let world = World::new(flow());
        world.rules("version = 1\n[[rule]]\nname = \"reads\"\ntools = [\"read_file\"]\nverdict = \"allow\"\n").await;
        let alice = world.person("alice").await;
        let session = run_until_failure_with_a_secret(&world, &alice).await;
        assert_eq!(world.sealed(&session).await, 1, "{command:?}");
        world.says("What was it?", &[("read_file", json!({ "path": "a", "prints": format!("it is {VALUE}") }))]);
        world.says("I write.", &[("write_file", json!({ "path": "a", "replaces": VALUE }))]);
        commands(&world, &alice, &session, command.clone()).await.unwrap();
        let asked = world.asked(&alice).await;
        assert_eq!(asked.question.context, json!({ "before": "[secret TOKEN]" }), "{command:?}");
        let (printed, _) = results(&world.shown()).pop().unwrap();
        assert_eq!(printed, r#"{"printed":"it is [secret TOKEN]"}"#, "{command:?}");
        assert_eq!(world.secrets(), [[].into()], "no tool gets the value any more");
        world.answers(&alice, asked.id, Effect::Terminate, AnswerDraft::default()).await;
        assert_eq!(world.ended(&alice, session.id).await.status(), SessionStatus::Cancelled);
        assert_eq!(world.sealed(&session).await, 0, "the value is deleted, because the session cannot be retried");
    }
}

#[tokio::test]
async fn secret_given_after_a_retry_is_passed_to_tools() {
    let world = World::new(flow());
    let alice = world.person("alice").await;
    let session = run_until_failure_with_a_secret(&world, &alice).await;
    let ask = json!({ "question": "The key, again?", "secrets": [{ "name": "TOKEN" }] });
    world.says("I need it again.", &[("ask_user_secret", ask)]);
    world.says("I read.", &[("read_file", json!({ "path": "a" }))]);
    commands(&world, &alice, &session, StepCommand::Retry).await.unwrap();
    given(&world, &alice).await;
    world.until(|| async { (!world.secrets().is_empty()).then_some(()) }).await;
    assert_eq!(world.secrets(), [[("TOKEN".to_owned(), VALUE.to_owned())].into()]);
}

#[tokio::test]
async fn secrets_are_deleted_after_the_session_which_then_cannot_be_retried() {
    // With a retention of zero, closed questions are archived at once.
    let world = World::settled(flow(), Settings { retention: SignedDuration::ZERO, ..Settings::default() });
    let alice = world.person("alice").await;
    let ask = json!({ "question": "The key?", "secrets": [{ "name": "TOKEN" }] });
    world.says("I need a key.", &[("ask_user_secret", ask)]);
    world.says("Sure?", &[("ask_user_confirm", json!({ "question": "Sure?" }))]);
    world.model_fails(ModelError::Refused("no".into()));
    let session = world.opens(&alice, None, Some("f"), Value::Null).await;
    given(&world, &alice).await;
    let sure = world
        .until(|| async {
            let open = world.open(&alice, 1).await.remove(0);
            (open.question.title == "Sure?").then_some(open)
        })
        .await;
    world.engine.fire_due().await.unwrap();
    assert_eq!(world.sealed(&session).await, 1, "the value is kept while the session runs");
    world.answers(&alice, sure.id, Effect::Approve, AnswerDraft::default()).await;
    assert_eq!(world.ended(&alice, session.id).await.status(), SessionStatus::Failed);
    world.engine.fire_due().await.unwrap();
    assert_eq!(world.sealed(&session).await, 0);
    let refused = commands(&world, &alice, &session, StepCommand::Retry).await;
    assert!(matches!(refused, Err(Error::Refused(Refusal::SessionEnded { .. }))), "{refused:?}");
}

#[tokio::test]
async fn secret_is_redacted_in_the_report_of_a_client_tool() {
    for (fails, cancelled) in [(false, false), (true, false), (false, true), (true, true)] {
        let world = World::new(json!([]));
        let alice = world.person("alice").await;
        let ask = json!({ "question": "The key?", "secrets": [{ "name": "TOKEN" }] });
        world.says("I need a key.", &[("ask_user_secret", ask)]);
        world.says("Open it.", &[("open_editor", json!({ "line": 1 }))]);
        world.says("Thanks.", &[]);
        let session = world.opens(&alice, Some("guide"), None, json!("Go")).await;
        given(&world, &alice).await;
        let asked = world
            .until(|| async {
                let open = world.open(&alice, 1).await.remove(0);
                open.question.call_id.is_some().then_some(open)
            })
            .await;
        let place = (session.id, asked.question.call_id.clone().unwrap());
        world.answers(&alice, asked.id, Effect::Approve, AnswerDraft::default()).await;
        let acted = world.engine.action_get(&alice, place.0, place.1.clone(), SOON).await.unwrap();
        world.engine.action_start(&alice, place.clone(), acted.permit.unwrap(), None, None).await.unwrap();
        let result = json!({ "text": format!("it says {VALUE}"), VALUE: [VALUE] });
        let outcome = if fails {
            Outcome::Failed { message: format!("{VALUE} is wrong"), result }
        } else {
            Outcome::Done { result }
        };
        if cancelled {
            // The cancelled session has forgotten the value, so that only the kind of the outcome is stored.
            world.engine.session_control(&alice, session.id, domain::Command::Cancel, None, None).await.unwrap();
        }
        let reported = world.engine.action_outcome(&alice, place, outcome, None, None).await.unwrap().action;
        let status = if cancelled { SessionStatus::Cancelled } else { SessionStatus::Completed };
        assert_eq!(world.ended(&alice, session.id).await.status(), status);
        let events = world.events(&alice, session.id).await;
        for told in [format!("{reported:?}"), format!("{:?}", world.shown()), format!("{events:?}")] {
            assert!(!told.contains(VALUE), "{told}");
        }
        assert_eq!(format!("{:?}", world.shown()).contains("it says [secret TOKEN]"), !cancelled);
    }
}
