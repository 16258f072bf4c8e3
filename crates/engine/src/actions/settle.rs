//! Applies the end of a question to the action that it is about, and asks people about actions whose outcome is unknown.

use domain::action::{ActionChange, is_same_apart_from_content, verdict_of};
use domain::{
    Action, ActionState, Actor, Call, Choice, Effect, Interaction, Kind, Permit, Problem, Question, Refusal,
    Resolution, Session, SignedDuration, State, Timestamp, Verdict,
};
use serde_json::Value;
use store::StoreError;

use crate::actions::propose::question_about;
use crate::interactions::open::QuestionTerms;
use crate::interactions::plan::AnswerPlan;
use crate::run::transaction::Work;
use crate::{Error, actions, interactions, steps};

/// Saves a change of an action, records its event and wakes the session's step.
pub(crate) fn save_change(
    work: &mut Work<'_>,
    session: &mut Session,
    (action, event_draft): ActionChange,
) -> Result<Action, Error> {
    work.tx.action_save(&action)?;
    work.wake_at(action.wake_at());
    let about = action.asked.last().copied();
    work.record_event(session, about, event_draft)?;
    if session.hosted {
        // The worker that reports may have lost its step lease to another worker, whose step sleeps until this change.
        steps::wake(work, session)?;
    }
    Ok(action)
}

/// Applies the end of a question to the action that waits for it.
pub(crate) fn settle(
    work: &mut Work<'_>,
    session: &mut Session,
    interaction: &Interaction,
    call: &str,
    plan: Option<&AnswerPlan>,
) -> Result<(), Error> {
    let Some(action) = work.tx.action(&interaction.scope, session.id, call)? else { return Ok(()) };
    let Some((by, effect, feedback)) = verdict_of(interaction) else { return Ok(()) };
    match &action.state {
        ActionState::Waiting { interaction: asked } if *asked == interaction.id => {}
        ActionState::Unknown { interaction: Some(asked), .. } if *asked == interaction.id => {
            return settle_unknown(work, session, action, interaction, plan);
        }
        ActionState::Allowed { .. }
        | ActionState::Waiting { .. }
        | ActionState::Denied
        | ActionState::Rejected { .. }
        | ActionState::Started { .. }
        | ActionState::Done { .. }
        | ActionState::Failed { .. }
        | ActionState::Unknown { .. } => return Ok(()),
    }
    match effect {
        Some(Effect::Approve) => release(work, session, action, (interaction, &by), plan, None),
        Some(Effect::Edit) => apply_edit(work, session, action, (interaction, &by), plan),
        None
        | Some(Effect::Retry | Effect::Reject | Effect::Terminate | Effect::Provide | Effect::Skip | Effect::Custom) => {
            save_change(work, session, action.reject(by, effect, feedback)?).map(drop)
        }
    }
}

fn release(
    work: &mut Work<'_>,
    session: &mut Session,
    action: Action,
    (interaction, by): (&Interaction, &Actor),
    plan: Option<&AnswerPlan>,
    edited: Option<Value>,
) -> Result<(), Error> {
    let arguments = edited.as_ref().or(action.edited.as_ref()).unwrap_or(&action.call.arguments);
    let permit = new_permit(work, &Call { tool: action.call.tool.clone(), arguments: arguments.clone() });
    let action = save_change(work, session, action.release(by, permit, edited)?)?;
    let remember = plan.and_then(|plan| plan.remember.as_ref());
    remember.map_or(Ok(()), |remember| actions::give_grant(work, session, &action, (interaction.id, by), remember))
}

/// New permit, valid for exactly this call.
pub(crate) fn new_permit(work: &Work<'_>, call: &Call) -> Permit {
    let expires_at = work.now.saturating_add(work.settings.permit).unwrap_or(Timestamp::MAX);
    Permit { id: work.ids.permit(work.now), digest: call.digest().to_string(), expires_at }
}

/// Applies edited arguments by the ruling that the plan has on them: the action is allowed, other people are asked, or the edit is refused.
fn apply_edit(
    work: &mut Work<'_>,
    session: &mut Session,
    action: Action,
    (interaction, by): (&Interaction, &Actor),
    plan: Option<&AnswerPlan>,
) -> Result<(), Error> {
    let State::Resolved { resolution: Resolution::Answered { answer, votes }, .. } = &interaction.state else {
        return Err(StoreError::Conflict.into());
    };
    let (Some(arguments), Some((judged, asking))) = (&answer.arguments, plan.and_then(|plan| plan.edit.clone())) else {
        return Err(StoreError::Conflict.into());
    };
    if judged.call.arguments != *arguments {
        return Err(StoreError::Conflict.into());
    }
    let agreeing: Vec<_> =
        if votes.is_empty() { vec![answer] } else { votes.iter().filter(|vote| vote.agrees_with(answer)).collect() };
    match judged.ruling.verdict {
        Verdict::Deny => Err(Refusal::EditDenied(Box::new(judged.ruling)).into()),
        Verdict::Ask if !judged.is_settled_by(&agreeing, &interaction.origin.started_by) => {
            if plan.is_some_and(|plan| plan.remember.is_some()) {
                let problem = Problem::new("/remember", "others still have to approve this edit");
                return Err(Refusal::AnswerInvalid(vec![problem]).into());
            }
            let context = edited_context(&interaction.question, arguments);
            let question = question_about(&judged, action.call_id.clone(), context)?;
            let asked_by = action.proposed_by.clone();
            let asked = interactions::open(work, session, asked_by, question, &asking)?;
            let change = action.ask_others(by, asked.id, arguments.clone(), judged.ruling)?;
            save_change(work, session, change).map(drop)
        }
        Verdict::Allow | Verdict::Ask => {
            release(work, session, action, (interaction, by), plan, Some(arguments.clone()))
        }
    }
}

/// Applies a person's answer about an action with an unknown outcome: a new permit to run it again, or the outcome that the person states.
fn settle_unknown(
    work: &mut Work<'_>,
    session: &mut Session,
    action: Action,
    interaction: &Interaction,
    plan: Option<&AnswerPlan>,
) -> Result<(), Error> {
    let Some((by, effect, feedback)) = verdict_of(interaction) else { return Ok(()) };
    if effect == Some(Effect::Approve) {
        return release(work, session, action, (interaction, &by), plan, None);
    }
    save_change(work, session, action.recount(&by, effect, feedback)?).map(drop)
}

/// Opens a question about an action with an unknown outcome, as long as its session and step are alive.
pub(crate) fn ask_about_outcome(work: &mut Work<'_>, session: &mut Session, action: Action) -> Result<Action, Error> {
    if !matches!(action.state, ActionState::Unknown { interaction: None, .. }) || session.require_alive().is_err() {
        return Ok(action);
    }
    if !steps::is_step_alive(work, session, &action)? {
        // No step is left that could continue with the answer.
        return Ok(action);
    }
    // The audience that had to approve the action also decides whether it runs again.
    let granted = match action.grant {
        Some(grant) => work.tx.grant(&session.scope, grant)?.map(|grant| grant.interaction),
        None => None,
    };
    let before = match action.asked.last().copied().or(granted) {
        Some(asked) => work.tx.interaction(&session.scope, asked)?,
        None => None,
    };
    let audiences = before.map(|before| before.question.audiences().to_vec()).unwrap_or_default();
    let question = outcome_question(&action).asked_of(audiences);
    let question = question.admit().map_err(Refusal::QuestionInvalid)?;
    let asking = QuestionTerms {
        time: read_time_for_outcome(work, session, &action, &question.kind)?,
        traceparent: None,
        within_budget: false,
    };
    let asked = match interactions::open(work, session, action.proposed_by.clone(), question, &asking) {
        // The action is shown as unknown, without a question. A refusal would also roll back the lapse of its lease, and the timers would retry it
        // again and again.
        Err(Error::Refused(Refusal::TooManyOpen { .. })) => return Ok(action),
        asked => asked?,
    };
    let action = action.ask_about_outcome(asked.id);
    work.tx.action_save(&action)?;
    Ok(action)
}

/// Time that people have to answer a question about an unknown outcome: the usual time for a question of this kind in this session.
fn read_time_for_outcome(
    work: &mut Work<'_>,
    session: &Session,
    action: &Action,
    kind: &Kind,
) -> Result<Option<SignedDuration>, Error> {
    let configured = work.settings.deadlines.get(kind.name()).copied();
    if configured.is_some() || !action.hosted {
        return Ok(configured);
    }
    Ok(interactions::ask::read_entry_point(&mut *work.tx, &session.scope, session.id)?.time_to_answer(kind))
}

/// Builds the question about an action that was started and whose outcome was never reported.
fn outcome_question(action: &Action) -> Question {
    let mut again = Choice::new("run_again", "Run it again", Effect::Approve);
    again.dangerous = true;
    Question {
        message: Some(
            "It was started, and the agent never reported the outcome. It may have run, fully or partly.".into(),
        ),
        call: Some(action.effective()),
        options: vec![
            Choice::new("it_ran", "It ran", Effect::Provide),
            Choice::new("it_failed", "It did not run, or failed", Effect::Reject),
            again,
            Choice::new("leave", "Leave it unknown", Effect::Skip),
        ],
        call_id: Some(action.call_id.clone()),
        ..Question::plain(Kind::Choice, format!("What happened to {}?", action.call.tool))
    }
}

/// Context for the question about an edited call. Its field `before` is the current text of the file that the call overwrites. It is removed if the
/// edit changes any argument except the new text, because the call may then write to another file.
fn edited_context(question: &Question, edited: &Value) -> Value {
    let mut context = question.context.clone();
    let there = question.call.as_ref().is_some_and(|call| is_same_apart_from_content(&call.arguments, edited));
    if !there && let Some(fields) = context.as_object_mut() {
        fields.remove("before");
    }
    context
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn previous_file_text_is_shown_only_for_the_same_path() {
        let check = |edited: Value, expected: Value| {
            let arguments = json!({ "path": "a", "content": "new" });
            let call = Some(Call { tool: "write_file".into(), arguments });
            let context = json!({ "before": "old", "why": "so" });
            let question = Question { call, context, ..Question::plain(Kind::Approval, "Write?".into()) };
            assert_eq!(edited_context(&question, &edited), expected, "{edited}");
        };
        check(json!({ "path": "a", "content": "newer" }), json!({ "before": "old", "why": "so" }));
        check(json!({ "path": "b", "content": "new" }), json!({ "why": "so" }));
        check(json!({ "content": "new" }), json!({ "why": "so" }));
    }
}
