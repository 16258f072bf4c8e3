//! Walking through directories in order, without following links.

use std::io;

use cap_std::fs::Dir;

use super::bounds::Bounds;
use super::place::enter;

/// The most entries that are looked at in one walk, so that a huge directory costs what a large one does.
const MOST: usize = 100_000;

/// What something in a directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Directory,
    Link,
    Other,
}

/// Something in a directory.
pub(super) struct Entry<'a> {
    /// The directory that it is in.
    pub(super) parent: &'a Dir,
    pub(super) name: &'a str,
    /// From where the walk began.
    pub(super) path: &'a str,
    pub(super) kind: Kind,
}

/// Whether a walk goes on.
pub(super) enum Step {
    /// Into it, where it is a directory.
    Into,
    /// Past it.
    Past,
    /// No further.
    Enough,
}

/// How a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Everything was seen.
    Whole,
    /// There was more.
    Short,
}

/// Walks through a directory, every directory in the order of its names and before what is in it.
pub(super) fn walk(dir: &Dir, bounds: &Bounds, visit: &mut dyn FnMut(&Entry<'_>) -> Step) -> io::Result<End> {
    let mut walk = Walk { bounds, visit, left: MOST, short: false };
    let done = walk.through(dir, "")?;
    Ok(if done && !walk.short { End::Whole } else { End::Short })
}

struct Walk<'a> {
    bounds: &'a Bounds,
    visit: &'a mut dyn FnMut(&Entry<'_>) -> Step,
    left: usize,
    short: bool,
}

/// How deep a walk goes: each directory on the way is open.
const DEEPEST: usize = 64;

impl Walk<'_> {
    /// Says whether the walk may go on.
    fn through(&mut self, dir: &Dir, path: &str) -> io::Result<bool> {
        for (name, kind) in self.entries(dir)? {
            if !self.bounds.in_time() || self.bounds.go_on().is_err() {
                return Ok(false);
            }
            let path = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
            match (self.visit)(&Entry { parent: dir, name: &name, path: &path, kind }) {
                Step::Enough => return Ok(false),
                Step::Past => continue,
                Step::Into if kind != Kind::Directory => continue,
                Step::Into => {}
            }
            if path.matches('/').count() + 1 >= DEEPEST {
                self.short = true;
                continue;
            }
            // What cannot be entered, or is gone by now, is not seen; the rest is.
            match enter(dir, &name) {
                Ok(inner) if !self.through(&inner, &path)? => return Ok(false),
                Ok(_) => {}
                Err(_) => self.short = true,
            }
        }
        Ok(true)
    }

    fn entries(&mut self, dir: &Dir) -> io::Result<Vec<(String, Kind)>> {
        let mut entries = Vec::new();
        for entry in dir.entries()? {
            if self.left == 0 {
                self.short = true;
                break;
            }
            self.left -= 1;
            let entry = entry?;
            let kind = match entry.file_type() {
                Ok(kind) if kind.is_dir() => Kind::Directory,
                Ok(kind) if kind.is_file() => Kind::File,
                Ok(kind) if kind.is_symlink() => Kind::Link,
                _ => Kind::Other,
            };
            entries.push((entry.file_name().to_string_lossy().into_owned(), kind));
        }
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(entries)
    }
}
