//! Measures the size of the workspace in short slices, so that the helper can do its other work between them.
//!
//! Directories are opened relative to each other, not by path, so that long paths can be measured too. The helper keeps
//! `CAP_DAC_READ_SEARCH` for this: a program cannot hide files with `chmod 000`.

use std::collections::HashSet;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat, statvfs};
use rustix::io::Errno;
use rustix::path::Arg;

/// Length of one slice.
const SLICE: Duration = Duration::from_millis(10);

/// Time limit of the last measurement, after the program has ended. The next command measures again before it starts.
const LAST: Duration = Duration::from_secs(5);

/// Share of the file system that must stay free: one part in this many.
const LEFT: u64 = 50;

/// Deepest nesting of directories; every directory on the current path is open.
const DEEPEST: usize = 512;

/// Largest number of files and directories of a workspace, with any budget.
const MOST_ENTRIES: u64 = 1_000_000;

/// Smallest size that an entry counts, in bytes.
const LEAST: u64 = 4096;

/// A measurement in progress.
pub(super) struct Measure<'a> {
    workspace: &'a Path,
    most: u64,
    free_before: Option<u64>,
    walk: Walk,
}

/// Measurement of a workspace before the program runs.
pub(super) struct InitialSize {
    /// Reason why the workspace may not be written to: it is too large already.
    pub(super) over: Option<String>,
    /// Number of directories that could not be read and are not counted.
    pub(super) unread: u64,
}

/// One walk through all directories.
#[derive(Default)]
struct Walk {
    open: Vec<Dir>,
    linked: HashSet<(u64, u64)>,
    sum: u64,
    entries: u64,
    unread: u64,
    is_too_deep: bool,
}

impl<'a> Measure<'a> {
    /// Measures a workspace before the program runs.
    pub(super) fn new(workspace: &'a Path, most: u64) -> (Self, InitialSize) {
        let mut walk = Walk::of(workspace);
        while walk.excess(most).is_none() && walk.step() {}
        let before = InitialSize { over: walk.excess(most), unread: walk.unread };
        let free_before = statvfs(workspace).ok().map(|file_system| file_system.f_bavail);
        (Self { workspace, most, free_before, walk: Walk::of(workspace) }, before)
    }

    /// Measures for one slice. Returns the reason why the program has to end, if there is one.
    pub(super) fn go_on(&mut self) -> Option<String> {
        self.crowded().or_else(|| self.walk_until(Instant::now() + SLICE))
    }

    /// Measures a last time from the beginning. Returns the reason why the workspace is too large, if it is.
    pub(super) fn finally(mut self) -> Option<String> {
        self.walk = Walk::of(self.workspace);
        self.walk_until(Instant::now() + LAST)
    }

    fn walk_until(&mut self, end: Instant) -> Option<String> {
        loop {
            let more = self.walk.step();
            // The sum so far may exceed the budget before the walk has ended.
            if let Some(why) = self.walk.excess(self.most) {
                return Some(why);
            }
            if !more {
                self.walk = Walk::of(self.workspace);
                return None;
            }
            if Instant::now() >= end {
                return None;
            }
        }
    }

    /// Reports a file system that became nearly full since the start. Files without a name are in no directory and are
    /// counted only in this way.
    fn crowded(&mut self) -> Option<String> {
        let file_system = statvfs(self.workspace).ok()?;
        let (free, floor) = (file_system.f_bavail, file_system.f_blocks / LEFT);
        let before = *self.free_before.get_or_insert(free);
        (free < floor && free < before).then(|| "the file system of the workspace is nearly full".to_owned())
    }
}

impl Walk {
    fn of(workspace: &Path) -> Self {
        let mut walk = Self::default();
        walk.enter(opened(CWD, workspace));
        walk
    }

    /// Reason why the sum exceeds the budget, if it does.
    fn excess(&self, most: u64) -> Option<String> {
        if self.sum > most {
            Some(format!("the workspace has more than {most} bytes"))
        } else if self.entries > MOST_ENTRIES {
            Some(format!("the workspace has more than {MOST_ENTRIES} files and directories"))
        } else if self.is_too_deep {
            Some(format!("directories of the workspace are nested more than {DEEPEST} deep"))
        } else {
            None
        }
    }

    fn enter(&mut self, opened: Result<Dir, Errno>) {
        match opened {
            Ok(_) if self.open.len() >= DEEPEST => self.is_too_deep = true,
            Ok(dir) => self.open.push(dir),
            // The entry was removed or replaced in the meantime.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
            Err(Errno::MFILE | Errno::NFILE) => self.is_too_deep = true,
            Err(_) => self.unread += 1,
        }
    }

    /// Measures one entry and returns whether there was one.
    fn step(&mut self) -> bool {
        let Some(dir) = self.open.last_mut() else { return false };
        let entry = match dir.read() {
            Some(Ok(entry)) => entry,
            Some(Err(_)) => {
                self.unread += 1;
                self.open.pop();
                return true;
            }
            None => {
                self.open.pop();
                return true;
            }
        };
        let name = entry.file_name();
        if name == c"." || name == c".." {
            return true;
        }
        let about = dir.fd().and_then(|fd| statat(fd, name, AtFlags::SYMLINK_NOFOLLOW));
        // A removed file takes no space.
        let Ok(about) = about else { return true };
        self.entries += 1;
        let is_first_name = about.st_nlink < 2 || self.linked.insert((about.st_dev, about.st_ino));
        let is_dir = FileType::from_raw_mode(about.st_mode).is_dir();
        let bytes = u64::try_from(about.st_blocks).unwrap_or(u64::MAX).saturating_mul(512);
        self.sum = self.sum.saturating_add(if is_first_name || is_dir { bytes.max(LEAST) } else { LEAST });
        if is_dir {
            let inner = dir.fd().and_then(|fd| opened(fd, name));
            self.enter(inner);
        }
        true
    }
}

fn opened(parent: impl AsFd, name: impl Arg) -> Result<Dir, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Dir::new(openat(parent, name, flags, Mode::empty())?)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn walked(path: &Path) -> Walk {
        let mut walk = Walk::of(path);
        while walk.step() {}
        walk
    }

    #[test]
    fn size_counts_bytes_on_disk_and_hard_links_once() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("inner")).unwrap();
        fs::write(dir.path().join("inner/one"), vec![1; 1 << 20]).unwrap();
        fs::hard_link(dir.path().join("inner/one"), dir.path().join("again")).unwrap();
        fs::File::create(dir.path().join("sparse")).unwrap().set_len(1 << 40).unwrap();
        std::os::unix::fs::symlink("/usr", dir.path().join("link")).unwrap();
        let walk = walked(dir.path());
        assert!((1 << 20..2 << 20).contains(&walk.sum), "{}", walk.sum);
        assert_eq!((walk.entries, walk.unread), (5, 0));
    }

    #[test]
    fn empty_files_and_directories_count() {
        let dir = tempfile::tempdir().unwrap();
        for number in 0..100 {
            fs::create_dir(dir.path().join(format!("d{number}"))).unwrap();
            fs::write(dir.path().join(format!("f{number}")), "").unwrap();
        }
        assert!(walked(dir.path()).sum >= 200 * LEAST);
    }

    #[test]
    fn workspace_beyond_its_size_limit_is_reported() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("one"), vec![1; 1 << 20]).unwrap();
        // Both files together exceed the budget by one byte, without the overhead of the file system.
        let most = (2 << 20) - 1;
        let (mut measure, before) = Measure::new(dir.path(), most);
        assert_eq!(before.over, None);
        assert_eq!(measure.walk_until(Instant::now() + LAST), None);
        fs::write(dir.path().join("two"), vec![1; 1 << 20]).unwrap();
        let why = measure.finally().unwrap();
        assert!(why.starts_with("the workspace has more than"), "{why}");
        let (_, before) = Measure::new(dir.path(), most);
        assert_eq!(before.over, Some("the workspace has more than 2097151 bytes".to_owned()));
    }
}
