//! Checks that an answer is delivered to one lease at a time, and completed once, only by the lease that holds it.

use domain::{Delivery, Interaction, Kind, LeaseId, Resolution, State};

use super::{View, holds};
use crate::simulation::command::CommandKind;
use crate::simulation::deeds::PerformedCommand;
use crate::simulation::world::Verdict;

/// Checks every delivery of one tenant.
pub(crate) fn check(view: &View<'_>) -> Verdict {
    for (id, after) in &view.after.questions {
        let before = view.before.questions.get(id).filter(|before| *before != after);
        let (Some(before), Some(is)) = (before, after.delivery()) else { continue };
        let waiting = Delivery::Waiting { attempt: 0 };
        let was = before.delivery().unwrap_or(&waiting);
        if was != is {
            changed(view, after, was, is)?;
        }
    }
    Ok(())
}

/// Number of the delivery attempt.
pub(crate) const fn attempt(delivery: &Delivery) -> u32 {
    match delivery {
        Delivery::NotNeeded => 0,
        Delivery::Waiting { attempt }
        | Delivery::Processing { attempt, .. }
        | Delivery::Completed { attempt, .. }
        | Delivery::Failed { attempt, .. } => *attempt,
    }
}

fn changed(view: &View<'_>, question: &Interaction, was: &Delivery, is: &Delivery) -> Verdict {
    let id = question.id;
    let over = matches!(was, Delivery::Completed { .. } | Delivery::Failed { .. } | Delivery::NotNeeded);
    holds!(!over, "the delivery of {id} was over and went on: {was:?}, then {is:?}");
    holds!(attempt(is) >= attempt(was), "{id} forgot an attempt: {was:?}, then {is:?}");
    let taken = |deed: &&&PerformedCommand| deed.about() == Some(id) && matches!(deed.what, CommandKind::Take { .. });
    let takes = view.deeds.iter().filter(taken).count();
    let more = (attempt(is) - attempt(was)) as usize;
    holds!(more <= takes, "{id} was taken {more} times, and {takes} wanted it");
    match is {
        Delivery::NotNeeded => not_needed(question),
        Delivery::Waiting { .. } if more > 0 => Ok(()),
        Delivery::Waiting { .. } => {
            let again = ended_by(view, question, was, |what| matches!(what, CommandKind::Fail { again: true, .. }));
            holds!(again || lapsed(view, was), "{id} was taken away from its lease: {was:?}");
            Ok(())
        }
        Delivery::Processing { by, until, lease, .. } => {
            holds!(by.name == question.origin.asked_by.name, "{} took the answer to {id}", by.name);
            holds!(*until > view.now, "{id} was taken for no time");
            processing(view, question, was, *lease)
        }
        Delivery::Completed { at, .. } => {
            let completed = ended_by(view, question, was, |what| matches!(what, CommandKind::Complete { .. }));
            holds!(completed, "{id} was completed by nobody who held it: {was:?}");
            holds!(*at == view.now, "{id} was completed at another time");
            Ok(())
        }
        Delivery::Failed { .. } => {
            let failed = ended_by(view, question, was, |what| matches!(what, CommandKind::Fail { .. }));
            holds!(failed || lapsed(view, was), "{id} failed by itself: {was:?}");
            Ok(())
        }
    }
}

/// Whether the holder of a lease that was still valid ended the delivery. In the step that grants a lease, no other command can name it yet.
fn ended_by(view: &View<'_>, question: &Interaction, was: &Delivery, how: impl Fn(&CommandKind) -> bool) -> bool {
    let Delivery::Processing { lease: held, until, .. } = was else { return false };
    let with = |what: &CommandKind| match what {
        CommandKind::Complete { lease, .. } | CommandKind::Fail { lease, .. } => lease == held,
        _ => false,
    };
    *until > view.now && view.any(question.id, |deed| how(&deed.what) && with(&deed.what))
}

fn lapsed(view: &View<'_>, was: &Delivery) -> bool {
    view.fired && matches!(was, Delivery::Processing { until, .. } if *until <= view.now)
}

fn processing(view: &View<'_>, question: &Interaction, was: &Delivery, lease: LeaseId) -> Verdict {
    let id = question.id;
    match was {
        Delivery::Processing { lease: held, .. } if *held == lease => {
            let beats = |deed: &PerformedCommand| matches!(deed.what, CommandKind::Heartbeat { lease: given, .. } if given == lease);
            holds!(view.any(id, beats), "the lease of {id} grew by itself");
        }
        Delivery::Processing { until, .. } if *until > view.now => {
            let given_back =
                ended_by(view, question, was, |what| matches!(what, CommandKind::Fail { again: true, .. }));
            holds!(given_back, "{id} was handed out twice at once: {was:?}, then {lease}");
        }
        _ => {}
    }
    let session = view.before.sessions.get(&question.origin.session);
    let paused = session.is_some_and(|session| session.paused.is_some() && session.ended.is_none());
    let about = |what: &CommandKind| matches!(what, CommandKind::Control { session, .. } if *session == question.origin.session);
    let steered = view.deeds.iter().any(|deed| about(&deed.what));
    let ended = view.after.sessions.get(&question.origin.session).is_some_and(|session| session.ended.is_some());
    let held = matches!(was, Delivery::Processing { lease: held, .. } if *held == lease);
    holds!(held || !paused || steered || ended, "the answer to {id} was handed out while its session was paused");
    Ok(())
}

fn not_needed(question: &Interaction) -> Verdict {
    let State::Resolved { resolution, .. } = &question.state else { return Ok(()) };
    let asker = &question.origin.asked_by.name;
    let withdrawn = matches!(resolution, Resolution::Cancelled { by, .. } if by.name == *asker);
    let acted = question.question.call_id.is_some();
    holds!(question.question.kind == Kind::Notice || withdrawn || acted, "the answer to {} has no taker", question.id);
    Ok(())
}
