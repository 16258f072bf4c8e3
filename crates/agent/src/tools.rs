//! The eight tools of a workspace, confined to one directory.
//!
//! | tool | arguments | again | beside others |
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
//! *Again* is what `ToolSpec::repeatable` says: `write_file` puts a whole file in place at once and `create_directory` is content with a
//! directory that is there, so that twice is the same as once. `move_file` and `delete_file` are not like that: what is there the second
//! time may be something that nobody has approved.
//!
//! What policy judged is what is used: a path is read by the same parser ([`tool_facts::PathFacts`]), no symbolic link is followed on the way
//! (`place.rs`), an argument that is not known is refused, and a command is given to the shell as the text that was parsed.
//!
//! A command is confined to the workspace and the programs of the machine ([`confine`]), unless whoever runs the server wants it otherwise;
//! without [`Workspace::with_programs`] none is run.

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
mod place;
mod read_file;
mod search_files;
mod variables;
mod walk;
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

use crate::tool::{Ran, Run, Tool};
use create_directory::CreateDirectory;
use delete_file::DeleteFile;
use execute_command::ExecuteCommand;
use file_tool::{FileTool, FileWork};
use list_files::ListFiles;
use move_file::MoveFile;
use read_file::ReadFile;
use search_files::SearchFiles;
use write_file::WriteFile;

/// The names of the tools that a workspace has.
pub const WORKSPACE_TOOLS: [&str; 8] = [
    "read_file",
    "list_files",
    "search_files",
    "write_file",
    "create_directory",
    "move_file",
    "delete_file",
    "execute_command",
];

/// The schemas of the arguments of those tools, by name.
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

/// Where commands are looked for, unless it is said otherwise.
const USUAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What came of a tool, without what must not be shown: also of those that know nothing of it.
pub(crate) fn discreet(ran: Ran, run: &Run) -> Ran {
    let secrets = Redactor::new(run.confidential());
    match ran {
        Ran::Done(result) => Ran::Done(secrets.hide_in(result)),
        Ran::Failed { message, result } => {
            Ran::Failed { message: secrets.hide(&message), result: secrets.hide_in(result) }
        }
        Ran::Unknown => Ran::Unknown,
    }
}

/// A text without these values.
pub(crate) fn hidden(text: &str, secrets: &[(String, Zeroizing<String>)]) -> String {
    Redactor::new(secrets.iter().map(|(name, value)| (name, value))).hide(text)
}

/// One directory, and the tools that never leave it.
#[derive(Debug, Clone)]
pub struct Workspace {
    dir: Arc<Dir>,
    path: PathBuf,
    search_path: String,
    programs: Option<Programs>,
}

impl Workspace {
    /// Opens a directory. Whoever renames it later takes it along: files are found through the open directory, not through its name.
    pub fn open(dir: impl AsRef<Path>) -> io::Result<Self> {
        let path = dir.as_ref().canonicalize()?;
        let dir = Arc::new(Dir::open_ambient_dir(&path, ambient_authority())?);
        Ok(Self { dir, path, search_path: USUAL_PATH.to_owned(), programs: None })
    }

    /// Says where commands look for programs (`PATH`).
    #[must_use]
    pub fn with_search_path(self, search_path: impl Into<String>) -> Self {
        Self { search_path: search_path.into(), ..self }
    }

    /// Says how commands are run; this directory is what they may write.
    #[must_use]
    pub fn with_programs(self, programs: Programs) -> Self {
        let programs = Some(programs.with_workspace(self.path.clone()));
        Self { programs, ..self }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the tools of these names, in this order. A name that is none of [`WORKSPACE_TOOLS`] gives nothing.
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
