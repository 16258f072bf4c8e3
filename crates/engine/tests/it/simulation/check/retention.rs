//! What is closed and wanted by nobody goes to the archive in its time, once, and nothing else does.

use super::{View, holds};
use crate::simulation::world::Verdict;

/// The archive of one tenant.
pub(crate) fn check(view: &View<'_>) -> Verdict {
    for id in &view.before.archived {
        holds!(view.after.archived.contains(id), "{id} came back from the archive");
        let same = view.before.questions.get(id) == view.after.questions.get(id);
        holds!(same, "{id} changed in the archive");
    }
    for id in view.after.archived.difference(&view.before.archived) {
        let due = view.after.kept_enough(view.now).any(|question| question.id == *id);
        holds!(view.fired && due, "{id} was archived too early: {:?}", view.after.questions.get(id));
    }
    Ok(())
}

/// The timers have come round: what had been kept long enough before is archived.
pub(crate) fn nothing_left(view: &View<'_>) -> Verdict {
    let left = |id| !view.after.archived.contains(id) && view.before.questions.get(id) == view.after.questions.get(id);
    let left = view.before.kept_enough(view.now).find(|question| left(&question.id)).map(|question| question.id);
    holds!(left.is_none(), "{left:?} was to be archived");
    Ok(())
}
