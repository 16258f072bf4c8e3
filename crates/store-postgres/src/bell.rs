//! Notifications between servers, sent in batches after commits on a connection of their own.
//!
//! A notification may be lost. Every server also reads the log once a second, so that a lost notification costs a second and no event.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use postgres::Config;
use postgres::fallible_iterator::FallibleIterator;
use store::{Cursor, EventReads, Topic};

use crate::connection::{Connection, Executor, Reconnecting};
use crate::error::Failure;
use crate::payload::{decode, encode};

/// Number of pending topics above which they are replaced by [`Topic::Everything`].
const MOST_PENDING: usize = 8192;
/// Interval at which the log is read for changes.
const SWEEP: Duration = Duration::from_secs(1);
/// Time without a notification after which the listener checks its connection.
const QUIET: Duration = Duration::from_millis(250);

/// Function that receives the notifications.
pub(crate) type Listener = Arc<dyn Fn(Topic) + Send + Sync>;

/// State that the threads of this module share.
#[derive(Default)]
pub(crate) struct Bell {
    gathered: Mutex<PendingTopics>,
    rung: Condvar,
    /// Backend process of this server's notifier, whose notifications are ignored.
    own: AtomicI32,
}

#[derive(Default)]
struct PendingTopics {
    topics: HashSet<Topic>,
    stopped: bool,
}

impl Bell {
    /// Adds topics to the next notification.
    pub(crate) fn ring(&self, topics: &[Topic]) {
        let mut gathered = self.gathered.lock();
        if gathered.topics.len() + topics.len() > MOST_PENDING {
            gathered.topics = HashSet::from([Topic::Everything]);
        } else {
            gathered.topics.extend(topics.iter().cloned());
        }
        drop(gathered);
        self.rung.notify_all();
    }

    /// Stops the threads of the bell.
    pub(crate) fn stop(&self) {
        self.gathered.lock().stopped = true;
        self.rung.notify_all();
    }

    fn is_stopped(&self) -> bool {
        self.gathered.lock().stopped
    }

    /// Waits for pending topics; `None` when the bell has stopped and none are left.
    fn gather(&self) -> Option<HashSet<Topic>> {
        let mut gathered = self.gathered.lock();
        while gathered.topics.is_empty() && !gathered.stopped {
            self.rung.wait(&mut gathered);
        }
        let topics = std::mem::take(&mut gathered.topics);
        (!topics.is_empty()).then_some(topics)
    }

    /// Waits for a time, or until the bell stops; returns whether it has stopped.
    fn rest(&self, length: Duration) -> bool {
        let until = std::time::Instant::now() + length;
        let mut gathered = self.gathered.lock();
        while !gathered.stopped && !self.rung.wait_until(&mut gathered, until).timed_out() {}
        gathered.stopped
    }
}

/// Notifies other servers of pending topics, until the bell stops.
pub(crate) fn notify(bell: &Bell, config: &Config) {
    let mut link = Reconnecting::new(config.clone(), Arc::default());
    while let Some(topics) = bell.gather() {
        for payload in encode(&topics) {
            let sent = tell(bell, &mut link, &payload).or_else(|_| tell(bell, &mut link, &payload));
            if let Err(failure) = sent {
                tracing::warn!(
                    ?failure,
                    "other servers could not be notified of a change; they will find it by polling"
                );
            }
        }
    }
}

fn tell(bell: &Bell, link: &mut Reconnecting, payload: &str) -> Result<(), Failure> {
    let connection = link.get(Duration::ZERO, || true).map_err(Failure::Refused)?;
    let sent = notify_on(bell, connection, payload);
    if sent.is_err() {
        link.discard();
    }
    sent
}

fn notify_on(bell: &Bell, connection: &mut Connection, payload: &str) -> Result<(), Failure> {
    let sql = "select pg_backend_pid(), set_config('synchronous_commit', 'off', true), pg_notify('holdpoint', $1)";
    let own = connection.query(sql, &[&payload])?.first().map_or(0, |row| row.get(0));
    bell.own.store(own, Ordering::Relaxed);
    Ok(())
}

/// Passes notifications of other servers to the listener, until the bell stops.
pub(crate) fn hear(bell: &Bell, config: &Config, listener: &Listener) {
    while !bell.is_stopped() {
        if let Err(failure) = hear_until_lost(bell, config, listener) {
            tracing::warn!(?failure, "notifications of other servers are interrupted");
            bell.rest(Duration::from_millis(500));
        }
    }
}

fn hear_until_lost(bell: &Bell, config: &Config, listener: &Listener) -> Result<(), Failure> {
    let mut connection = Connection::open(config)?;
    connection.client.batch_execute("listen holdpoint")?;
    // Notifications sent before `listen` are lost.
    listener(Topic::Everything);
    while !bell.is_stopped() {
        let mut notifications = connection.client.notifications();
        let mut arriving = notifications.timeout_iter(QUIET);
        while let Some(notification) = arriving.next()? {
            if notification.process_id() != bell.own.load(Ordering::Relaxed) {
                for topic in decode(notification.payload()) {
                    listener(topic);
                }
            }
            // Under load the iterator never times out.
            if bell.is_stopped() {
                return Ok(());
            }
        }
        drop(arriving);
        drop(notifications);
        // A lost connection is as silent as an idle one: a round trip tells them apart.
        connection.client.batch_execute("")?;
    }
    Ok(())
}

/// Reads the log once a second for changes whose notification was lost, until the bell stops.
pub(crate) fn sweep(bell: &Bell, config: &Config, listener: &Listener) {
    let mut link = Reconnecting::new(config.clone(), Arc::default());
    let mut cursor: Option<Cursor> = None;
    while !bell.rest(if cursor.is_none() { Duration::from_millis(10) } else { SWEEP }) {
        let Ok(connection) = link.get(Duration::ZERO, || true) else { continue };
        match Executor::new(connection, 0).changed_topics(cursor) {
            Ok((topics, head)) => {
                if cursor.is_none() {
                    listener(Topic::Everything);
                } else if !topics.is_empty() {
                    listener(Topic::Timers);
                }
                for topic in topics {
                    listener(topic);
                }
                cursor = Some(head);
            }
            Err(error) => {
                tracing::warn!(%error, "changes could not be polled");
                link.discard();
            }
        }
    }
}
