//! Checks that a question ends by the answer of a person who may answer, or by its own fallback.

use std::collections::BTreeSet;

use domain::interaction::Pending;
use domain::{Answer, AutoSource, Effect, Fallback, Interaction, Kind, Resolution};
use serde_json::Value;

use super::{View, holds, questions};
use crate::simulation::command::CommandKind;
use crate::simulation::deeds::PerformedCommand;
use crate::simulation::world::Verdict;

/// Checks a question that was open before this step and ended in it.
pub(crate) fn check(view: &View<'_>, question: &Interaction, was: &Pending, resolution: &Resolution) -> Verdict {
    let id = question.id;
    match resolution {
        Resolution::Answered { answer, votes } => answered(view, question, was, (answer, votes)),
        Resolution::AutoResolved { answer, source: AutoSource::AutoPolicy, .. } => {
            let by =
                |deed: &PerformedCommand| matches!(deed.what, CommandKind::Auto { .. }) && deed.by() == answer.by.name;
            holds!(view.any(id, by), "no policy answered {id}");
            let late = question.question.deadline.is_some_and(|deadline| deadline <= view.now);
            holds!(!late || question.question.fallback == Some(Fallback::Hold), "a policy was late for {id}");
            Ok(())
        }
        Resolution::AutoResolved { answer, source: AutoSource::System, .. } => {
            timely(view, question)?;
            let given = (answer.effect, answer.options.clone(), answer.data.clone());
            let said = fallback(question);
            holds!(Some(&given) == said.as_ref(), "{id} fell back to {given:?} and said {said:?}");
            Ok(())
        }
        Resolution::Expired => {
            timely(view, question)?;
            holds!(question.question.fallback.is_none(), "{id} expired though it has a fallback");
            Ok(())
        }
        Resolution::Cancelled { by, .. } => {
            let withdrawn =
                view.any(id, |deed| matches!(deed.what, CommandKind::Cancel { .. }) && deed.by() == by.name);
            let note = view.after.sessions.get(&question.origin.session).and_then(|session| session.ended.as_ref());
            let ended = note.is_some_and(|(_, note)| note.by == *by && note.at == view.now);
            let reported = question.question.call_id.as_ref().is_some_and(|of| {
                let about = |what: &CommandKind| matches!(what, CommandKind::Report { call, .. } if call == of);
                question.question.kind == Kind::Choice && view.deeds.iter().any(|deed| about(&deed.what))
            });
            holds!(withdrawn || ended || reported, "nobody cancelled {id}");
            Ok(())
        }
    }
}

fn answered(view: &View<'_>, question: &Interaction, was: &Pending, (answer, votes): (&Answer, &[Answer])) -> Verdict {
    let id = question.id;
    let votes = if votes.is_empty() { std::slice::from_ref(answer) } else { votes };
    holds!(votes.last() == Some(answer), "{id} was resolved by another answer than the last");
    let fresh = questions::fresh_votes(question, &was.votes, votes)?;
    fresh.into_iter().try_for_each(|vote| questions::voted(view, question, vote))?;
    let same =
        |vote: &&Answer| (vote.effect, &vote.options, &vote.data) == (answer.effect, &answer.options, &answer.data);
    let agreeing: Vec<&Answer> = votes.iter().filter(same).collect();
    let alone = matches!(answer.effect, Effect::Reject | Effect::Retry | Effect::Terminate);
    for audience in question.question.audiences() {
        let counted: Vec<&&Answer> =
            agreeing.iter().filter(|vote| questions::invited(view, question, audience, &vote.by.name)).collect();
        holds!(alone || counted.len() >= audience.quorum as usize, "{id} was resolved without its quorum");
        if audience.distinct_groups && !alone {
            let groups: BTreeSet<&String> = counted.iter().flat_map(|vote| &vote.groups).collect();
            holds!(groups.len() >= audience.quorum as usize, "{id} was resolved by one group alone");
        }
    }
    let held = was.claim.as_ref().filter(|claim| claim.until > view.now && claim.by.name != answer.by.name);
    if let Some(claim) = held.filter(|_| !question.question.needs_several()) {
        let released = view.any(id, |deed| matches!(deed.what, CommandKind::Release { .. }));
        holds!(released, "{} answered {id}, which {} had claimed", answer.by.name, claim.by.name);
    }
    Ok(())
}

/// Checks that time ends a question only after its deadline, or earlier if a person expires it.
fn timely(view: &View<'_>, question: &Interaction) -> Verdict {
    let id = question.id;
    let due = view.fired && question.question.deadline.is_some_and(|deadline| deadline <= view.now);
    let expired = view.any(id, |deed| matches!(deed.what, CommandKind::Expire { .. }));
    holds!(due || expired, "{id} ended at {} and its deadline is {:?}", view.now, question.question.deadline);
    Ok(())
}

/// Answer that the fallback of a question gives at its deadline.
fn fallback(question: &Interaction) -> Option<(Effect, Vec<String>, Value)> {
    match question.question.fallback.as_ref()? {
        Fallback::Hold => None,
        Fallback::Deny => Some((Effect::Reject, Vec::new(), Value::Null)),
        Fallback::Value(value) => Some((Effect::Provide, Vec::new(), value.clone())),
        Fallback::Option(chosen) => {
            let effect = question.question.options.iter().find(|option| option.id == *chosen)?.effect;
            Some((effect, vec![chosen.clone()], Value::Null))
        }
    }
}
