//! The process group of a command, which is ended as one.
//!
//! The first process is not reaped before the group is killed, so that its process id, which is also the group's, is
//! not reused. A process that leaves the group on purpose (`setsid`) is not found again; nothing waits for it.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::runtime::Handle;
use tokio::signal::unix::{SignalKind, signal};

/// Time between the request to end and the kill.
pub(super) const GRACE: Duration = Duration::from_secs(2);

/// A process group. Dropping it asks the group to end and kills it after [`GRACE`].
pub(super) struct Group {
    last: Option<GroupProcess>,
}

/// A process group that is killed on drop, without grace.
struct GroupProcess {
    child: Child,
    leader: Pid,
}

impl Group {
    /// Starts a command in a new process group.
    pub(super) fn start(command: &mut Command) -> io::Result<(Self, ChildStdout, ChildStderr)> {
        let mut child = command.process_group(0).kill_on_drop(true).spawn()?;
        let leader = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let (Some(leader), Some(stdout), Some(stderr)) = (leader, child.stdout.take(), child.stderr.take()) else {
            return Err(io::Error::other("the process was started without its number or its output"));
        };
        Ok((Self { last: Some(GroupProcess { child, leader }) }, stdout, stderr))
    }

    /// Waits until the first process has ended.
    pub(super) async fn ended(&self) {
        if let Some(last) = &self.last {
            last.ended().await;
        }
    }

    /// Asks every process of the group to end.
    pub(super) fn ask_to_end(&self) {
        if let Some(last) = &self.last {
            last.send(Signal::TERM);
        }
    }

    /// Kills every process of the group and returns the exit status of the first.
    pub(super) async fn kill(mut self) -> io::Result<ExitStatus> {
        let Some(mut last) = self.last.take() else {
            return Err(io::Error::other("the process group has ended"));
        };
        last.send(Signal::KILL);
        last.child.wait().await
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let Some(mut last) = self.last.take() else { return };
        last.send(Signal::TERM);
        // Without a runtime, or with one that shuts down, the group is killed at once.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                // The group is killed and reaped whether or not it ended in time.
                let _ = tokio::time::timeout(GRACE, last.ended()).await;
                last.send(Signal::KILL);
                if let Err(error) = last.child.wait().await {
                    tracing::warn!(%error, "an abandoned command could not be reaped");
                }
            });
        }
    }
}

impl GroupProcess {
    fn send(&self, what: Signal) {
        // After the process was reaped, its id may belong to another process.
        if self.child.id().is_some()
            && let Err(error) = kill_process_group(self.leader, what)
        {
            tracing::debug!(%error, "a process group could not be signalled");
        }
    }

    async fn ended(&self) {
        // The signal handler is installed before the check, so that an end in between is not missed.
        let Ok(mut ends) = signal(SignalKind::child()) else { return };
        while self.runs() {
            if ends.recv().await.is_none() {
                return;
            }
        }
    }

    /// Whether the first process still runs. Does not reap it.
    fn runs(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        matches!(waitid(WaitId::Pid(self.leader), options), Ok(None))
    }
}

impl Drop for GroupProcess {
    fn drop(&mut self) {
        self.send(Signal::KILL);
    }
}
