//! Tests the delivery of an answer to the agent: under a lease, completed once.

use std::time::Duration;

use domain::{Caller, Delivery, InteractionId, LeaseId, Refusal, Role};
use holdpoint_engine::Error;
use serde_json::json;
use uuid::Uuid;

use crate::engine::world::{SOON, World, pointers, refusal};

/// Creates an answered question, and returns the agent that asked it.
async fn answered(world: &World) -> (Caller, InteractionId) {
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let id = world.ask(&agent, &session, json!({ "resume_point": { "at": 7 } })).await.id;
    world.choose(&alice, id, "confirm").await.unwrap();
    (agent, id)
}

#[tokio::test]
async fn delivery_is_taken_extended_and_completed_once() {
    let world = World::new();
    let (agent, id) = answered(&world).await;
    let taken = world.engine.delivery_take(&agent, id, Some(60), None).await.unwrap();
    assert_eq!(taken.resume_point, Some(json!({ "at": 7 })));
    assert_eq!(world.engine.delivery_list(&agent, store::Page::first(10), Duration::ZERO).await.unwrap(), []);
    world.pass(50);
    world.engine.delivery_heartbeat(&agent, (id, taken.lease), Some(60), None).await.unwrap();
    world.pass(50);
    let again = world.engine.delivery_take(&agent, id, None, None).await;
    let until = world.engine.now() + domain::SignedDuration::from_secs(10);
    assert_eq!(refusal(again), Refusal::DeliveryTaken { until });
    let completed = world.engine.delivery_complete(&agent, (id, taken.lease), None).await.unwrap();
    let wanted = Delivery::Completed { at: world.engine.now(), attempt: 1 };
    assert_eq!(completed.delivery(), Some(&wanted));
    let closed = Refusal::DeliveryClosed("completed");
    assert_eq!(refusal(world.engine.delivery_complete(&agent, (id, taken.lease), None).await), closed);
    assert_eq!(refusal(world.engine.delivery_heartbeat(&agent, (id, taken.lease), None, None).await), closed);
    assert_eq!(refusal(world.engine.delivery_take(&agent, id, None, None).await), closed);
}

#[tokio::test]
async fn expired_lease_is_refused_and_the_delivery_is_offered_again() {
    let world = World::new();
    let (agent, id) = answered(&world).await;
    let first = world.engine.delivery_take(&agent, id, Some(60), None).await.unwrap();
    world.pass(60);
    assert_eq!(refusal(world.engine.delivery_complete(&agent, (id, first.lease), None).await), Refusal::LeaseLost);
    world.engine.fire_due().await.unwrap();
    assert_eq!(world.now(&agent, id).await.delivery(), Some(&Delivery::Waiting { attempt: 1 }));
    let second = world.engine.delivery_take(&agent, id, Some(60), None).await.unwrap();
    assert_eq!(second.resume_point, first.resume_point, "the next taker gets the same state");
    assert_eq!(refusal(world.engine.delivery_complete(&agent, (id, first.lease), None).await), Refusal::LeaseLost);
    let completed = world.engine.delivery_complete(&agent, (id, second.lease), None).await.unwrap();
    let wanted = Delivery::Completed { at: world.engine.now(), attempt: 2 };
    assert_eq!(completed.delivery(), Some(&wanted));
}

#[tokio::test]
async fn failed_delivery_is_offered_again_or_stays_failed() {
    let world = World::new();
    let (agent, id) = answered(&world).await;
    let lease = world.engine.delivery_take(&agent, id, None, None).await.unwrap().lease;
    let failed = world.engine.delivery_fail(&agent, (id, lease), "no disk".into(), true, None).await.unwrap();
    assert_eq!(failed.delivery(), Some(&Delivery::Waiting { attempt: 1 }));
    let lease = world.engine.delivery_take(&agent, id, None, None).await.unwrap().lease;
    let failed = world.engine.delivery_fail(&agent, (id, lease), "no state".into(), false, None).await.unwrap();
    let wanted = Delivery::Failed { at: world.engine.now(), attempt: 2, reason: "no state".into() };
    assert_eq!(failed.delivery(), Some(&wanted));
    assert_eq!(refusal(world.engine.delivery_take(&agent, id, None, None).await), Refusal::DeliveryClosed("failed"));
}

#[tokio::test]
async fn delivery_fails_after_twenty_expired_leases() {
    let world = World::new();
    let (agent, id) = answered(&world).await;
    for _ in 0..20 {
        world.engine.delivery_take(&agent, id, Some(1), None).await.unwrap();
        world.pass(1);
        world.engine.fire_due().await.unwrap();
    }
    assert_eq!(world.now(&agent, id).await.delivery().map(Delivery::name), Some("failed"));
}

#[tokio::test]
async fn only_the_asking_agent_takes_the_answer_once_there_is_one() {
    let world = World::new();
    let (agent, id) = answered(&world).await;
    let (other, alice) = (world.caller(Role::Agent, "other").await, world.person("alice").await);
    assert_eq!(refusal(world.engine.delivery_take(&other, id, None, None).await), Refusal::NotFound("interaction"));
    let forbidden = Refusal::RoleForbids { role: Role::Operator };
    let lease = LeaseId::from_uuid(Uuid::nil());
    assert_eq!(refusal(world.engine.delivery_take(&alice, id, None, None).await), forbidden);
    assert_eq!(refusal(world.engine.delivery_heartbeat(&alice, (id, lease), None, None).await), forbidden);
    assert_eq!(refusal(world.engine.delivery_complete(&alice, (id, lease), None).await), forbidden);
    assert_eq!(refusal(world.engine.delivery_fail(&alice, (id, lease), "x".into(), true, None).await), forbidden);
    assert_eq!(refusal(world.engine.delivery_list(&alice, store::Page::first(1), Duration::ZERO).await), forbidden);
    assert_eq!(refusal(world.engine.delivery_complete(&agent, (id, lease), None).await), Refusal::LeaseLost);
    assert_eq!(pointers(world.engine.delivery_take(&agent, id, Some(0), None).await), ["/lease_seconds"]);
    let session = world.session(&agent).await;
    let open = world.ask(&agent, &session, json!({})).await.id;
    assert_eq!(refusal(world.engine.delivery_take(&agent, open, None, None).await), Refusal::StillPending(open));
}

#[tokio::test]
async fn waiting_agent_receives_answers_also_at_the_end_of_a_pause() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let first = world.ask(&agent, &session, json!({})).await.id;
    let waiting = world.engine.delivery_list(&agent, store::Page::first(10), SOON);
    let (heard, answered) = tokio::join!(waiting, world.choose(&alice, first, "confirm"));
    assert_eq!(heard.unwrap(), [answered.unwrap()]);
    let lease = world.engine.delivery_take(&agent, first, None, None).await.unwrap().lease;
    world.engine.delivery_complete(&agent, (first, lease), None).await.unwrap();
    let second = world.ask(&agent, &session, json!({})).await.id;
    world.control(&alice, session.id, domain::Command::Pause).await.unwrap();
    let answered = world.choose(&alice, second, "confirm").await.unwrap();
    let resuming = world.control(&alice, session.id, domain::Command::Resume);
    let (heard, resumed) = tokio::join!(world.engine.delivery_list(&agent, store::Page::first(10), SOON), resuming);
    resumed.unwrap();
    assert_eq!(heard.unwrap(), [answered], "the end of the pause wakes the agent");
}

#[tokio::test]
async fn one_of_several_concurrent_takes_wins() {
    let world = World::new();
    let (agent, id) = answered(&world).await;
    let takes = (0..20).map(|_| world.engine.delivery_take(&agent, id, None, None));
    let results = futures::future::join_all(takes).await;
    let (won, lost): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    assert_eq!(won.len(), 1);
    assert!(lost.into_iter().all(|lost| matches!(lost, Err(Error::Refused(Refusal::DeliveryTaken { .. })))));
}
