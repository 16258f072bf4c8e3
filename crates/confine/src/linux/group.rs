//! A control group (cgroup v1, `pids`) that limits the processes of a helper that runs as root, for which
//! `RLIMIT_NPROC` has no effect.
//!
//! The helper creates the group below its own group and enters it first, so that the program and all its children are
//! in it. A group with processes in it cannot be removed, and a confined helper no longer reaches its group. Therefore
//! every helper removes the empty groups of earlier helpers.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use rustix::process::{getpid, getuid};

use super::init;
use super::view::unescaped;

/// Beginning of the group names; the process id of the helper and the number of the attempt follow.
const PREFIX: &str = "holdpoint-command-";

/// Number of attempts to create a group. Another helper may remove a group before it is entered.
const ATTEMPTS: u32 = 8;

/// Number of processes of the helper itself.
const HELPER: u64 = 1;

/// The control group of this process.
pub(super) struct Group {
    /// Count of processes and threads that the kernel has refused.
    events: File,
}

impl Group {
    /// Enters a group with this limit of processes and threads for the program. `None` if this process may not create
    /// one.
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
            // If this fails, the next helper tries again.
            let _ = fs::remove_dir(directory);
        })
    }

    /// Whether a process or thread was refused since the group was made.
    pub(super) fn has_refused(&self) -> io::Result<bool> {
        let mut text = [0; 64];
        let length = self.events.read_at(&mut text, 0)?;
        let text = String::from_utf8_lossy(text.get(..length).unwrap_or_default());
        let count = text.lines().find_map(|line| line.strip_prefix("max "));
        Ok(count.is_some_and(|count| count != "0"))
    }
}

/// Removes the groups of helpers that have ended. The kernel keeps a group with processes in it.
fn remove_empty(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Directory of the group of this process, from `/proc/self/cgroup` and `/proc/self/mountinfo`.
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
    fn own_control_group_is_found_by_its_mount() {
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
