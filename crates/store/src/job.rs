//! Runs closures in transactions. A [`Job`] is queued, run and committed; only then does the caller get its result.

use std::sync::Arc;

use tokio::sync::oneshot;

use crate::{Reads, StoreError, Topic, Tx};

/// Outcome of one run of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobOutcome {
    /// Commit the writes of the job.
    Commit,
    /// Roll back the writes of the job. It was refused, or failed with this error of the store.
    Rollback(Option<StoreError>),
}

/// Work for a store. A job may run several times before it is finished, and has to build its result anew each time.
pub trait Job: Send {
    /// Runs the job in a transaction.
    fn run(&mut self, tx: &mut dyn Tx) -> JobOutcome;
    /// Runs the job as a query, without a transaction of its own.
    fn run_query(&mut self, reads: &mut dyn Reads) -> JobOutcome;
    /// Returns whether a caller still waits for the result. A query without a caller is not run.
    fn is_awaited(&self) -> bool {
        true
    }
    /// Sends the result of the last run to the caller, or the error of the commit.
    fn finish(self: Box<Self>, kept: Result<(), StoreError>);
}

/// Cost of a query. A store chooses the thread that runs the query by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// Reads a few rows by key, in microseconds.
    Point,
    /// Reads a list or an aggregate, which may take much longer.
    Scan,
}

/// A database that runs jobs.
pub trait Store: Send + Sync + 'static {
    /// Queues a job that runs in a transaction.
    fn submit(&self, job: Box<dyn Job>);
    /// Queues a job that only reads, or runs it at once.
    fn query(&self, cost: Cost, job: Box<dyn Job>);
    /// Notifies other nodes of changes, in batches and after a short delay. A notification may be lost.
    fn publish(&self, topics: &[Topic]);
    /// Calls `listener` for the notifications of other nodes.
    fn listen(&self, listener: Arc<dyn Fn(Topic) + Send + Sync>);
    /// Returns whether several nodes may share the database. Readers then poll for changes whose notification was lost.
    fn is_shared(&self) -> bool;
    /// Finishes the queued jobs, then stops. Blocks until that is done.
    fn close(&self);
}

/// Error of a use case, which can wrap an error of the store.
pub trait UseCaseError: From<StoreError> + Send + 'static {
    /// Returns the error of the store, if the use case failed with one.
    fn store_error(&self) -> Option<&StoreError>;
}

impl UseCaseError for StoreError {
    fn store_error(&self) -> Option<&StoreError> {
        Some(self)
    }
}

/// Runs a use case in one transaction and returns its result after the commit.
pub async fn transact<T, E, F>(store: &dyn Store, mut work: F) -> Result<T, E>
where
    F: FnMut(&mut dyn Tx) -> Result<T, E> + Send + 'static,
    T: Send + 'static,
    E: UseCaseError,
{
    transact_then(store, move |tx| Ok((work(tx)?, ())), |()| ()).await
}

/// Like [`transact`], but also calls `then` with the second part of the result, exactly once after the commit. `then` runs even if the
/// caller is gone, because other readers have to be notified of the commit.
pub async fn transact_then<T, X, E, F, G>(store: &dyn Store, work: F, then: G) -> Result<T, E>
where
    F: FnMut(&mut dyn Tx) -> Result<(T, X), E> + Send + 'static,
    G: FnOnce(X) + Send + 'static,
    T: Send + 'static,
    X: Send + 'static,
    E: UseCaseError,
{
    let (reply, answer) = oneshot::channel();
    store.submit(Box::new(Transaction { work, then, result: None, reply }));
    let (result, deferred) = answer.await.unwrap_or_else(|_| Err(StoreError::Closed.into()))?;
    drop(deferred);
    Ok(result)
}

/// Runs a query and returns its result.
pub async fn read<T, E, F>(store: &dyn Store, cost: Cost, mut work: F) -> Result<T, E>
where
    F: FnMut(&mut dyn Reads) -> Result<T, E> + Send + 'static,
    T: Send + 'static,
    E: UseCaseError,
{
    read_while(store, cost, move |reads, _| work(reads)).await
}

/// Like [`read`], but the query can ask whether the caller still waits, and stop if not.
pub async fn read_while<T, E, F>(store: &dyn Store, cost: Cost, work: F) -> Result<T, E>
where
    F: FnMut(&mut dyn Reads, &dyn Fn() -> bool) -> Result<T, E> + Send + 'static,
    T: Send + 'static,
    E: UseCaseError,
{
    let (reply, answer) = oneshot::channel();
    store.query(cost, Box::new(Query { work, result: None, reply }));
    answer.await.unwrap_or_else(|_| Err(StoreError::Closed.into()))
}

/// Effects of a committed transaction. They run when this value is dropped, on either side of the channel.
struct Deferred<X, G: FnOnce(X)>(Option<(X, G)>);

impl<X, G: FnOnce(X)> Drop for Deferred<X, G> {
    fn drop(&mut self) {
        if let Some((effects, then)) = self.0.take() {
            then(effects);
        }
    }
}

type JobReply<T, X, E, G> = oneshot::Sender<Result<(T, Deferred<X, G>), E>>;

struct Transaction<F, T, X, E, G: FnOnce(X)> {
    work: F,
    then: G,
    result: Option<Result<(T, X), E>>,
    reply: JobReply<T, X, E, G>,
}

impl<F, T, X, E, G> Job for Transaction<F, T, X, E, G>
where
    F: FnMut(&mut dyn Tx) -> Result<(T, X), E> + Send,
    G: FnOnce(X) + Send,
    T: Send,
    X: Send,
    E: UseCaseError,
{
    fn run(&mut self, tx: &mut dyn Tx) -> JobOutcome {
        ran(self.result.insert((self.work)(tx)))
    }

    fn run_query(&mut self, _reads: &mut dyn Reads) -> JobOutcome {
        JobOutcome::Rollback(Some(StoreError::Corrupt("a transaction was queued as a query".into())))
    }

    fn finish(self: Box<Self>, kept: Result<(), StoreError>) {
        let Self { then, result, reply, .. } = *self;
        let settled = settled(result, kept).map(|(result, effects)| (result, Deferred(Some((effects, then)))));
        // The caller may be gone. The commit stands; its effects then run because the value is dropped here.
        drop(reply.send(settled));
    }
}

struct Query<F, T, E> {
    work: F,
    result: Option<Result<T, E>>,
    reply: oneshot::Sender<Result<T, E>>,
}

impl<F, T, E> Job for Query<F, T, E>
where
    F: FnMut(&mut dyn Reads, &dyn Fn() -> bool) -> Result<T, E> + Send,
    T: Send,
    E: UseCaseError,
{
    fn run(&mut self, _tx: &mut dyn Tx) -> JobOutcome {
        JobOutcome::Rollback(Some(StoreError::Corrupt("a query was queued as a transaction".into())))
    }

    fn run_query(&mut self, reads: &mut dyn Reads) -> JobOutcome {
        let reply = &self.reply;
        let found = (self.work)(reads, &|| !reply.is_closed());
        ran(self.result.insert(found))
    }

    fn is_awaited(&self) -> bool {
        !self.reply.is_closed()
    }

    fn finish(self: Box<Self>, kept: Result<(), StoreError>) {
        let _ = self.reply.send(settled(self.result, kept));
    }
}

fn ran<T, E: UseCaseError>(result: &Result<T, E>) -> JobOutcome {
    match result {
        Ok(_) => JobOutcome::Commit,
        Err(error) => JobOutcome::Rollback(error.store_error().cloned()),
    }
}

fn settled<T, E: UseCaseError>(result: Option<Result<T, E>>, kept: Result<(), StoreError>) -> Result<T, E> {
    match (kept, result) {
        (Ok(()), Some(result)) => result,
        (Ok(()), None) => Err(StoreError::Closed.into()),
        // The store failed to commit, or never ran the job to its end: the caller gets that error instead of a result.
        (Err(error), _) => Err(error.into()),
    }
}
