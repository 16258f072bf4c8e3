//! The thread that writes. It runs many use cases in one commit, each in a savepoint.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use rusqlite::Connection;
use store::{Clock, Job, JobOutcome, StoreError};

use crate::connection::Executor;
use crate::error::{OrStoreError, store_error};

/// Maximum number of jobs in a commit, which limits how long the first of them waits.
const MOST_A_COMMIT: usize = 256;
/// Number of queued jobs above which further jobs are refused as busy.
const MOST_QUEUED: usize = 8192;

enum Order {
    Work(Box<dyn Job>),
    Stop,
}

/// Queue of the writer thread.
#[derive(Debug, Clone)]
pub(crate) struct Queue(SyncSender<Order>);

impl Queue {
    /// Queues a job, or finishes it with an error if the queue is full or closed.
    pub(crate) fn submit(&self, job: Box<dyn Job>) {
        match self.0.try_send(Order::Work(job)) {
            Ok(()) => {}
            Err(TrySendError::Full(Order::Work(job))) => job.finish(Err(StoreError::Busy)),
            Err(TrySendError::Disconnected(Order::Work(job))) => job.finish(Err(StoreError::Closed)),
            Err(_) => {}
        }
    }

    /// Lets the thread end after the queued jobs.
    pub(crate) fn stop(&self) {
        // Sending fails only if the thread has ended already.
        let _ = self.0.send(Order::Stop);
    }
}

/// Starts the thread of the writer.
pub(crate) fn start(connection: Connection, clock: Arc<dyn Clock>) -> Result<(Queue, JoinHandle<()>), StoreError> {
    let (sender, receiver) = sync_channel(MOST_QUEUED);
    let thread = std::thread::Builder::new()
        .name("holdpoint-writer".into())
        .spawn(move || write(&connection, &clock, &receiver))
        .map_err(|error| StoreError::Unavailable(error.to_string()))?;
    Ok((Queue(sender), thread))
}

fn write(connection: &Connection, clock: &Arc<dyn Clock>, orders: &Receiver<Order>) {
    while let Ok(Order::Work(first)) = orders.recv() {
        let (jobs, stop) = commit(connection, clock, first, orders);
        for (job, kept) in jobs {
            job.finish(kept);
        }
        if stop {
            return;
        }
    }
}

type Finished = Vec<(Box<dyn Job>, Result<(), StoreError>)>;

/// Runs a job, and the jobs that are queued behind it, in one transaction.
fn commit(
    connection: &Connection,
    clock: &Arc<dyn Clock>,
    first: Box<dyn Job>,
    orders: &Receiver<Order>,
) -> (Finished, bool) {
    if let Err(error) = connection.execute_batch("begin immediate").or_store_error() {
        return (vec![(first, Err(error))], false);
    }
    let mut jobs = Vec::new();
    let mut next = Some(first);
    let mut stop = false;
    while let Some(mut job) = next.take() {
        let outcome = run_one(connection, clock, job.as_mut());
        let undone_all = connection.is_autocommit();
        jobs.push((job, outcome));
        if undone_all {
            return (fail_all(jobs), false);
        }
        if jobs.len() < MOST_A_COMMIT {
            match orders.try_recv() {
                Ok(Order::Work(job)) => next = Some(job),
                Ok(Order::Stop) => stop = true,
                Err(_) => {}
            }
        }
    }
    if let Err(error) = connection.execute_batch("commit") {
        let error = store_error(error);
        tracing::error!(%error, "a commit failed, and all its writes were rolled back");
        if !connection.is_autocommit() {
            // The transaction is still open and has to be rolled back.
            let _ = connection.execute_batch("rollback");
        }
        return (jobs.into_iter().map(|(job, _)| (job, Err(error.clone()))).collect(), stop);
    }
    (jobs, stop)
}

/// Runs one job in its own savepoint. A refusal rolls back only the writes of that job.
fn run_one(connection: &Connection, clock: &Arc<dyn Clock>, job: &mut dyn Job) -> Result<(), StoreError> {
    let savepoint =
        |sql: &str| connection.prepare_cached(sql).and_then(|mut statement| statement.execute([])).or_store_error();
    savepoint("savepoint job")?;
    let mut executor = Executor::new(connection, clock);
    let outcome = catch_unwind(AssertUnwindSafe(|| job.run(&mut executor)));
    match outcome {
        Ok(JobOutcome::Commit) => savepoint("release job").map(drop),
        Ok(JobOutcome::Rollback(error)) => {
            undo(connection)?;
            error.map_or(Ok(()), Err)
        }
        Err(_) => {
            tracing::error!("a use case panicked, and its writes were rolled back");
            undo(connection)?;
            Err(StoreError::Panicked)
        }
    }
}

fn undo(connection: &Connection) -> Result<(), StoreError> {
    // After a full disk SQLite may have rolled back the whole transaction; the caller checks for that.
    if connection.is_autocommit() {
        return Ok(());
    }
    connection.execute_batch("rollback to job; release job").or_store_error()
}

/// Fails all jobs of a transaction that SQLite has rolled back as a whole, including those that had succeeded.
fn fail_all(jobs: Finished) -> Finished {
    let reason = jobs.iter().rev().find_map(|(_, kept)| kept.clone().err()).unwrap_or(StoreError::Full);
    jobs.into_iter().map(|(job, _)| (job, Err(reason.clone()))).collect()
}
