//! Tests the queues of lists and policy checks: one key never blocks another, and work that nobody awaits is skipped.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use domain::project::{AgentsRead, ProjectSettings};
use domain::{Limit, Refusal, Role};
use holdpoint_engine::{Error, InteractionQuery, Settings};
use parking_lot::Mutex;
use store::{Cost, Job, Page, Store, SystemClock, Topic};
use store_sqlite::{SqliteOptions, SqliteStore};

use crate::engine::world::{World, refusal};

/// A store that holds list queries back until the test releases them.
struct HoldingStore {
    inner: SqliteStore,
    lists: Mutex<Vec<Box<dyn Job>>>,
}

impl HoldingStore {
    fn waiting(&self) -> usize {
        self.lists.lock().len()
    }

    /// Runs the queries that were held back, and returns how many of them are still awaited.
    fn run_held_queries(&self) -> usize {
        let lists = std::mem::take(&mut *self.lists.lock());
        let wanted = lists.iter().filter(|job| job.is_awaited()).count();
        lists.into_iter().for_each(|job| self.inner.query(Cost::Point, job));
        wanted
    }
}

impl Store for HoldingStore {
    fn submit(&self, job: Box<dyn Job>) {
        self.inner.submit(job);
    }

    fn query(&self, cost: Cost, job: Box<dyn Job>) {
        match cost {
            Cost::Scan => self.lists.lock().push(job),
            Cost::Point => self.inner.query(cost, job),
        }
    }

    fn publish(&self, topics: &[Topic]) {
        self.inner.publish(topics);
    }

    fn listen(&self, listener: Arc<dyn Fn(Topic) + Send + Sync>) {
        self.inner.listen(listener);
    }

    fn is_shared(&self) -> bool {
        false
    }

    fn close(&self) {
        self.inner.close();
    }
}

fn held_store() -> (tempfile::TempDir, Arc<HoldingStore>) {
    let directory = tempfile::TempDir::new().unwrap();
    let inner = SqliteStore::open(directory.path(), Arc::new(SystemClock), &SqliteOptions::default()).unwrap();
    (directory, Arc::new(HoldingStore { inner, lists: Mutex::default() }))
}

type Listing<'a> = Pin<Box<dyn Future<Output = Result<usize, Error>> + 'a>>;

/// Begins to list questions, and polls the future once.
async fn begin_listing<'a>(world: &'a World, by: &'a domain::Caller) -> Listing<'a> {
    let mut listing: Listing<'a> = Box::pin(async move {
        let found = world.engine.interaction_list(by, InteractionQuery::default(), Page::first(10)).await?;
        Ok(found.0.len())
    });
    std::future::poll_fn(|context| {
        assert!(listing.as_mut().poll(context).is_pending(), "the list waits for its turn");
        Poll::Ready(())
    })
    .await;
    listing
}

#[tokio::test]
async fn lists_of_one_key_do_not_block_others_and_abandoned_ones_are_skipped() {
    let (_directory, store) = held_store();
    let settings = Settings { key_lists: 2, ..Settings::default() };
    let world = World::over_with(Arc::clone(&store) as Arc<dyn Store>, settings);
    let (greedy, other) = (world.person("greedy").await, world.stranger("other", Role::Viewer, "bob", &[]).await);
    let first = begin_listing(&world, &greedy).await;
    let second = begin_listing(&world, &greedy).await;
    assert_eq!(store.waiting(), 1, "the second list has not reached the store");
    let third = world.engine.interaction_list(&greedy, InteractionQuery::default(), Page::first(10)).await;
    assert_eq!(refusal(third), Refusal::LimitReached { limit: Limit::KeyLists, max: 2 });
    let theirs = begin_listing(&world, &other).await;
    assert_eq!(store.waiting(), 2, "the other tenant's list has reached the store");
    drop(first);
    assert_eq!(store.run_held_queries(), 1, "the first list is no longer awaited");
    assert_eq!(theirs.await.unwrap(), 0);
    let finishing = async {
        while store.run_held_queries() == 0 {
            tokio::task::yield_now().await;
        }
    };
    let (second, ()) = tokio::join!(second, finishing);
    assert_eq!(second.unwrap(), 0);
}

/// An agent with a check under way does not make a person wait: each has its own queue.
#[tokio::test]
async fn policy_checks_of_an_agent_are_limited_and_do_not_block_an_admin() {
    let (_directory, store) = held_store();
    let settings = Settings { key_checks: 1, ..Settings::default() };
    let world = World::over_with(Arc::clone(&store) as Arc<dyn Store>, settings);
    let (agent, admin) = (world.agent().await, world.caller(Role::Admin, "root").await);
    let everything = ProjectSettings { agents_read: AgentsRead::Project };
    world.engine.project_settings_put(&admin, everything, None).await.unwrap();
    // A suggestion reads a list, which the store holds back, so the agent occupies its place until then.
    let mut learning = Box::pin(world.engine.suggestion_list(&agent));
    std::future::poll_fn(|context| {
        let _ = learning.as_mut().poll(context);
        Poll::Ready(())
    })
    .await;
    let text = "[[rule]]\nname = \"r\"\ntools = [\"*\"]\nverdict = \"ask\"\n";
    let over = world.engine.policy_check(&agent, text.into()).await;
    assert_eq!(refusal(over), Refusal::LimitReached { limit: Limit::KeyChecks, max: 1 });
    world.engine.policy_check(&admin, text.into()).await.unwrap();
}
