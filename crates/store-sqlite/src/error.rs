//! What SQLite's errors mean to us.

use rusqlite::ErrorCode;
use store::StoreError;

/// Turns an error of the driver into one of the store's.
pub(crate) fn told(error: rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy,
        Some(
            ErrorCode::CannotOpen | ErrorCode::SystemIoFailure | ErrorCode::ReadOnly | ErrorCode::PermissionDenied,
        ) => StoreError::Unavailable(error.to_string()),
        Some(ErrorCode::ConstraintViolation) => StoreError::Conflict,
        _ => StoreError::Corrupt(error.to_string()),
    }
}

/// `.told()` on what the driver returned.
pub(crate) trait Told<T> {
    /// The same with an error of the store's.
    fn told(self) -> Result<T, StoreError>;
}

impl<T> Told<T> for rusqlite::Result<T> {
    fn told(self) -> Result<T, StoreError> {
        self.map_err(told)
    }
}
