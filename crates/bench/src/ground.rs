//! What is measured stands on: the binary, a runtime, a private PostgreSQL server, and empty places to keep things.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use store::{Store, SystemClock};
use store_postgres::PostgresStore;
use store_sqlite::SqliteStore;
use tempfile::TempDir;
use testkit::postgres::{TestDatabase, TestPostgres};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use crate::{Arguments, Fallible};

/// Both nodes of one database seal with the same key.
const MASTER_KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// How many clients at once, unless told otherwise.
const SIZES: [usize; 4] = [1, 16, 64, 256];

/// Which store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kept {
    Sqlite,
    Postgres,
}

impl Kept {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }
}

/// What every section uses.
pub(crate) struct Ground {
    pub(crate) quick: bool,
    sizes: Vec<usize>,
    only: Option<Kept>,
    seconds: Option<u64>,
    binary: PathBuf,
    runtime: Runtime,
    postgres: Option<TestPostgres>,
}

/// An empty database. What is in it is gone with this guard, which must not be dropped inside a future.
pub(crate) struct Place {
    directory: TempDir,
    database: Option<TestDatabase>,
    binary: PathBuf,
}

/// Keys of a place.
#[derive(Debug, Clone)]
pub(crate) struct Keys {
    pub(crate) agent: String,
    pub(crate) person: String,
}

impl Ground {
    /// Finds the binary and starts PostgreSQL, where there is one.
    pub(crate) fn prepare(arguments: &Arguments) -> Fallible<Self> {
        let binary = match &arguments.server {
            Some(given) => given.clone(),
            None => std::env::current_exe()?.with_file_name("holdpoint"),
        };
        if !binary.is_file() {
            return Err(format!("{} is not there: build holdpoint-cli as well", binary.display()).into());
        }
        let postgres = match arguments.store {
            Some(Kept::Sqlite) => Err("it is not wanted".to_owned()),
            Some(Kept::Postgres) | None => TestPostgres::start(),
        };
        if let Err(trouble) = &postgres {
            eprintln!("holdpoint-bench: without PostgreSQL: {trouble}");
        }
        // One thread: the server needs the other core.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let sizes = if arguments.clients.is_empty() { SIZES.to_vec() } else { arguments.clients.clone() };
        let (quick, only, seconds) = (arguments.quick, arguments.store, arguments.seconds);
        Ok(Self { quick, sizes, only, seconds, binary, runtime, postgres: postgres.ok() })
    }

    /// The stores that can be measured here.
    pub(crate) fn stores(&self) -> Vec<Kept> {
        let postgres = self.postgres.as_ref().map(|_| Kept::Postgres);
        let here = std::iter::once(Kept::Sqlite).chain(postgres);
        here.filter(|kept| self.only.is_none_or(|only| only == *kept)).collect()
    }

    /// Whether SQLite is wanted.
    pub(crate) fn sqlite(&self) -> bool {
        self.only != Some(Kept::Postgres)
    }

    /// How many clients at once, in turn.
    pub(crate) fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// Makes an empty place.
    pub(crate) fn place(&self, kept: Kept) -> Fallible<Place> {
        let database = match (kept, &self.postgres) {
            (Kept::Sqlite, _) => None,
            (Kept::Postgres, Some(server)) => Some(server.fresh_database()?),
            (Kept::Postgres, None) => return Err("there is no PostgreSQL here".into()),
        };
        let directory = tempfile::Builder::new().prefix("holdpoint-bench-").tempdir()?;
        Ok(Place { directory, database, binary: self.binary.clone() })
    }

    /// Runs a measurement. A signal ends it as a failure, so that every guard is dropped.
    pub(crate) fn run<T>(&self, work: impl Future<Output = Fallible<T>>) -> Fallible<T> {
        self.runtime.block_on(async {
            let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
            tokio::select! {
                done = work => done,
                _ = interrupt.recv() => Err("interrupted".into()),
                _ = terminate.recv() => Err("told to stop".into()),
            }
        })
    }

    /// How long a rate is measured, after a warm-up of this length.
    pub(crate) fn window(&self) -> (Duration, Duration) {
        let (warm, length) = if self.quick { (500, 1500) } else { (1000, 5000) };
        let length = self.seconds.map_or(Duration::from_millis(length), Duration::from_secs);
        (Duration::from_millis(warm), length)
    }
}

impl Place {
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The binary with everything it needs to find this place.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.env("HOLDPOINT_DATA", self.directory()).env("HOLDPOINT_MASTER_KEY", MASTER_KEY).stdin(Stdio::null());
        if let Some(database) = &self.database {
            command.env("HOLDPOINT_DATABASE_URL", database.url());
        }
        command
    }

    /// Makes a key for an agent and one for a person, as an operator would.
    pub(crate) fn keys(&self) -> Fallible<Keys> {
        let make = |role: &str, user: &str| -> Fallible<String> {
            let made = self.command().args(["keys", "create", "--role", role, "--user", user]).output()?;
            if !made.status.success() {
                return Err(format!("no key: {}", String::from_utf8_lossy(&made.stderr).trim()).into());
            }
            Ok(String::from_utf8(made.stdout)?.trim().to_owned())
        };
        Ok(Keys { agent: make("agent", "bench-agent")?, person: make("operator", "bench-person")? })
    }

    /// Opens the store in this process. No server may have a SQLite place at the same time.
    pub(crate) fn open(&self) -> Fallible<Arc<dyn Store>> {
        Ok(match &self.database {
            Some(database) => Arc::new(PostgresStore::open(&database.url(), &store_postgres::Options::default())?),
            None => {
                let options = store_sqlite::Options::default();
                Arc::new(SqliteStore::open(self.directory(), Arc::new(SystemClock), &options)?)
            }
        })
    }
}
