//! Tests answers that are delivered by webhook: an answer counts as taken only when the endpoint has it.

use domain::webhook::Subject;
use domain::{Command, Delivery, Refusal, Role, WebhookDeliveryState};
use holdpoint_engine::Content;
use serde_json::json;

use super::{Endpoints, OTHER, URL, all_events, listed, made, sent};
use crate::engine::world::{World, refusal};

#[tokio::test]
async fn delivery_is_taken_only_when_the_endpoint_has_accepted_it() {
    let (world, endpoints) = (World::new(), Endpoints::default());
    let (root, agent, alice) =
        (world.caller(Role::Admin, "root").await, world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let early = world.ask(&agent, &session, json!({})).await.id;
    world.choose(&alice, early, "confirm").await.unwrap();
    made(&world, &root, URL, Subject::Answers { agent: "deployer".into() }).await;
    made(&world, &root, OTHER, Subject::Answers { agent: "somebody-else".into() }).await;
    endpoints.reply(URL, 503);
    sent(&world.engine, &endpoints).await;
    assert_eq!(endpoints.names(URL), ["answer.waiting"]);
    assert_eq!(world.now(&alice, early).await.delivery(), Some(&Delivery::Waiting { attempt: 0 }));

    endpoints.reply(URL, 200);
    world.pass(10);
    sent(&world.engine, &endpoints).await;
    assert_eq!(endpoints.names(URL), ["answer.waiting"]);
    let now = world.engine.now();
    assert_eq!(world.now(&alice, early).await.delivery(), Some(&Delivery::Completed { at: now, attempt: 1 }));
    let told = world.events(&alice, session.id).await;
    assert!(told.ends_with(&["delivery.taken".into(), "delivery.completed".into()]), "{told:?}");

    endpoints.reply(URL, 202);
    let late = world.ask(&agent, &session, json!({})).await.id;
    world.choose(&alice, late, "confirm").await.unwrap();
    sent(&world.engine, &endpoints).await;
    let got = endpoints.take(URL).pop().unwrap();
    let Content::Answer { lease: Some(lease), interaction } = got.content.clone() else { unreachable!("{got:?}") };
    assert_eq!(interaction.id, late);
    assert_eq!(world.now(&alice, late).await.delivery().unwrap().name(), "processing");
    sent(&world.engine, &endpoints).await;
    assert_eq!(endpoints.names(URL).len(), 0);
    world.pass(300);
    world.engine.fire_due().await.unwrap();
    sent(&world.engine, &endpoints).await;
    let again = endpoints.take(URL).pop().unwrap();
    assert_ne!(again.id, got.id, "an answer that is offered again is another message");
    let Content::Answer { lease: Some(new), .. } = again.content.clone() else { unreachable!("{again:?}") };
    assert_eq!(refusal(world.engine.delivery_complete(&agent, (late, lease), None).await), Refusal::LeaseLost);
    world.engine.delivery_complete(&agent, (late, new), None).await.unwrap();
    assert_eq!(endpoints.names(OTHER).len(), 0);
}

#[tokio::test]
async fn answers_already_taken_or_of_paused_sessions_are_not_sent() {
    let (world, endpoints) = (World::new(), Endpoints::default());
    let (root, agent, alice) =
        (world.caller(Role::Admin, "root").await, world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    let webhook = made(&world, &root, URL, Subject::Answers { agent: "deployer".into() }).await;
    endpoints.reply(URL, 500);
    let question = world.ask(&agent, &session, json!({})).await.id;
    world.choose(&alice, question, "confirm").await.unwrap();
    sent(&world.engine, &endpoints).await;
    assert_eq!(endpoints.names(URL).len(), 1);
    world.engine.delivery_take(&agent, question, None, None).await.unwrap();
    world.pass(60);
    sent(&world.engine, &endpoints).await;
    assert_eq!(endpoints.names(URL).len(), 0);
    assert_eq!(listed(&world, &root, webhook.id, Some(WebhookDeliveryState::Dropped)).await.len(), 1);

    endpoints.reply(URL, 200);
    let held = world.ask(&agent, &session, json!({})).await.id;
    world.control(&alice, session.id, Command::Pause).await.unwrap();
    world.choose(&alice, held, "confirm").await.unwrap();
    world.pass(600);
    sent(&world.engine, &endpoints).await;
    assert_eq!(endpoints.names(URL).len(), 0);
    world.control(&alice, session.id, Command::Resume).await.unwrap();
    sent(&world.engine, &endpoints).await;
    assert_eq!(endpoints.names(URL).len(), 1);
}

/// Sealed values are handed out by `take` only: the endpoint is told that an answer waits.
#[tokio::test]
async fn sealed_values_are_not_sent_by_webhook() {
    let (world, endpoints) = (World::new(), Endpoints::default());
    let (root, agent, alice) =
        (world.caller(Role::Admin, "root").await, world.agent().await, world.person("alice").await);
    let session = world.session(&agent).await;
    made(&world, &root, URL, Subject::Answers { agent: "deployer".into() }).await;
    made(&world, &root, OTHER, all_events()).await;
    let secret = json!({ "kind": "secret", "secrets": [{ "name": "TOKEN", "required": true }] });
    let secret = world.ask(&agent, &session, secret).await.id;
    let resumed = world.ask(&agent, &session, json!({ "resume_point": { "at": "hunter2-state" } })).await.id;
    let draft = crate::engine::world::data(json!({ "TOKEN": "hunter2-value" }));
    world.engine.interaction_answer(&alice, secret, draft, None).await.unwrap();
    world.choose(&alice, resumed, "confirm").await.unwrap();
    sent(&world.engine, &endpoints).await;
    let got = endpoints.got.lock().clone();
    assert!(!format!("{got:?}").contains("hunter2"), "{got:?}");
    let told = endpoints.take(URL);
    assert_eq!(told.len(), 2);
    for got in told {
        assert!(matches!(got.content, Content::Answer { lease: None, .. }), "{got:?}");
    }
    let taken = world.engine.delivery_take(&agent, secret, None, None).await.unwrap();
    assert_eq!(taken.secrets, Some(json!({ "TOKEN": "hunter2-value" })));
    let taken = world.engine.delivery_take(&agent, resumed, None, None).await.unwrap();
    assert_eq!(taken.resume_point, Some(json!({ "at": "hunter2-state" })));
}
