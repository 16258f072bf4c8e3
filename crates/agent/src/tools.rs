//! The eight tools of a workspace, confined to one directory.
//!
//! | tool | arguments | repeatable | parallel |
//! | --- | --- | --- | --- |
//! | `read_file` | `path`, `from_line`, `lines` | yes | yes |
//! | `list_files` | `path`, `depth` | yes | yes |
//! | `search_files` | `pattern`, `path`, `glob`, `ignore_case` | yes | yes |
//! | `write_file` | `path`, `content` | yes | no |
//! | `create_directory` | `path` | yes | no |
//! | `move_file` | `source`, `destination`, `replace` | no | no |
//! | `delete_file` | `path`, `recursive` | no | no |
//! | `execute_command` | `command`, `timeout_seconds` | no | no |
//!
//! *Repeatable* is `ToolSpec::repeatable`. `write_file` replaces a whole file atomically and `create_directory` accepts
//! an existing directory, so a second run changes nothing. A second `move_file` or `delete_file` might act on something
//! that nobody approved.
//!
//! The tools use exactly the call that the policy judged: a path is read by the same parser
//! ([`tool_facts::PathFacts`]), no symbolic link is followed (`workspace_path.rs`), an unknown argument is refused, and
//! a command reaches the shell as the text that was parsed.
//!
//! A command is confined to the workspace and the programs of the machine ([`confine`]), unless the operator turns that
//! off. Without [`Workspace::with_programs`] no command runs.

mod bounds;
mod create_directory;
mod cut;
mod delete_file;
mod execute_command;
mod file_tool;
mod group;
mod list_files;
mod move_file;
mod output;
mod read_file;
mod search_files;
mod variables;
mod walk;
mod workspace_path;
mod write_file;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use confine::Programs;
use engine::Redactor;
use serde_json::Value;
use zeroize::Zeroizing;

use crate::tool::{Tool, ToolOutcome, ToolRun};
use create_directory::CreateDirectory;
use delete_file::DeleteFile;
use execute_command::ExecuteCommand;
use file_tool::{FileTool, FileWork};
use list_files::ListFiles;
use move_file::MoveFile;
use read_file::ReadFile;
use search_files::SearchFiles;
use write_file::WriteFile;

/// Argument schemas of the workspace tools, by name.
#[must_use]
pub fn schemas() -> BTreeMap<String, Value> {
    let specs = [
        ReadFile::spec(),
        ListFiles::spec(),
        SearchFiles::spec(),
        WriteFile::spec(),
        CreateDirectory::spec(),
        MoveFile::spec(),
        DeleteFile::spec(),
        ExecuteCommand::described(),
    ];
    specs.into_iter().map(|spec| (spec.name, spec.schema)).collect()
}

/// Value of `PATH` for commands.
const USUAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Removes secret values from the outcome of any tool.
pub(crate) fn redact(ran: ToolOutcome, run: &ToolRun) -> ToolOutcome {
    let secrets = Redactor::new(run.confidential());
    match ran {
        ToolOutcome::Done(result) => ToolOutcome::Done(secrets.hide_in(result)),
        ToolOutcome::Failed { message, result } => {
            ToolOutcome::Failed { message: secrets.hide(&message), result: secrets.hide_in(result) }
        }
        ToolOutcome::Unknown => ToolOutcome::Unknown,
    }
}

/// Removes these values from a text.
pub(crate) fn redact_text(text: &str, secrets: &[(String, Zeroizing<String>)]) -> String {
    Redactor::new(secrets.iter().map(|(name, value)| (name, value))).hide(text)
}

/// A directory and the tools that never leave it.
#[derive(Debug, Clone)]
pub struct Workspace {
    dir: Arc<Dir>,
    path: PathBuf,
    programs: Option<Programs>,
}

impl Workspace {
    /// Opens a directory. It may be renamed later: files are found through the open directory, not through its name.
    pub fn open(dir: impl AsRef<Path>) -> io::Result<Self> {
        let path = dir.as_ref().canonicalize()?;
        let dir = Arc::new(Dir::open_ambient_dir(&path, ambient_authority())?);
        Ok(Self { dir, path, programs: None })
    }

    /// Sets how commands are run. They may write to this directory.
    #[must_use]
    pub fn with_programs(self, programs: Programs) -> Self {
        let programs = Some(programs.with_workspace(self.path.clone()));
        Self { programs, ..self }
    }

    /// Path of the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The tools with these names, in this order. Names that are not in [`domain::agent::WORKSPACE_TOOLS`] are ignored.
    pub fn tools<S: AsRef<str>>(&self, names: &[S]) -> Vec<Arc<dyn Tool>> {
        names.iter().filter_map(|name| self.tool(name.as_ref())).collect()
    }

    fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let here = self.clone();
        Some(match name {
            "read_file" => Arc::new(FileTool::<ReadFile>::new(here)),
            "list_files" => Arc::new(FileTool::<ListFiles>::new(here)),
            "search_files" => Arc::new(FileTool::<SearchFiles>::new(here)),
            "write_file" => Arc::new(FileTool::<WriteFile>::new(here)),
            "create_directory" => Arc::new(FileTool::<CreateDirectory>::new(here)),
            "move_file" => Arc::new(FileTool::<MoveFile>::new(here)),
            "delete_file" => Arc::new(FileTool::<DeleteFile>::new(here)),
            "execute_command" => Arc::new(ExecuteCommand::new(here)),
            _ => return None,
        })
    }
}
