//! A control group (cgroup v1, `pids`) that bounds the processes of a helper that runs as root, whom `RLIMIT_NPROC` does not hold.
//!
//! The helper makes it below its own group and enters it before anything else, so that the program and all that it starts are in it. Nobody can
//! remove a group that a process is in, and a helper that has confined itself no longer reaches it: every helper removes the empty groups of those before it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use rustix::process::{getpid, getuid};

use super::init;
use super::view::unescaped;

/// How the names of these groups begin. The number of the helper's process and of the attempt follow.
const PREFIX: &str = "holdpoint-command-";

/// How often a group is made. Another helper may remove one between its making and its entering.
const ATTEMPTS: u32 = 8;

/// How many processes the helper is.
const HELPER: u64 = 1;

/// The group that this process is in.
pub(super) struct Group {
    /// How often the kernel has refused a process or thread.
    events: File,
}

impl Group {
    /// Enters a group in which a program may have this many processes and threads. There is none where it is not root's to make.
    pub(super) fn enter(processes: u32) -> Option<Self> {
        if !getuid().is_root() {
            return None;
        }
        let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let parent = own_directory(&groups, &mounts)?;
        remove_empty(&parent);
        let most = u64::from(processes) + init::THREADS + HELPER;
        (0..ATTEMPTS).find_map(|attempt| {
            let directory = parent.join(format!("{PREFIX}{}-{attempt}", getpid().as_raw_nonzero()));
            Self::made(&directory, most).ok()
        })
    }

    fn made(directory: &Path, most: u64) -> io::Result<Self> {
        fs::create_dir(directory)?;
        let entered = || {
            fs::write(directory.join("pids.max"), most.to_string())?;
            let events = File::open(directory.join("pids.events"))?;
            fs::write(directory.join("cgroup.procs"), "0")?;
            Ok(Self { events })
        };
        entered().inspect_err(|_| {
            // The next helper tries again, if this fails.
            let _ = fs::remove_dir(directory);
        })
    }

    /// Says whether a process or thread was refused since the group was made.
    pub(super) fn has_refused(&self) -> io::Result<bool> {
        let mut text = [0; 64];
        let length = self.events.read_at(&mut text, 0)?;
        let text = String::from_utf8_lossy(text.get(..length).unwrap_or_default());
        let count = text.lines().find_map(|line| line.strip_prefix("max "));
        Ok(count.is_some_and(|count| count != "0"))
    }
}

/// Removes the groups of helpers that have ended. The kernel refuses to remove one that a process is in.
fn remove_empty(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Where the group of this process is mounted, by `/proc/self/cgroup` and `/proc/self/mountinfo`.
fn own_directory(groups: &str, mounts: &str) -> Option<PathBuf> {
    let has_pids = |list: &str| list.split(',').any(|one| one == "pids");
    let path = groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        parts.next().filter(|controllers| has_pids(controllers))?;
        parts.next()
    })?;
    mounts.lines().find_map(|line| {
        let (mount, file_system) = line.split_once(" - ")?;
        let mut file_system = file_system.split(' ');
        file_system.next().filter(|kind| *kind == "cgroup")?;
        file_system.nth(1).filter(|options| has_pids(options))?;
        let mut mount = mount.split(' ').skip(3).map(unescaped);
        let (root, point) = (mount.next()?, mount.next()?);
        Some(point.join(Path::new(path).strip_prefix(root).ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "38 31 0:35 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n\
         41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

    #[test]
    fn the_own_group_is_found_where_it_is_mounted() {
        let groups = "9:blkio:/other\n8:cpu,pids:/service/a b\n0::/service\n";
        for (mount, expected) in [
            (
                "39 31 0:36 / /mnt/my\\040groups rw shared:7 - cgroup cgroup rw,cpu,pids",
                Some("/mnt/my groups/service/a b"),
            ),
            ("39 31 0:36 /service /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids", Some("/sys/fs/cgroup/pids/a b")),
            ("39 31 0:36 /elsewhere /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids", None),
            ("39 31 0:36 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,pids", None),
        ] {
            let found = own_directory(groups, &format!("{MOUNTS}{mount}\n"));
            assert_eq!(found.as_deref(), expected.map(Path::new), "{mount}");
        }
        assert_eq!(own_directory("0::/service\n", MOUNTS), None);
    }
}
