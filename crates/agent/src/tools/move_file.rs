//! `move_file`: renames a file or directory.

use std::io;

use cap_std::fs::Dir;
use rustix::fs::{RenameFlags, renameat_with};
use serde::Deserialize;
use serde_json::{Value, json};

use super::bounds::{Bounds, ToolFailure};
use super::file_tool::FileWork;
use super::workspace_path::WorkspacePath;
use crate::tool::ToolSpec;

pub(super) struct MoveFile;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    source: String,
    destination: String,
    #[serde(default)]
    replace: bool,
}

impl FileWork for MoveFile {
    type Arguments = Arguments;
    const CHANGES: bool = true;

    fn spec() -> ToolSpec {
        ToolSpec {
            name: "move_file".to_owned(),
            description: "Moves a file or directory of the workspace. The destination is its whole new path; an \
                          existing file is replaced only if replace is true."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "source": {"type": "string", "description": "Path of the file or directory to move, relative to the workspace"},
                    "destination": {"type": "string", "description": "New path, relative to the workspace"},
                    "replace": {"type": "boolean", "description": "Whether an existing file may be replaced"}
                },
                "required": ["source", "destination"],
                "additionalProperties": false
            }),
            repeatable: false,
            parallel: false,
        }
    }

    fn work(root: &Dir, arguments: Arguments, bounds: &Bounds) -> Result<Value, ToolFailure> {
        let (source, destination) =
            (WorkspacePath::inside(&arguments.source)?, WorkspacePath::inside(&arguments.destination)?);
        let (from, name) = source.parent(root)?;
        from.symlink_metadata(name).map_err(|error| ToolFailure::with(&source.canonical(), &error))?;
        let (to, new_name) = destination.parent(root)?;
        bounds.go_on()?;
        let moved = if arguments.replace {
            from.rename(name, &to, new_name)
        } else {
            // One system call checks and moves, so that nothing can be put there in between.
            renameat_with(&from, name, &to, new_name, RenameFlags::NOREPLACE).map_err(io::Error::from)
        };
        moved.map_err(|error| ToolFailure::with(&destination.canonical(), &error))?;
        Ok(json!({"source": source.canonical(), "destination": destination.canonical()}))
    }
}
