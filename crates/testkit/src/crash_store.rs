//! A store whose process can die between any two steps of a use case.

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use parking_lot::Mutex;
use store::{Cost, Job, JobOutcome, Reads, Store, StoreError, Topic, Tx};

use crate::crash_tx::{Fuse, FusedTx};

/// What a job meets with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is run, kept and answered.
    Done,
    /// The process dies before so many calls of the transaction were made, or else before the commit.
    DiesBeforeCall(u32),
    /// The process dies when the work is done and not committed.
    DiesBeforeCommit,
    /// The process dies when the work is committed and nobody was told.
    DiesBeforeReply,
}

/// A defect, put in to see whether anybody notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sabotage {
    /// Every seventh event is not written.
    DropsEvents,
    /// Every entry of the audit trail that goes with a seventh event is not written.
    DropsEntries,
    /// Every fifth transaction is acknowledged and not kept.
    AcknowledgesWithoutCommit,
    /// What a dying transaction had written is kept.
    KeepsHalf,
    /// Idempotency keys are not kept.
    ForgetsKeys,
    /// Every third transaction is told a time that is an hour ahead.
    ClockAhead,
    /// What became of a call is not written into the journal of its step, one time in three.
    LosesResults,
    /// That an action was started is not kept.
    ForgetsStarts,
    /// Questions that are cancelled stay open.
    LeavesQuestions,
}

/// Queues the jobs of an engine in front of a real store, until they are run one by one as fated.
///
/// Everything happens on the thread that calls [`CrashStore::run`], in the order of those calls: what a seed decides is replayed
/// exactly. After a death every job is answered with [`StoreError::Closed`], as a dead process would not answer at all.
pub struct CrashStore {
    inner: Arc<dyn Store>,
    sabotage: Option<Sabotage>,
    desk: Mutex<Desk>,
}

#[derive(Default)]
struct Desk {
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
    /// In front of a store that works.
    #[must_use]
    pub fn new(inner: Arc<dyn Store>) -> Self {
        Self { inner, sabotage: None, desk: Mutex::default() }
    }

    /// In front of a store that is then broken in one way.
    #[must_use]
    pub fn sabotaged(inner: Arc<dyn Store>, sabotage: Sabotage) -> Self {
        Self { sabotage: Some(sabotage), ..Self::new(inner) }
    }

    /// Whether its process has died.
    #[must_use]
    pub fn dead(&self) -> bool {
        self.desk.lock().dead
    }

    /// Says whose jobs come next.
    pub(crate) fn turn(&self, of: usize) {
        self.desk.lock().turn = of;
    }

    /// Whose jobs wait, one entry a job. Sorted, so that threads which prepared them side by side do not matter.
    pub(crate) fn waiting(&self) -> Vec<usize> {
        let mut desk = self.desk.lock();
        desk.waiting.sort_by_key(|waiting| waiting.of);
        desk.waiting.iter().map(|waiting| waiting.of).collect()
    }

    /// Runs one of the jobs that wait, as fated, and comes back when it was answered.
    pub(crate) fn run(&self, index: usize, fate: Fate) {
        let (Waiting { job, reads_only, .. }, number) = {
            let mut desk = self.desk.lock();
            desk.run += 1;
            (desk.waiting.remove(index), desk.run)
        };
        let (told, done) = sync_channel(1);
        let fated = Box::new(Fated { job, fate, number, sabotage: self.sabotage, told });
        if reads_only {
            self.inner.query(Cost::Point, fated);
        } else {
            self.inner.submit(fated);
        }
        // A store that drops a job without an answer is a dead one too.
        let _ = done.recv();
        if fate != Fate::Done {
            self.die();
        }
    }

    /// Ends the process: what waits is answered with an error, and so is everything that comes later.
    pub fn die(&self) {
        let waiting = {
            let mut desk = self.desk.lock();
            desk.dead = true;
            std::mem::take(&mut desk.waiting)
        };
        waiting.into_iter().for_each(|waiting| waiting.job.finish(Err(StoreError::Closed)));
    }

    fn queue(&self, job: Box<dyn Job>, reads_only: bool) {
        let mut desk = self.desk.lock();
        if desk.dead {
            drop(desk);
            job.finish(Err(StoreError::Closed));
        } else {
            let of = desk.turn;
            desk.waiting.push(Waiting { of, job, reads_only });
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

    /// The store behind outlives the process that died.
    fn close(&self) {}
}

/// A job on its way into the store behind.
struct Fated {
    job: Box<dyn Job>,
    fate: Fate,
    number: u64,
    sabotage: Option<Sabotage>,
    told: SyncSender<()>,
}

impl Fated {
    fn fuse(&self) -> Fuse {
        let calls = match self.fate {
            Fate::DiesBeforeCall(calls) => Some(calls),
            Fate::Done | Fate::DiesBeforeCommit | Fate::DiesBeforeReply => None,
        };
        Fuse::new(calls, self.number, self.sabotage)
    }

    fn fated(&self, ran: JobOutcome) -> JobOutcome {
        let died = matches!(self.fate, Fate::DiesBeforeCall(_) | Fate::DiesBeforeCommit);
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

impl Job for Fated {
    fn run(&mut self, tx: &mut dyn Tx) -> JobOutcome {
        let fuse = self.fuse();
        let ran = self.job.run(&mut FusedTx { inner: tx, fuse: &fuse });
        self.fated(ran)
    }

    fn run_query(&mut self, reads: &mut dyn Reads) -> JobOutcome {
        let fuse = self.fuse();
        let ran = self.job.run_query(&mut FusedTx { inner: reads, fuse: &fuse });
        self.fated(ran)
    }

    fn finish(self: Box<Self>, kept: Result<(), StoreError>) {
        let Self { job, fate, told, .. } = *self;
        job.finish(if fate == Fate::Done { kept } else { Err(StoreError::Closed) });
        // Nobody waits for a job that the store kept to itself until it was closed.
        let _ = told.send(());
    }
}
