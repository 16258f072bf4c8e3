//! Defines the error of every use case.

use domain::{Problem, Refusal};
use store::{StoreError, UseCaseError};

use crate::policy::in_force::PolicyMismatch;

/// Reason why a use case failed. Its transaction was rolled back, so nothing was changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// A rule of the domain refuses the command.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The idempotency key was used before with another body.
    #[error("this idempotency key was used with another body")]
    IdempotencyConflict,
    /// The schema of a form is invalid.
    #[error("the schema of the form cannot be used")]
    SchemaInvalid(Vec<Problem>),
    /// The policy is invalid. Each problem names its line.
    #[error("the policy has errors")]
    PolicyInvalid(Vec<Problem>),
    /// This node has another policy or floor than the one that was last put in force.
    #[error("{0}")]
    PolicyDiffers(PolicyMismatch),
    /// The credential is unknown, expired or revoked.
    #[error("the key is unknown, expired or revoked")]
    Unauthenticated,
    /// The person is unknown, the password is wrong, or the link was used or is too old. The cases share one error so that an attacker learns
    /// nothing.
    #[error("the name or the password is wrong, or the link was already used or has expired")]
    SignInFailed,
    /// A sealed value cannot be decrypted, usually because the master key is another one.
    #[error("a sealed value cannot be opened with this master key")]
    Sealed,
    /// An audit export would be incomplete: this number of entries has no position in the chain. The number is 0 if the database was restored from a
    /// dump and not adopted, so that new entries would get no position.
    #[error("audit entries have no place in their chain: the database was restored from a dump and not adopted")]
    AuditIncomplete(u64),
    /// The store failed to read or write.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl UseCaseError for Error {
    fn store_error(&self) -> Option<&StoreError> {
        if let Self::Store(error) = self { Some(error) } else { None }
    }
}
