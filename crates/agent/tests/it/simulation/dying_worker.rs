//! A worker that dies while its process continues.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use futures::future::BoxFuture;

/// A future that is dropped after the store has run `dies_at` jobs; the jobs that it submitted continue without it.
pub(crate) struct DyingWorker<'a, T> {
    pub future: Option<BoxFuture<'a, T>>,
    pub jobs: Arc<AtomicUsize>,
    pub dies_at: usize,
    /// Output of the future after its death.
    pub dead: Option<T>,
}

impl<T: Unpin> Future for DyingWorker<'_, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        if self.jobs.load(Ordering::Relaxed) >= self.dies_at {
            self.future = None;
            if let Some(dead) = self.dead.take() {
                return Poll::Ready(dead);
            }
        }
        match &mut self.future {
            Some(future) => future.as_mut().poll(context),
            None => Poll::Pending,
        }
    }
}
