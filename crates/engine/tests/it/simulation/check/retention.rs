//! Checks that closed questions that nobody awaits are archived once, when they are due, and that no others are.

use super::{View, holds};
use crate::simulation::world::Verdict;

/// Checks the archive of one tenant.
pub(crate) fn check(view: &View<'_>) -> Verdict {
    for id in &view.before.archived {
        holds!(view.after.archived.contains(id), "{id} came back from the archive");
        let same = view.before.questions.get(id) == view.after.questions.get(id);
        holds!(same, "{id} changed in the archive");
    }
    for id in view.after.archived.difference(&view.before.archived) {
        let due = view.after.past_retention(view.now).any(|question| question.id == *id);
        holds!(view.fired && due, "{id} was archived too early: {:?}", view.after.questions.get(id));
    }
    Ok(())
}

/// Checks, after the timers have fired, that every question whose retention was over is archived.
pub(crate) fn nothing_left(view: &View<'_>) -> Verdict {
    let left = |id| !view.after.archived.contains(id) && view.before.questions.get(id) == view.after.questions.get(id);
    let left = view.before.past_retention(view.now).find(|question| left(&question.id)).map(|question| question.id);
    holds!(left.is_none(), "{left:?} was to be archived");
    Ok(())
}
