//! `delete_file`: deletes a file, a link or a directory.

use std::io;

use cap_std::fs::Dir;
use serde::Deserialize;
use serde_json::{Value, json};

use super::bounds::{Bounds, ToolFailure};
use super::file_tool::FileWork;
use super::workspace_path::{WorkspacePath, enter};
use crate::tool::ToolSpec;

/// Deepest nesting that is deleted; every directory on the way stays open.
const DEEPEST: usize = 128;

pub(super) struct DeleteFile;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    path: String,
    #[serde(default)]
    recursive: bool,
}

impl FileWork for DeleteFile {
    type Arguments = Arguments;
    const CHANGES: bool = true;

    fn spec() -> ToolSpec {
        ToolSpec {
            name: "delete_file".to_owned(),
            description: "Deletes a file of the workspace, a link (not its target), or an empty directory; with \
                          recursive also one that is not empty."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "Path of the file or directory to delete, relative to the workspace"},
                    "recursive": {"type": "boolean", "description": "Whether a directory is deleted with all its contents"}
                },
                "required": ["path"],
                "additionalProperties": false
            }),
            repeatable: false,
            parallel: false,
        }
    }

    fn work(root: &Dir, arguments: Arguments, bounds: &Bounds) -> Result<Value, ToolFailure> {
        let place = WorkspacePath::inside(&arguments.path)?;
        let (parent, name) = place.parent(root)?;
        let mut deleted = 0;
        let done =
            delete(&parent, name, &mut Deletion { bounds, recursive: arguments.recursive, deleted: &mut deleted }, 0);
        match done {
            Ok(()) => Ok(json!({"path": place.canonical(), "deleted": deleted})),
            Err(ToolFailure(why)) if deleted > 0 => Err(ToolFailure::new(format!(
                "`{}`: {deleted} entries were deleted before an error: {why}",
                place.canonical()
            ))),
            Err(ToolFailure(why)) => Err(ToolFailure::new(format!("`{}`: {why}", place.canonical()))),
        }
    }
}

struct Deletion<'a> {
    bounds: &'a Bounds,
    recursive: bool,
    deleted: &'a mut u64,
}

fn delete(parent: &Dir, name: &str, deletion: &mut Deletion<'_>, depth: usize) -> Result<(), ToolFailure> {
    let trouble = |error: io::Error| ToolFailure::with(name, &error);
    let metadata = parent.symlink_metadata(name).map_err(trouble)?;
    if metadata.is_dir() {
        if deletion.recursive {
            empty(parent, name, deletion, depth)?;
        }
        deletion.bounds.go_on()?;
        parent.remove_dir(name).map_err(trouble)?;
    } else {
        deletion.bounds.go_on()?;
        parent.remove_file(name).map_err(trouble)?;
    }
    *deletion.deleted += 1;
    Ok(())
}

fn empty(parent: &Dir, name: &str, deletion: &mut Deletion<'_>, depth: usize) -> Result<(), ToolFailure> {
    if depth == DEEPEST {
        return Err(ToolFailure::new(format!("directories are nested deeper than {DEEPEST} levels")));
    }
    let trouble = |error: io::Error| ToolFailure::with(name, &error);
    let dir = enter(parent, name).map_err(trouble)?;
    let names: Vec<_> =
        dir.entries().and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect()).map_err(trouble)?;
    for inner in names {
        #[expect(
            clippy::unnecessary_debug_formatting,
            reason = "the name is not UTF-8, so that its display would hide a part of it"
        )]
        let inner = inner.to_str().ok_or_else(|| ToolFailure::new(format!("{inner:?} is not UTF-8")))?;
        delete(&dir, inner, deletion, depth + 1)?;
    }
    Ok(())
}
