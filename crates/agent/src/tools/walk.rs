//! Walks through directories in order, without following links.

use std::io;

use cap_std::fs::Dir;

use super::bounds::Bounds;
use super::workspace_path::enter;

/// Largest number of entries in one walk, which bounds the cost of a huge directory.
const MOST: usize = 100_000;

/// Kind of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    File,
    Directory,
    Link,
    Other,
}

/// An entry of a directory.
pub(super) struct WalkEntry<'a> {
    /// Directory that contains the entry.
    pub(super) parent: &'a Dir,
    pub(super) name: &'a str,
    /// Path from the start of the walk.
    pub(super) path: &'a str,
    pub(super) kind: FileKind,
}

/// Continuation of a walk after an entry.
pub(super) enum WalkStep {
    /// Enter the entry, if it is a directory.
    Into,
    /// Do not enter the entry.
    Past,
    /// End the walk at this entry.
    Enough,
}

/// End of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WalkEnd {
    /// Every entry was visited.
    Whole,
    /// Some entries were not visited.
    Short,
}

/// Walks through a directory in the order of names; a directory comes before its entries.
pub(super) fn walk(
    dir: &Dir,
    bounds: &Bounds,
    visit: &mut dyn FnMut(&WalkEntry<'_>) -> WalkStep,
) -> io::Result<WalkEnd> {
    let mut walk = FileWalk { bounds, visit, left: MOST, short: false };
    let done = walk.through(dir, "")?;
    Ok(if done && !walk.short { WalkEnd::Whole } else { WalkEnd::Short })
}

struct FileWalk<'a> {
    bounds: &'a Bounds,
    visit: &'a mut dyn FnMut(&WalkEntry<'_>) -> WalkStep,
    left: usize,
    short: bool,
}

/// Deepest level of a walk; every directory on the way stays open.
const DEEPEST: usize = 64;

impl FileWalk<'_> {
    /// Walks through one directory and returns whether the walk may continue.
    fn through(&mut self, dir: &Dir, path: &str) -> io::Result<bool> {
        for (name, kind) in self.entries(dir)? {
            if !self.bounds.is_in_time() || self.bounds.go_on().is_err() {
                return Ok(false);
            }
            let path = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
            match (self.visit)(&WalkEntry { parent: dir, name: &name, path: &path, kind }) {
                WalkStep::Enough => return Ok(false),
                WalkStep::Past => continue,
                WalkStep::Into if kind != FileKind::Directory => continue,
                WalkStep::Into => {}
            }
            if path.matches('/').count() + 1 >= DEEPEST {
                self.short = true;
                continue;
            }
            // A directory that cannot be opened, or no longer exists, is left out.
            match enter(dir, &name) {
                Ok(inner) if !self.through(&inner, &path)? => return Ok(false),
                Ok(_) => {}
                Err(_) => self.short = true,
            }
        }
        Ok(true)
    }

    fn entries(&mut self, dir: &Dir) -> io::Result<Vec<(String, FileKind)>> {
        let mut entries = Vec::new();
        for entry in dir.entries()? {
            if self.left == 0 {
                self.short = true;
                break;
            }
            self.left -= 1;
            let entry = entry?;
            let kind = match entry.file_type() {
                Ok(kind) if kind.is_dir() => FileKind::Directory,
                Ok(kind) if kind.is_file() => FileKind::File,
                Ok(kind) if kind.is_symlink() => FileKind::Link,
                _ => FileKind::Other,
            };
            entries.push((entry.file_name().to_string_lossy().into_owned(), kind));
        }
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(entries)
    }
}
