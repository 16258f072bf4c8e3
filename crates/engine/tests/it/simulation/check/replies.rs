//! Checks that replies agree with the store, that repeated commands get equal replies, and that refusals have a reason.

use domain::{
    Action, ActionState, AutoSource, Delivery, Interaction, Kind, Refusal, Resolution, Session, State, Status,
    Timestamp,
};
use holdpoint_engine::{ActionReply, Error, TakenAnswer};

use super::{View, holds};
use crate::simulation::command::{CommandKind, Reply};
use crate::simulation::deeds::{Outcome, PerformedCommand};
use crate::simulation::questions::{resume_point, secret};
use crate::simulation::world::{Verdict, World};

/// Checks all replies to people and agents of one tenant in this step.
pub(crate) fn check(world: &World, view: &View<'_>, deeds: &[PerformedCommand], crashed: bool) -> Verdict {
    for deed in deeds.iter().filter(|deed| world.tenants[deed.command.tenant].scope == view.tenant.scope) {
        let first = deed.key.as_ref().and_then(|key| world.told.get(key));
        let result = match (&deed.outcome, first) {
            (Outcome::Told(reply), Some(first)) => again(view, first, reply),
            (Outcome::Told(reply), None) => told(view, deed, reply),
            (Outcome::Refused(error), Some(_)) => Err(format!("was done, and is refused when repeated: {error:?}")),
            (Outcome::Refused(error), None) => refused(view, error),
            (Outcome::Unknown, _) if crashed => Ok(()),
            (Outcome::Unknown, _) => Err("the store failed though nothing was wrong with it".into()),
            (Outcome::Asleep, _) if crashed => Ok(()),
            (Outcome::Asleep, _) => asleep(view, deed),
        };
        result.map_err(|wrong| format!("#{}: {wrong}", deed.command.number))?;
    }
    Ok(())
}

/// Records the replies, leases and permits of this step, and the commands to send again.
pub(crate) fn remember(world: &mut World, deeds: &[PerformedCommand]) -> Verdict {
    for deed in deeds {
        match (&deed.outcome, &deed.key) {
            (Outcome::Told(reply), Some(key)) => drop(world.told.insert(key.clone(), reply.clone())),
            (Outcome::Told(reply), None) => read_on(world, deed, reply),
            _ => {}
        }
        match (&deed.what, &deed.outcome) {
            (CommandKind::Take { id, .. }, Outcome::Told(Reply::Taken(taken))) => {
                world.leases.push((deed.command.tenant, *id, taken.lease));
            }
            (_, Outcome::Told(Reply::Acted(acted))) => {
                let (session, call) = (acted.action.session, acted.action.call_id.clone());
                let given = acted.permit.clone().map(|permit| (deed.command.tenant, session, call, permit));
                world.permits.extend(given.filter(|given| !world.permits.contains(given)));
            }
            (CommandKind::Complete { lease, .. }, Outcome::Told(_)) if !world.random.one_in(3) => {
                world.leases.retain(|held| held.2 != *lease);
            }
            _ => {}
        }
        let unanswered = deed.key.is_some() && deed.may_have_happened();
        let lost = matches!(deed.outcome, Outcome::Unknown) || world.random.one_in(6);
        let known = world.unanswered.iter().any(|command| command.number == deed.command.number);
        if unanswered && lost && !known {
            world.unanswered.push(deed.command.clone());
        }
    }
    Ok(())
}

fn read_on(world: &mut World, deed: &PerformedCommand, reply: &Reply) {
    match (&deed.what, reply) {
        (CommandKind::ReadProject { reader, after }, Reply::Stream(events, cursor)) => {
            let reader = &mut world.readers.projects[*reader];
            if reader.cursor == *after {
                reader.cursor = *cursor;
                reader.seen += events.len();
            }
        }
        (CommandKind::ReadSession { reader, after, .. }, Reply::Events(events)) => {
            let reader = &mut world.readers.sessions[*reader];
            if reader.after == *after {
                reader.after += events.len() as u64;
            }
        }
        _ => {}
    }
}

fn told(view: &View<'_>, deed: &PerformedCommand, reply: &Reply) -> Verdict {
    match (&deed.what, reply) {
        (_, Reply::Session(session)) => session_is_kept(view, session),
        (what, Reply::Acted(acted)) => acted_is_kept(view, what, deed.by(), acted),
        (what, Reply::Question(question)) => {
            is_kept(view, question)?;
            shows(what, deed.by(), question)
        }
        (_, Reply::Taken(taken)) => {
            is_kept(view, &taken.interaction)?;
            let held = matches!(taken.interaction.delivery(), Some(Delivery::Processing { lease, .. }) if *lease == taken.lease);
            holds!(held, "the lease given is not the lease kept");
            holds!(deed.by() == taken.interaction.origin.asked_by.name, "somebody else's answer was handed out");
            unsealed(view, taken)
        }
        (CommandKind::Deliveries { .. }, Reply::Questions(questions)) => {
            let mine = questions.iter().all(|question| question.origin.asked_by.name == deed.by());
            holds!(mine, "{} is offered somebody else's answer", deed.by());
            questions.iter().try_for_each(|question| is_kept(view, question))
        }
        (_, Reply::Questions(questions)) => questions.iter().try_for_each(|question| is_kept(view, question)),
        (CommandKind::ReadSession { session, after, .. }, Reply::Events(events)) => {
            let kept = view.after.events(*session);
            let from = *after as usize;
            let slice = kept.get(from..from + events.len()).unwrap_or_default();
            holds!(events.iter().eq(slice.iter().copied()), "a reader of {session} saw other events after {after}");
            Ok(())
        }
        (CommandKind::ReadProject { after, .. }, Reply::Stream(events, _)) => {
            let from = view.after.log.iter().position(|(cursor, _)| cursor > after).unwrap_or(view.after.log.len());
            let slice = view.after.log.get(from..from + events.len()).unwrap_or_default();
            let same = events.iter().map(|(cursor, event)| (cursor, event));
            let same = same.eq(slice.iter().map(|(cursor, event)| (cursor, event.as_ref())));
            holds!(!events.is_empty() && same, "a reader of the project saw other events after {after}");
            Ok(())
        }
        (CommandKind::FireDue, _) => {
            let due = |question: &&Interaction| question.wake_at().is_some_and(|at: Timestamp| at <= view.now);
            let left = view.after.questions.values().find(due).map(|question| question.id);
            holds!(left.is_none(), "the timers left {left:?} lying");
            let due = |action: &&Action| action.wake_at().is_some_and(|at: Timestamp| at <= view.now);
            let left = view.after.actions.values().find(due).map(|action| &action.call_id);
            holds!(left.is_none(), "the timers left {left:?} lying");
            super::retention::nothing_left(view)
        }
        _ => Ok(()),
    }
}

/// Checks that a repeated command gets the first reply, regardless of later changes.
fn again(view: &View<'_>, first: &Reply, reply: &Reply) -> Verdict {
    match (first, reply) {
        (Reply::Session(first), Reply::Session(again)) => holds!(first == again, "was told two things"),
        (Reply::Question(first), Reply::Question(again)) => holds!(first == again, "was told two things"),
        (Reply::Taken(first), Reply::Taken(again)) => {
            let same = first.lease == again.lease && first.interaction == again.interaction;
            holds!(same, "was given two leases");
            unsealed(view, again)?;
        }
        (Reply::Acted(first), Reply::Acted(again)) => {
            let same = (&first.action.call_id, &first.action.call) == (&again.action.call_id, &again.action.call);
            holds!(same && again.action.revision >= first.action.revision, "was told two things");
        }
        (Reply::Grant(first), Reply::Grant(again)) => holds!(first == again, "was told two things"),
        (Reply::Nothing, Reply::Nothing) => {}
        _ => return Err("was told another kind of thing".into()),
    }
    Ok(())
}

fn is_kept(view: &View<'_>, told: &Interaction) -> Verdict {
    let id = told.id;
    let Some(kept) = view.after.questions.get(&id) else { return Err(format!("was told of {id}, which is not kept")) };
    holds!(kept.revision >= told.revision, "{id} is at revision {}, was told {}", kept.revision, told.revision);
    holds!(kept.revision > told.revision || kept == told, "{id} is kept otherwise than was told");
    if let (State::Resolved { resolution, at, .. }, State::Resolved { resolution: kept, at: then, .. }) =
        (&told.state, &kept.state)
    {
        holds!((resolution, at) == (kept, then), "{id} was resolved otherwise than was told");
    }
    holds!(told.status() == Status::Pending || kept.status() == told.status(), "{id} is not {:?}", told.status());
    Ok(())
}

/// Checks that a reply about an action agrees with the store, and that its permit is shown to the proposer only.
fn acted_is_kept(view: &View<'_>, what: &CommandKind, by: &str, acted: &ActionReply) -> Verdict {
    let told = &acted.action;
    let call = &told.call_id;
    let kept = view.after.actions.get(&(told.session, call.clone()));
    let Some(kept) = kept else { return Err(format!("was told of {call}, which is not kept")) };
    // The reply shortens a permit to the end of its grant.
    let as_told = match &told.state {
        ActionState::Allowed { permit } => kept.clone().limit_permit(permit.expires_at),
        _ => kept.clone(),
    };
    holds!(kept.revision > told.revision || as_told == *told, "{call} is kept otherwise than was told");
    holds!(acted.permit.is_none() || told.proposed_by.name == by, "{by} was given somebody else's permit");
    let seen = match what {
        CommandKind::StartAction { .. } => matches!(told.state, ActionState::Started { .. }),
        CommandKind::Report { outcome, .. } => match outcome {
            domain::Outcome::Done { .. } => matches!(told.state, ActionState::Done { .. }),
            domain::Outcome::Failed { .. } => matches!(told.state, ActionState::Failed { .. }),
            domain::Outcome::Unknown => matches!(told.state, ActionState::Unknown { .. }),
        },
        CommandKind::Propose { propose, .. } => told.call == propose.call && told.proposed_by.name == by,
        CommandKind::Decided { sleeps, .. } => !sleeps || !matches!(told.state, ActionState::Waiting { .. }),
        _ => false,
    };
    holds!(seen, "{what:?} is not to be seen in {:?}", told.state);
    Ok(())
}

fn session_is_kept(view: &View<'_>, told: &Session) -> Verdict {
    let Some(kept) = view.after.sessions.get(&told.id) else { return Err(format!("{} is not kept", told.id)) };
    holds!(kept.last_seq >= told.last_seq, "{} has fewer events than was told", told.id);
    holds!(kept.last_seq > told.last_seq || kept == told, "{} is kept otherwise than was told", told.id);
    holds!(told.ended.is_none() || kept.ended == told.ended, "{} ended otherwise than was told", told.id);
    Ok(())
}

/// Checks that the reply shows the effect of the command.
fn shows(what: &CommandKind, by: &str, question: &Interaction) -> Verdict {
    let (id, state) = (question.id, &question.state);
    let seen = match (what, state) {
        (CommandKind::Ask { ask, .. }, State::Pending(_)) => ask.question.title == question.question.title,
        (CommandKind::Answer { .. }, State::Pending(pending)) => pending.votes.iter().any(|vote| vote.by.name == by),
        (CommandKind::Answer { .. }, State::Resolved { resolution: Resolution::Answered { answer, .. }, .. }) => {
            answer.by.name == by
        }
        (CommandKind::Auto { .. }, State::Resolved { resolution, .. }) => resolution.status() == Status::AutoResolved,
        (CommandKind::Cancel { .. }, State::Resolved { resolution, .. }) => resolution.status() == Status::Cancelled,
        (CommandKind::Claim { .. }, State::Pending(pending)) => {
            pending.claim.as_ref().is_some_and(|claim| claim.by.name == by)
        }
        (CommandKind::Release { .. }, State::Pending(pending)) => pending.claim.is_none(),
        (
            CommandKind::Heartbeat { lease, .. },
            State::Resolved { delivery: Delivery::Processing { lease: held, .. }, .. },
        ) => lease == held,
        (CommandKind::Complete { .. }, State::Resolved { delivery, .. }) => {
            matches!(delivery, Delivery::Completed { .. })
        }
        (CommandKind::Fail { again, .. }, State::Resolved { delivery, .. }) => match delivery {
            Delivery::Failed { .. } => true,
            Delivery::Waiting { .. } => *again,
            _ => false,
        },
        (CommandKind::Expire { .. } | CommandKind::Look { .. }, _) => true,
        _ => false,
    };
    holds!(seen, "{what:?} is not to be seen in {state:?} of {id}");
    Ok(())
}

/// Checks that the asker gets the sealed values back complete while its lease is valid.
fn unsealed(view: &View<'_>, taken: &TakenAnswer) -> Verdict {
    let question = &taken.interaction;
    let (id, title) = (question.id, &question.question.title);
    let kept = view.after.questions.get(&id).and_then(Interaction::delivery);
    let held = kept.is_some_and(|delivery| delivery.is_held_by(taken.lease, view.now));
    if let Some(given) = &taken.resume_point {
        holds!(*given == resume_point(title), "{id} came back with another resume point");
    }
    let State::Resolved { resolution, .. } = &question.state else { return Err(format!("{id} was taken open")) };
    let by_person = match resolution {
        Resolution::Answered { answer, .. }
        | Resolution::AutoResolved { answer, source: AutoSource::AutoPolicy, .. }
            if answer.effect.carries_form() =>
        {
            Some(answer.by.name.as_str())
        }
        _ => None,
    };
    let wanted = by_person.filter(|_| question.question.kind == Kind::Secret).map(|by| secret(title, by));
    let right = taken.secrets == wanted || (!held && taken.secrets.is_none());
    holds!(right || (by_person.is_none() && taken.secrets.is_none()), "{id} came with the secrets {:?}", taken.secrets);
    Ok(())
}

fn refused(view: &View<'_>, error: &Error) -> Verdict {
    match error {
        Error::Refused(Refusal::AlreadyResolved(told)) => is_kept(view, told),
        Error::Refused(Refusal::TooLate(id) | Refusal::AlreadyVoted(id)) => {
            holds!(view.after.questions.contains_key(id), "was refused for {id}, which is not theirs to know of");
            Ok(())
        }
        Error::Refused(_) => Ok(()),
        other => Err(format!("was refused for a reason that is not its own: {other:?}")),
    }
}

/// Checks that a command still waits only if the awaited event has not happened.
fn asleep(view: &View<'_>, deed: &PerformedCommand) -> Verdict {
    match &deed.what {
        CommandKind::Look { id, .. } => {
            let status = view.after.questions.get(id).map(Interaction::status);
            holds!(status == Some(Status::Pending), "slept though {id} is {status:?}");
        }
        CommandKind::Deliveries { .. } => {
            let offered = |question: &&Interaction| {
                let session = &view.after.sessions[&question.origin.session];
                let held = session.paused.is_some() && session.ended.is_none();
                let waiting = matches!(question.delivery(), Some(Delivery::Waiting { .. }));
                let archived = view.after.archived.contains(&question.id);
                waiting && !held && !archived && question.origin.asked_by.name == deed.by()
            };
            let offered = view.after.questions.values().find(offered).map(|question| question.id);
            holds!(offered.is_none(), "slept though the answer to {offered:?} waits");
        }
        CommandKind::ReadSession { session, after, .. } => {
            let last = view.after.sessions.get(session).map_or(0, |session| session.last_seq);
            holds!(last <= *after, "slept though {session} has event {last}");
        }
        CommandKind::ReadProject { after, .. } => {
            let missed = view.after.log.last().filter(|(cursor, _)| cursor > after);
            holds!(missed.is_none(), "slept though the project has an event at {missed:?}");
        }
        CommandKind::Decided { session, call, .. } => {
            let known = view.after.actions.get(&(*session, call.clone()));
            let waits = known.is_some_and(|known| matches!(known.state, ActionState::Waiting { .. }));
            holds!(waits, "slept though {call} is decided: {known:?}");
        }
        _ => return Err("waits for nothing in particular".into()),
    }
    Ok(())
}
