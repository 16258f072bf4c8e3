//! Directories of simulated databases.

use std::io;
use std::path::Path;

use tempfile::TempDir;

/// Creates a directory, in memory if possible: a simulated crash loses no written data, so flushing to a disk would only cost time.
pub fn memory_directory() -> io::Result<TempDir> {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { TempDir::with_prefix_in("holdpoint-sim-", memory) } else { TempDir::new() };
    made.or_else(|_| TempDir::new())
}
