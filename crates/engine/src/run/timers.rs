//! Acts on due questions and actions. Each node runs one loop that sleeps until the next due time; each due row is acted on once.

pub(crate) mod stuck;

use std::sync::atomic::Ordering;
use std::time::Duration;

use domain::{Refusal, Timestamp};
use futures::future::join_all;
use store::{Cost, DueAction, DueInteraction, Topic};

use crate::actions;
use crate::interactions;
use crate::sessions;
use crate::steps;
use crate::{Engine, Error};

pub(crate) use stuck::{FailureCounts, count_failure};

/// Number of due questions that are processed concurrently.
const BATCH: u32 = 64;
/// Number of questions that one transaction archives: few, so that other transactions do not wait long.
const ARCHIVED: u32 = 50;
/// Longest sleep, after which a clock that jumped or a due time set by another node is noticed.
const LONGEST: Duration = Duration::from_millis(500);

/// Due rows and the next due times.
struct DueWork {
    now: Timestamp,
    due: Vec<DueInteraction>,
    actions: Vec<DueAction>,
    /// Earliest due time of any question or action.
    next: Option<Timestamp>,
    /// Time at which the oldest retired question has reached the retention period.
    retires: Option<Timestamp>,
}

impl Engine {
    /// Acts on due rows, then sleeps until the next due time or until an earlier one is set. Never returns.
    pub async fn run_timers(&self) {
        let mut earlier = self.bell.listen(Topic::Timers);
        loop {
            let sleep = match self.fire_due().await {
                Ok(sleep) => sleep,
                Err(error) => {
                    tracing::warn!(%error, "the timers could not read the due rows");
                    LONGEST
                }
            };
            tokio::select! {
                () = tokio::time::sleep(sleep) => {}
                () = earlier.wait() => {}
            }
        }
    }

    /// Acts on all due rows and returns how long the loop may sleep.
    ///
    /// Due rows come before archiving, and are looked for again after each batch of archived questions. A row that fails is postponed and does not
    /// block the others; an error is returned only if the store as a whole fails.
    pub async fn fire_due(&self) -> Result<Duration, Error> {
        loop {
            let DueWork { now, due, actions, next, retires } = read_due(self).await?;
            let fired = !due.is_empty() || !actions.is_empty();
            let kept_enough = retires.is_some_and(|at| at <= now);
            let questions = join_all(due.into_iter().map(|due| stuck::fire_or_put_off(self, due))).await;
            let actions = join_all(actions.into_iter().map(|due| stuck::fire_action_or_put_off(self, due))).await;
            questions.into_iter().chain(actions).collect::<Result<(), Error>>()?;
            let archived = if kept_enough { interactions::archive::archive_due(self, ARCHIVED).await? } else { 0 };
            if fired || archived > 0 {
                continue;
            }
            // Questions that are ready for the archive but were not moved are being moved by another node. The loop retries after its next sleep.
            let next = next.into_iter().chain(retires.filter(|_| !kept_enough)).min();
            self.next_wake.store(next.map_or(i64::MAX, Timestamp::as_microsecond), Ordering::Release);
            let until = next.map_or(LONGEST, |at| Duration::try_from(at.duration_since(now)).unwrap_or_default());
            return Ok(until.min(LONGEST));
        }
    }
}

async fn read_due(engine: &Engine) -> Result<DueWork, Error> {
    let retention = engine.settings().retention;
    let moments = engine.read(Cost::Point, move |reads| {
        let now = reads.now()?;
        let due = reads.interactions_due(now, BATCH)?;
        let actions = reads.actions_due(now, BATCH)?;
        let next = [reads.next_interaction_due()?, reads.next_action_due()?].into_iter().flatten().min();
        let oldest = reads.oldest_retired()?;
        let retires = oldest.map(|at| at.saturating_add(retention).unwrap_or(Timestamp::MAX));
        Ok(DueWork { now, due, actions, next, retires })
    });
    moments.await
}

/// Records a due time, and returns whether it is earlier than the one that the timers sleep until.
pub(crate) fn sleep_until(engine: &Engine, at: Timestamp) -> bool {
    engine.next_wake.fetch_min(at.as_microsecond(), Ordering::AcqRel) > at.as_microsecond()
}

/// Acts on one due question. Does nothing if another node or an answer was first.
async fn fire(engine: &Engine, due: DueInteraction) -> Result<(), Error> {
    let fired = engine.transact(move |work| {
        let mut session = sessions::lock(work, &due.scope, due.session)?;
        let found = work.tx.interaction(&due.scope, due.interaction)?;
        let mut interaction = found.ok_or(Refusal::NotFound("interaction"))?;
        let before = session.last_seq;
        loop {
            let was = interaction.status();
            let Some(change) = interaction.tick(work.ids.answer(work.now), work.now) else { break };
            interaction = interactions::apply_change(work, &mut session, was, change)?;
        }
        if session.last_seq == before { Ok(()) } else { sessions::save(work, &session) }
    });
    gone_is_fine(fired.await)
}

/// Acts on one action whose outcome was not reported in time: the action may be started again, or a person is asked.
async fn fire_action(engine: &Engine, due: DueAction) -> Result<(), Error> {
    let fired = engine.transact(move |work| {
        let mut session = sessions::lock(work, &due.scope, due.session)?;
        let found = work.tx.action(&due.scope, session.id, &due.call)?.ok_or(Refusal::NotFound("action"))?;
        let goes_on = session.require_alive().is_ok() && steps::is_step_alive(work, &session, &found)?;
        let again = goes_on.then(|| actions::new_permit(work, &found.effective()));
        let Some(change) = found.lapse(again, work.now) else { return Ok(()) };
        let action = actions::save_change(work, &mut session, change)?;
        actions::ask_about_outcome(work, &mut session, action)?;
        sessions::save(work, &session)
    });
    gone_is_fine(fired.await)
}

/// Ignores the error that a due row no longer exists.
fn gone_is_fine(fired: Result<(), Error>) -> Result<(), Error> {
    match fired {
        Err(Error::Refused(Refusal::NotFound(_))) => Ok(()),
        other => other,
    }
}
