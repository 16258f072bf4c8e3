//! `write_file`: replaces a whole file atomically.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::UNIX_EPOCH;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, File, Metadata, OpenOptions, Permissions};
use domain::Digest;
use rustix::fs::{RenameFlags, renameat_with};
use rustix::io::Errno;
use serde::Deserialize;
use serde_json::{Value, json};

use super::bounds::{Bounds, ToolFailure};
use super::file_tool::FileWork;
use super::workspace_path::{WorkspacePath, open_regular};
use crate::tool::{ReplacedContent, ToolSpec};

/// Largest content, in bytes.
const LARGEST: usize = 4 << 20;
/// Largest replaced text that is shown to reviewers, in bytes.
const LARGEST_SHOWN: usize = 64 << 10;
/// Largest file whose content is hashed, in bytes.
const LARGEST_COMPARED: u64 = 8 << 20;
/// Prefix of the hash of a file that was read completely.
const READ: &str = "sha256:";
/// Value for a missing file.
const ABSENT: &str = "absent";
/// Value for a path that is not a file, or that the server may not read.
const CLOSED: &str = "closed";

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
                "Writes a whole text file of the workspace and replaces its content. Its directory must exist."
                    .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "Path of the file, relative to the workspace"},
                    "content": {"type": "string", "description": "The whole new text"}
                },
                "required": ["path", "content"],
                "additionalProperties": false
            }),
            repeatable: true,
            parallel: false,
        }
    }

    fn replaces(root: &Dir, arguments: &Arguments) -> Option<ReplacedContent> {
        let place = WorkspacePath::inside(&arguments.path).ok()?;
        // Without a directory there is no file.
        let Ok((parent, name)) = place.parent(root) else {
            return Some(ReplacedContent { content_hash: ABSENT.to_owned(), text: None });
        };
        let (content_hash, bytes) = read_current(&parent, name);
        let short = content_hash.starts_with(READ) && bytes.len() <= LARGEST_SHOWN;
        let text = String::from_utf8(bytes).ok().filter(|text| short && !text.contains('\0'));
        Some(ReplacedContent { content_hash, text })
    }

    fn work(root: &Dir, arguments: Arguments, bounds: &Bounds) -> Result<Value, ToolFailure> {
        if arguments.content.len() > LARGEST {
            return Err(ToolFailure::new("the content is larger than 4 MiB"));
        }
        let place = WorkspacePath::inside(&arguments.path)?;
        let path = place.canonical();
        let (parent, name) = place.parent(root)?;
        let old = parent.symlink_metadata(name).ok();
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            return Err(ToolFailure::new(format!("`{path}` exists and is not a regular file")));
        }
        let trouble = |error: io::Error| ToolFailure::with(&path, &error);
        let permissions = old.as_ref().map(Metadata::permissions);
        let temporary = TemporaryFile::create(&parent, arguments.content.as_bytes(), permissions).map_err(trouble)?;
        bounds.go_on()?;
        let changed = || {
            let why = "has changed since people saw it and was not written: read it again and propose the write again";
            ToolFailure::new(format!("`{path}` {why}"))
        };
        match bounds.expected_content.as_deref() {
            None => temporary.put(name),
            Some(expected_content) => {
                let (now, _) = read_current(&parent, name);
                // The new content may be there already from an earlier run of this call.
                if now != expected_content && now != hash_of(arguments.content.as_bytes()) {
                    return Err(changed());
                }
                if now == ABSENT { temporary.put_new(name) } else { temporary.put(name) }
            }
        }
        .map_err(|error| if error.kind() == io::ErrorKind::AlreadyExists { changed() } else { trouble(error) })?;
        Ok(json!({"path": path, "bytes": arguments.content.len(), "created": old.is_none()}))
    }
}

/// Hash and content of a file; the content is empty for a large file.
fn read_current(parent: &Dir, name: &str) -> (String, Vec<u8>) {
    match open_regular(parent, name).and_then(read) {
        Ok(read) => read,
        Err(error) if error.kind() == io::ErrorKind::NotFound => (ABSENT.to_owned(), Vec::new()),
        Err(_) => (CLOSED.to_owned(), Vec::new()),
    }
}

/// Reads and hashes a file. A file that is too large to hash is identified by its length and modification time.
fn read(file: File) -> io::Result<(String, Vec<u8>)> {
    let metadata = file.metadata()?;
    let mut bytes = Vec::new();
    file.take(LARGEST_COMPARED + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 <= LARGEST_COMPARED {
        return Ok((hash_of(&bytes), bytes));
    }
    let written = metadata.modified()?.into_std().duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok((format!("large:{}:{}", metadata.len(), written.as_nanos()), Vec::new()))
}

fn hash_of(bytes: &[u8]) -> String {
    format!("{READ}{}", Digest::of_bytes(bytes))
}

/// A temporary file next to the one that it will replace. Dropping it removes it, unless it was renamed into place.
struct TemporaryFile<'a> {
    parent: &'a Dir,
    name: String,
    placed: bool,
}

impl<'a> TemporaryFile<'a> {
    fn create(parent: &'a Dir, content: &[u8], permissions: Option<Permissions>) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).follow(FollowSymlinks::No);
        loop {
            let name = format!(".holdpoint-{}-{}.tmp", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
            let mut file = match parent.open_with(&name, &options) {
                Ok(file) => file,
                // Another process with the same id left this file, earlier or in another container.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            };
            let temporary = Self { parent, name, placed: false };
            file.write_all(content)?;
            if let Some(permissions) = permissions {
                file.set_permissions(permissions)?;
            }
            file.sync_all()?;
            return Ok(temporary);
        }
    }

    /// Renames the file to a free name; atomic where the file system supports it.
    fn put_new(mut self, name: &str) -> io::Result<()> {
        match renameat_with(self.parent, &self.name, self.parent, name, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS) => return self.put(name),
            moved => moved?,
        }
        self.placed = true;
        Ok(())
    }

    fn put(mut self, name: &str) -> io::Result<()> {
        self.parent.rename(&self.name, self.parent, name)?;
        self.placed = true;
        Ok(())
    }
}

impl Drop for TemporaryFile<'_> {
    fn drop(&mut self) {
        if !self.placed
            && let Err(error) = self.parent.remove_file(&self.name)
        {
            tracing::warn!(%error, file = self.name, "a temporary file could not be removed");
        }
    }
}
