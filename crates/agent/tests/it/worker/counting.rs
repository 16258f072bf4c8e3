//! A store that counts its jobs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use store::{Cost, Job, Store};

/// Number of jobs that a store was given: transactions, point queries, and queries that scan many rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Given {
    pub transactions: usize,
    pub points: usize,
    pub scans: usize,
}

impl Given {
    /// Jobs since an earlier count.
    pub(crate) const fn since(self, earlier: Self) -> Self {
        Self {
            transactions: self.transactions - earlier.transactions,
            points: self.points - earlier.points,
            scans: self.scans - earlier.scans,
        }
    }
}

/// A store that counts its jobs and passes them to another store.
pub(crate) struct Counting {
    inner: Arc<dyn Store>,
    given: [AtomicUsize; 3],
}

impl Counting {
    pub(crate) fn new(inner: Arc<dyn Store>) -> Self {
        Self { inner, given: Default::default() }
    }

    /// Number of jobs so far.
    pub(crate) fn given(&self) -> Given {
        let [transactions, points, scans] = [0, 1, 2].map(|index: usize| self.given[index].load(Ordering::Relaxed));
        Given { transactions, points, scans }
    }
}

impl Store for Counting {
    fn submit(&self, job: Box<dyn Job>) {
        self.given[0].fetch_add(1, Ordering::Relaxed);
        self.inner.submit(job);
    }

    fn query(&self, cost: Cost, job: Box<dyn Job>) {
        let index = if matches!(cost, Cost::Point) { 1 } else { 2 };
        self.given[index].fetch_add(1, Ordering::Relaxed);
        self.inner.query(cost, job);
    }

    testkit::forward_to_store!(inner);
}
