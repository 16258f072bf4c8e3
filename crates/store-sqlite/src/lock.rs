//! Lock that lets only one server use a data directory.

use std::fs::{File, TryLockError};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use store::StoreError;

/// Lock of a data directory. It is released when the value is dropped or the process dies.
#[derive(Debug)]
pub struct DataLock(#[expect(dead_code, reason = "the lock lasts as long as the file is open")] File);

impl DataLock {
    /// Locks the directory, or fails with [`StoreError::InUse`].
    pub fn acquire(directory: &Path) -> Result<Self, StoreError> {
        let path = directory.join("holdpoint.lock");
        let failed = |error: std::io::Error| StoreError::Unavailable(format!("{}: {error}", path.display()));
        let mut file =
            File::options().create(true).truncate(false).write(true).mode(0o600).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::InUse(directory.display().to_string())),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(failed)?;
        Ok(Self(file))
    }
}
