//! How much the workspace holds, measured little by little so that nothing else has to wait for it.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::statvfs;

/// How long it is measured at a time.
const SLICE: Duration = Duration::from_millis(10);

/// How long the last measurement may take, when the program has ended.
const LAST: Duration = Duration::from_secs(1);

/// How much of the workspace's file system is left to others: one part in so many.
const LEFT: u64 = 50;

/// How deep directories are looked into; deeper ones cannot be measured.
const DEEPEST: usize = 256;

/// A measurement that goes on.
pub(super) struct Measure<'a> {
    workspace: &'a Path,
    /// What was too large before the program ran may become smaller, but not larger.
    allowed: u64,
    free_before: Option<u64>,
    walk: Walk,
}

/// One walk through all directories.
#[derive(Default)]
struct Walk {
    open: Vec<(PathBuf, usize)>,
    linked: HashSet<(u64, u64)>,
    sum: u64,
}

impl<'a> Measure<'a> {
    /// Measures a workspace as it is before the program runs.
    pub(super) fn new(workspace: &'a Path, most: u64) -> io::Result<Self> {
        let mut walk = Walk::of(workspace);
        while walk.step()? {}
        Ok(Self { workspace, allowed: most.max(walk.sum), free_before: None, walk: Walk::of(workspace) })
    }

    /// Measures for a moment, and says why the program has to end.
    pub(super) fn go_on(&mut self) -> Option<String> {
        self.crowded().or_else(|| self.walk_until(Instant::now() + SLICE))
    }

    /// Measures once more, from the beginning.
    pub(super) fn finally(mut self) -> Option<String> {
        self.walk = Walk::of(self.workspace);
        self.walk_until(Instant::now() + LAST)
    }

    fn walk_until(&mut self, end: Instant) -> Option<String> {
        loop {
            // What it holds by now is too much, although the walk has not come to its end.
            if self.walk.sum > self.allowed {
                return Some(format!("the workspace has more than {} bytes", self.allowed));
            }
            match self.walk.step() {
                Err(error) => return Some(format!("the workspace cannot be measured: {error}")),
                Ok(true) if Instant::now() < end => {}
                Ok(true) => return None,
                Ok(false) => {
                    self.walk = Walk::of(self.workspace);
                    return None;
                }
            }
        }
    }

    /// Says that the file system is nearly full and was not as full before: files without a name are not in any directory.
    fn crowded(&mut self) -> Option<String> {
        let file_system = statvfs(self.workspace).ok()?;
        let (free, floor) = (file_system.f_bavail, file_system.f_blocks / LEFT);
        let before = *self.free_before.get_or_insert(free);
        (free < floor && free < before).then(|| "the file system of the workspace is nearly full".to_owned())
    }
}

impl Walk {
    fn of(workspace: &Path) -> Self {
        Self { open: vec![(workspace.to_owned(), 0)], ..Self::default() }
    }

    /// Looks into one directory, and says whether there was one left.
    fn step(&mut self) -> io::Result<bool> {
        let Some((directory, depth)) = self.open.pop() else { return Ok(false) };
        if depth > DEEPEST {
            return Err(io::Error::other("its directories are nested too deeply"));
        }
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            Err(error) => return Err(error),
        };
        for entry in entries {
            // One that is gone by now takes nothing.
            let Ok((path, about)) = entry.and_then(|entry| Ok((entry.path(), entry.metadata()?))) else { continue };
            if about.is_dir() {
                self.open.push((path, depth + 1));
            } else if about.nlink() < 2 || self.linked.insert((about.dev(), about.ino())) {
                self.sum = self.sum.saturating_add(about.blocks().saturating_mul(512));
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_on_disk_and_counted_once() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("inner")).unwrap();
        fs::write(dir.path().join("inner/one"), vec![1; 1 << 20]).unwrap();
        fs::hard_link(dir.path().join("inner/one"), dir.path().join("again")).unwrap();
        fs::File::create(dir.path().join("sparse")).unwrap().set_len(1 << 40).unwrap();
        std::os::unix::fs::symlink("/usr", dir.path().join("link")).unwrap();
        let mut walk = Walk::of(dir.path());
        while walk.step().unwrap() {}
        assert!((1 << 20..2 << 20).contains(&walk.sum), "{}", walk.sum);
    }

    #[test]
    fn what_was_too_large_before_may_stay_but_not_grow() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("one"), vec![1; 1 << 20]).unwrap();
        let mut measure = Measure::new(dir.path(), 1000).unwrap();
        assert_eq!(measure.walk_until(Instant::now() + LAST), None);
        fs::write(dir.path().join("two"), vec![1; 1 << 20]).unwrap();
        let why = measure.walk_until(Instant::now() + LAST).unwrap();
        assert!(why.starts_with("the workspace has more than"), "{why}");
    }
}
