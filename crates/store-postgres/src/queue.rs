//! The bounded queue between whoever asks and the threads that own connections.

use std::collections::VecDeque;

use parking_lot::{Condvar, Mutex};
use store::{Job, StoreError};

/// How many jobs may wait before more are refused as too many.
const MOST_QUEUED: usize = 8192;

/// A job, and which of its two sides is wanted.
pub(crate) enum Order {
    /// In a transaction.
    Write(Box<dyn Job>),
    /// Only reading.
    Query(Box<dyn Job>),
}

impl Order {
    /// Tells whoever waits.
    pub(crate) fn finish(self, kept: Result<(), StoreError>) {
        match self {
            Self::Write(job) | Self::Query(job) => job.finish(kept),
        }
    }
}

/// Orders in the order of their arrival.
#[derive(Default)]
pub(crate) struct Queue {
    waiting: Mutex<Waiting>,
    arrived: Condvar,
}

#[derive(Default)]
struct Waiting {
    orders: VecDeque<Order>,
    closed: bool,
}

impl Queue {
    /// Queues an order, or finishes it at once as refused.
    pub(crate) fn push(&self, order: Order) {
        let mut waiting = self.waiting.lock();
        let refusal = match waiting.closed {
            true => StoreError::Closed,
            false if waiting.orders.len() >= MOST_QUEUED => StoreError::Busy,
            false => {
                waiting.orders.push_back(order);
                drop(waiting);
                self.arrived.notify_one();
                return;
            }
        };
        drop(waiting);
        order.finish(Err(refusal));
    }

    /// Waits for the next order; `None` when the queue is closed and empty.
    pub(crate) fn pop(&self) -> Option<Order> {
        let mut waiting = self.waiting.lock();
        loop {
            if let Some(order) = waiting.orders.pop_front() {
                return Some(order);
            }
            if waiting.closed {
                return None;
            }
            self.arrived.wait(&mut waiting);
        }
    }

    /// Lets the threads end after what is queued.
    pub(crate) fn close(&self) {
        self.waiting.lock().closed = true;
        self.arrived.notify_all();
    }

    /// Whether nothing more will come, so that nobody should wait long for anything.
    pub(crate) fn closed(&self) -> bool {
        self.waiting.lock().closed
    }
}
