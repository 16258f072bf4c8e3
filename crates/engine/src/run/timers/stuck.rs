//! Postpones due rows that cannot be read or written. The failure is logged and counted, and all other rows proceed.

use std::collections::HashMap;

use domain::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use store::{DueAction, DueInteraction, StoreError};

use crate::run;
use crate::{Engine, Error};

/// Delay after the first failure of a row. The delay doubles with each further failure.
const SHORTEST: SignedDuration = SignedDuration::from_secs(5);
/// Longest delay of a row.
const LONGEST: SignedDuration = SignedDuration::from_hours(1);
/// Number of rows whose failures are remembered.
const MOST: usize = 10_000;

/// Number of failures by row name. It may be lost at any time: the delays then begin at the shortest again.
#[derive(Default)]
pub(crate) struct FailureCounts(Mutex<HashMap<String, u32>>);

impl FailureCounts {
    /// Counts a failure and returns how long the row is postponed. `None` for a first conflict, because another transaction may have changed the
    /// row.
    fn pause(&self, name: &str, error: &Error) -> Option<SignedDuration> {
        let mut failures = self.0.lock();
        if failures.len() >= MOST && !failures.contains_key(name) {
            failures.clear();
        }
        let failed = failures.entry(name.to_owned()).or_default();
        *failed = failed.saturating_add(1);
        let conflict = matches!(error, Error::Store(StoreError::Conflict));
        let doubled = match (*failed, conflict) {
            (1, true) => return None,
            (failed, true) => failed - 2,
            (failed, false) => failed - 1,
        };
        let seconds = SHORTEST.as_secs().saturating_mul(1 << doubled.min(20));
        Some(SignedDuration::from_secs(seconds).min(LONGEST))
    }

    fn forget(&self, name: &str) {
        self.0.lock().remove(name);
    }
}

/// Counts a row that could not be processed in the metrics.
pub(crate) fn count_failure(what: &'static str) {
    metrics::counter!("flow_timers_failed_total", "what" => what).increment(1);
}

pub(super) async fn fire_or_put_off(engine: &Engine, due: DueInteraction) -> Result<(), Error> {
    let fired = run::timers::fire(engine, due).await;
    let Some(pause) = put_off(engine, "question", due.interaction.to_string(), fired)? else { return Ok(()) };
    engine.transact(move |work| Ok(work.tx.interaction_postpone(&due, after(work.now, pause))?)).await
}

pub(super) async fn fire_action_or_put_off(engine: &Engine, due: DueAction) -> Result<(), Error> {
    let fired = run::timers::fire_action(engine, due.clone()).await;
    let name = format!("{}/{}", due.session, due.call);
    let Some(pause) = put_off(engine, "action", name, fired)? else { return Ok(()) };
    engine.transact(move |work| Ok(work.tx.action_postpone(&due, after(work.now, pause))?)).await
}

/// Decides about a row after its processing: `None` if it succeeded, otherwise how long it is postponed. Returns an error only if the store as a
/// whole fails.
fn put_off(
    engine: &Engine,
    what: &'static str,
    row: String,
    fired: Result<(), Error>,
) -> Result<Option<SignedDuration>, Error> {
    let error = match fired {
        Ok(()) => {
            engine.stuck.forget(&row);
            return Ok(None);
        }
        Err(error) if is_of_store(&error) => return Err(error),
        Err(error) => error,
    };
    let Some(pause) = engine.stuck.pause(&row, &error) else { return Ok(None) };
    count_failure(what);
    tracing::error!(what, row, %error, seconds = pause.as_secs(), "timerFailed");
    Ok(Some(pause))
}

fn after(now: Timestamp, pause: SignedDuration) -> Timestamp {
    now.saturating_add(pause).unwrap_or(now)
}

/// Returns whether the store as a whole cannot work at the moment, regardless of the row.
pub(crate) fn is_of_store(error: &Error) -> bool {
    let Error::Store(error) = error else { return false };
    matches!(
        error,
        StoreError::Serialization
            | StoreError::Busy
            | StoreError::Full
            | StoreError::Unavailable(_)
            | StoreError::InDoubt
            | StoreError::Closed
    )
}
