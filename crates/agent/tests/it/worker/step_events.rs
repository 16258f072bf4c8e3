//! Events and errors that readers see of a step that is taken over, in trouble, or cut short.

use std::sync::atomic::Ordering;

use domain::{SessionStatus, SignedDuration};
use engine::StepClaim;
use holdpoint_agent::machine::{Activity, Input, MachineState};
use serde_json::{Value, json};

use crate::worker::world::World;

#[tokio::test]
async fn takeover_retracts_a_partial_turn_before_it_is_repeated() {
    let mut world = World::with(json!([]), SignedDuration::from_millis(300));
    let alice = world.person("alice").await;
    world.says("Once upon", &[]);
    world.play.mute.store(1, Ordering::Release);
    let session = world.opens(&alice, Some("guide"), None, json!("Go")).await;
    let events = || async { world.events(&alice, session.id).await };
    world.until(|| async { events().await.iter().any(|event| event.name == "model.said").then_some(()) }).await;
    world.kill();
    world.play.mute.store(0, Ordering::Release);
    world.says("Once upon a time.", &[]);
    world.work();
    world.ended(&alice, session.id).await;
    let events = world.events(&alice, session.id).await;
    let told: Vec<(&str, &Value)> = events
        .iter()
        .filter(|event| event.name.starts_with("model."))
        .map(|event| (event.name.as_str(), &event.data["turn"]))
        .collect();
    let one = json!(1);
    let expected = [("model.said", &one), ("model.again", &one), ("model.said", &one), ("model.turn", &one)];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn step_in_trouble_shows_its_reason_and_the_next_attempt() {
    let world = World::new(json!([]));
    let alice = world.person("alice").await;
    world.says("Done.", &[]);
    world.play.toolless.store(1, Ordering::Release);
    let session = world.opens(&alice, Some("guide"), None, json!("Go")).await;
    let step = world
        .until(|| async {
            let (_, _, steps) = world.engine.session(&alice, session.id).await.unwrap();
            steps.into_iter().next().filter(|step| step.in_trouble().is_some())
        })
        .await;
    let (why, again) = step.in_trouble().unwrap();
    assert!(why.contains("no tools today"), "{why}");
    let troubled = world.events(&alice, session.id).await.into_iter().find(|event| event.name == "step.troubled");
    let data = troubled.unwrap().data;
    assert_eq!((&data["reason"], &data["retry_at"]), (&json!(why), &json!(again.unwrap())));
    assert_eq!(world.ended(&alice, session.id).await.status(), SessionStatus::Completed);
    let (_, _, steps) = world.engine.session(&alice, session.id).await.unwrap();
    assert_eq!(steps[0].in_trouble(), None);
}

#[tokio::test]
async fn scheduled_attempt_shows_the_last_failure() {
    let flow = json!([{ "name": "f", "version": "1", "steps": [
        { "name": "try", "agent": "guide", "input": "Try", "attempts": 2, "delay_seconds": 3600 }] }]);
    let world = World::new(flow);
    let alice = world.person("alice").await;
    world.model_fails(holdpoint_agent::model::ModelError::Unavailable("busy".into()));
    let session = world.opens(&alice, None, Some("f"), Value::Null).await;
    let step = world
        .until(|| async {
            let (_, _, steps) = world.engine.session(&alice, session.id).await.unwrap();
            steps.into_iter().nth(1)
        })
        .await;
    let (why, again) = step.in_trouble().unwrap();
    assert!(why.contains("busy"), "{why}");
    assert!(again.unwrap() > world.engine.now());
    let events = world.events(&alice, session.id).await;
    assert!(events.iter().any(|event| event.name == "step.troubled" && event.data["attempt"] == 2), "{events:?}");
}

/// Every input that ends a step is in its journal, so that the journal alone gives its state.
#[tokio::test]
async fn journal_of_a_cancelled_step_ends_with_the_cancellation() {
    let mut world = World::new(json!([]));
    let alice = world.person("alice").await;
    world.says("I write.", &[("write_file", json!({ "path": "a" }))]);
    let session = world.opens(&alice, Some("guide"), None, json!("Go")).await;
    world.asked(&alice).await;
    world.stop().await;
    let reason = Some("enough".to_owned());
    world.engine.session_control(&alice, session.id, domain::Command::Cancel, reason, None).await.unwrap();
    let (_, _, steps) = world.engine.session(&alice, session.id).await.unwrap();
    let agent = domain::Actor { kind: domain::ActorKind::Agent, name: "guide".into() };
    let claim = StepClaim { scope: alice.scope, session: session.id, step: steps[0].id, number: 0, agent };
    let journal = world.engine.step_journal_after(&claim, 0).await.unwrap();
    let journal: Vec<Input> = journal.into_iter().map(|entry| serde_json::from_value(entry.body).unwrap()).collect();
    assert_eq!(journal.last(), Some(&Input::Cancelled { reason: "enough".into() }));
    let state = journal.iter().fold(MachineState::new("s1"), |state, input| state.advance(input).0);
    assert_eq!(state.activity(), Activity::Ended);
}

#[tokio::test]
async fn result_of_an_unknown_tool_lists_the_tools_by_provider_name() {
    let world = World::new(json!([]));
    let alice = world.person("alice").await;
    let agent = serde_json::from_value(json!({
        "name": "wired", "version": "1", "model": { "provider": "openai", "name": "m" }, "tools": ["files.read"],
    }));
    world.engine.set_definitions(engine::Definitions { agents: vec![agent.unwrap()], flows: Vec::new() });
    world.says("I guess.", &[("guess", json!({}))]);
    world.says("Done.", &[]);
    let session = world.opens(&alice, Some("wired"), None, json!("Go")).await;
    world.ended(&alice, session.id).await;
    let told = crate::worker::world::results(&world.shown());
    assert_eq!(told[0].0, "This failed: There is no tool `guess`. There are: files_read.");
}
