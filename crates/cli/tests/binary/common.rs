//! What the tests share: a house with data in it, servers in the house, clients of the servers.

mod client;
mod house;
mod raw;
mod server;
mod stream;

use std::time::{Duration, Instant};

use testkit::postgres::TestPostgres;

pub(crate) use client::{Client, Reply};
pub(crate) use house::{House, binary};
pub(crate) use raw::Raw;
pub(crate) use server::{Launch, Server};
pub(crate) use stream::{Frame, Stream};

/// How long anything may take before a test gives up on it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Looks again and again until there is something to see.
pub(crate) async fn until<T>(what: &str, mut probe: impl AsyncFnMut() -> Option<T>) -> T {
    let since = Instant::now();
    loop {
        if let Some(seen) = probe().await {
            return seen;
        }
        assert!(since.elapsed() < PATIENCE, "never came: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Waits for something that must not take long.
pub(crate) async fn soon<T>(what: &str, work: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(done) => done,
        Err(_) => panic!("took too long: {what}"),
    }
}

/// Tells a story on a fresh PostgreSQL database, which a blocking driver makes before and drops after the story.
pub(crate) fn on_postgres(story: impl AsyncFnOnce(&House)) {
    let database = TestPostgres::start().unwrap().fresh_database().unwrap();
    let house = House::postgres(database.url());
    tokio::runtime::Runtime::new().unwrap().block_on(story(&house));
}
