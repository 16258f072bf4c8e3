//! Creates a directory for the data and logs of one test, and runs the binary in it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::server::free_port;
use super::{Launch, PATIENCE};

/// Data directory, logs and database of one test.
pub(crate) struct Deployment {
    directory: TempDir,
    data: PathBuf,
    url: Option<String>,
}

impl Deployment {
    /// Creates the directory of a test whose data is in SQLite.
    pub(crate) fn sqlite() -> Self {
        Self::create(None)
    }

    /// Creates the directory of a test whose data is in this PostgreSQL database.
    pub(crate) fn postgres(url: String) -> Self {
        Self::create(Some(url))
    }

    /// Uses another data directory.
    pub(crate) fn with_data(mut self, data: &Path) -> Self {
        data.clone_into(&mut self.data);
        self
    }

    fn create(url: Option<String>) -> Self {
        let directory = TempDir::with_prefix("holdpoint-binary-").unwrap();
        let data = directory.path().join("data");
        Self { directory, data, url }
    }

    /// Path of a file beside the data.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Path of the data directory.
    pub(crate) fn data(&self) -> &Path {
        &self.data
    }

    /// Describes a server on a free port. It can be started repeatedly on that port.
    pub(crate) fn launch(&self) -> Launch {
        self.launch_at(free_port())
    }

    /// Describes a server on this port.
    pub(crate) fn launch_at(&self, port: u16) -> Launch {
        Launch::new(self.directory.path(), port, self.store())
    }

    /// Runs a command of the binary on this data until it ends.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let mut command = binary();
        command.args(arguments).args(self.store()).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let since = Instant::now();
        // The output is short enough for the pipe, so the child never blocks on writing it.
        while child.try_wait().unwrap().is_none() {
            if since.elapsed() > PATIENCE {
                // The process may have ended already.
                let _ = child.kill();
                panic!("holdpoint {arguments:?} does not end: {:?}", child.wait_with_output());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        child.wait_with_output().unwrap()
    }

    /// Runs a command of the binary on this data until it ends, with its standard output written to a file.
    pub(crate) fn run_into(&self, arguments: &[&str], file: &Path) -> Output {
        let out = File::create(file).unwrap();
        binary().args(arguments).args(self.store()).stdin(Stdio::null()).stdout(out).output().unwrap()
    }

    /// Creates an API key and returns it.
    pub(crate) fn key(&self, role: &str, user: &str) -> String {
        let output = self.run(&["keys", "create", "--role", role, "--user", user]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{told}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn store(&self) -> Vec<String> {
        let mut arguments = vec!["--data".to_owned(), self.data.display().to_string()];
        if let Some(url) = &self.url {
            arguments.extend(["--database-url".to_owned(), url.clone()]);
        }
        arguments
    }
}

/// Command that runs the binary under test without the `HOLDPOINT_` variables of this process.
pub(crate) fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_holdpoint"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("HOLDPOINT_") {
            command.env_remove(name);
        }
    }
    command
}
