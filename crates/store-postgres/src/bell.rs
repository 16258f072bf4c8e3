//! Hints between servers: rung after commit on a connection of their own, gathered, and never relied upon.
//!
//! Whoever listens also looks once a second what has changed, so that a lost hint costs a second and never an event.

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

/// More topics than this are gathered as one that wakes everybody.
const MOST_PENDING: usize = 8192;
/// How often what has changed is looked for.
const SWEEP: Duration = Duration::from_secs(1);
/// How long a listener waits before it asks whether its connection is still there.
const QUIET: Duration = Duration::from_millis(250);

/// Whom hints are passed on to.
pub(crate) type Listener = Arc<dyn Fn(Topic) + Send + Sync>;

/// What the threads of this file share.
#[derive(Default)]
pub(crate) struct Bell {
    gathered: Mutex<PendingTopics>,
    rung: Condvar,
    /// The server process of our own notifier, whose hints we need not hear.
    own: AtomicI32,
}

#[derive(Default)]
struct PendingTopics {
    topics: HashSet<Topic>,
    stopped: bool,
}

impl Bell {
    /// Adds to what is told next.
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

    /// Lets the threads end.
    pub(crate) fn stop(&self) {
        self.gathered.lock().stopped = true;
        self.rung.notify_all();
    }

    fn stopped(&self) -> bool {
        self.gathered.lock().stopped
    }

    /// Waits until there is something to tell; `None` when that is over.
    fn gather(&self) -> Option<HashSet<Topic>> {
        let mut gathered = self.gathered.lock();
        while gathered.topics.is_empty() && !gathered.stopped {
            self.rung.wait(&mut gathered);
        }
        let topics = std::mem::take(&mut gathered.topics);
        (!topics.is_empty()).then_some(topics)
    }

    /// Waits for so long, or until it is over, and says whether it is.
    fn rest(&self, length: Duration) -> bool {
        let until = std::time::Instant::now() + length;
        let mut gathered = self.gathered.lock();
        while !gathered.stopped && !self.rung.wait_until(&mut gathered, until).timed_out() {}
        gathered.stopped
    }
}

/// Tells other servers what has gathered, until it is over.
pub(crate) fn notify(bell: &Bell, config: &Config) {
    let mut link = Reconnecting::new(config.clone(), Arc::default());
    while let Some(topics) = bell.gather() {
        for payload in encode(&topics) {
            let told = tell(bell, &mut link, &payload).or_else(|_| tell(bell, &mut link, &payload));
            if let Err(failure) = told {
                tracing::warn!(?failure, "other servers could not be told of a change; they will look for themselves");
            }
        }
    }
}

fn tell(bell: &Bell, link: &mut Reconnecting, payload: &str) -> Result<(), Failure> {
    let connection = link.get(Duration::ZERO, || true).map_err(Failure::Refused)?;
    let told = notify_on(bell, connection, payload);
    if told.is_err() {
        link.discard();
    }
    told
}

fn notify_on(bell: &Bell, connection: &mut Connection, payload: &str) -> Result<(), Failure> {
    let sql = "select pg_backend_pid(), set_config('synchronous_commit', 'off', true), pg_notify('holdpoint', $1)";
    let own = connection.query(sql, &[&payload])?.first().map_or(0, |row| row.get(0));
    bell.own.store(own, Ordering::Relaxed);
    Ok(())
}

/// Passes on what other servers tell, until it is over.
pub(crate) fn hear(bell: &Bell, config: &Config, listener: &Listener) {
    while !bell.stopped() {
        if let Err(failure) = hear_until_lost(bell, config, listener) {
            tracing::warn!(?failure, "other servers cannot be heard for a moment");
            bell.rest(Duration::from_millis(500));
        }
    }
}

fn hear_until_lost(bell: &Bell, config: &Config, listener: &Listener) -> Result<(), Failure> {
    let mut connection = Connection::open(config)?;
    connection.client.batch_execute("listen holdpoint")?;
    // What was told before is lost.
    listener(Topic::Everything);
    while !bell.stopped() {
        let mut notifications = connection.client.notifications();
        let mut arriving = notifications.timeout_iter(QUIET);
        while let Some(notification) = arriving.next()? {
            if notification.process_id() != bell.own.load(Ordering::Relaxed) {
                decode(notification.payload()).into_iter().for_each(|topic| listener(topic));
            }
            // Under load there is never silence.
            if bell.stopped() {
                return Ok(());
            }
        }
        drop(arriving);
        drop(notifications);
        // Silence and a lost connection look the same.
        connection.client.batch_execute("")?;
    }
    Ok(())
}

/// Looks once a second for what no hint has told, until it is over.
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
                topics.into_iter().for_each(|topic| listener(topic));
                cursor = Some(head);
            }
            Err(error) => {
                tracing::warn!(%error, "what has changed cannot be looked for at the moment");
                link.discard();
            }
        }
    }
}
