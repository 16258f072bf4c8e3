//! Checks that an action runs only with a ruling, a grant or an approval of exactly its arguments, runs twice only if it is repeatable, and agrees
//! with its question and with the log.

use std::collections::BTreeMap;

use domain::{
    Action, ActionState, Call, Effect, Interaction, InteractionId, Kind, Resolution, SessionId, State, Status, Verdict,
};

use super::{View, holds};
use crate::simulation::books::StoreContents;
use crate::simulation::calls;
use crate::simulation::command::CommandKind;
use crate::simulation::world::Verdict as Found;

/// Checks every action of one tenant.
pub(crate) fn check(view: &View<'_>) -> Found {
    for (session, call) in view.before.actions.keys() {
        let kept = view.after.actions.contains_key(&(*session, call.clone()));
        holds!(kept, "{call} of {session} is gone");
    }
    let told = told(view.after);
    for (name, after) in &view.after.actions {
        let (session, call) = name;
        holds!(after.scope == view.tenant.scope, "{call} is of another tenant");
        holds!(after.call.arguments["of"] == view.name, "{call} of {session} crossed over from another tenant");
        match view.before.actions.get(name) {
            Some(before) if before == after => {}
            Some(before) => changed(view, before, after)?,
            None => proposed(view, after)?,
        }
        released(view.after, after)?;
        asked(view.after, after)?;
        logged(view.after, after, told.get(name).unwrap_or(&BTreeMap::new()))?;
    }
    orphans(view.after)
}

fn proposed(view: &View<'_>, after: &Action) -> Found {
    let call = &after.call_id;
    let fits = |what: &CommandKind| match what {
        CommandKind::Propose { session, propose } => {
            *session == after.session && propose.call_id == *call && propose.call == after.call
        }
        _ => false,
    };
    let by = &after.proposed_by.name;
    holds!(view.deeds.iter().any(|deed| fits(&deed.what) && deed.by() == by), "nobody proposed {call}");
    let (Some(was), Some(is)) = (&view.before.policy, &view.after.policy) else { return Ok(()) };
    if was == is {
        let wanted = calls::verdict(is, &after.call.tool);
        let ruled = Some(after.ruling.verdict);
        // An edit that opened a question in this step carries the ruling on the edit, which has an equal tool and so an equal verdict.
        holds!(ruled == wanted, "{call} was ruled {ruled:?} and the policy says {wanted:?}");
        holds!(is.own.as_ref() == Some(&after.ruling.policy), "{call} was ruled on by another policy");
    }
    Ok(())
}

fn changed(view: &View<'_>, before: &Action, after: &Action) -> Found {
    let call = &after.call_id;
    holds!(before.revision < after.revision, "{call} changed and its revision did not grow");
    let constant = (&before.call, &before.proposed_by, before.at, before.grant, before.repeatable);
    let same = constant == (&after.call, &after.proposed_by, after.at, after.grant, after.repeatable);
    holds!(same, "{call} is another action now");
    holds!(after.asked.starts_with(&before.asked), "{call} forgot a question");
    let over = matches!(
        before.state,
        ActionState::Denied | ActionState::Rejected { .. } | ActionState::Done { .. } | ActionState::Failed { .. }
    );
    holds!(!over, "{call} was over and went on: {:?}, then {:?}", before.state, after.state);
    if let ActionState::Started { since, .. } = &after.state {
        let starts = |what: &CommandKind| matches!(what, CommandKind::StartAction { session, call, .. } if *session == after.session && *call == after.call_id);
        let by = &after.proposed_by.name;
        let started = view.deeds.iter().any(|deed| starts(&deed.what) && deed.by() == by);
        holds!(started || matches!(before.state, ActionState::Started { .. }), "nobody started {call}");
        let session = &view.before.sessions[&after.session];
        let stood = session.ended.is_some() && view.now == *since;
        holds!(!stood, "{call} was started in a session that was over");
    }
    Ok(())
}

/// Checks that an action that may run, runs or ran was allowed by the policy, covered by a grant, or approved with exactly these arguments.
fn released(books: &StoreContents, action: &Action) -> Found {
    let ran = !matches!(action.state, ActionState::Waiting { .. } | ActionState::Denied | ActionState::Rejected { .. });
    if !ran {
        return Ok(());
    }
    let (call_id, call) = (&action.call_id, action.effective());
    let ruled = action.ruling.verdict == Verdict::Allow && action.edited.is_none();
    let granted = action.grant.is_some_and(|id| covered(books, action, id)) && action.edited.is_none();
    let approved = action.asked.iter().filter_map(|id| books.questions.get(id)).any(|asked| approves(asked, &call));
    holds!(ruled || granted || approved, "{call_id} may run and nobody said so: {action:?}");
    if let ActionState::Allowed { permit } = &action.state {
        holds!(permit.digest == call.digest().to_string(), "the permit of {call_id} is for something else");
    }
    Ok(())
}

fn covered(books: &StoreContents, action: &Action, id: domain::GrantId) -> bool {
    let Some(grant) = books.grants.get(&id) else { return false };
    let here = (action.session, action.proposed_by.name.as_str());
    grant.covers(here, action.ruling.rule.as_deref(), &action.call, |_, pattern| pattern == "*")
}

fn approves(asked: &Interaction, call: &Call) -> bool {
    let State::Resolved { resolution, .. } = &asked.state else { return false };
    let (Resolution::Answered { answer, .. } | Resolution::AutoResolved { answer, .. }) = resolution else {
        return false;
    };
    match answer.effect {
        Effect::Approve => asked.question.call.as_ref() == Some(call),
        Effect::Edit => answer.arguments.as_ref() == Some(&call.arguments),
        _ => false,
    }
}

/// Checks that an action waits on its own question while that is open, and on no other.
fn asked(books: &StoreContents, action: &Action) -> Found {
    let call = &action.call_id;
    let waits_on = match &action.state {
        ActionState::Waiting { interaction } => Some(*interaction),
        ActionState::Unknown { interaction, .. } => *interaction,
        _ => None,
    };
    let open = |id: &&InteractionId| books.questions.get(id).is_some_and(|asked| asked.status() == Status::Pending);
    let open: Vec<InteractionId> = action.asked.iter().filter(open).copied().collect();
    let wanted: Vec<InteractionId> = waits_on.into_iter().collect();
    holds!(open == wanted, "{call} is {:?} and its open questions are {open:?}", action.state);
    if let Some(asked) = waits_on.and_then(|id| books.questions.get(&id)) {
        let same = asked.question.call.as_ref() == Some(&action.effective());
        holds!(same, "people are asked about something else than {call}");
    }
    Ok(())
}

/// Checks that every question about a call is listed in the action of that call.
fn orphans(books: &StoreContents) -> Found {
    for (id, question) in &books.questions {
        let Some(call) = &question.question.call_id else { continue };
        let of = books.actions.get(&(question.origin.session, call.clone()));
        holds!(of.is_some_and(|action| action.asked.contains(id)), "{id} is about a call that does not know it");
    }
    Ok(())
}

/// Number of events of one call, by name.
type EventCounts<'a> = BTreeMap<&'a str, usize>;

fn told(books: &StoreContents) -> BTreeMap<(SessionId, String), EventCounts<'_>> {
    let mut told: BTreeMap<_, EventCounts<'_>> = BTreeMap::new();
    for (_, event) in &books.log {
        if let (true, Some(call)) = (event.name.starts_with("action."), event.data["call_id"].as_str()) {
            *told.entry((event.session, call.to_owned())).or_default().entry(event.name.as_str()).or_default() += 1;
        }
    }
    told
}

/// Checks that the log has one decision for each call, and one start for each permit that was spent.
fn logged(books: &StoreContents, action: &Action, told: &EventCounts<'_>) -> Found {
    let call = &action.call_id;
    let count = |name: &str| told.get(name).copied().unwrap_or_default();
    let asked: Vec<&Interaction> = action.asked.iter().filter_map(|id| books.questions.get(id)).collect();
    let of_kind = |kind: Kind| asked.iter().filter(move |asked| asked.question.kind == kind);
    let again = of_kind(Kind::Choice).filter(|asked| approves(asked, &action.effective())).count();
    let decided = usize::from(!matches!(action.state, ActionState::Waiting { .. }));
    let decisions = count("action.allowed") + count("action.denied") + count("action.rejected");
    holds!(decisions == decided + again, "{call} was decided {decisions} times: {told:?}, {:?}", action.state);
    let waited = of_kind(Kind::Approval).count();
    holds!(count("action.waiting") == waited, "{call} waited {} times and was asked {waited}", count("action.waiting"));
    let offered = count("action.offered");
    holds!(offered == 0 || action.repeatable, "{call} was offered again and must not be");
    let allowed = usize::from(matches!(action.state, ActionState::Allowed { .. }));
    let permits = count("action.allowed") + offered;
    let spent = count("action.started");
    holds!(spent + allowed == permits, "{call} had {permits} permits and was started {spent} times");
    let ended = usize::from(matches!(action.state, ActionState::Done { .. } | ActionState::Failed { .. }));
    let ends = count("action.done") + count("action.failed");
    holds!(ends == ended, "the log ends {call} {ends} times");
    Ok(())
}
