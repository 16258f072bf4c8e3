//! Where the databases of a simulation are: in memory where there is such a place, each from one that was made before.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use store_sqlite::{Options, SqliteStore};
use tempfile::TempDir;
use testkit::ManualClock;

/// A directory with an empty database that has its tables.
pub(crate) fn fresh() -> TempDir {
    static EMPTY: OnceLock<Vec<u8>> = OnceLock::new();
    let empty = EMPTY.get_or_init(|| {
        let directory = directory();
        drop(SqliteStore::open(directory.path(), Arc::new(ManualClock::default()), &Options::default()).unwrap());
        std::fs::read(directory.path().join("holdpoint.db")).unwrap()
    });
    let directory = directory();
    std::fs::write(directory.path().join("holdpoint.db"), empty).unwrap();
    directory
}

/// A simulated death loses nothing that was written, so that flushing a disk would only cost time.
fn directory() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { TempDir::with_prefix_in("holdpoint-sim-", memory) } else { TempDir::new() };
    made.or_else(|_| TempDir::new()).unwrap()
}
