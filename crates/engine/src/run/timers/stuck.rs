//! What time cannot be brought to bear on, because a row cannot be read or written: it is logged, counted and put off, and everything
//! else goes on.

use std::collections::HashMap;

use domain::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use store::{DueAction, DueInteraction, StoreError};

use super::ARCHIVED;
use crate::{Engine, Error};

/// How long a row is put off when it has failed for the first time. The pause doubles with each further failure.
const SHORTEST: SignedDuration = SignedDuration::from_secs(5);
/// The longest that it is put off.
const LONGEST: SignedDuration = SignedDuration::from_hours(1);
/// For how many rows it is remembered how often they have failed.
const MOST: usize = 10_000;

/// How often rows have failed, by their name. Can be lost at any time: then their pauses begin anew.
#[derive(Default)]
pub(crate) struct FailureCounts(Mutex<HashMap<String, u32>>);

impl FailureCounts {
    /// How long a row is put off that has failed once more. None for the first conflict: then somebody else may have been first.
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

/// Notes that a row could not be acted on.
pub(crate) fn count_failure(what: &'static str) {
    metrics::counter!("flow_timers_failed_total", "what" => what).increment(1);
}

impl Engine {
    pub(super) async fn fire_or_put_off(&self, due: DueInteraction) -> Result<(), Error> {
        let fired = self.fire(due).await;
        let Some(pause) = self.put_off("question", due.interaction.to_string(), fired)? else { return Ok(()) };
        self.transact(move |work| Ok(work.tx.interaction_postpone(&due, after(work.now, pause))?)).await
    }

    pub(super) async fn fire_action_or_put_off(&self, due: DueAction) -> Result<(), Error> {
        let fired = self.fire_action(due.clone()).await;
        let name = format!("{}/{}", due.session, due.call);
        let Some(pause) = self.put_off("action", name, fired)? else { return Ok(()) };
        self.transact(move |work| Ok(work.tx.action_postpone(&due, after(work.now, pause))?)).await
    }

    /// Moves a few of the questions that have been kept long enough, and says how many it has dealt with. Where one of them cannot
    /// be moved, they are moved one at a time, and that one is put off.
    pub(super) async fn archive(&self) -> Result<u64, Error> {
        match self.move_to_archive(ARCHIVED).await {
            Err(error) if !is_of_store(&error) => {}
            settled => return settled,
        }
        let error = match self.move_to_archive(1).await {
            Err(error) if !is_of_store(&error) => error,
            settled => return settled,
        };
        let retention = self.settings().retention;
        let first = self.transact(move |work| {
            let until = work.now.saturating_sub(retention).unwrap_or(Timestamp::MIN);
            Ok(work.tx.archive_postpone(until, until.saturating_add(LONGEST).unwrap_or(until))?)
        });
        let Some(interaction) = first.await? else { return Ok(0) };
        count_failure("archive");
        tracing::error!(%interaction, %error, seconds = LONGEST.as_secs(), "archivingFailed");
        Ok(1)
    }

    async fn move_to_archive(&self, most: u32) -> Result<u64, Error> {
        let retention = self.settings().retention;
        let moved = self.transact(move |work| {
            let until = work.now.saturating_sub(retention).unwrap_or(Timestamp::MIN);
            Ok(work.tx.archive(until, most)?)
        });
        moved.await
    }

    /// Decides what is done about a row: nothing where it was acted on; where it failed, for how long it is put off. An error is
    /// not the row's.
    fn put_off(
        &self,
        what: &'static str,
        row: String,
        fired: Result<(), Error>,
    ) -> Result<Option<SignedDuration>, Error> {
        let error = match fired {
            Ok(()) => {
                self.stuck.forget(&row);
                return Ok(None);
            }
            Err(error) if is_of_store(&error) => return Err(error),
            Err(error) => error,
        };
        let Some(pause) = self.stuck.pause(&row, &error) else { return Ok(None) };
        count_failure(what);
        tracing::error!(what, row, %error, seconds = pause.as_secs(), "timerFailed");
        Ok(Some(pause))
    }
}

fn after(now: Timestamp, pause: SignedDuration) -> Timestamp {
    now.saturating_add(pause).unwrap_or(now)
}

/// Whether an error says that the store as a whole cannot do its work at the moment, whatever row it is asked for.
fn is_of_store(error: &Error) -> bool {
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
