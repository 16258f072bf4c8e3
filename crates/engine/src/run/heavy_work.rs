//! Runs expensive policy work on blocking threads, under a pass that limits how much of it a tenant runs at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use store::StoreError;

use crate::Error;
use crate::run::fair_gate::Pass;

/// Longest time for which a caller waits for this work.
const LONGEST: Duration = Duration::from_secs(5);

/// Permission to run expensive work. Dropping it tells the work that its caller has gone; the permit is released when the work has ended.
pub(crate) struct HeavyWork<P = Pass> {
    permit: Arc<P>,
    wanted: Arc<AtomicBool>,
}

impl<P: Send + Sync + 'static> HeavyWork<P> {
    pub(crate) fn new(permit: P) -> Self {
        Self { permit: Arc::new(permit), wanted: Arc::new(AtomicBool::new(true)) }
    }

    /// Runs `work` on a blocking thread. `work` can ask whether the caller still waits. It keeps the permit until it ends, even if the caller has gone.
    pub(crate) async fn off_reactor<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Fn() -> bool) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let (permit, wanted) = (Arc::clone(&self.permit), Arc::clone(&self.wanted));
        off_reactor(move || {
            let done = work(&|| wanted.load(Ordering::Relaxed));
            drop(permit);
            done
        })
        .await
    }
}

impl<P> Drop for HeavyWork<P> {
    fn drop(&mut self) {
        self.wanted.store(false, Ordering::Relaxed);
    }
}

pub(crate) async fn off_reactor<T: Send + 'static>(check: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    let running = tokio::task::spawn_blocking(check);
    match tokio::time::timeout(LONGEST, running).await {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(_)) => Err(StoreError::Panicked.into()),
        Err(_) => Err(StoreError::Busy.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use tokio::sync::Semaphore;

    use super::*;

    /// Work learns that its caller has gone, and its permit is released only when it has ended.
    #[tokio::test]
    async fn abandoned_work_keeps_its_permit_until_it_ends() {
        let permits = Arc::new(Semaphore::new(1));
        let heavy_work = HeavyWork::new(Arc::clone(&permits).acquire_owned().await.unwrap());
        let ((begun, begins), (go_on, goes_on)) = (mpsc::channel(), mpsc::channel::<()>());
        let (told, tells) = mpsc::channel();
        let mut work = Box::pin(async move {
            let work = heavy_work.off_reactor(move |wanted| {
                begun.send(wanted()).unwrap();
                goes_on.recv().unwrap();
                told.send(wanted()).unwrap();
            });
            work.await
        });
        assert!(polled(&mut work).await, "it is at work");
        assert!(tokio::task::spawn_blocking(move || begins.recv().unwrap()).await.unwrap());
        drop(work);
        assert_eq!(permits.available_permits(), 0);
        go_on.send(()).unwrap();
        assert!(!tokio::task::spawn_blocking(move || tells.recv().unwrap()).await.unwrap());
        let _next = permits.acquire().await.unwrap();
    }

    /// Polls a future once and returns whether it is still pending.
    async fn polled<F: Future + Unpin>(future: &mut F) -> bool {
        std::future::poll_fn(|context| {
            std::task::Poll::Ready(std::pin::Pin::new(&mut *future).poll(context).is_pending())
        })
        .await
    }
}
