//! Workers that die, stop, and take over from each other.

use std::sync::atomic::Ordering;

use domain::{ActionState, AnswerDraft, Effect, SessionStatus, SignedDuration};
use serde_json::json;

use crate::worker::world::{World, results};

#[tokio::test]
async fn an_answer_that_comes_while_no_worker_runs_is_kept() {
    let mut world = World::new(json!([]));
    let alice = world.person("alice").await;
    world.says("I write.", &[("write_file", json!({ "path": "a" }))]);
    world.says("Done.", &[]);
    let session = world.opens(&alice, Some("guide"), None, json!("Go")).await;
    let asked = world.asked(&alice).await;
    world.stop().await;
    world.answers(&alice, asked.id, Effect::Approve, AnswerDraft::default()).await;
    world.work();
    world.ended(&alice, session.id).await;
    assert_eq!((world.runs().len(), world.turns()), (1, 2));
}

#[tokio::test]
async fn worker_death_during_a_tool_asks_people_about_the_outcome() {
    let mut world = World::with(json!([]), SignedDuration::from_millis(300));
    let alice = world.person("alice").await;
    world.says("I write.", &[("write_file", json!({ "path": "a" }))]);
    world.says("Done.", &[]);
    world.play.hang.store(1, Ordering::Release);
    let session = world.opens(&alice, Some("guide"), None, json!("Go")).await;
    let asked = world.asked(&alice).await;
    let call = asked.question.call_id.clone().unwrap();
    world.answers(&alice, asked.id, Effect::Approve, AnswerDraft::default()).await;
    world.until(|| async { (world.runs().len() == 1).then_some(()) }).await;
    world.kill();
    world.play.hang.store(0, Ordering::Release);
    world.work();
    // The outcome is unknown until somebody reports it; the worker that took over does not run the call again.
    let acted = world.engine.action_get(&alice, session.id, call.clone(), std::time::Duration::ZERO).await.unwrap();
    assert!(matches!(acted.action.state, ActionState::Started { .. }));
    let report = domain::Outcome::Unknown;
    let worker = domain::Caller::worker(alice.scope, acted.action.proposed_by.clone());
    world.engine.action_outcome(&worker, (session.id, call), report, None, None).await.unwrap();
    let asked = world.asked(&alice).await;
    assert_eq!(world.runs().len(), 1);
    let ran = AnswerDraft { options: vec!["it_ran".into()], ..AnswerDraft::default() };
    world.engine.interaction_answer(&alice, asked.id, ran, None).await.unwrap();
    let ended = world.ended(&alice, session.id).await;
    assert_eq!(ended.status(), SessionStatus::Completed);
    assert_eq!(world.runs().len(), 1);
    assert_eq!(results(&world.shown()).len(), 1);
}

#[tokio::test]
async fn frequent_wake_ups_do_not_fail_a_sleeping_step() {
    let world = World::new(json!([]));
    let alice = world.person("alice").await;
    world.says("I write.", &[("write_file", json!({ "path": "a" }))]);
    world.says("Done.", &[]);
    let session = world.opens(&alice, Some("guide"), None, json!("Go")).await;
    let asked = world.asked(&alice).await;
    let rests = || async {
        let (_, _, steps) = world.engine.session(&alice, session.id).await.unwrap();
        let lease = steps[0].lease.clone().unwrap();
        lease.worker.is_none().then_some(lease.claims)
    };
    for _ in 0..8 {
        let claims = world.until(rests).await;
        for command in [domain::Command::Pause, domain::Command::Resume] {
            world.engine.session_control(&alice, session.id, command, None, None).await.unwrap();
        }
        world.until(|| async { rests().await.filter(|now| *now > claims) }).await;
    }
    world.answers(&alice, asked.id, Effect::Approve, AnswerDraft::default()).await;
    assert_eq!(world.ended(&alice, session.id).await.status(), SessionStatus::Completed);
    assert_eq!(world.runs().len(), 1);
}

#[tokio::test]
async fn cancelling_a_session_ends_its_running_tool() {
    let world = World::new(json!([]));
    let alice = world.person("alice").await;
    world.says("I read.", &[("read_file", json!({ "path": "a" }))]);
    world.play.hang.store(1, Ordering::Release);
    let session = world.opens(&alice, Some("guide"), None, json!("Go")).await;
    world.until(|| async { (world.runs().len() == 1).then_some(()) }).await;
    world.engine.session_control(&alice, session.id, domain::Command::Cancel, None, None).await.unwrap();
    let ended = world.ended(&alice, session.id).await;
    assert_eq!(ended.status(), SessionStatus::Cancelled);
    assert_eq!(world.turns(), 1);
}

#[tokio::test]
async fn many_workers_run_each_action_once() {
    let mut world = World::new(json!([]));
    world.work();
    world.work();
    let alice = world.person("alice").await;
    let calls: Vec<_> = (0..20).map(|index| ("write_file", json!({ "path": format!("f{index}") }))).collect();
    world.says("Twenty.", &calls);
    world.says("Done.", &[]);
    let session = world.opens(&alice, Some("guide"), None, json!("Go")).await;
    for asked in world.open(&alice, 20).await {
        world.answers(&alice, asked.id, Effect::Approve, AnswerDraft::default()).await;
    }
    world.ended(&alice, session.id).await;
    let mut ran: Vec<String> = world.runs().into_iter().map(|(_, arguments)| arguments["path"].to_string()).collect();
    ran.sort();
    ran.dedup();
    assert_eq!((ran.len(), world.runs().len(), world.turns()), (20, 20, 2));
}
