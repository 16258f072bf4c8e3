//! `write_file`: a whole file, put in place at once.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, Metadata, OpenOptions, Permissions};
use serde::Deserialize;
use serde_json::{Value, json};

use super::bounds::{Bounds, Trouble};
use super::file_tool::FileWork;
use super::place::Place;
use crate::tool::ToolSpec;

/// The largest file that is written.
const LARGEST: usize = 4 << 20;
/// The largest text whose replacement is shown beside it.
const LARGEST_SHOWN: u64 = 64 << 10;

pub(super) struct WriteFile;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    path: String,
    content: String,
}

impl FileWork for WriteFile {
    type Arguments = Arguments;
    const CHANGES: bool = true;

    fn spec() -> ToolSpec {
        ToolSpec {
            name: "write_file".to_owned(),
            description:
                "Writes a whole text file of the workspace, in place of what was there. Its directory must be there."
                    .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "The file, from the workspace on"},
                    "content": {"type": "string", "description": "The whole new text"}
                },
                "required": ["path", "content"],
                "additionalProperties": false
            }),
            repeatable: true,
            parallel: false,
        }
    }

    fn replaces(root: &Dir, arguments: &Arguments) -> Option<String> {
        let file = Place::inside(&arguments.path).ok()?.open(root).ok()?;
        let mut text = String::new();
        file.take(LARGEST_SHOWN + 1).read_to_string(&mut text).ok()?;
        (text.len() as u64 <= LARGEST_SHOWN && !text.contains('\0')).then_some(text)
    }

    fn work(root: &Dir, arguments: Arguments, bounds: &Bounds) -> Result<Value, Trouble> {
        if arguments.content.len() > LARGEST {
            return Err(Trouble::new("the content is larger than 4 MiB"));
        }
        let place = Place::inside(&arguments.path)?;
        let path = place.shown();
        let (parent, name) = place.parent(root)?;
        let old = parent.symlink_metadata(name).ok();
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            return Err(Trouble::new(format!("`{path}` is there, and is not a regular file")));
        }
        let trouble = |error: io::Error| Trouble::with(&path, &error);
        let permissions = old.as_ref().map(Metadata::permissions);
        let beside = Beside::create(&parent, arguments.content.as_bytes(), permissions).map_err(trouble)?;
        bounds.go_on()?;
        beside.put(name).map_err(trouble)?;
        Ok(json!({"path": path, "bytes": arguments.content.len(), "created": old.is_none()}))
    }
}

/// A file beside the one that it will replace. It is removed unless it was put in its place.
struct Beside<'a> {
    parent: &'a Dir,
    name: String,
    placed: bool,
}

impl<'a> Beside<'a> {
    fn create(parent: &'a Dir, content: &[u8], permissions: Option<Permissions>) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).follow(FollowSymlinks::No);
        loop {
            let name = format!(".holdpoint-{}-{}.tmp", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
            let mut file = match parent.open_with(&name, &options) {
                Ok(file) => file,
                // Another process of the same number, long ago or in another container.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            };
            let beside = Self { parent, name, placed: false };
            file.write_all(content)?;
            if let Some(permissions) = permissions {
                file.set_permissions(permissions)?;
            }
            file.sync_all()?;
            return Ok(beside);
        }
    }

    fn put(mut self, name: &str) -> io::Result<()> {
        self.parent.rename(&self.name, self.parent, name)?;
        self.placed = true;
        Ok(())
    }
}

impl Drop for Beside<'_> {
    fn drop(&mut self) {
        if !self.placed
            && let Err(error) = self.parent.remove_file(&self.name)
        {
            tracing::warn!(%error, file = self.name, "a file that was not put in its place is left behind");
        }
    }
}
