//! `list_files`: lists the entries of a directory.

use cap_std::fs::Dir;
use serde::Deserialize;
use serde_json::{Value, json};

use super::bounds::{Bounds, ToolFailure};
use super::file_tool::FileWork;
use super::walk::{FileKind, WalkEnd, WalkStep, walk};
use super::workspace_path::WorkspacePath;
use crate::tool::ToolSpec;

/// Largest number of entries shown, and the deepest level.
const MOST: usize = 1000;
const DEEPEST: usize = 16;

pub(super) struct ListFiles;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    path: Option<String>,
    depth: Option<usize>,
}

impl FileWork for ListFiles {
    type Arguments = Arguments;
    const CHANGES: bool = false;

    fn spec() -> ToolSpec {
        ToolSpec {
            name: "list_files".to_owned(),
            description:
                "Lists the contents of a directory of the workspace, at most 1,000 entries. Links are shown, not followed."
                    .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "Path of the directory, relative to the workspace; the workspace itself if absent"},
                    "depth": {"type": "integer", "minimum": 1, "maximum": DEEPEST, "description": "How many directories deep; 1 unless given"}
                },
                "additionalProperties": false
            }),
            repeatable: true,
            parallel: true,
        }
    }

    fn work(root: &Dir, arguments: Arguments, bounds: &Bounds) -> Result<Value, ToolFailure> {
        let depth = arguments.depth.unwrap_or(1);
        if !(1..=DEEPEST).contains(&depth) {
            return Err(ToolFailure::new(format!("depth is from 1 to {DEEPEST}")));
        }
        let place = WorkspacePath::parse(arguments.path.as_deref().unwrap_or("."))?;
        let dir = place.directory(root)?;
        let mut entries = Vec::new();
        let end = walk(&dir, bounds, &mut |entry| {
            if entries.len() == MOST {
                return WalkStep::Enough;
            }
            let mut shown = json!({"path": entry.path, "kind": word(entry.kind)});
            if entry.kind == FileKind::File
                && let Ok(metadata) = entry.parent.symlink_metadata(entry.name)
            {
                shown["bytes"] = json!(metadata.len());
            }
            entries.push(shown);
            if entry.path.matches('/').count() + 1 < depth { WalkStep::Into } else { WalkStep::Past }
        })
        .map_err(|error| ToolFailure::with(&place.canonical(), &error))?;
        let cut = end == WalkEnd::Short;
        let mut result = json!({"path": place.canonical(), "entries": entries, "cut": cut});
        if cut {
            result["note"] = json!(format!("[cut: {} entries shown, and there are more]", entries.len()));
        }
        Ok(result)
    }
}

fn word(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "file",
        FileKind::Directory => "directory",
        FileKind::Link => "link",
        FileKind::Other => "other",
    }
}
