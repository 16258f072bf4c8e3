//! Builds the command line of the helper process.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::confinement::Confinement;
use crate::{CALL, SAYS};

/// The binary that confines programs.
#[derive(Debug, Clone)]
pub struct Helper {
    binary: PathBuf,
}

impl Helper {
    /// Uses the binary of this process, even if its file was replaced since the start.
    #[must_use]
    pub fn ourselves() -> Self {
        Self { binary: PathBuf::from("/proc/self/exe") }
    }

    /// Uses a binary whose `main` begins with [`crate::answer_call`].
    pub fn at(binary: impl Into<PathBuf>) -> Self {
        Self { binary: binary.into() }
    }

    /// Builds the command line that runs this program confined.
    pub(crate) fn call(
        &self,
        confinement: &Confinement,
        program: OsString,
        arguments: Vec<OsString>,
    ) -> (OsString, Vec<OsString>) {
        // A path that is not UTF-8 cannot be written as JSON; the helper refuses an empty specification.
        let specification = serde_json::to_string(confinement).unwrap_or_default();
        let mut all = vec![OsString::from(CALL), OsString::from(specification), program];
        all.extend(arguments);
        (self.binary.clone().into_os_string(), all)
    }

    /// Confines a program that does nothing. The error is the reason why confinement is not possible here.
    pub fn probe(&self) -> Result<(), String> {
        let (program, arguments) = self.call(&Confinement::default(), "/bin/sh".into(), vec!["-c".into(), ":".into()]);
        let mut command = Command::new(program);
        command.args(arguments).env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let output = command.output().map_err(|error| format!("the helper cannot be started: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let why = said.lines().last().map_or("it gave no reason", |line| line.strip_prefix(SAYS).unwrap_or(line));
        Err(why.to_owned())
    }
}
