//! Describes which files, network and resources a confined program may use, and how programs are started.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::helper::Helper;

/// Files, network and resources that a confined program may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confinement {
    /// Directory that the program may read and write, and in which it is started; without one it is started in `/tmp`.
    pub workspace: Option<PathBuf>,
    /// Further directories and files that the program may read.
    pub read_only: Vec<PathBuf>,
    /// Directories and files that appear empty to the program if they lie below a directory that it may read, under any
    /// name.
    pub hidden: Vec<PathBuf>,
    /// Whether the program may use the network of the machine.
    pub network: bool,
    /// Largest number of processes and threads at once.
    pub processes: u32,
    /// Largest size of the workspace while the program runs, in bytes.
    pub workspace_bytes: u64,
}

impl Default for Confinement {
    fn default() -> Self {
        Self {
            workspace: None,
            read_only: Vec::new(),
            hidden: Vec::new(),
            network: false,
            processes: 512,
            workspace_bytes: 2 << 30,
        }
    }
}

/// Way in which programs are started.
#[derive(Debug, Clone)]
pub enum Programs {
    /// Programs are started through the helper, with this confinement.
    Confined(Helper, Confinement),
    /// Programs are started directly, with the rights of this process.
    Unconfined,
}

impl Programs {
    /// Builds the command line that runs this program in this way: the program to start, and its arguments.
    #[must_use]
    pub fn call(&self, program: OsString, arguments: Vec<OsString>) -> (OsString, Vec<OsString>) {
        match self {
            Self::Unconfined => (program, arguments),
            Self::Confined(helper, confinement) => helper.call(confinement, program, arguments),
        }
    }

    /// Sets the workspace of the programs.
    #[must_use]
    pub fn with_workspace(mut self, workspace: PathBuf) -> Self {
        if let Self::Confined(_, confinement) = &mut self {
            confinement.workspace = Some(workspace);
        }
        self
    }
}
