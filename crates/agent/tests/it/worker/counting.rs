//! A store that counts its jobs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use store::{Cost, Job, Store, Topic};

/// How much the store was given to do: transactions, queries at a point, and queries that go through many rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Given {
    pub transactions: usize,
    pub points: usize,
    pub scans: usize,
}

impl Given {
    /// What came since an earlier moment.
    pub(crate) const fn since(self, earlier: Self) -> Self {
        Self {
            transactions: self.transactions - earlier.transactions,
            points: self.points - earlier.points,
            scans: self.scans - earlier.scans,
        }
    }
}

/// Counts, and passes on.
pub(crate) struct Counting {
    inner: Arc<dyn Store>,
    given: [AtomicUsize; 3],
}

impl Counting {
    pub(crate) fn new(inner: Arc<dyn Store>) -> Self {
        Self { inner, given: Default::default() }
    }

    /// So much until now.
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

    fn publish(&self, topics: &[Topic]) {
        self.inner.publish(topics);
    }

    fn listen(&self, listener: Arc<dyn Fn(Topic) + Send + Sync>) {
        self.inner.listen(listener);
    }

    fn is_shared(&self) -> bool {
        self.inner.is_shared()
    }

    fn close(&self) {
        self.inner.close();
    }
}
