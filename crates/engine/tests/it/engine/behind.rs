//! Tests readers of a project's events that wait behind an open transaction on PostgreSQL.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use domain::Role;
use futures::future::join_all;
use holdpoint_engine::{Engine, Ids, MasterKey, Settings, Start, Vault};
use store::{Cost, Cursor, Job, Store, Topic};
use store_postgres::{PostgresOptions, PostgresStore};
use testkit::ManualClock;
use testkit::postgres::TestPostgres;

use crate::engine::world::{SOON, World};

const READERS: usize = 20;
/// Number of repeated reads. The pauses before them are 20, 40, 80, 160, 320 and three times 500 milliseconds.
const LOOKS: usize = 8;
const PAUSES: Duration = Duration::from_millis(2120);

/// A store that counts queries, for an engine that only reads.
struct Counting {
    store: Arc<dyn Store>,
    queries: Arc<AtomicUsize>,
}

impl Store for Counting {
    fn submit(&self, job: Box<dyn Job>) {
        self.store.submit(job);
    }

    fn query(&self, cost: Cost, job: Box<dyn Job>) {
        self.queries.fetch_add(1, Ordering::SeqCst);
        self.store.query(cost, job);
    }

    fn publish(&self, topics: &[Topic]) {
        self.store.publish(topics);
    }

    fn listen(&self, _listener: Arc<dyn Fn(Topic) + Send + Sync>) {}

    fn is_shared(&self) -> bool {
        true
    }

    fn close(&self) {}
}

#[test]
fn readers_behind_an_open_transaction_share_infrequent_polls() {
    let database = TestPostgres::start().unwrap().fresh_database().unwrap();
    let store: Arc<dyn Store> = Arc::new(PostgresStore::open(&database.url(), &PostgresOptions::default()).unwrap());
    let mut open = database.connect().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let world = World::over(Arc::clone(&store));
    let (queries, reading) = (Arc::<AtomicUsize>::default(), Arc::clone(&store));
    let counting: Arc<dyn Store> = Arc::new(Counting { store: reading, queries: Arc::clone(&queries) });
    let vault = Vault::new(MasterKey::from_bytes([7; 32]));
    let reader = Engine::new(counting, Arc::new(ManualClock::default()), Ids::default(), vault, Settings::default());

    let (alice, agent) =
        runtime.block_on(async { (world.person("alice").await, world.caller(Role::Agent, "bot").await) });
    // The transaction has a number, writes nothing, and stays open.
    open.batch_execute("begin; select pg_current_xact_id()").unwrap();
    let session = runtime.block_on(world.engine.session_start(&agent, Start::default(), None)).unwrap();
    let followers = (0..READERS).map(|_| {
        let (reader, alice) = (reader.clone(), alice.clone());
        runtime.spawn(async move {
            let mut follower = reader.project_follow(&alice, Some(Cursor::default())).await.unwrap();
            follower.next().await.unwrap()
        })
    });
    let begun = Instant::now();
    let followers: Vec<_> = followers.collect();
    // Each reader reads once for itself; every further query is a repeated read.
    while queries.load(Ordering::SeqCst) < READERS + LOOKS {
        assert!(begun.elapsed() < SOON, "no reader polls the store");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(begun.elapsed() >= PAUSES, "{LOOKS} looks took {:?}", begun.elapsed());
    open.batch_execute("commit").unwrap();
    let seen = runtime.block_on(async { tokio::time::timeout(SOON, join_all(followers)).await }).unwrap();
    for events in seen {
        let events = events.unwrap();
        assert_eq!(events.iter().map(|(_, event)| event.session).collect::<Vec<_>>(), [session.id]);
    }
    store.close();
}
