//! Tests deadlines, warnings and leases: each is processed once, even if a node is down or waiting.

use std::time::Duration;

use domain::{Refusal, SignedDuration, Status};
use futures::FutureExt;
use futures::future::join_all;
use holdpoint_engine::Engine;
use serde_json::json;
use store::Topic;

use crate::engine::world::{SOON, World, refusal};

#[tokio::test]
async fn warning_and_deadline_of_a_question_fire_once_each() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let asked = json!({ "deadline_seconds": 100, "fallback": { "option": "confirm" } });
    let id = world.ask(&agent, &session, asked).await.id;
    world.pass(39);
    world.engine.fire_due().await.unwrap();
    assert_eq!(world.events(&agent, session.id).await.len(), 2, "nothing is due");
    for _ in 0..3 {
        world.pass(1);
        world.engine.fire_due().await.unwrap();
    }
    let told = ["session.started", "interaction.asked", "interaction.warned"];
    assert_eq!(world.events(&agent, session.id).await, told);
    world.pass(58);
    assert_eq!(
        refusal(world.choose(&alice, id, "cancel").await),
        Refusal::TooLate(id),
        "an answer after the deadline is refused"
    );
    world.engine.fire_due().await.unwrap();
    world.engine.fire_due().await.unwrap();
    let now = world.now(&agent, id).await;
    assert_eq!(now.status(), Status::AutoResolved);
    let events = world.events(&agent, session.id).await;
    assert_eq!(events[3..], ["interaction.auto_resolved"]);
}

#[tokio::test]
async fn clock_that_jumps_back_repeats_and_undoes_no_event() {
    let world = World::new();
    let agent = world.agent().await;
    let session = world.session(&agent).await;
    let held = world.ask(&agent, &session, json!({ "deadline_seconds": 30, "fallback": "hold" })).await.id;
    world.pass(30);
    world.engine.fire_due().await.unwrap();
    world.pass(-3600);
    world.engine.fire_due().await.unwrap();
    world.pass(3600);
    world.engine.fire_due().await.unwrap();
    assert_eq!(world.now(&agent, held).await.status(), Status::Pending);
    let told = ["session.started", "interaction.asked", "interaction.overdue"];
    assert_eq!(world.events(&agent, session.id).await, told);
}

/// Asks `count` questions that are due in one second.
async fn ask_questions_due_together(world: &World, count: usize) -> (domain::Caller, Vec<domain::Session>) {
    let agent = world.agent().await;
    let sessions = vec![world.session(&agent).await, world.session(&agent).await];
    let ask = |number: usize| world.ask(&agent, &sessions[number % 2], json!({ "deadline_seconds": 30 }));
    join_all((0..count).map(ask)).await;
    (agent, sessions)
}

/// Asserts that each of `count` questions has expired exactly once.
async fn assert_each_expired_once(world: &World, agent: &domain::Caller, sessions: &[domain::Session], count: usize) {
    let mut expired = Vec::new();
    for session in sessions {
        let events = world.engine.event_list(agent, session.id, 0, 10_000, Duration::ZERO).await.unwrap();
        let ended = events.into_iter().filter(|event| event.name == "interaction.expired");
        expired.extend(ended.filter_map(|event| event.interaction));
        let now = world.session_now(agent, session.id).await;
        assert_eq!((now.open, now.waiting_on), (0, 0));
    }
    assert_eq!(expired.len(), count);
    expired.sort_unstable();
    expired.dedup();
    assert_eq!(expired.len(), count, "none twice");
}

#[tokio::test]
async fn thousand_questions_due_in_one_second_are_each_resolved_once() {
    let world = World::new();
    let (agent, sessions) = ask_questions_due_together(&world, 1000).await;
    world.pass(30);
    world.engine.fire_due().await.unwrap();
    assert_each_expired_once(&world, &agent, &sessions, 1000).await;
}

#[tokio::test]
async fn two_engines_on_one_store_fire_each_deadline_once() {
    let world = World::new();
    let (agent, sessions) = ask_questions_due_together(&world, 200).await;
    let other = world.another_engine([7; 32]);
    world.pass(30);
    let (first, second) = tokio::join!(world.engine.fire_due(), other.fire_due());
    first.unwrap();
    second.unwrap();
    assert_each_expired_once(&world, &agent, &sessions, 200).await;
}

/// Runs the timers of an engine until a future completes.
pub(crate) async fn with_timers<T>(engine: &Engine, until: impl Future<Output = T>) -> T {
    tokio::select! {
        () = engine.run_timers() => unreachable!("timers run for ever"),
        result = until => result,
    }
}

#[tokio::test]
async fn deadlines_that_passed_during_downtime_fire_at_the_start() {
    let world = World::new();
    let agent = world.agent().await;
    let session = world.session(&agent).await;
    let id = world.ask(&agent, &session, json!({ "deadline_seconds": 30 })).await.id;
    let world = world.restarted_after(SignedDuration::from_hours(7));
    let expired = with_timers(&world.engine, world.engine.interaction_get(&agent, id, SOON)).await.unwrap();
    assert_eq!(expired.status(), Status::Expired);
}

#[tokio::test]
async fn running_timers_notice_a_clock_jump() {
    let world = World::new();
    let agent = world.agent().await;
    let session = world.session(&agent).await;
    let id = world.ask(&agent, &session, json!({ "deadline_seconds": 3600 })).await.id;
    let moved = async {
        let (expired, ()) = tokio::join!(world.engine.interaction_get(&agent, id, SOON), async { world.pass(3600) });
        expired.unwrap()
    };
    assert_eq!(with_timers(&world.engine, moved).await.status(), Status::Expired);
}

#[tokio::test]
async fn only_an_earlier_deadline_wakes_the_sleeping_timers() {
    let world = World::new();
    let agent = world.agent().await;
    let session = world.session(&agent).await;
    let check = async |seconds: i64, wakes: bool| {
        let mut timers = world.engine.bell().listen(Topic::Timers);
        world.ask(&agent, &session, json!({ "deadline_seconds": seconds })).await;
        assert_eq!(timers.wait().now_or_never().is_some(), wakes, "{seconds} s");
    };
    world.engine.fire_due().await.unwrap();
    check(50, true).await;
    check(55, false).await;
    check(20, true).await;
    check(20, false).await;
    let sleep = world.engine.fire_due().await.unwrap();
    assert!(sleep <= Duration::from_millis(500), "a clock that jumps is noticed soon");
    check(30, false).await;
    check(10, true).await;
}

#[tokio::test]
async fn fallback_that_terminates_ends_the_session() {
    let world = World::new();
    let agent = world.agent().await;
    let session = world.session(&agent).await;
    let action = json!({ "tool": "deploy", "arguments": {} });
    let fields =
        json!({ "kind": "approval", "action": action, "deadline_seconds": 30, "fallback": { "option": "terminate" } });
    world.ask(&agent, &session, fields.clone()).await;
    let other = world.ask(&agent, &session, fields).await.id;
    world.pass(30);
    world.engine.fire_due().await.unwrap();
    let now = world.session_now(&agent, session.id).await;
    assert_eq!((now.status(), now.open), (domain::SessionStatus::Cancelled, 0));
    assert_eq!(
        world.now(&agent, other).await.status(),
        Status::Cancelled,
        "the end of the session closes the question once"
    );
}
