//! Searches for a text in the places where a secret could be left: files, and the memory of a process.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use memchr::memmem::find;

/// Number of bytes of a process that are read at once.
const STRIDE: usize = 1 << 20;

/// Files under a directory that contain a text.
pub(crate) fn files_with(directory: &Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            // A directory that is removed during the search is skipped.
            let entries = std::fs::read_dir(&path).into_iter().flatten();
            left.extend(entries.filter_map(Result::ok).map(|entry| entry.path()));
        } else if std::fs::read(&path).is_ok_and(|bytes| find(&bytes, text.as_bytes()).is_some()) {
            found.push(path);
        }
    }
    found
}

/// Memory regions of a running process that contain a text. They are read without ending the process and cover the
/// content of a core dump.
///
/// A process may read the memory of its child if it is root, or if Yama (`kernel.yama.ptrace_scope`) is 0 or 1.
pub(crate) fn memory_with(process: u32, text: &str) -> Vec<String> {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).unwrap();
    let memory = File::open(format!("/proc/{process}/mem")).unwrap();
    maps.lines().filter(|line| contains(&memory, line, text.as_bytes()).unwrap_or(false)).map(str::to_owned).collect()
}

fn contains(memory: &File, region: &str, text: &[u8]) -> Option<bool> {
    let mut fields = region.split_whitespace();
    let (begin, end) = fields.next()?.split_once('-')?;
    let (mut at, end) = (u64::from_str_radix(begin, 16).ok()?, u64::from_str_radix(end, 16).ok()?);
    if !fields.next()?.starts_with('r') {
        return None;
    }
    let mut buffer = vec![0; STRIDE];
    let mut held = 0;
    while at < end {
        let wanted = usize::try_from(end - at).ok()?.min(STRIDE - held);
        // A page that is no longer mapped ends the region.
        let read = memory.read_at(&mut buffer[held..held + wanted], at).ok()?;
        if read == 0 {
            return None;
        }
        (at, held) = (at + read as u64, held + read);
        if find(&buffer[..held], text).is_some() {
            return Some(true);
        }
        // The text may begin in this stride and end in the next.
        let kept = held.min(text.len() - 1);
        buffer.copy_within(held - kept..held, 0);
        held = kept;
    }
    Some(false)
}
