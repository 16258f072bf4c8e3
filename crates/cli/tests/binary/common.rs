//! Helpers that the tests share: data directories, servers on them, and clients.

mod client;
mod deployment;
mod raw;
mod server;
mod stream;

use std::time::{Duration, Instant};

use testkit::postgres::TestPostgres;

pub(crate) use client::{Client, Reply};
pub(crate) use deployment::{Deployment, binary};
pub(crate) use raw::Raw;
pub(crate) use server::{Launch, Server};
pub(crate) use stream::{Frame, Stream};

/// Time limit of every wait.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// Repeats a probe until it returns a value.
pub(crate) async fn until<T>(what: &str, probe: impl AsyncFnMut() -> Option<T>) -> T {
    until_within(PATIENCE, what, probe).await
}

/// Repeats a probe until it returns a value, with a time limit of its own.
pub(crate) async fn until_within<T>(limit: Duration, what: &str, mut probe: impl AsyncFnMut() -> Option<T>) -> T {
    let since = Instant::now();
    loop {
        if let Some(seen) = probe().await {
            return seen;
        }
        assert!(since.elapsed() < limit, "never came: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Waits for work that must end within the time limit.
pub(crate) async fn soon<T>(what: &str, work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work).await.unwrap_or_else(|_| panic!("timed out: {what}"))
}

/// Runs a test on a fresh PostgreSQL database, which a blocking driver creates before and drops after it.
pub(crate) fn on_postgres(story: impl AsyncFnOnce(&Deployment)) {
    let database = TestPostgres::start().unwrap().fresh_database().unwrap();
    let deployment = Deployment::postgres(database.url());
    tokio::runtime::Runtime::new().unwrap().block_on(story(&deployment));
}
