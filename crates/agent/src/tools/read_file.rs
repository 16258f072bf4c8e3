//! `read_file`: reads the text of a file or some of its lines.

use std::io::Read;

use cap_std::fs::Dir;
use serde::Deserialize;
use serde_json::{Value, json};

use super::bounds::{Bounds, ToolFailure};
use super::cut;
use super::file_tool::FileWork;
use super::workspace_path::WorkspacePath;
use crate::tool::ToolSpec;

/// Largest file that is read, and the most of it that is shown, in bytes.
const LARGEST: u64 = 8 << 20;
const SHOWN: usize = 64 << 10;

pub(super) struct ReadFile;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    path: String,
    from_line: Option<usize>,
    lines: Option<usize>,
}

impl FileWork for ReadFile {
    type Arguments = Arguments;
    const CHANGES: bool = false;

    fn spec() -> ToolSpec {
        ToolSpec {
            name: "read_file".to_owned(),
            description: "Reads a text file of the workspace. At most 64 KiB are shown at once: give from_line and lines to read on."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "Path of the file, relative to the workspace"},
                    "from_line": {"type": "integer", "minimum": 1, "description": "The first line to show; 1 unless given"},
                    "lines": {"type": "integer", "minimum": 1, "description": "How many lines to show; all unless given"}
                },
                "required": ["path"],
                "additionalProperties": false
            }),
            repeatable: true,
            parallel: true,
        }
    }

    fn work(root: &Dir, arguments: Arguments, bounds: &Bounds) -> Result<Value, ToolFailure> {
        let from = arguments.from_line.unwrap_or(1);
        if from == 0 || arguments.lines == Some(0) {
            return Err(ToolFailure::new("from_line and lines count from 1"));
        }
        let place = WorkspacePath::parse(&arguments.path)?;
        let path = place.canonical();
        let text = bounds.secrets.hide(&text(root, &place)?);
        let total = text.lines().count();
        let wanted = arguments.lines.unwrap_or(usize::MAX);
        let chosen: String = text.split_inclusive('\n').skip(from - 1).take(wanted).collect();
        if from > total.max(1) {
            return Err(ToolFailure::new(format!("`{path}` has {total} lines")));
        }
        let (content, was_cut) = cut::beginning(&chosen, SHOWN);
        let mut result = json!({
            "path": path, "content": content, "bytes": text.len(), "lines": total, "cut": was_cut,
        });
        // The mark has its own line, after the line that may be cut. Reading cannot continue within a line that is too
        // long.
        let next = from + content.lines().count().saturating_sub(2);
        if was_cut && next > from {
            result["next_line"] = json!(next);
        }
        Ok(result)
    }
}

fn text(root: &Dir, place: &WorkspacePath) -> Result<String, ToolFailure> {
    let path = place.canonical();
    let file = place.open(root)?;
    let mut bytes = Vec::new();
    // Reads one byte more than allowed, to notice a file that grows meanwhile.
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| ToolFailure::with(&path, &error))?;
    if bytes.len() as u64 > LARGEST {
        return Err(ToolFailure::new(format!("`{path}` is larger than 8 MiB; look into it with search_files")));
    }
    let length = bytes.len();
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => Err(ToolFailure::new(format!("`{path}` is binary, or not UTF-8 ({length} bytes)"))),
    }
}
