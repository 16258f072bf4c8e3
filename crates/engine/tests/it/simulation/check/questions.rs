//! Checks that the content of a question never changes, that it is resolved once, and that its votes come from people's answers.

use std::collections::BTreeSet;

use domain::interaction::Pending;
use domain::{ActorKind, Answer, Audience, Fallback, Interaction, Kind, State};

use super::{View, holds, resolutions};
use crate::simulation::command::CommandKind;
use crate::simulation::questions::MARKER;
use crate::simulation::world::Verdict;

/// Checks all questions of one tenant.
pub(crate) fn check(view: &View<'_>) -> Verdict {
    for id in view.before.questions.keys() {
        holds!(view.after.questions.contains_key(id), "{id} is gone");
    }
    for (id, after) in &view.after.questions {
        holds!(after.scope == view.tenant.scope, "{id} is of another tenant");
        let ours = match (&after.question.call_id, &after.question.call) {
            (Some(_), Some(call)) => call.arguments["of"] == view.name,
            _ => after.question.title.starts_with(view.name),
        };
        holds!(ours, "{id} crossed over from another tenant");
        let session = view.after.sessions.get(&after.origin.session);
        holds!(session.is_some(), "{id} is in no session of its tenant");
        match view.before.questions.get(id) {
            Some(before) if before == after => continue,
            Some(before) => changed(view, before, after)?,
            None => asked(view, after)?,
        }
        let kept = serde_json::to_string(after).unwrap_or_default();
        holds!(!kept.contains(MARKER), "{id} shows a secret: {kept}");
    }
    Ok(())
}

fn asked(view: &View<'_>, after: &Interaction) -> Verdict {
    let id = after.id;
    if let Some(call) = &after.question.call_id {
        asked_about(view, after, call)?;
        let unasked = Interaction { state: State::Pending(Pending::default()), revision: 0, ..after.clone() };
        return changed(view, &unasked, after);
    }
    let fits = |deed: &&&crate::simulation::deeds::PerformedCommand| match &deed.what {
        CommandKind::Ask { session, ask } => {
            *session == after.origin.session
                && ask.question.title == after.question.title
                && deed.by() == after.origin.asked_by.name
        }
        _ => false,
    };
    let Some(deed) = view.deeds.iter().find(fits) else { return Err(format!("nobody asked {id}")) };
    let twins = view.after.questions.values().filter(|other| other.question.title == after.question.title).count();
    holds!(twins == 1, "{id} was asked {twins} times");
    let CommandKind::Ask { ask, .. } = &deed.what else { return Ok(()) };
    let deadline = ask.deadline_seconds.map(|seconds| view.now + domain::SignedDuration::from_secs(seconds));
    holds!(after.question.deadline == deadline, "{id} has another deadline than was asked for");
    holds!(after.question.fallback == ask.question.fallback, "{id} has another fallback than was asked for");
    let unasked = Interaction { state: State::Pending(Pending::default()), revision: 0, ..after.clone() };
    changed(view, &unasked, after)
}

/// Checks the cause of a question about an action: a proposed action, an edit that other people must approve, or an unknown outcome.
fn asked_about(view: &View<'_>, after: &Interaction, of: &str) -> Verdict {
    let here = |session: &domain::SessionId, call: &String| *session == after.origin.session && call == of;
    let before = view.before.actions.get(&(after.origin.session, of.to_owned()));
    let justified = view.deeds.iter().any(|deed| match &deed.what {
        CommandKind::Propose { session, propose } => {
            here(session, &propose.call_id) && deed.by() == after.origin.asked_by.name
        }
        CommandKind::Report { session, call, .. } => here(session, call) && after.question.kind == Kind::Choice,
        CommandKind::Answer { id, draft } => {
            draft.arguments.is_some() && before.is_some_and(|before| before.asked.last() == Some(id))
        }
        _ => false,
    });
    let lapsed = view.fired && after.question.kind == Kind::Choice;
    holds!(justified || lapsed, "nobody asked {} about {of}", after.id);
    Ok(())
}

fn changed(view: &View<'_>, before: &Interaction, after: &Interaction) -> Verdict {
    let id = after.id;
    holds!(before.question == after.question, "{id} asks something else now");
    holds!(before.origin == after.origin, "{id} comes from elsewhere now");
    holds!(before.revision < after.revision, "{id} changed and its revision did not grow");
    match (&before.state, &after.state) {
        (State::Pending(before), State::Pending(pending)) => still_pending(view, before, after, pending),
        (State::Pending(pending), State::Resolved { resolution, at, .. }) => {
            holds!(*at == view.now, "{id} was resolved at {at}, and it is {}", view.now);
            resolutions::check(view, after, pending, resolution)
        }
        (State::Resolved { resolution: was, at: then, .. }, State::Resolved { resolution, at, .. }) => {
            holds!((was, then) == (resolution, at), "{id} was resolved a second time: {was:?}, then {resolution:?}");
            Ok(())
        }
        (State::Resolved { .. }, State::Pending(_)) => Err(format!("{id} was resolved and is open again")),
    }
}

fn still_pending(view: &View<'_>, was: &Pending, question: &Interaction, is: &Pending) -> Verdict {
    let id = question.id;
    fresh_votes(question, &was.votes, &is.votes)?.into_iter().try_for_each(|vote| voted(view, question, vote))?;
    let quorum: usize = question.question.audiences().iter().map(|audience| audience.quorum as usize).sum();
    holds!(is.votes.len() < quorum * 4, "{id} has {} votes and needs {quorum}", is.votes.len());
    if is.claim != was.claim {
        let by = is.claim.as_ref().map(|claim| claim.by.name.as_str());
        let lapsed = view.fired && was.claim.as_ref().is_some_and(|claim| claim.until <= view.now);
        let justified = match by {
            Some(by) => view.any(id, |deed| matches!(deed.what, CommandKind::Claim { .. }) && deed.by() == by),
            None => lapsed || view.any(id, |deed| matches!(deed.what, CommandKind::Release { .. })),
        };
        holds!(justified, "the claim on {id} went from {:?} to {:?} by itself", was.claim, is.claim);
    }
    let due = |at: Option<domain::Timestamp>| view.fired && at.is_some_and(|at| at <= view.now);
    if is.warned != was.warned {
        holds!(is.warned && due(question.question.warn_at), "{id} was warned of at the wrong time");
    }
    if is.overdue != was.overdue {
        let expired = view.any(id, |deed| matches!(deed.what, CommandKind::Expire { .. }));
        let held = question.question.fallback == Some(Fallback::Hold);
        holds!(is.overdue && held && (expired || due(question.question.deadline)), "{id} is overdue too early");
    }
    Ok(())
}

/// New votes of a question. Checks that a vote disappears only if its person votes again, and that nobody has two votes.
pub(crate) fn fresh_votes<'a>(
    question: &Interaction,
    was: &[Answer],
    is: &'a [Answer],
) -> Result<Vec<&'a Answer>, String> {
    let id = question.id;
    let fresh: Vec<&Answer> = is.iter().filter(|vote| !was.contains(vote)).collect();
    for lost in was.iter().filter(|vote| !is.contains(vote)) {
        let replaced = fresh.iter().any(|vote| vote.by == lost.by);
        holds!(replaced, "{id} lost the vote of {}", lost.by.name);
    }
    let people: BTreeSet<&str> = is.iter().map(|vote| vote.by.name.as_str()).collect();
    holds!(people.len() == is.len(), "somebody counts twice in {id}");
    Ok(fresh)
}

/// Whether a person belongs to an audience of a question and is not excluded for having started the session.
pub(crate) fn invited(view: &View<'_>, question: &Interaction, audience: &Audience, name: &str) -> bool {
    let started = name == question.origin.started_by.name;
    let Some(person) = view.tenant.named(name) else { return false };
    let named = match &audience.named {
        None => started || ["admin", "operator"].contains(&person.role.name()),
        Some(named) => {
            named.users.iter().any(|user| user == name)
                || named.roles.contains(&person.role)
                || person.groups.iter().any(|group| named.groups.contains(group))
        }
    };
    named && !(audience.four_eyes && started)
}

/// Checks one new vote: given by that person, in time, and by a member of the audience.
pub(crate) fn voted(view: &View<'_>, question: &Interaction, vote: &Answer) -> Verdict {
    let (id, name) = (question.id, vote.by.name.as_str());
    let said = view.any(id, |deed| matches!(deed.what, CommandKind::Answer { .. }) && deed.by() == name);
    holds!(said, "{name} did not answer {id}, or was refused, and counts all the same");
    holds!(vote.by.kind == ActorKind::User, "an agent answered {id}");
    holds!(name != question.origin.asked_by.name, "{name} asked {id} and answered it");
    holds!(view.tenant.named(name).is_some(), "{name} is not of this tenant");
    let invited = question.question.audiences().iter().any(|audience| invited(view, question, audience, name));
    holds!(invited, "{name} is not in the audience of {id}");
    holds!(vote.at == view.now, "{name}'s answer to {id} has another time");
    let late = question.question.deadline.is_some_and(|deadline| deadline <= view.now);
    holds!(!late || question.question.fallback == Some(Fallback::Hold), "{name} answered {id} after its deadline");
    Ok(())
}
