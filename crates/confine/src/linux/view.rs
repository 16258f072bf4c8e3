//! Builds the file tree of the program: a new root directory, into which only allowed paths are mounted.
//!
//! With Landlock alone a program could still see files outside the workspace and change their modes and owners, and
//! Landlock does not cover Unix sockets with a path. A path that is not mounted cannot be named at all.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::{StatVfsMountFlags, statvfs};
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind_recursive, mount_change, mount_remount, unmount,
};
use rustix::process::{getgid, getuid, pivot_root};

use super::ErrorContext;
use crate::confinement::Confinement;

/// Directories of programs and libraries.
pub(super) const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Names of devices that hold no state.
pub(super) const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom"];

/// Files of `/etc` that programs need and that reveal nothing about the machine that programs could not find out
/// otherwise.
const SETTINGS: &[&str] = &[
    "alternatives",
    "ca-certificates",
    "crypto-policies",
    "debian_version",
    "fonts",
    "host.conf",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "perl",
    "pki/ca-trust",
    "pki/tls/certs",
    "pki/tls/openssl.cnf",
    "protocols",
    "python3",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
    "timezone",
];

/// Files of `/etc` that only programs with a network need.
const NETWORK_SETTINGS: &[&str] = &["gai.conf", "hosts", "resolv.conf"];

/// Options of the private `/tmp`, which is in memory and disappears with the program.
const TEMPORARY: &std::ffi::CStr = c"mode=1777,size=134217728,nr_inodes=65536";

/// Options of the root, with space for names only.
const ROOT: &std::ffi::CStr = c"mode=755,size=4194304";

/// Options of an empty directory that hides another.
const HIDDEN: &std::ffi::CStr = c"mode=755,size=65536";

/// Mount point of the previous root.
const BEFORE: &str = "/.before";

/// Way in which a path gets into the view.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ViewEntry {
    /// Mounted from this path, read-only.
    Read(PathBuf),
    /// Mounted from this path, writable.
    Write(PathBuf),
    /// Mounted from this path, as a device.
    Device(PathBuf),
    /// A symbolic link to this path.
    Link(PathBuf),
    /// A directory in memory.
    Temporary,
    /// An empty directory or file that hides the original.
    Hidden,
    /// A directory that appears empty.
    Directory,
    /// A file with this text.
    Text(String),
}

/// The mounts in order, outer before inner.
pub(super) struct View {
    places: Vec<(PathBuf, ViewEntry)>,
}

impl View {
    /// Collects the paths that the program may see, under their current names.
    pub(super) fn of(confinement: &Confinement) -> Result<Self, String> {
        let mut places =
            vec![(PathBuf::from("/tmp"), ViewEntry::Temporary), (PathBuf::from("/proc"), ViewEntry::Directory)];
        for path in SYSTEM.iter().map(PathBuf::from) {
            match fs::read_link(&path) {
                Ok(target) => places.push((path, ViewEntry::Link(target))),
                Err(_) if path.is_dir() => places.push((path.clone(), ViewEntry::Read(path))),
                Err(_) => {}
            }
        }
        places.extend(settings(confinement));
        places.extend(devices());
        for path in &confinement.read_only {
            if !path.is_absolute() || path.parent().is_none() {
                return Err(format!("cannot show {}: it is not the absolute path of a directory", path.display()));
            }
            let source = path.canonicalize().map_err(|error| format!("cannot show {}: {error}", path.display()))?;
            places.push((path.clone(), ViewEntry::Read(source)));
        }
        places.extend(hidden(&places, &confinement.hidden));
        if let Some(path) = &confinement.workspace {
            let source = path.canonicalize().map_err(|error| format!("cannot show the workspace: {error}"))?;
            places.push((path.clone(), ViewEntry::Write(source)));
        }
        // Inner paths are mounted after outer ones. The sort is stable, so the workspace stays last among equals.
        places.sort_by_key(|(path, _)| path.components().count());
        Ok(Self { places })
    }

    /// Makes a new root with these mounts.
    pub(super) fn build(&self, home: &Path) -> Result<(), String> {
        let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
        mount_change("/", private).doing("keep mounts private")?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount("tmpfs", "/tmp", "tmpfs", flags, ROOT).doing("mount an empty root")?;
        let before = format!("/tmp{BEFORE}");
        fs::create_dir(&before).doing("make a directory in the new root")?;
        pivot_root("/tmp", &*before).doing("change the root")?;
        std::env::set_current_dir("/").doing("enter the new root")?;
        for (path, kind) in &self.places {
            place(path, kind).map_err(|error| format!("cannot show {}: {error}", path.display()))?;
        }
        let (user, group) = (getuid().as_raw(), getgid().as_raw());
        let people = format!("holdpoint:x:{user}:{group}::{}:/bin/sh\n", home.display());
        place(Path::new("/etc/passwd"), &ViewEntry::Text(people)).doing("write /etc/passwd")?;
        place(Path::new("/etc/group"), &ViewEntry::Text(format!("holdpoint:x:{group}:\n"))).doing("write /etc/group")
    }

    /// Detaches the previous root and makes the new one read-only. `/proc` can be mounted only while another one is
    /// visible, therefore before this.
    pub(super) fn close() -> Result<(), String> {
        unmount(BEFORE, UnmountFlags::DETACH).doing("leave the old root")?;
        fs::remove_dir(BEFORE).doing("leave the old root")?;
        let flags = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
        mount_remount("/", flags, c"").doing("close the new root")
    }
}

/// Lists the hidden files by their paths in the view: their own paths, and their paths below any shown directory that
/// contains them under another name.
fn hidden(places: &[(PathBuf, ViewEntry)], paths: &[PathBuf]) -> Vec<(PathBuf, ViewEntry)> {
    let mut found = Vec::new();
    for path in paths {
        // A path that cannot be resolved does not exist yet.
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        found.push((path.clone(), ViewEntry::Hidden));
        found.push((real.clone(), ViewEntry::Hidden));
        for (shown, kind) in places {
            if let ViewEntry::Read(source) = kind
                && let Ok(inner) = real.strip_prefix(source)
                && inner != Path::new("")
            {
                found.push((shown.join(inner), ViewEntry::Hidden));
            }
        }
    }
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    found.dedup();
    // A path that is allowed explicitly is shown: the caller refuses paths that must not be shown.
    found.retain(|(path, _)| {
        !places.iter().any(|(shown, kind)| shown == path && matches!(kind, ViewEntry::Read(_)) && !is_system(shown))
    });
    found
}

fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|system| path == Path::new(system))
}

fn settings(confinement: &Confinement) -> Vec<(PathBuf, ViewEntry)> {
    let further = NETWORK_SETTINGS.iter().filter(|_| confinement.network);
    let known = SETTINGS.iter().chain(further).filter_map(|name| {
        let path = Path::new("/etc").join(name);
        let source = path.canonicalize().ok()?;
        Some((path, ViewEntry::Read(source)))
    });
    let mut places: Vec<_> = known.collect();
    if !confinement.network {
        let hosts = "127.0.0.1 localhost\n::1 localhost\n".to_owned();
        places.push((PathBuf::from("/etc/hosts"), ViewEntry::Text(hosts)));
    }
    places
}

fn devices() -> Vec<(PathBuf, ViewEntry)> {
    let files = DEVICES.iter().map(|name| Path::new("/dev").join(name)).filter(|path| path.exists());
    let mut places: Vec<_> = files.map(|path| (path.clone(), ViewEntry::Device(path))).collect();
    let links = [
        ("/dev/fd", "/proc/self/fd"),
        ("/dev/stdin", "/proc/self/fd/0"),
        ("/dev/stdout", "/proc/self/fd/1"),
        ("/dev/stderr", "/proc/self/fd/2"),
        ("/dev/shm", "/tmp"),
    ];
    places.extend(links.map(|(path, target)| (PathBuf::from(path), ViewEntry::Link(PathBuf::from(target)))));
    places
}

/// Puts one entry into the new root.
fn place(path: &Path, kind: &ViewEntry) -> io::Result<()> {
    match kind {
        ViewEntry::Link(target) => {
            make_parent(path)?;
            symlink(target, path)
        }
        ViewEntry::Text(text) => {
            make_parent(path)?;
            fs::write(path, text)
        }
        ViewEntry::Directory => fs::create_dir_all(path),
        ViewEntry::Temporary => {
            fs::create_dir_all(path)?;
            Ok(mount("tmpfs", path, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, TEMPORARY)?)
        }
        // A hidden path that does not exist is in no shown directory.
        ViewEntry::Hidden if !path.exists() => Ok(()),
        ViewEntry::Hidden if !path.is_dir() => {
            bind(Path::new("/dev/null"), path)?;
            remount(path, MountFlags::RDONLY | MountFlags::NOSUID)
        }
        ViewEntry::Hidden => Ok(mount("tmpfs", path, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, HIDDEN)?),
        // A read-only mount still allows writing to devices, but not changing their modes and owners.
        ViewEntry::Device(source) => {
            bind(source, path)?;
            remount(path, MountFlags::RDONLY | MountFlags::NOSUID)
        }
        ViewEntry::Write(source) => {
            bind(source, path)?;
            remount(path, MountFlags::NOSUID | MountFlags::NODEV)
        }
        ViewEntry::Read(source) => {
            bind(source, path)?;
            remount(path, MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV)?;
            for inner in mounted_below(path)? {
                // If this remount fails, Landlock prevents writing.
                let _ = remount(&inner, MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV);
            }
            Ok(())
        }
    }
}

fn make_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

fn bind(source: &Path, path: &Path) -> io::Result<()> {
    let source = Path::new(BEFORE).join(source.strip_prefix("/").unwrap_or(source));
    if source.is_dir() {
        fs::create_dir_all(path)?;
    } else if !path.exists() {
        make_parent(path)?;
        fs::write(path, "")?;
    }
    Ok(mount_bind_recursive(&source, path)?)
}

/// Mounts a path again with its own flags and `more`; in a user namespace no flag may be removed.
fn remount(path: &Path, more: MountFlags) -> io::Result<()> {
    let now = statvfs(path)?.f_flag;
    let mut flags = MountFlags::BIND | more;
    for (has, keeps) in [
        (StatVfsMountFlags::RDONLY, MountFlags::RDONLY),
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
        (StatVfsMountFlags::NOATIME, MountFlags::NOATIME),
        (StatVfsMountFlags::NODIRATIME, MountFlags::NODIRATIME),
        (StatVfsMountFlags::RELATIME, MountFlags::RELATIME),
    ] {
        flags.set(keeps, flags.contains(keeps) || now.contains(has));
    }
    Ok(mount_remount(path, flags, c"")?)
}

/// Mounts below a directory that was mounted recursively.
fn mounted_below(path: &Path) -> io::Result<Vec<PathBuf>> {
    let table = fs::read_to_string(format!("{BEFORE}/proc/self/mountinfo"))?;
    let points = table.lines().filter_map(|line| line.split(' ').nth(4)).map(unescaped);
    Ok(points.filter(|point| point != path && point.starts_with(path)).collect())
}

/// Decodes a path of the mount table, in which blanks and similar characters are written as three octal digits.
pub(super) fn unescaped(text: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt as _;
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        let digits = more.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = digits.filter(|_| *first == b'\\').and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            bytes.push(byte);
            rest = more.get(3..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = more;
        }
    }
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_mount_table_are_unescaped() {
        assert_eq!(unescaped(r"/mnt/a\040b\134c"), PathBuf::from(r"/mnt/a b\c"));
        assert_eq!(unescaped(r"/plain\"), PathBuf::from(r"/plain\"));
    }

    #[test]
    fn inner_paths_are_mounted_after_outer_paths() {
        let inside = tempfile::tempdir().unwrap();
        let confinement = Confinement {
            workspace: Some(inside.path().to_owned()),
            hidden: vec!["/usr".into()],
            ..Confinement::default()
        };
        let places = View::of(&confinement).unwrap().places;
        let at =
            |wanted: &Path, kind: &ViewEntry| places.iter().position(|(path, known)| path == wanted && known == kind);
        let source = inside.path().canonicalize().unwrap();
        assert!(at(Path::new("/usr"), &ViewEntry::Read("/usr".into())) < at(Path::new("/usr"), &ViewEntry::Hidden));
        assert!(at(Path::new("/tmp"), &ViewEntry::Temporary) < at(inside.path(), &ViewEntry::Write(source)));
    }

    #[test]
    fn root_directory_cannot_be_a_read_only_path() {
        let confinement = Confinement { read_only: vec!["/".into()], ..Confinement::default() };
        assert!(View::of(&confinement).is_err());
    }
}
