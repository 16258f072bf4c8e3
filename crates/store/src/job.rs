//! How a closure gets to a transaction: a job is queued, run, committed, and only then answered.

use std::sync::Arc;

use tokio::sync::oneshot;

use crate::{Reads, StoreError, Topic, Tx};

/// What became of running a job once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobOutcome {
    /// Keep what it wrote.
    Commit,
    /// Undo what it wrote; it was refused, or failed for this reason of the store's.
    Rollback(Option<StoreError>),
}

/// Work for a store. May be run several times before it is finished, so it gathers its result anew each time.
pub trait Job: Send {
    /// Does the work inside a transaction.
    fn run(&mut self, tx: &mut dyn Tx) -> JobOutcome;
    /// Does the work of a query, outside any transaction of its own.
    fn run_query(&mut self, reads: &mut dyn Reads) -> JobOutcome;
    /// Whether anybody still waits for its result. A query that nobody waits for is not run.
    fn is_awaited(&self) -> bool {
        true
    }
    /// Tells whoever waits: the result of the last run, or that it could not be kept.
    fn finish(self: Box<Self>, kept: Result<(), StoreError>);
}

/// What a query costs, so that a store can choose where to run it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// A few rows by key: microseconds.
    Point,
    /// A list or a figure: perhaps much longer.
    Scan,
}

/// Something that keeps what must be kept.
pub trait Store: Send + Sync + 'static {
    /// Queues a job to be run in a transaction.
    fn submit(&self, job: Box<dyn Job>);
    /// Queues, or runs at once, a job that only reads.
    fn query(&self, cost: Cost, job: Box<dyn Job>);
    /// Tells other nodes what has changed, soon, gathered with others. A hint that may be lost.
    fn publish(&self, topics: &[Topic]);
    /// Has other nodes' hints passed on to this listener.
    fn listen(&self, listener: Arc<dyn Fn(Topic) + Send + Sync>);
    /// Whether several nodes may share it, so that readers must look for what no bell told them.
    fn is_shared(&self) -> bool;
    /// Finishes what is queued, then stops. Blocks.
    fn close(&self);
}

/// The error of a use case, which a failure of the store can be one of.
pub trait UseCaseError: From<StoreError> + Send + 'static {
    /// The store's failure, if that is what it is.
    fn store_error(&self) -> Option<&StoreError>;
}

impl UseCaseError for StoreError {
    fn store_error(&self) -> Option<&StoreError> {
        Some(self)
    }
}

/// Runs a use case in one transaction: all of it is kept, and then the result is given, or nothing is.
pub async fn transact<T, E, F>(store: &dyn Store, mut work: F) -> Result<T, E>
where
    F: FnMut(&mut dyn Tx) -> Result<T, E> + Send + 'static,
    T: Send + 'static,
    E: UseCaseError,
{
    transact_then(store, move |tx| Ok((work(tx)?, ())), |()| ()).await
}

/// The same, and `then` is done with the second part of the result once the transaction is kept, exactly once, whether or
/// not anybody still waits: a caller who has gone away leaves a commit behind that others must hear of.
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

/// Runs a query.
pub async fn read<T, E, F>(store: &dyn Store, cost: Cost, mut work: F) -> Result<T, E>
where
    F: FnMut(&mut dyn Reads) -> Result<T, E> + Send + 'static,
    T: Send + 'static,
    E: UseCaseError,
{
    read_while(store, cost, move |reads, _| work(reads)).await
}

/// The same; the query can ask whether anybody still waits for it, and stop if not.
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

/// What is still to be done for a transaction that was kept. Done when it is dropped, wherever that is.
struct Deferred<X, G: FnOnce(X)>(Option<(X, G)>);

impl<X, G: FnOnce(X)> Drop for Deferred<X, G> {
    fn drop(&mut self) {
        if let Some((effects, then)) = self.0.take() {
            then(effects);
        }
    }
}

type Reply<T, X, E, G> = oneshot::Sender<Result<(T, Deferred<X, G>), E>>;

struct Transaction<F, T, X, E, G: FnOnce(X)> {
    work: F,
    then: G,
    result: Option<Result<(T, X), E>>,
    reply: Reply<T, X, E, G>,
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
        // Whoever asked may have gone away; what was committed stays, and is told by dropping it here.
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
        // A refusal stands whether or not its neighbours could be committed, unless it was never run to the end.
        (Err(error), _) => Err(error.into()),
    }
}
