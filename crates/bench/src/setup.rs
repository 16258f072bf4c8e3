//! Sets up the common ground of all sections: the binary, a runtime, a private PostgreSQL server, and empty databases.

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

/// Master key that all nodes of a database share.
const MASTER_KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// Default numbers of concurrent clients.
const SIZES: [usize; 4] = [1, 16, 64, 256];

/// A kind of store that can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum StoreKind {
    Sqlite,
    Postgres,
}

impl StoreKind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }
}

/// Resources that every section uses.
pub(crate) struct BenchSetup {
    pub(crate) quick: bool,
    sizes: Vec<usize>,
    only: Option<StoreKind>,
    seconds: Option<u64>,
    binary: PathBuf,
    runtime: Runtime,
    postgres: Option<TestPostgres>,
}

/// An empty database. Dropping this guard removes it, which blocks and must not happen inside a future.
pub(crate) struct BenchDatabase {
    directory: TempDir,
    database: Option<TestDatabase>,
    binary: PathBuf,
}

/// API keys of the agent and the person.
#[derive(Debug, Clone)]
pub(crate) struct Keys {
    pub(crate) agent: String,
    pub(crate) person: String,
}

impl BenchSetup {
    /// Finds the binary and starts PostgreSQL if it is installed.
    pub(crate) fn prepare(arguments: &Arguments) -> Fallible<Self> {
        let binary = match &arguments.server {
            Some(given) => given.clone(),
            None => std::env::current_exe()?.with_file_name("holdpoint"),
        };
        if !binary.is_file() {
            return Err(format!("{} does not exist: build holdpoint-cli too", binary.display()).into());
        }
        let postgres = match arguments.store {
            Some(StoreKind::Sqlite) => Err("it was not selected".to_owned()),
            Some(StoreKind::Postgres) | None => TestPostgres::start(),
        };
        if let Err(trouble) = &postgres {
            eprintln!("holdpoint-bench: without PostgreSQL: {trouble}");
        }
        // The runtime has one thread, because the server needs the other core.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let sizes = if arguments.clients.is_empty() { SIZES.to_vec() } else { arguments.clients.clone() };
        let (quick, only, seconds) = (arguments.quick, arguments.store, arguments.seconds);
        Ok(Self { quick, sizes, only, seconds, binary, runtime, postgres: postgres.ok() })
    }

    /// Stores that can be measured here.
    pub(crate) fn stores(&self) -> Vec<StoreKind> {
        let postgres = self.postgres.as_ref().map(|_| StoreKind::Postgres);
        let here = std::iter::once(StoreKind::Sqlite).chain(postgres);
        here.filter(|store_kind| self.only.is_none_or(|only| only == *store_kind)).collect()
    }

    /// Whether SQLite is measured.
    pub(crate) fn measures_sqlite(&self) -> bool {
        self.only != Some(StoreKind::Postgres)
    }

    /// Numbers of concurrent clients.
    pub(crate) fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// Creates an empty database.
    pub(crate) fn database(&self, store_kind: StoreKind) -> Fallible<BenchDatabase> {
        let database = match (store_kind, &self.postgres) {
            (StoreKind::Sqlite, _) => None,
            (StoreKind::Postgres, Some(server)) => Some(server.fresh_database()?),
            (StoreKind::Postgres, None) => return Err("PostgreSQL is not available".into()),
        };
        let directory = tempfile::Builder::new().prefix("holdpoint-bench-").tempdir()?;
        Ok(BenchDatabase { directory, database, binary: self.binary.clone() })
    }

    /// Runs a measurement. A signal ends it with an error, so that every guard is dropped.
    pub(crate) fn run<T>(&self, work: impl Future<Output = Fallible<T>>) -> Fallible<T> {
        self.runtime.block_on(async {
            let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
            tokio::select! {
                done = work => done,
                _ = interrupt.recv() => Err("interrupted".into()),
                _ = terminate.recv() => Err("stopped by a signal".into()),
            }
        })
    }

    /// Warm-up time and measured time of a rate.
    pub(crate) fn window(&self) -> (Duration, Duration) {
        let (warm, length) = if self.quick { (500, 1500) } else { (1000, 5000) };
        let length = self.seconds.map_or(Duration::from_millis(length), Duration::from_secs);
        (Duration::from_millis(warm), length)
    }
}

impl BenchDatabase {
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Builds a command of the binary with the environment for this database.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.env("HOLDPOINT_DATA", self.directory()).env("HOLDPOINT_MASTER_KEY", MASTER_KEY).stdin(Stdio::null());
        if let Some(database) = &self.database {
            command.env("HOLDPOINT_DATABASE_URL", database.url());
        }
        command
    }

    /// Creates a key for an agent and one for a person with the command line.
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

    /// Opens the store in this process. No server may use a SQLite database at the same time.
    pub(crate) fn open(&self) -> Fallible<Arc<dyn Store>> {
        Ok(if let Some(database) = &self.database {
            Arc::new(PostgresStore::open(&database.url(), &store_postgres::PostgresOptions::default())?)
        } else {
            let options = store_sqlite::SqliteOptions::default();
            Arc::new(SqliteStore::open(self.directory(), Arc::new(SystemClock), &options)?)
        })
    }
}
