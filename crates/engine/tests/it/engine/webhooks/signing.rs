//! Tests the signatures of messages.

use std::sync::Arc;

use domain::{Role, SignedDuration};
use holdpoint_engine::{Engine, Ids, MasterKey, Settings, Start, Vault};

use super::{Endpoints, URL, all_events, made, new, sent};
use crate::engine::world::World;

#[tokio::test]
async fn messages_are_signed_with_both_secrets_until_the_old_one_ends() {
    let (world, endpoints) = (World::new(), Endpoints::default());
    let (root, agent) = (world.caller(Role::Admin, "root").await, world.agent().await);
    let (webhook, first) = world.engine.webhook_create(&root, new(URL, all_events()), None).await.unwrap();
    let (_, second, until) = world.engine.webhook_rotate(&root, webhook.id, Some(60), None).await.unwrap();
    assert_eq!(until, world.engine.now() + SignedDuration::from_secs(60));
    assert!(first.starts_with("whsec_") && second.starts_with("whsec_") && first != second);
    let signed = async || {
        world.session(&agent).await;
        sent(&world.engine, &endpoints).await;
        endpoints.take(URL).pop().unwrap().secrets
    };
    let both = signed().await;
    assert_eq!((both.len(), both[0] == both[1]), (2, false));
    world.pass(60);
    assert_eq!(signed().await, both[..1], "the old secret has expired");
    world.engine.run_housekeeping_once().await.unwrap();
    assert_eq!(signed().await, both[..1]);
}

#[tokio::test]
async fn webhook_secrets_are_sealed_again_by_a_key_rotation() {
    let (world, endpoints) = (World::new(), Endpoints::default());
    let (root, agent) = (world.caller(Role::Admin, "root").await, world.agent().await);
    made(&world, &root, URL, all_events()).await;
    let signed = async |engine: &Engine| {
        engine.session_start(&agent, Start::default(), None).await.unwrap();
        sent(engine, &endpoints).await;
        endpoints.take(URL).pop().unwrap().secrets
    };
    let before = signed(&world.engine).await;
    let node = async |masters: &[u8]| {
        let masters = masters.iter().map(|byte| MasterKey::from_bytes([*byte; 32])).collect();
        let vault = Vault::over(masters, Box::new(Vec::new));
        let (store, clock) = (Arc::clone(&world.store), Arc::new(world.clock.clone()));
        let engine = Engine::new(store, clock, Ids::default(), vault, Settings::default());
        engine.check_master_key().await.unwrap();
        engine
    };
    let rotated = node(&[8, 7]).await.rotate_master_key().await.unwrap();
    assert_eq!((rotated.values, rotated.forgotten), (1, 1));
    assert_eq!(signed(&node(&[8]).await).await, before);
}
