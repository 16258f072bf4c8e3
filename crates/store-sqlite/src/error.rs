//! What SQLite's errors mean to us.

use rusqlite::ErrorCode;
use store::StoreError;

/// Turns an error of the driver into one of the store's.
pub(crate) fn store_error(error: rusqlite::Error) -> StoreError {
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

/// `.or_store_error()` on what the driver returned.
pub(crate) trait OrStoreError<T> {
    /// The same with an error of the store's.
    fn or_store_error(self) -> Result<T, StoreError>;
}

impl<T> OrStoreError<T> for rusqlite::Result<T> {
    fn or_store_error(self) -> Result<T, StoreError> {
        self.map_err(store_error)
    }
}
