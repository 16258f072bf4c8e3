//! Runs a private PostgreSQL server from the machine's own binaries, with a fresh database for each test.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use postgres::{Client, NoTls};

/// Environment variable with the URL of a server on which tests may create databases.
const VARIABLE: &str = "HOLDPOINT_TEST_POSTGRES";
/// Account of the server when the tests run as root, because PostgreSQL refuses to run as root.
const ACCOUNT: &str = "postgres";

/// Reason why a server or database could not be used.
pub type PostgresError = String;

/// A server for tests. Dropping the last handle to a private server stops and removes it.
#[derive(Debug, Clone)]
pub struct TestPostgres {
    url: String,
    server: Option<Arc<Server>>,
}

/// Database of one test, dropped with this guard even while others are connected.
#[derive(Debug)]
pub struct TestDatabase {
    name: String,
    on: TestPostgres,
}

/// A PostgreSQL server for one test run.
#[derive(Debug)]
struct Server {
    tools: Tools,
    directory: PathBuf,
    port: u16,
}

/// Location of the PostgreSQL programs, and whether this process is root and must run them under another account.
#[derive(Debug, Clone)]
struct Tools {
    bin: PathBuf,
    root: bool,
}

impl TestPostgres {
    /// Returns the server that `HOLDPOINT_TEST_POSTGRES` names, or a private server that the tests of this process
    /// share.
    #[expect(clippy::disallowed_methods, reason = "the variable names a server that runs already")]
    pub fn start() -> Result<Self, PostgresError> {
        static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
        if let Ok(url) = std::env::var(VARIABLE) {
            return Ok(Self { url, server: None });
        }
        let mut shared = SHARED.lock();
        if let Some(server) = shared.upgrade() {
            return Ok(Self::of(server));
        }
        let server = Arc::new(Server::start()?);
        *shared = Arc::downgrade(&server);
        Ok(Self::of(server))
    }

    /// Starts a server that no other test uses, so that it can be stopped.
    pub fn private() -> Result<Self, PostgresError> {
        Ok(Self::of(Arc::new(Server::start()?)))
    }

    /// Creates a database for one test.
    pub fn fresh_database(&self) -> Result<TestDatabase, PostgresError> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("test_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        // A killed process with the same identifier may have left the database behind.
        self.execute(&format!("drop database if exists {name} with (force)"))?;
        self.execute(&format!("create database {name}"))?;
        Ok(TestDatabase { name, on: self.clone() })
    }

    /// Directory of the data and log of a private server.
    #[must_use]
    pub fn directory(&self) -> Option<&Path> {
        self.server.as_ref().map(|server| server.directory.as_path())
    }

    /// Stops a private server, which breaks every connection.
    pub fn stop(&self) -> Result<(), PostgresError> {
        self.server.as_ref().ok_or("the tests did not start this server and cannot stop it")?.control("stop")
    }

    /// Starts a private server that was stopped.
    pub fn resume(&self) -> Result<(), PostgresError> {
        self.server.as_ref().ok_or("the tests did not start this server and cannot start it")?.control("start")
    }

    fn of(server: Arc<Server>) -> Self {
        Self { url: format!("postgres://postgres@127.0.0.1:{}/postgres", server.port), server: Some(server) }
    }

    fn execute(&self, sql: &str) -> Result<(), PostgresError> {
        let told = |error: postgres::Error| format!("{sql}: {error:?}");
        Client::connect(&self.url, NoTls).map_err(told)?.batch_execute(sql).map_err(told)
    }
}

impl TestDatabase {
    /// URL of the database.
    #[must_use]
    pub fn url(&self) -> String {
        let (address, parameters) = self.on.url.split_once('?').unwrap_or((&self.on.url, ""));
        let server = address.rsplit_once('/').map_or(address, |(server, _)| server);
        format!("{server}/{}?{parameters}", self.name)
    }

    /// Server of the database.
    #[must_use]
    pub const fn server(&self) -> &TestPostgres {
        &self.on
    }

    /// Copies all data into an empty database, also on another server, with `pg_dump` and `pg_restore`.
    pub fn restore_into(&self, other: &Self) -> Result<(), PostgresError> {
        let tools = Tools::find()?;
        let file = tools.output("mktemp", &["/tmp/holdpoint-dump-XXXXXX"])?;
        let file = file.trim();
        let dumped = tools.output(&tools.client("pg_dump"), &["--format=custom", "--file", file, &self.url()]);
        let restored = dumped.and_then(|_| {
            tools
                .output(&tools.client("pg_restore"), &["--no-owner", "--exit-on-error", "--dbname", &other.url(), file])
        });
        tools.output("rm", &["-f", file])?;
        restored.map(drop)
    }

    /// Opens a direct connection that bypasses the store.
    pub fn connect(&self) -> Result<Client, PostgresError> {
        Client::connect(&self.url(), NoTls).map_err(|error| format!("{error:?}"))
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        // A server that is being stopped removes its databases anyway.
        let _ = self.on.execute(&format!("drop database if exists {} with (force)", self.name));
    }
}

impl Server {
    fn start() -> Result<Self, PostgresError> {
        let tools = Tools::find()?;
        let made = tools.output("mktemp", &["-d", "/tmp/holdpoint-pg-XXXXXX"])?;
        let directory = PathBuf::from(made.trim());
        let port = free_port()?;
        // From this line on, dropping the server removes the directory.
        let server = Self { tools, directory, port };
        let data = server.path("data");
        let initdb = server.tools.program("initdb");
        let arguments = ["-D", &data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
        server.tools.output(&initdb, &arguments)?;
        server.control("start")?;
        Ok(server)
    }

    /// Starts or stops the server and waits for it. `fsync` stays on, as in production.
    fn control(&self, what: &str) -> Result<(), PostgresError> {
        let (data, log) = (self.path("data"), self.path("log"));
        let settings = format!(
            "-c listen_addresses=127.0.0.1 -c port={} -c unix_socket_directories={} -c max_connections=300",
            self.port,
            self.directory.display()
        );
        let mut arguments = vec![what, "-D", &data, "-w", "-s"];
        match what {
            "start" => arguments.extend(["-l", &log, "-o", &settings]),
            _ => arguments.extend(["-m", "fast"]),
        }
        let status = self.tools.command(&self.tools.program("pg_ctl"), &arguments).stdout(Stdio::null()).status();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(_) => Err(format!("pg_ctl {what} failed: {}", std::fs::read_to_string(&log).unwrap_or_default())),
            Err(error) => Err(format!("pg_ctl {what}: {error}")),
        }
    }

    fn path(&self, name: &str) -> String {
        self.directory.join(name).display().to_string()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A failure cannot be reported from `drop`.
        let (data, pg_ctl) = (self.path("data"), self.tools.program("pg_ctl"));
        let mut stop = self.tools.command(&pg_ctl, &["stop", "-D", &data, "-m", "immediate", "-s"]);
        let _ = stop.stdout(Stdio::null()).stderr(Stdio::null()).status();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

impl Tools {
    fn find() -> Result<Self, PostgresError> {
        let id = Command::new("id").arg("-u").output().map_err(|error| format!("id: {error}"))?;
        let root = String::from_utf8_lossy(&id.stdout).trim() == "0";
        let bin = on_path().or_else(newest_of_debian).ok_or_else(|| {
            format!(
                "no PostgreSQL server on this machine: install postgresql (its initdb, pg_ctl and postgres are looked for \
                 on the PATH and in /usr/lib/postgresql), or name a server in {VARIABLE}"
            )
        })?;
        Ok(Self { bin, root })
    }

    fn program(&self, name: &str) -> String {
        self.bin.join(name).display().to_string()
    }

    /// Finds a client program: beside the server's programs, where Debian installs it, or on the `PATH`.
    fn client(&self, name: &str) -> String {
        let debian = newest_of_debian().map(|bin| bin.join(name));
        let found = [Some(self.bin.join(name)), debian].into_iter().flatten().find(|program| program.is_file());
        found.map_or_else(|| name.to_owned(), |program| program.display().to_string())
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(if self.root { "runuser" } else { program });
        if self.root {
            command.args(["-u", ACCOUNT, "--", program]);
        }
        command.args(arguments).current_dir("/tmp").stdin(Stdio::null());
        command
    }

    fn output(&self, program: &str, arguments: &[&str]) -> Result<String, PostgresError> {
        let output = self.command(program, arguments).output().map_err(|error| format!("{program}: {error}"))?;
        if !output.status.success() {
            return Err(format!("{program} failed: {}", String::from_utf8_lossy(&output.stderr)));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

fn has_server(bin: &Path) -> bool {
    ["initdb", "pg_ctl", "postgres"].iter().all(|program| bin.join(program).is_file())
}

fn on_path() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).find(|bin| has_server(bin))
}

fn newest_of_debian() -> Option<PathBuf> {
    let installed = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let versions = installed.filter_map(|entry| {
        let entry = entry.ok()?;
        let version: u32 = entry.file_name().to_str()?.parse().ok()?;
        Some((version, entry.path().join("bin")))
    });
    versions.filter(|(_, bin)| has_server(bin)).max().map(|(_, bin)| bin)
}

fn free_port() -> Result<u16, PostgresError> {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    free.map(|address| address.port()).map_err(|error| format!("no free port: {error}"))
}
