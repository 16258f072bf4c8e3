//! Threads that own one connection each, and run one job at a time from `BEGIN` to `COMMIT`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use store::{Job, JobOutcome, StoreError};

use crate::connection::{Connection, Executor, Reconnecting};
use crate::error::Failure;
use crate::queue::{Order, Queue};

/// Time that a job waits for the database to come back.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum number of runs of a job after serialisation failures and lost connections.
const MOST_RUNS: u32 = 10;

/// A thread with its connection.
pub(crate) struct ConnectionWorker {
    number: u32,
    link: Reconnecting,
    queue: Arc<Queue>,
    skew: Arc<AtomicI64>,
}

/// Result of one run of a job.
enum Ending {
    /// The job is committed, or rolled back for good.
    Settled(Result<(), StoreError>),
    /// The job is committed or rolled back for good, and the connection cannot be used any more.
    Broken(Result<(), StoreError>),
    /// Nothing was committed, and the job can be run again.
    Undone(Failure),
}

impl ConnectionWorker {
    /// Creates a worker that takes orders from a queue.
    pub(crate) const fn new(number: u32, link: Reconnecting, queue: Arc<Queue>, skew: Arc<AtomicI64>) -> Self {
        Self { number, link, queue, skew }
    }

    /// Starts the thread of the worker.
    pub(crate) fn start(mut self) -> Result<JoinHandle<()>, StoreError> {
        std::thread::Builder::new()
            .name(format!("holdpoint-pg-{}", self.number))
            .spawn(move || {
                // Connect early, so that the first request does not wait; if this fails, the first job connects.
                let _ = self.link.get(Duration::ZERO, || true);
                while let Some(order) = self.queue.pop() {
                    self.serve(order);
                }
            })
            .map_err(|error| StoreError::Unavailable(error.to_string()))
    }

    fn serve(&mut self, mut order: Order) {
        let kept = match &mut order {
            Order::Write(job) => self.settle(job.as_mut(), transact),
            Order::Query(job) if !job.is_awaited() => Err(StoreError::Closed),
            Order::Query(job) => self.settle(job.as_mut(), run_query),
        };
        order.finish(kept);
    }

    /// Runs a job until it is committed or rolled back for good, at most [`MOST_RUNS`] times.
    fn settle(
        &mut self,
        job: &mut dyn Job,
        run: fn(&mut Connection, &mut dyn Job, i64) -> Ending,
    ) -> Result<(), StoreError> {
        let mut runs = 0;
        loop {
            let connection = self.link.get(PATIENCE, || self.queue.is_closed())?;
            let failure = match run(connection, job, self.skew.load(Ordering::Relaxed)) {
                Ending::Settled(kept) => return kept,
                Ending::Broken(kept) => {
                    self.link.discard();
                    return kept;
                }
                Ending::Undone(failure) => failure,
            };
            if matches!(failure, Failure::Lost(_)) {
                self.link.discard();
            }
            runs += 1;
            if runs == MOST_RUNS {
                return Err(failure.store_error());
            }
            // Each thread pauses for a different time, so that conflicting transactions do not meet again.
            let spread = self.number * runs % 7;
            std::thread::sleep(Duration::from_millis(u64::from(runs * 2 + spread)));
        }
    }
}

/// Runs a job once in a transaction.
fn transact(connection: &mut Connection, job: &mut dyn Job, skew: i64) -> Ending {
    let clock = match connection.begin() {
        Ok(clock) => clock,
        Err(failure) => return retry_or_settle(failure),
    };
    let mut executor = Executor::new(connection, skew);
    executor.now = executor.transaction_time(clock).ok();
    let outcome = catch_unwind(AssertUnwindSafe(|| job.run(&mut executor)));
    let failure = executor.failure.take();
    if let (Ok(JobOutcome::Commit), None) = (&outcome, &failure) {
        return match connection.end("commit") {
            Ok(()) => Ending::Settled(Ok(())),
            Err(Failure::Lost(reason)) => {
                tracing::warn!(reason, "the connection broke during a commit");
                Ending::Broken(Err(StoreError::InDoubt))
            }
            // The database has reported that it committed nothing.
            Err(failure) => retry_or_settle(failure),
        };
    }
    let settled = match (outcome, failure) {
        (Ok(_), Some(failure @ (Failure::Lost(_) | Failure::Again))) => Err(failure),
        (Ok(JobOutcome::Commit), Some(failure)) => Ok(Err(failure.store_error())),
        (Ok(JobOutcome::Commit), None) => Ok(Ok(())),
        (Ok(JobOutcome::Rollback(error)), _) => Ok(error.map_or(Ok(()), Err)),
        (Err(_), _) => {
            tracing::error!("a use case panicked, and its transaction was rolled back");
            Ok(Err(StoreError::Panicked))
        }
    };
    match (settled, connection.end("rollback")) {
        (Ok(kept), Ok(())) => Ending::Settled(kept),
        // Without an answer to the rollback nothing is committed either.
        (Ok(kept), Err(_)) => Ending::Broken(kept),
        (Err(failure), Ok(())) => Ending::Undone(failure),
        (Err(_), Err(failure)) => Ending::Undone(Failure::Lost(failure.reason())),
    }
}

/// Runs a query once.
fn run_query(connection: &mut Connection, job: &mut dyn Job, skew: i64) -> Ending {
    let mut executor = Executor::new(connection, skew);
    let outcome = catch_unwind(AssertUnwindSafe(|| job.run_query(&mut executor)));
    match (outcome, executor.failure.take()) {
        (Ok(_), Some(failure @ (Failure::Lost(_) | Failure::Again))) => Ending::Undone(failure),
        (Ok(JobOutcome::Commit | JobOutcome::Rollback(None)), _) => Ending::Settled(Ok(())),
        (Ok(JobOutcome::Rollback(Some(error))), _) => Ending::Settled(Err(error)),
        (Err(_), _) => {
            tracing::error!("a query panicked");
            Ending::Settled(Err(StoreError::Panicked))
        }
    }
}

/// Decides whether a failure is worth another run.
fn retry_or_settle(failure: Failure) -> Ending {
    match failure {
        Failure::Refused(error) => Ending::Settled(Err(error)),
        failure => Ending::Undone(failure),
    }
}
