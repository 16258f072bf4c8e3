//! [`PostgresStore`]: the queue of the workers, and the threads of the bell.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;
use postgres::Config;
use store::{Cost, Job, Store, StoreError, Topic};

use crate::bell::{self, Bell, Listener};
use crate::connection::Reconnecting;
use crate::error::describe;
use crate::migrate::migrate;
use crate::queue::{Order, Queue};
use crate::worker::ConnectionWorker;

/// Time that `open` waits for a database that is not reachable yet.
const PATIENCE: Duration = Duration::from_secs(5);

/// Options of a store.
#[derive(Debug, Clone)]
pub struct PostgresOptions {
    /// Number of jobs that run in parallel, each on a connection of its own.
    pub connections: u32,
    /// Whether servers notify each other of changes. Without notifications they learn of changes within about a second.
    pub bells: bool,
    /// Offset that tests add to the clock of the database, in microseconds.
    pub skew: Arc<AtomicI64>,
    /// Time that a migration waits for a lock. Then it lets the transactions behind it through and tries again.
    pub lock_wait: Duration,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self { connections: 16, bells: true, skew: Arc::default(), lock_wait: Duration::from_secs(2) }
    }
}

/// A store in a PostgreSQL database that other servers may share.
pub struct PostgresStore {
    config: Config,
    bells: bool,
    queue: Arc<Queue>,
    bell: Arc<Bell>,
    workers: Mutex<Vec<JoinHandle<()>>>,
    bell_threads: Mutex<Vec<JoinHandle<()>>>,
}

impl PostgresStore {
    /// Opens the database of a URL (`postgres://…` or `host=… dbname=…`) and migrates it. Blocks.
    pub fn open(url: &str, options: &PostgresOptions) -> Result<Self, StoreError> {
        let config = parse_config(url)?;
        connect_and_migrate(&config, options.lock_wait)?;
        let queue = Arc::<Queue>::default();
        let store = Self {
            config,
            bells: options.bells,
            queue: Arc::clone(&queue),
            bell: Arc::default(),
            workers: Mutex::default(),
            bell_threads: Mutex::default(),
        };
        let outage = Arc::default();
        for number in 0..options.connections.max(1) {
            let link = Reconnecting::new(store.config.clone(), Arc::clone(&outage));
            let worker = ConnectionWorker::new(number, link, Arc::clone(&queue), Arc::clone(&options.skew));
            store.workers.lock().push(worker.start()?);
        }
        if store.bells {
            store.start_bell_thread("notify", bell::notify)?;
        }
        Ok(store)
    }

    /// Starts a thread that runs until the bell stops.
    fn start_bell_thread(
        &self,
        name: &str,
        work: impl FnOnce(&Bell, &Config) + Send + 'static,
    ) -> Result<(), StoreError> {
        let (bell, config) = (Arc::clone(&self.bell), self.config.clone());
        let thread = std::thread::Builder::new()
            .name(format!("holdpoint-{name}"))
            .spawn(move || work(&bell, &config))
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        self.bell_threads.lock().push(thread);
        Ok(())
    }
}

impl Store for PostgresStore {
    fn submit(&self, job: Box<dyn Job>) {
        self.queue.push(Order::Write(job));
    }

    fn query(&self, _cost: Cost, job: Box<dyn Job>) {
        self.queue.push(Order::Query(job));
    }

    fn publish(&self, topics: &[Topic]) {
        if self.bells {
            self.bell.ring(topics);
        }
    }

    fn listen(&self, listener: Arc<dyn Fn(Topic) + Send + Sync>) {
        let (hears, sweeps): (Listener, Listener) = (Arc::clone(&listener), listener);
        let swept = self.start_bell_thread("sweep", move |bell, config| bell::sweep(bell, config, &sweeps));
        let heard = if self.bells {
            self.start_bell_thread("hear", move |bell, config| bell::hear(bell, config, &hears))
        } else {
            Ok(())
        };
        if let Err(error) = swept.and(heard) {
            tracing::error!(%error, "notifications of other servers cannot be received");
        }
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn close(&self) {
        self.queue.close();
        join(&self.workers);
        self.bell.stop();
        join(&self.bell_threads);
    }
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        self.close();
    }
}

fn join(threads: &Mutex<Vec<JoinHandle<()>>>) {
    let threads = std::mem::take(&mut *threads.lock());
    for thread in threads {
        // A thread that panicked has logged it already.
        let _ = thread.join();
    }
}

fn parse_config(url: &str) -> Result<Config, StoreError> {
    let mut config: Config = url
        .parse()
        .map_err(|error| StoreError::Unavailable(format!("the database URL cannot be read: {}", describe(&error))))?;
    if config.get_application_name().is_none() {
        config.application_name("holdpoint");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(Duration::from_secs(5));
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(Duration::from_secs(30));
    }
    if config.get_keepalives_interval().is_none() {
        config
            .keepalives_idle(Duration::from_secs(15))
            .keepalives_interval(Duration::from_secs(5))
            .keepalives_retries(3);
    }
    Ok(config)
}

/// Counts the connections of nodes and other commands to the database of a URL: those with the same application name, which is `holdpoint`
/// unless the URL sets another. Blocks.
pub fn connections(url: &str) -> Result<u64, StoreError> {
    let config = parse_config(url)?;
    on_thread(move || {
        let name = config.get_application_name().unwrap_or_default().to_owned();
        let mut link = Reconnecting::new(config, Arc::default());
        let sql = "select count(*) from pg_stat_activity where datname = current_database() \
                   and application_name = $1 and pid <> pg_backend_pid()";
        let found = link.get(PATIENCE, || false)?.query(sql, &[&name]).map_err(|failure| failure.store_error())?;
        Ok(found.first().map_or(0, |row| u64::try_from(row.get::<_, i64>(0)).unwrap_or(0)))
    })
}

/// Connects and runs the migrations.
fn connect_and_migrate(config: &Config, lock_wait: Duration) -> Result<(), StoreError> {
    let config = config.clone();
    on_thread(move || {
        let mut link = Reconnecting::new(config.clone(), Arc::default());
        migrate(&config, link.get(PATIENCE, || false)?, lock_wait)
    })
}

/// Runs a closure on a new thread with the log of the caller. The driver blocks, which it must not do on a thread that runs futures.
fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let log = tracing::dispatcher::get_default(Clone::clone);
    let thread = std::thread::spawn(move || tracing::dispatcher::with_default(&log, work));
    thread.join().unwrap_or(Err(StoreError::Panicked))
}
