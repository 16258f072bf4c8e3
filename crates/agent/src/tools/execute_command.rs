//! `execute_command`: runs a shell command in the workspace.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::ExitStatusExt;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use cap_std::fs::MetadataExt as _;
use engine::Redactor;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::bounds::ToolFailure;
use super::file_tool::read;
use super::group::{GRACE, Group};
use super::output::Output;
use super::variables::Variables;
use super::{USUAL_PATH, Workspace};
use crate::tool::{Tool, ToolOutcome, ToolRun, ToolSpec};

const SECONDS: u64 = 60;
const MOST_SECONDS: u64 = 600;

/// Longest command in bytes; the operating system limits one argument to 128 KiB.
const LONGEST: usize = 64 << 10;

/// Time for reading the rest of the output after the group has ended: a process that left the group may hold the pipe
/// open.
const LINGER: Duration = Duration::from_millis(500);

pub(super) struct ExecuteCommand {
    spec: ToolSpec,
    workspace: Workspace,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    command: String,
    timeout_seconds: Option<u64>,
}

/// Reason why the wait for a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WaitEnd {
    Ended,
    TimedOut,
    Cancelled,
}

impl ExecuteCommand {
    pub(super) fn new(workspace: Workspace) -> Self {
        Self { spec: Self::described(), workspace }
    }

    /// Description of the tool.
    pub(super) fn described() -> ToolSpec {
        let schema = json!({
            "type": "object",
            "properties": {
                "command": {"type": "string", "description": "Command that /bin/sh runs in the workspace"},
                "timeout_seconds": {"type": "integer", "minimum": 1, "maximum": MOST_SECONDS, "description": "Time limit of the command in seconds; 60 if absent"}
            },
            "required": ["command"],
            "additionalProperties": false
        });
        let description = "Runs a shell command in the workspace, without input, and returns its exit code and its \
                           output (of each stream the first and the last 32 KiB). All processes that it started end \
                           with it."
            .to_owned();
        ToolSpec { name: "execute_command".to_owned(), description, schema, repeatable: false, parallel: false }
    }

    async fn perform(&self, arguments: &Value, run: &ToolRun) -> Result<ToolOutcome, ToolFailure> {
        let arguments: Arguments = read(arguments)?;
        let seconds = arguments.timeout_seconds.unwrap_or(SECONDS);
        if !(1..=MOST_SECONDS).contains(&seconds) {
            return Err(ToolFailure::new(format!("timeout_seconds is from 1 to {MOST_SECONDS}")));
        }
        if arguments.command.trim().is_empty() || arguments.command.contains('\0') || arguments.command.len() > LONGEST
        {
            return Err(ToolFailure::new("the command is empty, contains NUL, or is longer than 64 KiB"));
        }
        if run.cancel.is_cancelled() {
            return Err(ToolFailure::new("it was cancelled before it began"));
        }
        let variables = Variables::of(&run.secrets);
        let mut command = self.command(&arguments.command)?;
        command.envs(variables.given.iter().map(|(name, value)| (name, value)));
        let said = execute(&mut command, Duration::from_secs(seconds), run)
            .await
            .map_err(|error| ToolFailure::new(format!("the command could not be run: {error}")))?;
        Ok(said.outcome(seconds, variables.note()))
    }

    fn command(&self, line: &str) -> Result<Command, ToolFailure> {
        let Workspace { dir, path, programs } = &self.workspace;
        let Some(programs) = programs else { return Err(ToolFailure::new("commands are not run here")) };
        let moved = |_| ToolFailure::new("the directory of the workspace was moved or replaced");
        let (open, named) = (dir.dir_metadata().map_err(moved)?, path.symlink_metadata().map_err(moved)?);
        if (open.dev(), open.ino()) != (named.dev(), named.ino()) {
            return Err(ToolFailure::new("the directory of the workspace was moved or replaced"));
        }
        // Without `--`, a command that begins with a dash would be read as an option of the shell.
        let (program, arguments) = programs.call("/bin/sh".into(), ["-c", "--", line].map(OsString::from).to_vec());
        let mut command = Command::new(program);
        command.args(arguments);
        command.current_dir(path).env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env("PATH", USUAL_PATH).env("HOME", path).env("LANG", "C.UTF-8").env("TERM", "dumb");
        // Files that an agent writes must not configure git: neither in its home directory, nor in a directory that
        // looks like a repository.
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_COUNT", "1");
        command.env("GIT_CONFIG_KEY_0", "safe.bareRepository").env("GIT_CONFIG_VALUE_0", "explicit");
        Ok(command)
    }
}

impl Tool for ExecuteCommand {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn seconds(&self, arguments: &Value) -> Option<u64> {
        arguments.get("timeout_seconds")?.as_u64()
    }

    fn run<'a>(&'a self, arguments: &'a Value, run: &'a ToolRun) -> BoxFuture<'a, ToolOutcome> {
        self.perform(arguments, run)
            .map(|ran| ran.unwrap_or_else(|ToolFailure(message)| ToolOutcome::Failed { message, result: Value::Null }))
            .boxed()
    }
}

/// Exit status and output of a command.
struct CommandResult {
    why: WaitEnd,
    status: ExitStatus,
    stdout: (String, bool),
    stderr: (String, bool),
}

impl CommandResult {
    fn outcome(self, seconds: u64, note: Option<String>) -> ToolOutcome {
        let (code, signal) = (self.status.code(), self.status.signal());
        let mut result = json!({
            "stdout": self.stdout.0,
            "stderr": self.stderr.0,
            "cut": self.stdout.1 || self.stderr.1,
            "timed_out": self.why == WaitEnd::TimedOut,
        });
        if let Some(code) = code {
            result["exit_code"] = json!(code);
        }
        if let Some(signal) = signal {
            result["signal"] = json!(signal);
        }
        if let Some(note) = note {
            result["note"] = json!(note);
        }
        let message = match (self.why, code, signal) {
            (WaitEnd::Ended, Some(0), _) => return ToolOutcome::Done(result),
            (WaitEnd::Ended, Some(code), _) if code == i32::from(confine::REFUSED) => self.refusal(code),
            (WaitEnd::Ended, Some(code), _) => format!("the command ended with exit code {code}"),
            (WaitEnd::Ended, None, signal) => format!("the command was ended by signal {}", signal.unwrap_or_default()),
            (WaitEnd::TimedOut, ..) => format!("the command ran for {seconds} seconds and was ended"),
            (WaitEnd::Cancelled, ..) => "the command was cancelled and ended".to_owned(),
        };
        ToolOutcome::Failed { message, result }
    }

    /// Last message of the confinement helper, if it ended the command or could not confine it. A command that imitates
    /// the helper deceives only its own agent.
    fn refusal(&self, code: i32) -> String {
        let last = self.stderr.0.lines().last().and_then(|line| line.strip_prefix(confine::SAYS));
        last.map_or_else(|| format!("the command ended with exit code {code}"), str::to_owned)
    }
}

async fn execute(command: &mut Command, time: Duration, run: &ToolRun) -> io::Result<CommandResult> {
    let secrets = Redactor::new(run.confidential());
    let (mut stdout, mut stderr) = (Output::new(secrets.clone()), Output::new(secrets));
    let (group, from_stdout, from_stderr) = Group::start(command)?;
    let (why, status) = {
        let mut reading = pin!(futures::future::join(stdout.read(from_stdout), stderr.read(from_stderr)).fuse());
        let why = {
            let mut ended = pin!(group.ended().fuse());
            let why = wait(&mut ended, &mut reading, time, &run.cancel).await;
            if why != WaitEnd::Ended {
                group.ask_to_end();
                // The shell ends at once; its child processes may need time to clean up and still hold the output open.
                let _ = timeout(GRACE, async { tokio::join!(&mut ended, &mut reading) }).await;
            }
            why
        };
        let status = group.kill().await?;
        // The group has ended. Read the rest of the pipes, unless a process outside the group holds them open.
        let _ = timeout(LINGER, &mut reading).await;
        (why, status)
    };
    Ok(CommandResult { why, status, stdout: stdout.finish(), stderr: stderr.finish() })
}

/// Waits for the end, the time limit or a cancellation, and reads the output meanwhile.
async fn wait(
    mut ended: impl Future<Output = ()> + Unpin,
    mut reading: impl Future + Unpin,
    time: Duration,
    cancel: &CancellationToken,
) -> WaitEnd {
    let mut over = pin!(sleep(time));
    loop {
        tokio::select! {
            biased;
            () = cancel.cancelled() => return WaitEnd::Cancelled,
            () = &mut over => return WaitEnd::TimedOut,
            () = &mut ended => return WaitEnd::Ended,
            // The future is fused and completes only once.
            _ = &mut reading => {}
        }
    }
}
