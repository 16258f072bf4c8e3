//! Compares the runs of tools with the actions that were allowed.

use std::collections::BTreeMap;

use domain::{Action, ActionState, Answer, Effect, Interaction, Kind, State, Verdict};
use serde_json::Value;

use crate::simulation::play::RecordedRun;
use crate::simulation::stored_state::StoredState;

/// Checks, before a tool runs, that its action was started and that a person or the policy allowed exactly these
/// arguments.
pub(crate) fn may_run(stored_state: &StoredState, deed: &RecordedRun) -> Result<(), String> {
    let actions = stored_state.sessions.values().flat_map(|held| &held.actions);
    let of_it = |action: &&Action| {
        let call = action.effective();
        call.tool == deed.tool && call.arguments == deed.arguments
    };
    let Some(action) = actions.clone().find(of_it) else { return Err(format!("{deed:?} was never proposed")) };
    if !matches!(action.state, ActionState::Started { .. }) {
        return Err(format!("{deed:?} runs without a start: {:?}", action.state));
    }
    allowed(stored_state, action)
}

/// Whether a person or the policy allowed an action with the arguments that it would run with.
fn allowed(stored_state: &StoredState, action: &Action) -> Result<(), String> {
    match action.ruling.verdict {
        Verdict::Deny => Err(format!("{} is denied", action.call_id)),
        Verdict::Allow => Ok(()),
        Verdict::Ask if action.grant.is_some() => Ok(()),
        Verdict::Ask => {
            let agreed = asked_about(stored_state, action).any(|(question, answer)| agrees(question, answer, action));
            if agreed { Ok(()) } else { Err(format!("nobody approved {action:?}")) }
        }
    }
}

fn agrees(question: &Interaction, answer: &Answer, action: &Action) -> bool {
    let wanted = action.effective();
    match answer.effect {
        Effect::Approve => question.question.call.as_ref() == Some(&wanted),
        Effect::Edit => answer.arguments.as_ref() == Some(&wanted.arguments),
        Effect::Retry | Effect::Reject | Effect::Terminate | Effect::Provide | Effect::Skip | Effect::Custom => false,
    }
}

/// Answers to the questions about an action.
fn asked_about<'a>(
    stored_state: &'a StoredState,
    action: &'a Action,
) -> impl Iterator<Item = (&'a Interaction, &'a Answer)> {
    let questions = stored_state.questions.values().filter(|question| {
        question.origin.session == action.session && question.question.call_id.as_ref() == Some(&action.call_id)
    });
    questions.filter_map(|question| match &question.state {
        State::Resolved { resolution, .. } => resolution.answer().map(|answer| (question, answer)),
        State::Pending(_) => None,
    })
}

/// Checks that no action ran more often than allowed, and that no rejected or denied action ran.
pub(crate) fn counted(stored_state: &StoredState, ran: &[RecordedRun]) -> Result<(), String> {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for deed in ran {
        *times.entry(key(&deed.tool, &deed.arguments)).or_default() += 1;
    }
    for action in stored_state.sessions.values().flat_map(|held| &held.actions) {
        let tool = &action.call.tool;
        let count = |arguments: &Value| times.get(&key(tool, arguments)).copied().unwrap_or_default();
        let call = action.effective();
        let again = asked_about(stored_state, action)
            .filter(|(question, answer)| question.question.kind == Kind::Choice && answer.effect == Effect::Approve);
        let most = 1 + again.count();
        if count(&call.arguments) > most && !action.repeatable {
            return Err(format!("{} ran {} times, and may {most}", action.call_id, count(&call.arguments)));
        }
        if action.edited.is_some() && count(&action.call.arguments) > 0 {
            return Err(format!("{} ran with the proposed arguments although it was edited", action.call_id));
        }
        let refused = matches!(action.state, ActionState::Rejected { .. } | ActionState::Denied);
        if refused && count(&call.arguments) > 0 {
            return Err(format!("{} ran, and was refused: {:?}", action.call_id, action.state));
        }
    }
    Ok(())
}

fn key(tool: &str, arguments: &Value) -> String {
    format!("{tool} {arguments}")
}
