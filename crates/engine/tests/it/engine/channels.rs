//! Tests following a channel: every session to its end, at a cost that grows linearly with their number.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use domain::{Caller, Command, Event, Session, SessionId};
use holdpoint_engine::{ChannelFollower, ChannelItem, ChannelStart, Start};
use serde_json::json;
use store::{Cost, Job, Store};
use store_sqlite::{SqliteOptions, SqliteStore};
use tempfile::TempDir;
use testkit::ManualClock;

use crate::engine::world::{SOON, World};

const MANY: usize = 60;

/// A store that counts its reads.
struct Counting {
    store: SqliteStore,
    reads: AtomicUsize,
}

impl Counting {
    /// Number of reads since the last call.
    fn reads(&self) -> usize {
        self.reads.swap(0, Ordering::Relaxed)
    }
}

impl Store for Counting {
    fn submit(&self, job: Box<dyn Job>) {
        self.store.submit(job);
    }

    fn query(&self, cost: Cost, job: Box<dyn Job>) {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.store.query(cost, job);
    }

    testkit::forward_to_store!(store);
}

async fn opened(world: &World, by: &Caller) -> Session {
    world.engine.session_start(by, Start { channel: Some("chat-7".into()), ..Start::default() }, None).await.unwrap()
}

async fn next(follower: &mut ChannelFollower) -> ChannelItem {
    tokio::time::timeout(SOON, follower.next()).await.unwrap().unwrap()
}

async fn joined(follower: &mut ChannelFollower) -> Vec<SessionId> {
    match next(follower).await {
        ChannelItem::Joined(sessions) => sessions,
        ChannelItem::Events(events) => unreachable!("{events:?} before a session joined"),
    }
}

async fn events(follower: &mut ChannelFollower) -> Vec<Event> {
    match next(follower).await {
        ChannelItem::Events(events) => events,
        ChannelItem::Joined(sessions) => unreachable!("{sessions:?} were not followed"),
    }
}

#[tokio::test]
async fn channel_follower_reads_each_session_once() {
    let (directory, clock) = (TempDir::new().unwrap(), ManualClock::default());
    let store = SqliteStore::open(directory.path(), Arc::new(clock), &SqliteOptions::default()).unwrap();
    let store = Arc::new(Counting { store, reads: AtomicUsize::new(0) });
    let world = World::over(Arc::clone(&store) as Arc<dyn Store>);
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let mut sessions = Vec::new();
    for _ in 0..MANY {
        let session = opened(&world, &agent).await;
        world.ask(&agent, &session, json!({})).await;
        sessions.push(session.id);
    }
    sessions.sort_unstable();
    store.reads();
    let from = ChannelStart::After(BTreeMap::new());
    let mut follower = world.engine.channel_follow(&alice, "chat-7", from).await.unwrap();
    assert_eq!(joined(&mut follower).await, sessions, "the oldest first");
    let mut told = Vec::new();
    for _ in 0..MANY {
        let events = events(&mut follower).await;
        let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
        assert_eq!(names[..2], ["session.started", "interaction.asked"]);
        told.push(events[0].session);
    }
    told.sort_unstable();
    assert_eq!(told, sessions, "each once");
    assert!(store.reads() <= MANY + 2, "one read of all sessions, and one read of each");
}

#[tokio::test]
async fn channel_follower_reads_old_sessions_to_the_end_and_new_ones_whole() {
    let world = World::new();
    let (agent, alice) = (world.agent().await, world.person("alice").await);
    let (first, second) = (opened(&world, &agent).await, opened(&world, &agent).await);
    let mut follower = world.engine.channel_follow(&alice, "chat-7", ChannelStart::Now).await.unwrap();
    assert_eq!(joined(&mut follower).await, [first.id, second.id]);
    // A session that was there is followed from now on; a new session is followed from its beginning, even if it has already ended.
    world.control(&agent, first.id, Command::Complete).await.unwrap();
    let third = opened(&world, &agent).await;
    world.control(&agent, third.id, Command::Complete).await.unwrap();
    assert_eq!(joined(&mut follower).await, [third.id]);
    let mut told: BTreeMap<SessionId, Vec<String>> = BTreeMap::new();
    while told.values().map(Vec::len).sum::<usize>() < 3 {
        for event in events(&mut follower).await {
            told.entry(event.session).or_default().push(event.name);
        }
    }
    assert_eq!(told[&first.id], ["session.completed"]);
    assert_eq!(told[&third.id], ["session.started", "session.completed"]);
    world.ask(&agent, &second, json!({})).await;
    let asked = events(&mut follower).await;
    assert_eq!((asked[0].session, asked[0].name.as_str()), (second.id, "interaction.asked"));
}
