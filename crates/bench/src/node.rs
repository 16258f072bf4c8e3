//! Runs a server as a child process, which is killed when its guard is dropped.

use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use http::StatusCode;

use crate::Fallible;
use crate::client::Connection;
use crate::sample::{self, Memory};
use crate::setup::BenchDatabase;

/// Time that a server has to become ready.
const PATIENCE: Duration = Duration::from_mins(2);

/// A server that runs as a process.
pub(crate) struct Node {
    child: Child,
    pub(crate) address: SocketAddr,
    /// Time from the start of the process to the first `ready`.
    pub(crate) started_in: Duration,
}

impl Node {
    /// Starts a server and waits until it is ready.
    pub(crate) async fn start(database: &BenchDatabase, log: &str) -> Fallible<Self> {
        Self::start_with(database, log, &[]).await
    }

    /// Starts a server with further arguments.
    pub(crate) async fn start_with(database: &BenchDatabase, log: &str, more: &[&str]) -> Fallible<Self> {
        // The port is free between this bind and the server's own; no other program on the machine is expected to take
        // it.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let log_path = database.directory().join(format!("{}.log", address.port()));
        let begun = Instant::now();
        let child = database
            .command()
            .args(["serve", "--listen", &address.to_string(), "--rate", "0", "--log", log])
            // All streams use one key, so the limits of the key and of its tenant are raised.
            .args(["--key-streams", "1000000", "--tenant-streams", "1000000"])
            .args(["--stranger-connections", "60000", "--key-connections", "60000", "--tenant-connections", "60000"])
            .args(more)
            .stdout(Stdio::null())
            .stderr(File::create(&log_path)?)
            .spawn()?;
        let mut node = Self { child, address, started_in: Duration::ZERO };
        while !is_ready(address).await {
            if let Some(status) = node.child.try_wait()? {
                let said = std::fs::read_to_string(&log_path).unwrap_or_default();
                return Err(format!("the server ended with {status}: {}", said.trim()).into());
            }
            if begun.elapsed() > PATIENCE {
                return Err("the server does not get ready".into());
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        node.started_in = begun.elapsed();
        Ok(node)
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Reads the memory that the server uses.
    pub(crate) fn memory(&self) -> Fallible<Memory> {
        sample::memory(self.process())
    }

    /// Processor time used, in seconds.
    pub(crate) fn processor(&self) -> Fallible<f64> {
        sample::processor(self.process())
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn is_ready(address: SocketAddr) -> bool {
    let Ok(mut connection) = Connection::open(address, "").await else { return false };
    matches!(connection.get("/readyz").await, Ok((StatusCode::OK, _)))
}
