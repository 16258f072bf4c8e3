//! Tests the limits on open questions of one key and one tenant, which are counted in the transactions that ask and close.

use domain::{Caller, Limit, Refusal, Role, Session};
use holdpoint_engine::{Budget, HandOver, Settings};
use serde_json::json;
use store::{Cost, OpenTotal, StoreError};

use crate::engine::world::{World, refusal};

fn settings(questions: u64, bytes: u64) -> Settings {
    Settings { key_open: Budget { questions, bytes }, ..Settings::default() }
}

const fn reached(limit: Limit, max: u64) -> Refusal {
    Refusal::LimitReached { limit, max }
}

/// Counted open totals of a caller's project. Asserts that they equal the totals computed from the questions.
async fn counted(world: &World, of: &Caller) -> Vec<(String, OpenTotal)> {
    let scope = of.scope;
    let found = store::read::<_, StoreError, _>(world.store.as_ref(), Cost::Point, move |reads| {
        Ok((reads.open_totals(&scope)?, reads.open_totals_computed(&scope)?))
    });
    let (counted, found) = found.await.unwrap();
    assert_eq!(counted, found);
    counted
}

async fn questions(world: &World, of: &Caller) -> u64 {
    counted(world, of).await.iter().map(|(_, total)| total.questions).sum()
}

#[tokio::test]
async fn open_questions_of_a_key_are_limited_across_sessions() {
    let world = World::with(settings(2, 1 << 20));
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let (first, second) = (world.session(&agent).await, world.session(&agent).await);
    let asked = world.ask(&agent, &first, json!({})).await;
    world.ask(&agent, &second, json!({})).await;
    let before = counted(&world, &agent).await;
    let over = reached(Limit::KeyOpenQuestions, 2);
    assert_eq!(refusal(world.try_ask(&agent, &first, json!({})).await), over);
    assert_eq!(refusal(world.try_ask(&agent, &second, json!({})).await), over);
    assert_eq!(counted(&world, &agent).await, before, "the totals are unchanged");
    assert_eq!(world.session_now(&agent, second.id).await.open, 1);

    let (other, stranger) =
        (world.caller(Role::Agent, "other").await, world.stranger("other", Role::Agent, "deployer", &[]).await);
    for who in [&other, &stranger] {
        let session = world.session(who).await;
        world.ask(who, &session, json!({})).await;
    }
    world.choose(&alice, asked.id, "confirm").await.unwrap();
    world.ask(&agent, &first, json!({})).await;
}

#[tokio::test]
async fn keys_whose_names_differ_only_in_case_share_a_budget() {
    let world = World::with(settings(2, 1 << 20));
    let (agent, shouting) = (world.agent().await, world.caller(Role::Agent, "DEPLOYER").await);
    let (first, second) = (world.session(&agent).await, world.session(&shouting).await);
    let asked = world.ask(&agent, &first, json!({})).await;
    world.ask(&shouting, &second, json!({})).await;
    let over = reached(Limit::KeyOpenQuestions, 2);
    assert_eq!(refusal(world.try_ask(&agent, &first, json!({})).await), over);
    assert_eq!(refusal(world.try_ask(&shouting, &second, json!({})).await), over);
    let totals = counted(&world, &agent).await;
    assert_eq!((totals.len(), totals[0].0.as_str(), totals[0].1.questions), (1, "agent:deployer", 2));
    world.engine.interaction_cancel(&agent, asked.id, None, None).await.unwrap();
    world.ask(&shouting, &second, json!({})).await;
}

#[tokio::test]
async fn open_bytes_of_a_key_are_limited_including_resume_points() {
    let world = World::with(settings(100, 20_000));
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let large = || json!({ "message": "x".repeat(8_000) });
    let first = world.ask(&agent, &session, large()).await;
    world.ask(&agent, &session, large()).await;
    assert_eq!(refusal(world.try_ask(&agent, &session, large()).await), reached(Limit::KeyOpenBytes, 20_000));
    let mut ask = crate::engine::world::ask(json!({}));
    ask.resume_point = Some(json!("y".repeat(8_000)));
    let over = world.engine.interaction_ask(&agent, session.id, ask.clone(), None).await;
    assert_eq!(refusal(over), reached(Limit::KeyOpenBytes, 20_000));
    assert_eq!(questions(&world, &agent).await, 2);
    world.choose(&alice, first.id, "confirm").await.unwrap();
    world.engine.interaction_ask(&agent, session.id, ask, None).await.unwrap();
    assert_eq!(questions(&world, &agent).await, 2);
}

#[tokio::test]
async fn open_questions_of_a_tenant_are_limited_separately_from_others() {
    let budget = Budget { questions: 3, bytes: 1 << 20 };
    let world = World::with(Settings { tenant_open: budget, ..Settings::default() });
    let mut asked = Vec::new();
    for name in ["a", "b", "c"] {
        let agent = world.caller(Role::Agent, name).await;
        let session = world.session(&agent).await;
        asked.push(world.ask(&agent, &session, json!({})).await);
    }
    let late = world.caller(Role::Agent, "d").await;
    let session = world.session(&late).await;
    let over = reached(Limit::TenantOpenQuestions, 3);
    assert_eq!(refusal(world.try_ask(&late, &session, json!({})).await), over);
    let stranger = world.stranger("other", Role::Agent, "d", &[]).await;
    let theirs = world.session(&stranger).await;
    world.ask(&stranger, &theirs, json!({})).await;
    let alice = world.person("alice").await;
    world.choose(&alice, asked[0].id, "confirm").await.unwrap();
    world.ask(&late, &session, json!({})).await;
}

/// Every end of a question is subtracted from the open totals.
#[tokio::test]
async fn every_end_of_a_question_reduces_the_open_count() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session: Session = world.session(&agent).await;
    let open = async || questions(&world, &agent).await;
    let mut asked = Vec::new();
    for _ in 0..4 {
        asked.push(world.ask(&agent, &session, json!({})).await.id);
    }
    assert_eq!(open().await, 4);
    world.choose(&alice, asked[0], "confirm").await.unwrap();
    assert_eq!(open().await, 3, "answered");
    world.engine.interaction_cancel(&alice, asked[1], None, None).await.unwrap();
    assert_eq!(open().await, 2, "cancelled");
    world.engine.interaction_expire(&alice, asked[2], None).await.unwrap();
    assert_eq!(open().await, 1, "expired");
    world
        .engine
        .interaction_handover(&alice, asked[3], HandOver { channel: Some("there".into()), note: None }, None)
        .await
        .unwrap();
    assert_eq!(open().await, 2, "after a handover both questions count for the agent");
    world.control(&alice, session.id, domain::Command::Cancel).await.unwrap();
    assert_eq!(open().await, 0, "the end of the session closes both questions");
}

#[tokio::test]
async fn open_count_survives_a_restart() {
    let world = World::new();
    let agent = world.agent().await;
    let session = world.session(&agent).await;
    world.ask(&agent, &session, json!({})).await;
    let before = counted(&world, &agent).await;
    let world = world.restarted_after(domain::SignedDuration::from_secs(5));
    assert_eq!(counted(&world, &agent).await, before);
    assert_eq!(before[0].1.questions, 1);
}
