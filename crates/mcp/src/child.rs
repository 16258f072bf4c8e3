//! Runs an MCP server as a child process with a clean environment.

use std::ffi::OsString;
use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use confine::Programs;
use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::line_limit::LineLimitedReader;

/// Largest message of a server, in bytes.
pub(crate) const LONGEST: usize = 8 << 20;

/// Time that a server has to end after its input was closed.
const PATIENCE: Duration = Duration::from_secs(2);

/// Number of bytes of error output kept to explain the end of a server.
const LAST_WORDS: usize = 2000;

/// A child process. Dropping it kills its process group; if it is confined, also processes that left the group.
pub(crate) struct Child {
    process: tokio::process::Child,
    group: Option<Pid>,
    /// Whether the server sent a message that is too large.
    pub(crate) exceeded: Arc<AtomicBool>,
    last_words: Arc<Mutex<Vec<u8>>>,
    /// Token that is cancelled when the error output has ended.
    silent: CancellationToken,
    /// Task that reads the error output; ends with the child.
    _listening: JoinSet<()>,
}

/// Output and input of the child.
pub(crate) type Streams = (LineLimitedReader<ChildStdout>, ChildStdin);

impl Child {
    /// Starts a program with exactly these environment variables.
    pub(crate) fn start(
        programs: &Programs,
        command: &[String],
        variables: &[(String, String)],
    ) -> io::Result<(Self, Streams)> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(io::Error::other("there is no command"));
        };
        let (program, arguments) = programs.call(program.into(), arguments.iter().map(OsString::from).collect());
        let mut process = Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let group = process.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let (stdin, stdout, stderr) = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            return Err(io::Error::other("the process was started without its streams"));
        };
        let last_words = Arc::new(Mutex::new(Vec::new()));
        let mut listening = JoinSet::new();
        let silent = CancellationToken::new();
        let (heard, end) = (last_words.clone(), silent.clone().drop_guard());
        listening.spawn(async move {
            listen(stderr, heard).await;
            drop(end);
        });
        let (stdout, exceeded) = LineLimitedReader::new(stdout, LONGEST);
        Ok((Self { process, group, exceeded, last_words, silent, _listening: listening }, (stdout, stdin)))
    }

    /// Returns the end of the error output; empty if there was no error output.
    pub(crate) async fn last_words(&self) -> String {
        // The output of a process that has just ended may still be in the pipe.
        let _ = tokio::time::timeout(Duration::from_millis(200), self.silent.cancelled()).await;
        String::from_utf8_lossy(&self.last_words.lock()).trim().to_owned()
    }

    /// Waits a short time for the process to end, then kills its group.
    pub(crate) async fn end(mut self) {
        // The group is killed before the process is reaped, while its id cannot be reused.
        let _ = tokio::time::timeout(PATIENCE, wait_unreaped(&self.process)).await;
        self.kill();
        if let Err(error) = self.process.wait().await {
            tracing::warn!(%error, "an MCP server could not be reaped");
        }
    }

    fn kill(&self) {
        if let Some(group) = self.group.filter(|_| self.process.id().is_some())
            && let Err(error) = kill_process_group(group, Signal::KILL)
        {
            tracing::debug!(%error, "a process group could not be killed");
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Waits for the end of a process without reaping it.
async fn wait_unreaped(process: &tokio::process::Child) {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    use tokio::signal::unix::{SignalKind, signal};
    let Some(pid) = process.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw) else { return };
    let Ok(mut ends) = signal(SignalKind::child()) else { return };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    while matches!(waitid(WaitId::Pid(pid), options), Ok(None)) {
        if ends.recv().await.is_none() {
            return;
        }
    }
}

async fn listen(mut stderr: impl AsyncRead + Unpin, last_words: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        let mut kept = last_words.lock();
        kept.extend_from_slice(&buffer[..count]);
        let over = kept.len().saturating_sub(LAST_WORDS);
        kept.drain(..over);
    }
}
