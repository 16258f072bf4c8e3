//! Runs a server process that is killed when its handle is dropped.

use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use super::deployment::binary;
use super::{Client, PATIENCE, until};

/// Arguments and environment of a server. Each start appends to the same logs and listens on the same port.
#[derive(Debug, Clone)]
pub(crate) struct Launch {
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    port: u16,
    logs: PathBuf,
    /// Whether the server may create namespaces.
    namespaces: bool,
}

/// A server that runs as a process.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    launch: Launch,
}

impl Launch {
    /// Describes a server with these arguments, and logs in this directory.
    pub(crate) fn new(logs: &Path, port: u16, store: Vec<String>) -> Self {
        let mut arguments = vec!["serve".to_owned(), "--listen".to_owned(), format!("127.0.0.1:{port}")];
        arguments.extend(store);
        Self { arguments, environment: Vec::new(), port, logs: logs.join(format!("serve-{port}")), namespaces: true }
    }

    /// Adds arguments of the command line.
    pub(crate) fn with(mut self, arguments: &[&str]) -> Self {
        self.arguments.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        self
    }

    /// Runs the server where no namespaces can be created, which needs root to set up.
    pub(crate) fn without_namespaces(mut self) -> Self {
        self.namespaces = false;
        self
    }

    /// Runs a worker on the same data instead, which listens on no port.
    pub(crate) fn into_worker(mut self) -> Self {
        self.arguments.splice(..3, ["worker".to_owned()]);
        self
    }

    /// Uses only environment variables instead of arguments.
    pub(crate) fn by_environment(mut self, variables: &[(&str, &str)]) -> Self {
        self.arguments.truncate(1);
        self.environment = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self
    }

    /// Address on which the server listens.
    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Client of the server, which need not run yet.
    pub(crate) fn client(&self, key: &str) -> Client {
        Client::new(&format!("http://{}", self.address()), key)
    }

    /// Starts the server and waits until it is ready.
    pub(crate) async fn start(&self) -> Server {
        let mut server = self.begin();
        let client = self.client("");
        until("a server that is ready", async || {
            if let Some(status) = server.child.try_wait().unwrap() {
                panic!("the server ended with {status}: {}", self.logged());
            }
            client.attempt(client.request("GET", "/readyz")).await.ok().filter(|reply| reply.status == 200)
        })
        .await;
        server
    }

    /// Starts the server and returns at once.
    pub(crate) fn begin(&self) -> Server {
        Server { child: self.spawn(), launch: self.clone() }
    }

    /// Starts a server that must fail, waits until it ends, and returns its error output.
    pub(crate) fn start_expecting_failure(&self) -> String {
        let since = Instant::now();
        let status = self.begin().ended(since);
        assert_eq!(status.code(), Some(1), "{}", self.logged());
        self.logged()
    }

    /// Standard error of all starts so far.
    pub(crate) fn logged(&self) -> String {
        std::fs::read_to_string(self.logs.with_extension("err")).unwrap_or_default()
    }

    /// Standard output of all starts so far.
    pub(crate) fn said(&self) -> String {
        std::fs::read_to_string(self.logs.with_extension("out")).unwrap_or_default()
    }

    fn spawn(&self) -> Child {
        let appended =
            |kind: &str| File::options().create(true).append(true).open(self.logs.with_extension(kind)).unwrap();
        let mut command = binary();
        if !self.namespaces {
            let inner = command;
            command = Command::new("unshare");
            // Enters a namespace in which no further namespace can be created.
            let line = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$0\" \"$@\"";
            command.args(["--user", "--map-root-user", "/bin/sh", "-c", line]).arg(inner.get_program());
        }
        command.args(&self.arguments).envs(self.environment.iter().cloned()).stdin(Stdio::null());
        command.stdout(appended("out")).stderr(appended("err"));
        command.spawn().unwrap()
    }
}

impl Server {
    /// Client of the server.
    pub(crate) fn client(&self, key: &str) -> Client {
        self.launch.client(key)
    }

    /// Standard error of this server and of earlier starts.
    pub(crate) fn logged(&self) -> String {
        self.launch.logged()
    }

    /// Private memory of the server in bytes, without mapped files.
    pub(crate) fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let kilobytes = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        1024 * kilobytes.and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok()).unwrap()
    }

    /// Process identifier of the server.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills the server with SIGKILL, as a power cut would.
    pub(crate) fn kill(mut self) {
        self.end();
    }

    /// Sends SIGTERM to the server.
    pub(crate) fn terminate(&self) {
        let told = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(told.success());
    }

    /// Sends SIGTERM to the server and waits until it has ended.
    pub(crate) fn stop(mut self) -> ExitStatus {
        let since = Instant::now();
        self.terminate();
        self.ended(since)
    }

    /// Waits until the server has ended without a further signal.
    pub(crate) fn ended(&mut self, since: Instant) -> ExitStatus {
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(since.elapsed() < PATIENCE, "the server does not end: {}", self.logged());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Whether the server is still running.
    pub(crate) fn runs(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    fn end(&mut self) {
        // The server may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

/// Finds a port outside the range of outgoing connections, so that it stays free while a killed server is restarted.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let begin = std::process::id() * 37 % 20_000;
    let ports = std::iter::from_fn(|| {
        let offset = (begin + u32::from(NEXT.fetch_add(1, Ordering::Relaxed))) % 20_000;
        u16::try_from(10_000 + offset).ok()
    });
    ports.take(1000).find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).unwrap()
}
