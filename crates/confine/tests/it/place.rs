//! Sets up a workspace beside foreign files, and runs programs that are confined to it.

use std::ffi::OsString;
use std::fs;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use holdpoint_confine::{Confinement, Helper, Programs};
use tempfile::TempDir;

/// Directory with the workspace, the workspace of another agent, and a data directory.
pub(crate) struct TestDirectory {
    pub(crate) all: TempDir,
}

impl TestDirectory {
    pub(crate) fn new() -> Self {
        let all = TempDir::with_prefix("confined-").unwrap();
        for name in ["workspace", "other", "data"] {
            fs::create_dir(all.path().join(name)).unwrap();
        }
        fs::write(all.path().join("data/master.key"), "the master key").unwrap();
        fs::write(all.path().join("other/private"), "of another agent").unwrap();
        Self { all }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.all.path().join(name)
    }

    pub(crate) fn confinement(&self) -> Confinement {
        Confinement { workspace: Some(self.path("workspace")), ..Confinement::default() }
    }

    pub(crate) fn run(&self, line: &str) -> ProgramOutput {
        said(command(&self.confinement(), line))
    }
}

/// Exit status and output of a command.
#[derive(Debug)]
pub(crate) struct ProgramOutput {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn said(mut command: Command) -> ProgramOutput {
    let Output { status, stdout, stderr } = command.output().unwrap();
    ProgramOutput {
        code: status.code(),
        signal: status.signal(),
        stdout: String::from_utf8(stdout).unwrap(),
        stderr: String::from_utf8(stderr).unwrap(),
    }
}

pub(crate) fn command(confinement: &Confinement, line: &str) -> Command {
    let helper = Helper::at(env!("CARGO_BIN_EXE_holdpoint-confine"));
    let programs = Programs::Confined(helper, confinement.clone());
    let (program, arguments) = programs.call("/bin/sh".into(), ["-c", "--", line].map(OsString::from).to_vec());
    let mut command = Command::new(program);
    command.args(arguments).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").stdin(Stdio::null());
    command.process_group(0);
    command
}

/// Waits until a condition holds.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < Duration::from_secs(30), "never came: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a `sleep` process with this word in its command line runs.
pub(crate) fn runs(word: &str) -> bool {
    let lines = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        Some(String::from_utf8_lossy(&line).replace('\0', " "))
    });
    lines.into_iter().any(|line| line.starts_with("sleep ") && line.contains(word))
}
