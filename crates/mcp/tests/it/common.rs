//! Starts the test server and calls it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use domain::agent::McpServer;
use holdpoint_mcp::{CallOutcome, McpClient};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// Time limit that no call of these tests reaches.
pub(crate) const LONG: Duration = Duration::from_mins(1);

/// Path of the server's program. Cargo builds examples with the tests, into the directory beside theirs.
pub(crate) fn program() -> String {
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().unwrap().parent().unwrap().join("examples/everything");
    assert!(program.exists(), "build it first: cargo build -p holdpoint-mcp --example everything");
    program.to_str().unwrap().to_owned()
}

pub(crate) fn child(arguments: &[&str]) -> McpServer {
    let mut command = vec![program(), "stdio".to_owned()];
    command.extend(arguments.iter().map(|argument| (*argument).to_owned()));
    let (url, token_env, tools) = (None, None, Vec::new());
    let (network, read_only) = <_>::default();
    McpServer { name: "all".to_owned(), command, url, token_env, tools, network, read_only }
}

pub(crate) async fn call(client: &McpClient, tool: &str, arguments: Value) -> CallOutcome {
    client.call(tool, &arguments, LONG, &CancellationToken::new()).await
}

/// Calls a tool that must succeed and returns the text of its result.
pub(crate) async fn text(client: &McpClient, tool: &str, arguments: Value) -> String {
    match call(client, tool, arguments).await {
        CallOutcome::Done(result) => result["text"].as_str().unwrap().to_owned(),
        other => panic!("{tool}: {other:?}"),
    }
}

/// File to which the server writes lines.
pub(crate) struct Lines {
    _dir: tempfile::TempDir,
    path: PathBuf,
}

impl Lines {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lines");
        Self { _dir: dir, path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn read(&self) -> Vec<String> {
        std::fs::read_to_string(&self.path).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// Waits until the file has this line.
    pub(crate) async fn have(&self, line: &str) {
        while !self.read().iter().any(|known| known == line) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// Waits until a process has ended, reaped or not.
pub(crate) async fn gone(pid: &str) {
    let stat = format!("/proc/{pid}/stat");
    while std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
