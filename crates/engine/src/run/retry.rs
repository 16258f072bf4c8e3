//! Repeats an attempt that lost a race against another transaction.

use store::StoreError;

use crate::Error;

/// Runs `attempt` until it meets no other transaction that writes the same rows, at most `most` times.
pub(crate) async fn retry_conflicts<T, F>(most: u32, mut attempt: impl FnMut() -> F) -> Result<T, Error>
where
    F: Future<Output = Result<T, Error>>,
{
    for _ in 1..most {
        match attempt().await {
            Err(Error::Store(StoreError::Conflict)) => {}
            other => return other,
        }
    }
    attempt().await
}
