//! Tests many webhooks and many nodes: no endpoint delays another, and a recorded delivery is not sent twice.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use domain::{Role, WebhookDeliveryState};
use futures::future::BoxFuture;
use holdpoint_engine::{Courier, Engine, Parcel, Receipt};
use store::Store;
use store_postgres::{PostgresOptions, PostgresStore};
use testkit::postgres::TestPostgres;

use super::{Endpoints, OTHER, URL, all_events, listed, made, sent};
use crate::engine::world::World;

#[tokio::test]
async fn dead_endpoint_delays_no_other_and_loses_no_message() {
    let (world, endpoints) = (World::new(), Endpoints::default());
    let (root, agent) = (world.caller(Role::Admin, "root").await, world.agent().await);
    let dead = made(&world, &root, URL, all_events()).await;
    made(&world, &root, OTHER, all_events()).await;
    endpoints.reply(URL, 0);
    let mut delivered = 0;
    for _ in 0..25 {
        for _ in 0..10 {
            world.session(&agent).await;
        }
        sent(&world.engine, &endpoints).await;
        delivered += endpoints.names(OTHER).len();
        world.pass(1);
    }
    assert_eq!(delivered, 250);
    assert!(endpoints.names(URL).len() < 20, "a failing endpoint is tried rarely");
    assert!(listed(&world, &root, dead.id, Some(WebhookDeliveryState::Pending)).await.len() <= 100);
    endpoints.reply(URL, 200);
    let mut arrived = HashSet::new();
    for _ in 0..10 {
        world.pass(3600);
        sent(&world.engine, &endpoints).await;
        arrived.extend(endpoints.take(URL).into_iter().map(|got| got.id));
    }
    assert_eq!(arrived.len(), 250, "everything arrives when it is back");
    assert_eq!(listed(&world, &root, dead.id, Some(WebhookDeliveryState::Pending)).await.len(), 0);
}

/// If the node dies after the endpoint has the message and before that is recorded, the next node sends it again under an identical identifier.
#[tokio::test]
async fn unrecorded_message_is_sent_again_with_its_id_by_the_next_node() {
    /// A courier that never returns after the endpoint has its message, as when a node dies.
    struct Dies(Endpoints);
    impl Courier for Dies {
        fn post<'a>(&'a self, parcel: &'a Parcel) -> BoxFuture<'a, Receipt> {
            drop(self.0.post(parcel));
            Box::pin(std::future::pending())
        }
    }
    let world = World::new();
    let (root, agent) = (world.caller(Role::Admin, "root").await, world.agent().await);
    made(&world, &root, URL, all_events()).await;
    world.session(&agent).await;
    let dying = Dies(Endpoints::default());
    let has_it = async {
        while dying.0.got.lock().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        sent = world.engine.send_webhooks(&dying) => unreachable!("{sent:?}"),
        () = has_it => {}
    }
    let (next, endpoints) = (world.another_engine([7; 32]), Endpoints::default());
    sent(&next, &endpoints).await;
    assert_eq!(endpoints.names(URL).len(), 0, "the dead node still has its lease");
    world.pass(45);
    sent(&next, &endpoints).await;
    let (first, again) = (dying.0.take(URL), endpoints.take(URL));
    assert_eq!((first.len(), again.len()), (1, 1));
    assert_eq!(first[0].id, again[0].id);
}

#[tokio::test]
async fn two_nodes_send_each_message_once() {
    let world = World::new();
    let (root, agent) = (world.caller(Role::Admin, "root").await, world.agent().await);
    for number in 0..20 {
        made(&world, &root, &format!("https://hooks.example.com/{number}"), all_events()).await;
    }
    for _ in 0..10 {
        world.session(&agent).await;
    }
    let (other, endpoints) = (world.another_engine([7; 32]), Arc::new(Endpoints::default()));
    let node = async |engine: &Engine| sent(engine, &endpoints).await;
    tokio::join!(node(&world.engine), node(&other), node(&world.engine), node(&other));
    let got = endpoints.got.lock().clone();
    let ids: HashSet<&String> = got.iter().map(|got| &got.id).collect();
    assert_eq!((got.len(), ids.len()), (200, 200));
}

/// Sends one event to a thousand webhooks, of which every fourth endpoint is down. Returns the number of messages of each endpoint.
async fn send_event_to_a_thousand_webhooks(world: &World) -> HashMap<String, usize> {
    let endpoints = Endpoints::default();
    let (root, agent) = (world.caller(Role::Admin, "root").await, world.agent().await);
    let urls: Vec<String> = (0..1000).map(url_of_webhook).collect();
    futures::future::join_all(urls.iter().map(|url| made(world, &root, url, all_events()))).await;
    (0..1000).step_by(4).for_each(|number| endpoints.reply(&url_of_webhook(number), 0));
    world.session(&agent).await;
    // Each pass sends a limited number, and each webhook has its turn.
    for _ in 0..10 {
        sent(&world.engine, &endpoints).await;
    }
    let mut got = HashMap::new();
    for one in endpoints.got.lock().iter() {
        *got.entry(one.url.clone()).or_default() += 1;
    }
    got
}

fn url_of_webhook(number: usize) -> String {
    format!("https://hooks.example.com/{number}")
}

#[tokio::test]
async fn event_reaches_a_thousand_webhooks_on_sqlite() {
    let got = send_event_to_a_thousand_webhooks(&World::new()).await;
    assert_eq!((got.len(), got.values().sum()), (1000, 1000));
}

/// PostgreSQL uses its own clock, so an endpoint that is down may be tried again meanwhile; the others get one message each.
#[tokio::test]
async fn event_reaches_a_thousand_webhooks_on_postgres() {
    let opened = tokio::task::spawn_blocking(|| {
        let database = TestPostgres::start().unwrap().fresh_database().unwrap();
        let store = PostgresStore::open(&database.url(), &PostgresOptions::default()).unwrap();
        (database, Arc::new(store) as Arc<dyn Store>)
    });
    let (database, store) = opened.await.unwrap();
    let world = World::over(store);
    let got = send_event_to_a_thousand_webhooks(&world).await;
    assert_eq!(got.len(), 1000);
    let well = |(number, url): (usize, String)| (number % 4 != 0).then(|| got[&url]);
    assert!((0..1000).map(|number| (number, url_of_webhook(number))).filter_map(well).all(|times| times == 1));
    tokio::task::spawn_blocking(move || {
        world.store.close();
        drop((world, database));
    })
    .await
    .unwrap();
}
