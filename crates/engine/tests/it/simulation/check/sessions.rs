//! Checks that a session counts its open questions correctly, ends once, and has no open questions afterwards.

use std::collections::BTreeMap;

use domain::session::Ending;
use domain::step::StepEnding;
use domain::{Command as Control, Effect, Session, Status, StepStatus};

use super::{View, holds};
use crate::simulation::command::CommandKind;
use crate::simulation::deeds::PerformedCommand;
use crate::simulation::world::Verdict;

/// Checks every session of one tenant.
pub(crate) fn check(view: &View<'_>) -> Verdict {
    for id in view.before.sessions.keys() {
        holds!(view.after.sessions.contains_key(id), "{id} is gone");
    }
    for (id, after) in &view.after.sessions {
        let title = after.head.title.as_deref().unwrap_or_default();
        holds!(title.starts_with(view.name), "{id} crossed over from another tenant");
        match view.before.sessions.get(id) {
            Some(before) if before == after => {}
            Some(before) => changed(view, before, after)?,
            None => started(view, after, title)?,
        }
        counted(view, after)?;
    }
    budgets(view)
}

/// Checks that the open totals by asker agree with the open questions.
fn budgets(view: &View<'_>) -> Verdict {
    let (counted, found) = &view.after.open;
    holds!(counted == found, "counted as open are {counted:?}, and there are {found:?}");
    let mut open: BTreeMap<String, u64> = BTreeMap::new();
    for question in view.after.questions.values().filter(|question| question.status() == Status::Pending) {
        *open.entry(question.origin.asked_by.asker()).or_default() += 1;
    }
    let counted: BTreeMap<String, u64> =
        counted.iter().map(|(asker, total)| (asker.clone(), total.questions)).collect();
    holds!(counted == open, "counted as open are {counted:?}, and the questions say {open:?}");
    Ok(())
}

fn started(view: &View<'_>, after: &Session, title: &str) -> Verdict {
    let id = after.id;
    let fits = |deed: &PerformedCommand| matches!(&deed.what, CommandKind::Start { title: named } if named == title);
    holds!(view.deeds.iter().any(|deed| fits(deed)), "nobody started {id}");
    let twins = view.after.sessions.values().filter(|other| other.head.title.as_deref() == Some(title)).count();
    holds!(twins == 1, "{id} was started {twins} times");
    Ok(())
}

fn counted(view: &View<'_>, session: &Session) -> Verdict {
    let id = session.id;
    let of_session = view.after.questions.values().filter(|question| question.origin.session == id);
    let open: Vec<_> = of_session.filter(|question| question.status() == Status::Pending).collect();
    let blocking = open.iter().filter(|question| question.question.kind.blocks()).count();
    holds!(session.open as usize == open.len(), "{id} counts {} open and has {}", session.open, open.len());
    holds!(session.waiting_on as usize == blocking, "{id} waits on {} and should on {blocking}", session.waiting_on);
    holds!(session.ended.is_none() || open.is_empty(), "{id} has ended and has open questions");
    let steps = view.after.steps.get(&id).map_or(&[][..], Vec::as_slice);
    holds!(steps.len() == 1, "{id} has {} steps", steps.len());
    for step in steps {
        let ended = match &step.phase {
            domain::step::StepPhase::Ended { how, .. } => Some(*how),
            _ => None,
        };
        let wanted = session.ended.as_ref().map(|(ending, _)| match ending {
            Ending::Completed => StepEnding::Completed,
            Ending::Failed => StepEnding::Failed,
            Ending::Cancelled => StepEnding::Cancelled,
        });
        holds!(ended == wanted, "{id} ended as {wanted:?} and its step as {ended:?}");
        let blocked = step.status(session.waiting_on) == StepStatus::BlockedWaitingUser;
        holds!(blocked == (session.ended.is_none() && blocking > 0), "the step of {id} sleeps when it should not");
    }
    Ok(())
}

fn changed(view: &View<'_>, before: &Session, after: &Session) -> Verdict {
    let id = after.id;
    holds!(after.last_seq >= before.last_seq, "{id} counts its events backwards");
    let constant = (&before.head, before.step, &before.started_by, before.created_at);
    let same = constant == (&after.head, after.step, &after.started_by, after.created_at);
    holds!(same, "{id} is about something else now");
    let steered = |command: Control| {
        let fits = |what: &CommandKind| matches!(what, CommandKind::Control { session, command: given } if *session == id && *given == command);
        view.deeds.iter().any(|deed| fits(&deed.what))
    };
    if before.ended != after.ended {
        holds!(before.ended.is_none(), "{id} ended a second time");
        let ended = match after.ended.as_ref().map(|(ending, _)| ending) {
            Some(Ending::Completed) => steered(Control::Complete),
            Some(Ending::Failed) => steered(Control::Fail),
            Some(Ending::Cancelled) => steered(Control::Cancel) || terminated(view, after),
            None => false,
        };
        holds!(ended, "{id} ended by itself");
    }
    if before.paused.is_some() != after.paused.is_some() {
        let command = if after.paused.is_some() { Control::Pause } else { Control::Resume };
        holds!(steered(command), "nobody wanted to {command:?} {id}");
    }
    Ok(())
}

/// Whether an answer of this step ends the session.
fn terminated(view: &View<'_>, session: &Session) -> bool {
    view.after.questions.values().any(|question| {
        let domain::State::Resolved { resolution, at, .. } = &question.state else { return false };
        let ends = resolution.answer().is_some_and(|answer| answer.effect == Effect::Terminate);
        question.origin.session == session.id && *at == view.now && ends
    })
}
