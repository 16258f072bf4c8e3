//! Compares the runs of tools with the actions that were allowed.

use std::collections::BTreeMap;

use domain::{Action, ActionState, Answer, Effect, Interaction, Kind, State, Verdict};
use serde_json::Value;

use crate::simulation::play::Deed;
use crate::simulation::stored_state::StoredState;

/// Checks, before a tool runs, that its action was started and that a person or the policy allowed exactly these
/// arguments.
pub(crate) fn may_run(stored_state: &StoredState, deed: &Deed) -> Result<(), String> {
    let proposals = stored_state.sessions.values().flat_map(|held| &held.proposals);
    let of_it = |proposal: &&Action| {
        let call = proposal.effective();
        call.tool == deed.tool && call.arguments == deed.arguments
    };
    let Some(proposal) = proposals.clone().find(of_it) else { return Err(format!("{deed:?} was never proposed")) };
    if !matches!(proposal.state, ActionState::Started { .. }) {
        return Err(format!("{deed:?} runs without a start: {:?}", proposal.state));
    }
    allowed(stored_state, proposal)
}

/// Whether a person or the policy allowed an action with the arguments that it would run with.
fn allowed(stored_state: &StoredState, proposal: &Action) -> Result<(), String> {
    match proposal.ruling.verdict {
        Verdict::Deny => Err(format!("{} is denied", proposal.call_id)),
        Verdict::Allow => Ok(()),
        Verdict::Ask if proposal.grant.is_some() => Ok(()),
        Verdict::Ask => {
            let agreed =
                asked_about(stored_state, proposal).any(|(question, answer)| agrees(question, answer, proposal));
            if agreed { Ok(()) } else { Err(format!("nobody approved {proposal:?}")) }
        }
    }
}

fn agrees(question: &Interaction, answer: &Answer, proposal: &Action) -> bool {
    let wanted = proposal.effective();
    match answer.effect {
        Effect::Approve => question.question.call.as_ref() == Some(&wanted),
        Effect::Edit => answer.arguments.as_ref() == Some(&wanted.arguments),
        Effect::Retry | Effect::Reject | Effect::Terminate | Effect::Provide | Effect::Skip | Effect::Custom => false,
    }
}

/// Answers to the questions about an action.
fn asked_about<'a>(
    stored_state: &'a StoredState,
    proposal: &'a Action,
) -> impl Iterator<Item = (&'a Interaction, &'a Answer)> {
    let questions = stored_state.questions.values().filter(|question| {
        question.origin.session == proposal.session && question.question.call_id.as_ref() == Some(&proposal.call_id)
    });
    questions.filter_map(|question| match &question.state {
        State::Resolved { resolution, .. } => resolution.answer().map(|answer| (question, answer)),
        State::Pending(_) => None,
    })
}

/// Checks that no action ran more often than allowed, and that no rejected or denied action ran.
pub(crate) fn counted(stored_state: &StoredState, ran: &[Deed]) -> Result<(), String> {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for deed in ran {
        *times.entry(key(&deed.tool, &deed.arguments)).or_default() += 1;
    }
    for proposal in stored_state.sessions.values().flat_map(|held| &held.proposals) {
        let tool = &proposal.call.tool;
        let count = |arguments: &Value| times.get(&key(tool, arguments)).copied().unwrap_or_default();
        let call = proposal.effective();
        let again = asked_about(stored_state, proposal)
            .filter(|(question, answer)| question.question.kind == Kind::Choice && answer.effect == Effect::Approve);
        let most = 1 + again.count();
        if count(&call.arguments) > most && !proposal.repeatable {
            return Err(format!("{} ran {} times, and may {most}", proposal.call_id, count(&call.arguments)));
        }
        if proposal.edited.is_some() && count(&proposal.call.arguments) > 0 {
            return Err(format!("{} ran with the proposed arguments although it was edited", proposal.call_id));
        }
        let refused = matches!(proposal.state, ActionState::Rejected { .. } | ActionState::Denied);
        if refused && count(&call.arguments) > 0 {
            return Err(format!("{} ran, and was refused: {:?}", proposal.call_id, proposal.state));
        }
    }
    Ok(())
}

fn key(tool: &str, arguments: &Value) -> String {
    format!("{tool} {arguments}")
}
