//! A store that counts what queries read before a transaction.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use store::{Cost, Job, JobOutcome, Reads, Store, StoreError, Tx};

use crate::crash_tx::{CrashCountdown, CrashTx};

/// Number of calls of each method of [`Reads`] in queries.
pub type ReadCounts = BTreeMap<&'static str, usize>;

/// Counts the reads of queries from [`CountingStore::begin`] until the next transaction is submitted.
pub struct CountingStore {
    inner: Arc<dyn Store>,
    counts: Arc<Mutex<Option<ReadCounts>>>,
    done: Mutex<ReadCounts>,
}

impl CountingStore {
    /// Creates a counting store in front of a store.
    #[must_use]
    pub fn new(inner: Arc<dyn Store>) -> Self {
        Self { inner, counts: Arc::default(), done: Mutex::default() }
    }

    /// Begins to count the operations.
    pub fn begin(&self) {
        *self.counts.lock() = Some(ReadCounts::new());
    }

    /// Returns what was read between [`CountingStore::begin`] and the first transaction after it.
    pub fn reads_before_transaction(&self) -> ReadCounts {
        std::mem::take(&mut *self.done.lock())
    }
}

impl Store for CountingStore {
    fn submit(&self, job: Box<dyn Job>) {
        if let Some(counts) = self.counts.lock().take() {
            *self.done.lock() = counts;
        }
        self.inner.submit(job);
    }

    fn query(&self, cost: Cost, job: Box<dyn Job>) {
        self.inner.query(cost, Box::new(CountedQuery { job, counts: Arc::clone(&self.counts) }));
    }

    crate::forward_to_store!(inner);
}

struct CountedQuery {
    job: Box<dyn Job>,
    counts: Arc<Mutex<Option<ReadCounts>>>,
}

impl Job for CountedQuery {
    fn run(&mut self, tx: &mut dyn Tx) -> JobOutcome {
        self.job.run(tx)
    }

    fn run_query(&mut self, reads: &mut dyn Reads) -> JobOutcome {
        let countdown = CrashCountdown::default();
        let ran = self.job.run_query(&mut CrashTx { inner: reads, countdown: &countdown });
        if let Some(counts) = &mut *self.counts.lock() {
            for method in countdown.called.take() {
                *counts.entry(method).or_default() += 1;
            }
        }
        ran
    }

    fn is_awaited(&self) -> bool {
        self.job.is_awaited()
    }

    fn finish(self: Box<Self>, kept: Result<(), StoreError>) {
        self.job.finish(kept);
    }
}
