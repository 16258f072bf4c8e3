//! [`SqliteStore`]: the queue of the writer, and the connections of readers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use parking_lot::Mutex;
use rusqlite::Connection;
use store::{Clock, Cost, Job, JobOutcome, Store, StoreError, Topic};

use crate::connection::{Executor, open_reader, open_writer, private_directory};
use crate::migrate::migrate;
use crate::writer::{self, Queue};

/// Name of the database file in the data directory.
pub const FILE: &str = "holdpoint.db";
/// Number of queued scans above which further scans are refused as busy.
const MOST_SCANS: usize = 1024;
/// Number of threads that run scans.
const SCANNERS: usize = 2;

/// Options of a store.
#[derive(Debug, Clone, Default)]
pub struct SqliteOptions {
    /// Maximum number of 4 KiB pages of the database.
    pub most_pages: Option<u32>,
}

/// A store in one SQLite file.
pub struct SqliteStore {
    path: PathBuf,
    clock: Arc<dyn Clock>,
    queue: Queue,
    threads: Mutex<Vec<JoinHandle<()>>>,
    readers: Mutex<Vec<Connection>>,
    scans: Mutex<Option<SyncSender<Box<dyn Job>>>>,
}

impl SqliteStore {
    /// Opens or creates the database in a directory, and migrates it.
    pub fn open(directory: &Path, clock: Arc<dyn Clock>, options: &SqliteOptions) -> Result<Self, StoreError> {
        private_directory(directory)
            .map_err(|error| StoreError::Unavailable(format!("{}: {error}", directory.display())))?;
        let path = directory.join(FILE);
        let mut connection = open_writer(&path, options.most_pages)?;
        migrate(&mut connection)?;
        let (queue, writer) = writer::start(connection, Arc::clone(&clock))?;
        let (scans, mut threads) = start_scanners(&path, &clock)?;
        threads.push(writer);
        Ok(Self {
            path,
            clock,
            queue,
            threads: Mutex::new(threads),
            readers: Mutex::new(Vec::new()),
            scans: Mutex::new(Some(scans)),
        })
    }

    /// Returns the path of the database file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn reader(&self) -> Result<Connection, StoreError> {
        let idle = self.readers.lock().pop();
        idle.map_or_else(|| open_reader(&self.path), Ok)
    }
}

impl Store for SqliteStore {
    fn submit(&self, job: Box<dyn Job>) {
        self.queue.submit(job);
    }

    /// A point query takes microseconds and runs on the thread of the caller; a scan goes to a scanner thread.
    fn query(&self, cost: Cost, job: Box<dyn Job>) {
        if cost == Cost::Scan {
            match self.scans.lock().as_ref().map(|scans| scans.try_send(job)) {
                None | Some(Ok(())) => {}
                Some(Err(TrySendError::Full(job))) => job.finish(Err(StoreError::Busy)),
                Some(Err(TrySendError::Disconnected(job))) => job.finish(Err(StoreError::Closed)),
            }
            return;
        }
        match self.reader() {
            Ok(connection) => {
                look(job, &connection, &self.clock);
                self.readers.lock().push(connection);
            }
            Err(error) => job.finish(Err(error)),
        }
    }

    fn publish(&self, _topics: &[Topic]) {}

    fn listen(&self, _listener: Arc<dyn Fn(Topic) + Send + Sync>) {}

    fn is_shared(&self) -> bool {
        false
    }

    /// The writer closes last, because the last connection moves the log into the database file, which a reader cannot do.
    fn close(&self) {
        self.scans.lock().take();
        let mut threads = std::mem::take(&mut *self.threads.lock());
        let writer = threads.pop();
        // A thread that panicked has logged it already.
        for scanner in threads {
            drop(scanner.join());
        }
        self.readers.lock().clear();
        self.queue.stop();
        if let Some(writer) = writer {
            drop(writer.join());
        }
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.close();
    }
}

fn look(mut job: Box<dyn Job>, connection: &Connection, clock: &Arc<dyn Clock>) {
    if !job.is_awaited() {
        return job.finish(Err(StoreError::Closed));
    }
    let mut executor = Executor::new(connection, clock);
    let kept = match catch_unwind(AssertUnwindSafe(|| job.run_query(&mut executor))) {
        Ok(JobOutcome::Commit | JobOutcome::Rollback(None)) => Ok(()),
        Ok(JobOutcome::Rollback(Some(error))) => Err(error),
        // A panic must not end the thread, which has other queries to run.
        Err(_) => {
            tracing::error!("a query panicked");
            Err(StoreError::Panicked)
        }
    };
    job.finish(kept);
}

type Scanners = (SyncSender<Box<dyn Job>>, Vec<JoinHandle<()>>);

fn start_scanners(path: &Path, clock: &Arc<dyn Clock>) -> Result<Scanners, StoreError> {
    let (sender, receiver) = sync_channel::<Box<dyn Job>>(MOST_SCANS);
    let receiver = Arc::new(Mutex::new(receiver));
    let start = |number| {
        let (connection, clock, receiver) = (open_reader(path)?, Arc::clone(clock), Arc::clone(&receiver));
        std::thread::Builder::new()
            .name(format!("holdpoint-scan-{number}"))
            .spawn(move || {
                loop {
                    let job = receiver.lock().recv();
                    let Ok(job) = job else { return };
                    look(job, &connection, &clock);
                }
            })
            .map_err(|error| StoreError::Unavailable(error.to_string()))
    };
    let threads = (0..SCANNERS).map(start).collect::<Result<_, _>>()?;
    Ok((sender, threads))
}
