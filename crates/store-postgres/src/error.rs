//! Maps errors of PostgreSQL to [`StoreError`].

use std::error::Error as _;

use postgres::error::{Severity, SqlState};
use store::StoreError;

/// Failure of a statement, by its remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The connection is lost, or the server cannot be used; a new connection is needed.
    Lost(String),
    /// The database asks for the transaction to be run again.
    Again,
    /// A retry would fail in the same way.
    Refused(StoreError),
}

impl Failure {
    /// Converts the failure to an error for the caller.
    pub(crate) fn store_error(&self) -> StoreError {
        match self {
            Self::Lost(reason) => StoreError::Unavailable(reason.clone()),
            Self::Again => StoreError::Serialization,
            Self::Refused(error) => error.clone(),
        }
    }

    /// Returns the reason as text.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Lost(reason) => reason.clone(),
            Self::Again | Self::Refused(_) => self.store_error().to_string(),
        }
    }
}

impl From<postgres::Error> for Failure {
    fn from(error: postgres::Error) -> Self {
        let reason = describe(&error);
        let Some(reported) = error.as_db_error() else {
            let of_network = error.source().is_some_and(|cause| cause.is::<std::io::Error>());
            return if error.is_closed() || of_network {
                Self::Lost(reason)
            } else {
                Self::Refused(StoreError::Corrupt(reason))
            };
        };
        if matches!(reported.parsed_severity(), Some(Severity::Fatal | Severity::Panic)) {
            return Self::Lost(reason);
        }
        match reported.code() {
            code if *code == SqlState::T_R_SERIALIZATION_FAILURE || *code == SqlState::T_R_DEADLOCK_DETECTED => {
                Self::Again
            }
            // The server has become a standby; the primary is elsewhere.
            code if *code == SqlState::READ_ONLY_SQL_TRANSACTION => Self::Lost(reason),
            code if *code == SqlState::DISK_FULL => Self::Refused(StoreError::Full),
            code if *code == SqlState::QUERY_CANCELED || *code == SqlState::LOCK_NOT_AVAILABLE => {
                Self::Refused(StoreError::Busy)
            }
            code => match code.code().get(..2) {
                Some("08") => Self::Lost(reason),
                Some("23") => Self::Refused(StoreError::Conflict),
                Some("53") => Self::Refused(StoreError::Busy),
                _ => Self::Refused(StoreError::Corrupt(reason)),
            },
        }
    }
}

/// Returns the text of an error with its cause, which the driver leaves out.
pub(crate) fn describe(error: &postgres::Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(reported), _) => format!("{} ({})", reported.message(), reported.code().code()),
        (None, Some(cause)) => format!("{error}: {cause}"),
        (None, None) => error.to_string(),
    }
}
