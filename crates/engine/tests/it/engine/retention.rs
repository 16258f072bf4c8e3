//! Tests the retention of closed questions, and reads of archived ones.

use std::time::Duration;

use domain::{Caller, Command, Delivery, InteractionId, Refusal, Role, Session, SignedDuration};
use futures::future::join_all;
use holdpoint_engine::{InteractionQuery, Settings};
use serde_json::json;
use store::Page;

use crate::engine::time::with_timers;
use crate::engine::world::{SOON, World, refusal};

const MONTH: i64 = 30 * 24 * 3600;

/// Questions that are not archived.
async fn listed(world: &World, by: &Caller) -> Vec<InteractionId> {
    let page = Page { after: None, limit: 1000 };
    let (listed, _) = world.engine.interaction_list(by, InteractionQuery::default(), page).await.unwrap();
    listed.into_iter().map(|question| question.id).collect()
}

/// Asks `count` questions and withdraws them, so that no answer is delivered.
async fn ask_and_withdraw(world: &World, agent: &Caller, session: &Session, count: usize) -> Vec<InteractionId> {
    let asked = join_all((0..count).map(|_| world.ask(agent, session, json!({})))).await;
    let ids: Vec<InteractionId> = asked.into_iter().map(|question| question.id).collect();
    for withdrawn in join_all(ids.iter().map(|id| world.engine.interaction_cancel(agent, *id, None, None))).await {
        assert_eq!(withdrawn.unwrap().delivery(), Some(&Delivery::NotNeeded));
    }
    ids
}

#[tokio::test]
async fn closed_questions_are_archived_after_a_month_and_stay_readable() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let done = world.ask(&agent, &session, json!({})).await.id;
    let waiting = world.ask(&agent, &session, json!({})).await.id;
    let open = world.ask(&agent, &session, json!({})).await.id;
    world.choose(&alice, done, "confirm").await.unwrap();
    world.choose(&alice, waiting, "confirm").await.unwrap();
    let lease = world.engine.delivery_take(&agent, done, None, None).await.unwrap().lease;
    let completed = world.engine.delivery_complete(&agent, (done, lease), None).await.unwrap();
    world.pass(MONTH - 1);
    world.engine.fire_due().await.unwrap();
    assert_eq!(listed(&world, &alice).await, [done, waiting, open]);
    world.pass(1);
    world.engine.fire_due().await.unwrap();
    assert_eq!(listed(&world, &alice).await, [waiting, open], "open and undelivered questions stay");
    assert_eq!(world.now(&alice, done).await, completed);
    let resolved = Refusal::AlreadyResolved(Box::new(completed));
    assert_eq!(refusal(world.choose(&alice, done, "confirm").await), resolved);
    let (closed, other) = (Refusal::DeliveryClosed("completed"), world.caller(Role::Agent, "other").await);
    assert_eq!(refusal(world.engine.delivery_take(&agent, done, None, None).await), closed);
    assert_eq!(refusal(world.engine.delivery_complete(&agent, (done, lease), None).await), closed);
    assert_eq!(refusal(world.engine.delivery_heartbeat(&agent, (done, lease), None, None).await), closed);
    assert_eq!(refusal(world.engine.delivery_fail(&agent, (done, lease), "x".into(), true, None).await), closed);
    assert_eq!(refusal(world.engine.delivery_take(&other, done, None, None).await), Refusal::NotFound("interaction"));
}

#[tokio::test]
async fn answer_that_waits_is_archived_after_the_end_of_its_session() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let [waiting, taken, open] = [(); 3].map(|()| world.ask(&agent, &session, json!({})));
    let (waiting, taken, open) = (waiting.await.id, taken.await.id, open.await.id);
    world.choose(&alice, waiting, "confirm").await.unwrap();
    world.choose(&alice, taken, "confirm").await.unwrap();
    world.pass(MONTH);
    world.engine.fire_due().await.unwrap();
    world.control(&agent, session.id, Command::Complete).await.unwrap();
    let held = world.engine.delivery_take(&agent, taken, Some(60), None).await.unwrap();
    world.engine.fire_due().await.unwrap();
    assert_eq!(listed(&world, &alice).await, [taken, open], "recently closed and leased questions stay");
    assert_eq!(world.now(&alice, waiting).await.delivery(), Some(&Delivery::Waiting { attempt: 0 }));
    let archived = Refusal::DeliveryClosed("archived");
    assert_eq!(refusal(world.engine.delivery_take(&agent, waiting, None, None).await), archived);
    let offered = world.engine.delivery_list(&agent, store::Page::first(10), Duration::ZERO).await.unwrap();
    assert!(offered.iter().all(|question| question.id == open));
    assert_eq!(held.interaction.id, taken);
    world.pass(60);
    world.engine.fire_due().await.unwrap();
    assert_eq!(listed(&world, &alice).await, [open], "the lease ran out, and no agent will take the answer");
}

#[tokio::test]
async fn timers_sleep_until_the_retention_of_a_question_ends() {
    let world = World::with(Settings { retention: SignedDuration::from_millis(100), ..Settings::default() });
    let agent = world.agent().await;
    let session = world.session(&agent).await;
    ask_and_withdraw(&world, &agent, &session, 1).await;
    assert_eq!(world.engine.fire_due().await.unwrap(), Duration::from_millis(100));
    world.clock.advance(SignedDuration::from_millis(60));
    assert_eq!(world.engine.fire_due().await.unwrap(), Duration::from_millis(40));
    world.clock.advance(SignedDuration::from_millis(40));
    world.engine.fire_due().await.unwrap();
    assert_eq!(listed(&world, &agent).await, []);
}

#[tokio::test]
async fn questions_due_during_downtime_are_archived_at_the_start() {
    let world = World::new();
    let agent = world.agent().await;
    let session = world.session(&agent).await;
    let ids = ask_and_withdraw(&world, &agent, &session, 3).await;
    let world = world.restarted_after(SignedDuration::from_secs(MONTH));
    let gone = async {
        while !listed(&world, &agent).await.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(SOON, with_timers(&world.engine, gone)).await.unwrap();
    for id in ids {
        assert_eq!(world.now(&agent, id).await.delivery(), Some(&Delivery::NotNeeded));
    }
}

#[tokio::test]
async fn two_engines_archive_questions_while_others_are_answered() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let ids = ask_and_withdraw(&world, &agent, &session, 230).await;
    world.pass(MONTH);
    let late = world.ask(&agent, &session, json!({ "deadline_seconds": 30 })).await.id;
    let open = world.ask(&agent, &session, json!({})).await.id;
    world.pass(30);
    let other = world.another_engine([7; 32]);
    let answered = world.choose(&alice, open, "confirm");
    let (first, second, answered) = tokio::join!(world.engine.fire_due(), other.fire_due(), answered);
    for done in [first.map(drop), second.map(drop), answered.map(drop)] {
        done.unwrap();
    }
    assert_eq!(listed(&world, &alice).await, [late, open]);
    assert_eq!(world.now(&alice, late).await.status(), domain::Status::Expired);
    for id in ids {
        assert_eq!(world.now(&alice, id).await.delivery(), Some(&Delivery::NotNeeded));
    }
}
