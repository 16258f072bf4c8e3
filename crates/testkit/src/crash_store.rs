//! A store whose process can die between any two steps of a use case.

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use parking_lot::Mutex;
use store::{Cost, Job, JobOutcome, Reads, Store, StoreError, Topic, Tx};

use crate::crash_tx::{CrashCountdown, CrashTx};

/// End of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobEnd {
    /// The job runs, is committed and answered.
    Done,
    /// The process dies before this call of the transaction, or before the commit if there are fewer calls.
    DiesBeforeCall(u32),
    /// The process dies after the work and before the commit.
    DiesBeforeCommit,
    /// The process dies after the commit and before the answer.
    DiesBeforeReply,
}

/// A defect of the store, to check that the simulation notices it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sabotage {
    /// Every seventh event is not written.
    DropsEvents,
    /// The audit entries that belong to every seventh event are not written.
    DropsEntries,
    /// Every fifth transaction is acknowledged and not committed.
    AcknowledgesWithoutCommit,
    /// The writes of a dying transaction are kept.
    KeepsHalf,
    /// Idempotency keys are not stored.
    ForgetsKeys,
    /// Every third transaction gets a time that is an hour ahead.
    ClockAhead,
    /// One in three results of calls is not written into the journal of the step.
    LosesResults,
    /// The start of an action is not stored.
    ForgetsStarts,
    /// Cancelled questions stay open.
    LeavesQuestions,
}

/// Queues the jobs of an engine in front of a real store and runs them one by one, each to its end.
///
/// Everything happens on the thread that calls [`CrashStore::run`], in the order of those calls, so that a seed replays
/// exactly. After a death every job is answered with [`StoreError::Closed`], as a dead process would not answer at all.
pub struct CrashStore {
    inner: Arc<dyn Store>,
    sabotage: Option<Sabotage>,
    queue: Mutex<QueueState>,
}

#[derive(Default)]
struct QueueState {
    waiting: Vec<Waiting>,
    turn: usize,
    dead: bool,
    run: u64,
}

struct Waiting {
    of: usize,
    job: Box<dyn Job>,
    reads_only: bool,
}

impl CrashStore {
    /// Creates a crash store in front of a store, without a defect.
    #[must_use]
    pub fn new(inner: Arc<dyn Store>) -> Self {
        Self { inner, sabotage: None, queue: Mutex::default() }
    }

    /// Creates a crash store with one defect.
    #[must_use]
    pub fn sabotaged(inner: Arc<dyn Store>, sabotage: Sabotage) -> Self {
        Self { sabotage: Some(sabotage), ..Self::new(inner) }
    }

    /// Whether the process has died.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        self.queue.lock().dead
    }

    /// Sets the use case that the jobs queued from now on belong to.
    pub(crate) fn turn(&self, of: usize) {
        self.queue.lock().turn = of;
    }

    /// Use cases of the waiting jobs, sorted, so that the order in which threads prepared them does not matter.
    pub(crate) fn waiting(&self) -> Vec<usize> {
        let mut queue = self.queue.lock();
        queue.waiting.sort_by_key(|waiting| waiting.of);
        queue.waiting.iter().map(|waiting| waiting.of).collect()
    }

    /// Runs one waiting job to this end and returns after it was answered.
    pub(crate) fn run(&self, index: usize, end: JobEnd) {
        let (Waiting { job, reads_only, .. }, number) = {
            let mut queue = self.queue.lock();
            queue.run += 1;
            (queue.waiting.remove(index), queue.run)
        };
        let (told, done) = sync_channel(1);
        let job = Box::new(CrashJob { job, end, number, sabotage: self.sabotage, told });
        if reads_only {
            self.inner.query(Cost::Point, job);
        } else {
            self.inner.submit(job);
        }
        // A store that drops a job without an answer counts as dead too.
        let _ = done.recv();
        if end != JobEnd::Done {
            self.die();
        }
    }

    /// Kills the process: waiting and later jobs are answered with an error.
    pub fn die(&self) {
        let waiting = {
            let mut queue = self.queue.lock();
            queue.dead = true;
            std::mem::take(&mut queue.waiting)
        };
        for waiting in waiting {
            waiting.job.finish(Err(StoreError::Closed));
        }
    }

    fn queue(&self, job: Box<dyn Job>, reads_only: bool) {
        let mut queue = self.queue.lock();
        if queue.dead {
            drop(queue);
            job.finish(Err(StoreError::Closed));
        } else {
            let of = queue.turn;
            queue.waiting.push(Waiting { of, job, reads_only });
        }
    }
}

impl Store for CrashStore {
    fn submit(&self, job: Box<dyn Job>) {
        self.queue(job, false);
    }

    fn query(&self, _cost: Cost, job: Box<dyn Job>) {
        self.queue(job, true);
    }

    fn publish(&self, topics: &[Topic]) {
        self.inner.publish(topics);
    }

    fn listen(&self, listener: Arc<dyn Fn(Topic) + Send + Sync>) {
        self.inner.listen(listener);
    }

    fn is_shared(&self) -> bool {
        self.inner.is_shared()
    }

    /// The real store outlives the dead process.
    fn close(&self) {}
}

/// A job on its way to the real store.
struct CrashJob {
    job: Box<dyn Job>,
    end: JobEnd,
    number: u64,
    sabotage: Option<Sabotage>,
    told: SyncSender<()>,
}

impl CrashJob {
    fn countdown(&self) -> CrashCountdown {
        let calls = match self.end {
            JobEnd::DiesBeforeCall(calls) => Some(calls),
            JobEnd::Done | JobEnd::DiesBeforeCommit | JobEnd::DiesBeforeReply => None,
        };
        CrashCountdown::new(calls, self.number, self.sabotage)
    }

    fn outcome(&self, ran: JobOutcome) -> JobOutcome {
        let died = matches!(self.end, JobEnd::DiesBeforeCall(_) | JobEnd::DiesBeforeCommit);
        match self.sabotage {
            Some(Sabotage::KeepsHalf) if died => JobOutcome::Commit,
            _ if died => JobOutcome::Rollback(Some(StoreError::Closed)),
            Some(Sabotage::AcknowledgesWithoutCommit) if self.number.is_multiple_of(5) && ran == JobOutcome::Commit => {
                JobOutcome::Rollback(None)
            }
            _ => ran,
        }
    }
}

impl Job for CrashJob {
    fn run(&mut self, tx: &mut dyn Tx) -> JobOutcome {
        let countdown = self.countdown();
        let ran = self.job.run(&mut CrashTx { inner: tx, countdown: &countdown });
        self.outcome(ran)
    }

    fn run_query(&mut self, reads: &mut dyn Reads) -> JobOutcome {
        let countdown = self.countdown();
        let ran = self.job.run_query(&mut CrashTx { inner: reads, countdown: &countdown });
        self.outcome(ran)
    }

    fn finish(self: Box<Self>, kept: Result<(), StoreError>) {
        let Self { job, end, told, .. } = *self;
        job.finish(if end == JobEnd::Done { kept } else { Err(StoreError::Closed) });
        // The receiver is gone if the store held the job until it was closed.
        let _ = told.send(());
    }
}
