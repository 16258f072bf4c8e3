//! Why a use case did not happen.

use domain::{Problem, Refusal};
use store::{StoreError, UseCaseError};

use crate::policy::in_force::PolicyMismatch;

/// Why a use case did not happen. Nothing was changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// The domain says no.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The idempotency key was used for something else.
    #[error("this idempotency key was used with another body")]
    IdempotencyConflict,
    /// The schema of a form cannot be used.
    #[error("the schema of the form cannot be used")]
    SchemaInvalid(Vec<Problem>),
    /// The policy is not a good one; each problem names its line.
    #[error("the policy is not a good one")]
    PolicyInvalid(Vec<Problem>),
    /// This node has another policy or floor than the one that was put in force last.
    #[error("{0}")]
    PolicyDiffers(PolicyMismatch),
    /// The credential is unknown, expired or revoked.
    #[error("the key is unknown, expired or revoked")]
    Unauthenticated,
    /// Unknown person, wrong password, link used or too old: the same to whoever tries.
    #[error("the name or the password is wrong, or the link was used or is too old")]
    SignInFailed,
    /// What was sealed cannot be opened: the master key is another one.
    #[error("what was sealed cannot be opened with this master key")]
    Sealed,
    /// So many audit entries have no place in their chain, or none would get one: an export would leave them out.
    #[error("audit entries have no place in their chain: the database was restored from a dump and not adopted")]
    AuditIncomplete(u64),
    /// The store could not do its work.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl UseCaseError for Error {
    fn store_error(&self) -> Option<&StoreError> {
        match self {
            Self::Store(error) => Some(error),
            _ => None,
        }
    }
}
