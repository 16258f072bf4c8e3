//! Bounded queue between callers and the threads that own connections.

use std::collections::VecDeque;

use parking_lot::{Condvar, Mutex};
use store::{Job, StoreError};

/// Number of queued jobs above which further jobs are refused as busy.
const MOST_QUEUED: usize = 8192;

/// A job, and how it is run.
pub(crate) enum Order {
    /// Runs in a transaction.
    Write(Box<dyn Job>),
    /// Runs as a query.
    Query(Box<dyn Job>),
}

impl Order {
    /// Sends the result to the caller.
    pub(crate) fn finish(self, kept: Result<(), StoreError>) {
        match self {
            Self::Write(job) | Self::Query(job) => job.finish(kept),
        }
    }
}

/// A first-in, first-out queue.
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
    /// Queues an order, or finishes it with an error if the queue is full or closed.
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

    /// Lets the threads end after the queued orders.
    pub(crate) fn close(&self) {
        self.waiting.lock().closed = true;
        self.arrived.notify_all();
    }

    /// Returns whether the queue is closed; jobs then no longer wait for the database to come back.
    pub(crate) fn is_closed(&self) -> bool {
        self.waiting.lock().closed
    }
}
