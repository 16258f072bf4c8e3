//! Waits for events that are committed but not yet in order.
//!
//! On PostgreSQL, an open transaction in any database of the cluster delays the order of all events that are committed after it. Readers
//! that have reached the end of the ordered part of the log wait here. One reader of a project polls for all of them, at growing intervals.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use domain::ProjectId;
use parking_lot::Mutex;
use store::Cursor;
use tokio::sync::watch;

use crate::Error;

/// First pause before a poll, about the duration of most transactions.
const SHORTEST: Duration = Duration::from_millis(20);
/// Longest pause between two polls.
const LONGEST: Duration = Duration::from_millis(500);

/// Waiting readers by project.
#[derive(Default)]
pub(crate) struct ProjectWaits(Mutex<HashMap<ProjectId, Weak<Wait>>>);

/// Shared wait of the readers of one project.
struct Wait {
    /// Lock of the reader that polls for the others. It holds the length of the next pause.
    pause: tokio::sync::Mutex<Duration>,
    /// Cursor up to which the project's log was in order at the last poll.
    seen: watch::Sender<Cursor>,
}

impl ProjectWaits {
    /// Waits until the log of a project is in order beyond a cursor. `look` reads the cursor up to which the log is in order.
    pub(crate) async fn beyond<L, F>(&self, project: ProjectId, after: Cursor, look: L) -> Result<(), Error>
    where
        L: FnMut() -> F,
        F: Future<Output = Result<Cursor, Error>>,
    {
        self.beyond_with(project, after, look, tokio::time::sleep).await
    }

    async fn beyond_with<L, F, S, P>(&self, project: ProjectId, after: Cursor, look: L, sleep: S) -> Result<(), Error>
    where
        L: FnMut() -> F,
        F: Future<Output = Result<Cursor, Error>>,
        S: FnMut(Duration) -> P,
        P: Future<Output = ()>,
    {
        let wait = self.of(project);
        let mut seen = wait.seen.subscribe();
        let told = async {
            // `wait` owns the sender, so the channel stays open and `wait_for` cannot fail.
            drop(seen.wait_for(|head| *head > after).await);
        };
        tokio::select! {
            biased;
            () = told => Ok(()),
            looked = wait.look_for_all(after, look, sleep) => looked,
        }
    }

    fn of(&self, project: ProjectId) -> Arc<Wait> {
        let mut waits = self.0.lock();
        if let Some(wait) = waits.get(&project).and_then(Weak::upgrade) {
            return wait;
        }
        waits.retain(|_, wait| wait.strong_count() > 0);
        let wait =
            Arc::new(Wait { pause: tokio::sync::Mutex::new(SHORTEST), seen: watch::Sender::new(Cursor::default()) });
        waits.insert(project, Arc::downgrade(&wait));
        wait
    }
}

impl Wait {
    /// Polls, once no other reader does, until the log is in order beyond `after`. A reader that is dropped leaves the lock, and the
    /// length of the pause that it had reached, to the next reader.
    async fn look_for_all<L, F, S, P>(&self, after: Cursor, mut look: L, mut sleep: S) -> Result<(), Error>
    where
        L: FnMut() -> F,
        F: Future<Output = Result<Cursor, Error>>,
        S: FnMut(Duration) -> P,
        P: Future<Output = ()>,
    {
        let mut pause = self.pause.lock().await;
        loop {
            sleep(*pause).await;
            *pause = (*pause * 2).min(LONGEST);
            let head = look().await?;
            self.seen.send_if_modified(|seen| {
                let further = head > *seen;
                *seen = head.max(*seen);
                further
            });
            if head > after {
                *pause = SHORTEST;
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use futures::future::join_all;
    use uuid::Uuid;

    const fn at(major: u64) -> Cursor {
        Cursor { major, minor: 0 }
    }

    fn project() -> ProjectId {
        ProjectId::from_uuid(Uuid::from_u128(1))
    }

    /// Twenty readers of one project share one poll after each pause, and the pauses grow to half a second.
    #[tokio::test]
    async fn waiting_readers_share_one_poll_at_growing_intervals() {
        let settling = ProjectWaits::default();
        let (looks, pauses) = (Mutex::new(0), Mutex::new(Vec::new()));
        let look = || {
            let mut looks = looks.lock();
            *looks += 1;
            let head = if *looks < 9 { at(5) } else { at(6) };
            async move { Ok(head) }
        };
        let sleep = |pause: Duration| {
            pauses.lock().push(pause.as_millis());
            tokio::task::yield_now()
        };
        let readers = (0..20).map(|_| settling.beyond_with(project(), at(5), look, sleep));
        assert_eq!(join_all(readers).await, vec![Ok(()); 20]);
        assert_eq!(*looks.lock(), 9);
        assert_eq!(pauses.into_inner(), [20, 40, 80, 160, 320, 500, 500, 500, 500]);
    }

    /// A reader with an older cursor than the polling reader continues as soon as that reader has polled.
    #[tokio::test]
    async fn reader_with_an_older_cursor_continues_after_the_shared_poll() {
        let settling = ProjectWaits::default();
        let look = || async { Ok(at(7)) };
        let sleep = |_| tokio::task::yield_now();
        let mut ahead = Box::pin(settling.beyond_with(project(), at(7), look, sleep));
        assert!(ahead.as_mut().now_or_never().is_none(), "nothing is in order beyond its cursor");
        let mut behind = Box::pin(settling.beyond_with(project(), at(6), look, sleep));
        assert!(behind.as_mut().now_or_never().is_none(), "it is not its turn to look");
        assert!(ahead.as_mut().now_or_never().is_none(), "it has looked, and waits for more");
        assert_eq!(behind.await, Ok(()));
    }

    /// The polling reader may be dropped at any time. The next reader continues with the pause that was reached.
    #[tokio::test]
    async fn polling_passes_to_the_next_reader_when_the_poller_is_dropped() {
        let settling = ProjectWaits::default();
        let pauses = Mutex::new(Vec::new());
        let sleep = |pause: Duration| {
            pauses.lock().push(pause.as_millis());
            tokio::task::yield_now()
        };
        let mut first = Box::pin(settling.beyond_with(project(), at(5), || async { Ok(at(5)) }, sleep));
        assert!(first.as_mut().now_or_never().is_none());
        let second = settling.beyond_with(project(), at(5), || async { Ok(at(6)) }, sleep);
        let mut second = Box::pin(second);
        assert!(second.as_mut().now_or_never().is_none(), "it is not its turn to look");
        assert!(first.as_mut().now_or_never().is_none());
        drop(first);
        assert_eq!(second.await, Ok(()));
        assert_eq!(pauses.into_inner(), [20, 40, 40]);
    }
}
