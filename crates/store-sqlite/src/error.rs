//! Maps errors of SQLite to [`StoreError`].

use rusqlite::ErrorCode;
use store::StoreError;

/// Converts an error of the driver to a [`StoreError`].
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

/// Adds `.or_store_error()` to results of the driver.
pub(crate) trait OrStoreError<T> {
    /// Converts the error of the driver to a [`StoreError`].
    fn or_store_error(self) -> Result<T, StoreError>;
}

impl<T> OrStoreError<T> for rusqlite::Result<T> {
    fn or_store_error(self) -> Result<T, StoreError> {
        self.map_err(store_error)
    }
}
