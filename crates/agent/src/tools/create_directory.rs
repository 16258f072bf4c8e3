//! `create_directory`: makes a directory with its missing parents.

use cap_std::fs::Dir;
use serde::Deserialize;
use serde_json::{Value, json};

use super::bounds::{Bounds, ToolFailure};
use super::file_tool::FileWork;
use super::workspace_path::WorkspacePath;
use crate::tool::ToolSpec;

pub(super) struct CreateDirectory;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    path: String,
}

impl FileWork for CreateDirectory {
    type Arguments = Arguments;
    const CHANGES: bool = true;

    fn spec() -> ToolSpec {
        ToolSpec {
            name: "create_directory".to_owned(),
            description: "Creates a directory of the workspace with its missing parent directories. An existing directory is left unchanged.".to_owned(),
            schema: json!({
                "type": "object",
                "properties": {"path": {"type": "string", "description": "Path of the directory, relative to the workspace"}},
                "required": ["path"],
                "additionalProperties": false
            }),
            repeatable: true,
            parallel: false,
        }
    }

    fn work(root: &Dir, arguments: Arguments, bounds: &Bounds) -> Result<Value, ToolFailure> {
        let place = WorkspacePath::inside(&arguments.path)?;
        bounds.go_on()?;
        let created = place.make(root)?;
        Ok(json!({"path": place.canonical(), "created": created}))
    }
}
