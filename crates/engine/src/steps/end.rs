//! Ends steps: the session continues with the next step or ends, and a failed step is tried again or skipped.

use domain::flow::{FlowStep, MOST_RUNS, Next, StepWay};
use domain::session::Note;
use domain::step::{Revision, StepPhase};
use domain::{
    Action, AnsweredBy, Command, DefinitionKind, FlowVersion, InteractionId, Kind, Refusal, Session, State, Step,
    StepEnd, StepEnding, StepId, Timestamp, template,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use store::{StoreError, Topic};

use crate::actions;
use crate::interactions;
use crate::run::pages::Pages;
use crate::run::transaction::{Originator, Work};
use crate::sessions;
use crate::steps;
use crate::steps::journal::Journal;
use crate::steps::lease::{StepClaim, later};
use crate::{Engine, Error};

impl Engine {
    /// Ends a step with all consequences. Returns `None` if others have journalled something since.
    pub async fn step_end(&self, claim: &StepClaim, journal: Journal, end: StepEnd) -> Result<Option<()>, Error> {
        let claim = claim.clone();
        self.transact_as(Originator::worker(&claim.agent), move |work| {
            let (mut session, step) = steps::lock_claimed(work, &claim)?;
            let Some(step) = steps::append_journal(work, &mut session, step, &journal)? else { return Ok(None) };
            finish(work, session, step, end.clone())?;
            Ok(Some(()))
        })
        .await
    }
}

/// Ends a step and continues the session.
pub(crate) fn finish(work: &mut Work<'_>, mut session: Session, step: Step, end: StepEnd) -> Result<Session, Error> {
    let why = end.reason.clone().unwrap_or_else(|| "the step that asked has ended".into());
    let end = if end.how == StepEnding::SentBack && find_previous_work(work, &session, &step)?.is_none() {
        // No earlier work exists that could be done again.
        StepEnd { how: StepEnding::Rejected, ..end }
    } else {
        end
    };
    let step = end_with_output(work, &session, step, end)?;
    work.tx.step_save(&session.scope, &step)?;
    withdraw_open(work, &mut session, &step, &why)?;
    let agent = work.by().clone();
    work.record_event(&mut session, None, step.status_event(&agent))?;
    advance(work, session, step)
}

pub(crate) fn advance(work: &mut Work<'_>, session: Session, step: Step) -> Result<Session, Error> {
    let StepPhase::Ended { how, reason, .. } = &step.phase else { return Ok(session) };
    let way = match how {
        StepEnding::Completed => StepWay::Succeeded,
        StepEnding::Failed => StepWay::Failed,
        StepEnding::Rejected => StepWay::Rejected,
        StepEnding::Skipped => StepWay::Skipped,
        StepEnding::SentBack => return redo_previous_work(work, session, &step),
        StepEnding::Cancelled => return Ok(session),
    };
    let reason = reason.clone();
    let session = match read_flow(work, &session)? {
        Some(flow) => continue_flow(work, session, &flow, step, way)?,
        None if way == StepWay::Failed || way == StepWay::Rejected => {
            end_session(work, session, Command::Fail, reason)?
        }
        None => end_session(work, session, Command::Complete, reason)?,
    };
    sessions::save(work, &session)?;
    Ok(session)
}

fn continue_flow(
    work: &mut Work<'_>,
    session: Session,
    flow: &FlowVersion,
    step: Step,
    way: StepWay,
) -> Result<Session, Error> {
    let name = step.name.clone().unwrap_or_default();
    let definition = flow.step(&name);
    if let Some(definition) =
        definition.filter(|definition| way == StepWay::Failed && definition.may_retry(step.attempt))
        && may_retry(work, &session, &step)?
    {
        let due = later(work.now, definition.delay_before(step.attempt + 1));
        return retry(work, session, &step, due, false);
    }
    let ran = u32::try_from(work.tx.steps(&session.scope, session.id)?.len()).unwrap_or(u32::MAX);
    match flow.next_after(&name, way, ran) {
        Next::Step(next) => {
            let next = next.clone();
            let fresh = Step { shared: step.shared.clone(), ..new_step(work, &session, work.now) };
            enter_step(work, session, (&next, &step), fresh)
        }
        Next::End => end_session(work, session, Command::Complete, None),
        Next::Failed(why) => {
            let StepPhase::Ended { reason, .. } = &step.phase else { return Ok(session) };
            let why = reason.as_ref().map_or_else(|| why.clone(), |reason| format!("{why}: {reason}"));
            end_session(work, session, Command::Fail, Some(why))
        }
    }
}

/// Ends a step and computes the values that it passes on. A completed step whose values cannot be computed fails instead.
pub(crate) fn end_with_output(work: &mut Work<'_>, session: &Session, step: Step, end: StepEnd) -> Result<Step, Error> {
    // A step that a person approved without an output has no values to pass on.
    if end.how != StepEnding::Completed || end.output.is_null() {
        return Ok(step.end(end, work.now));
    }
    let flow = read_flow(work, session)?;
    let definition = step.name.as_deref().and_then(|name| flow.as_ref()?.step(name));
    match definition
        .map(|definition| collect_passed_values(work, session, definition, (&step, &end.output)))
        .transpose()?
    {
        Some(Err(why)) => {
            let end = StepEnd { how: StepEnding::Failed, output: end.output, reason: Some(why) };
            Ok(step.end(end, work.now))
        }
        Some(Ok(shared)) => Ok(Step { shared, ..step }.end(end, work.now)),
        None => Ok(step.end(end, work.now)),
    }
}

/// Computes the values that a step passes on to later steps, or returns why this fails.
fn collect_passed_values(
    work: &mut Work<'_>,
    session: &Session,
    definition: &FlowStep,
    (step, output): (&Step, &Value),
) -> Result<Result<Value, String>, Error> {
    if definition.pass.is_empty() {
        return Ok(Ok(step.shared.clone()));
    }
    let (scope, id) = (session.scope, session.id);
    let input = work.tx.session_input(&scope, id)?.unwrap_or_default().input;
    let steps = work.tx.steps(&scope, id)?;
    let mut values = values(&input, &step.shared, &steps);
    values["output"] = output.clone();
    let mut shared = step.shared.as_object().cloned().unwrap_or_default();
    for (name, template) in &definition.pass {
        match template::fill(template, &values) {
            Ok(filled) => drop(shared.insert(name.clone(), filled)),
            Err(error) => return Ok(Err(format!("`pass.{name}`: {error}"))),
        }
    }
    Ok(Ok(Value::Object(shared)))
}

/// Creates a step that a worker may run from `due` on.
fn new_step(work: &Work<'_>, session: &Session, due: Timestamp) -> Step {
    Step::hosted(work.ids.step_after(session.step, work.now), session.id, work.now, due)
}

/// Begins a step of the flow. Messages to the previous step that no model has read are passed on to it.
fn enter_step(
    work: &mut Work<'_>,
    mut session: Session,
    (definition, before): (&FlowStep, &Step),
    fresh: Step,
) -> Result<Session, Error> {
    let agents = work.tx.session_input(&session.scope, session.id)?.unwrap_or_default().agents;
    let mut step = Step {
        agent: definition.agent.clone(),
        agent_version: agents.get(&definition.name).cloned(),
        name: Some(definition.name.clone()),
        withheld_upto: before.withheld_upto,
        ..fresh
    };
    work.tx.step_insert(&session.scope, &step)?;
    let unheard = steps::read_unheard_messages(work, &session, before)?;
    if !unheard.is_empty() {
        for said in unheard {
            step = steps::append_input(work, &session, step, said)?;
        }
        work.tx.step_save(&session.scope, &step)?;
    }
    session.step = step.id;
    steps::report_trouble(work, &mut session, &step)?;
    work.effects.topics.push(Topic::Steps);
    Ok(session)
}

/// Whether a failed step is retried automatically. It is not if people did its work, or if the question before it kept it from running: both are
/// final.
fn may_retry(work: &mut Work<'_>, session: &Session, step: &Step) -> Result<bool, Error> {
    Ok(step.agent.is_some() && (step.before.is_none() || find_passed_question(work, session, step)?.is_some()))
}

/// Begins the next attempt of a step, due at the given time. The attempt continues from the state of the previous one.
pub(crate) fn retry(
    work: &mut Work<'_>,
    mut session: Session,
    step: &Step,
    due: Timestamp,
    after_end: bool,
) -> Result<Session, Error> {
    // In a step without an agent, the answer of people is the work: they are asked again.
    let before = if step.agent.is_some() { find_passed_question(work, &session, step)? } else { None };
    let mut fresh = Step {
        agent: step.agent.clone(),
        agent_version: step.agent_version.clone(),
        name: step.name.clone(),
        attempt: step.attempt + 1,
        shared: step.shared.clone(),
        before,
        revision: step.revision.clone(),
        withheld_upto: step.withheld_upto,
        ..new_step(work, &session, due)
    };
    work.tx.step_insert(&session.scope, &fresh)?;
    session.step = fresh.id;
    let why = if let StepPhase::Ended { reason: Some(reason), .. } = &step.phase {
        reason.clone()
    } else {
        "the previous attempt failed without a reason".to_owned()
    };
    fresh = steps::copy_journal(work, &session, step, fresh, &why, after_end)?;
    if let Some(lease) = fresh.lease.as_mut().filter(|_| due > work.now) {
        lease.trouble = Some(why);
    }
    work.tx.step_save(&session.scope, &fresh)?;
    steps::report_trouble(work, &mut session, &fresh)?;
    work.effects.topics.push(Topic::Steps);
    Ok(session)
}

/// Whether the step of an action continues, in this attempt or a later one. An action of a foreign agent has no hosted step.
pub(crate) fn is_step_alive(work: &mut Work<'_>, session: &Session, action: &Action) -> Result<bool, Error> {
    let Some(of) = action.step else { return Ok(true) };
    if of == session.step {
        return Ok(work.tx.step(&session.scope, of)?.is_some_and(|step| step.is_alive()));
    }
    let steps = work.tx.steps(&session.scope, session.id)?;
    let mut later = steps.iter().rev().skip_while(|step| step.id > session.step);
    let Some(last) = later.next().filter(|last| last.is_alive()) else { return Ok(false) };
    let mut attempt = last;
    while attempt.attempt > 1 {
        let Some(before) = later.next() else { break };
        if before.id == of {
            return Ok(true);
        }
        attempt = before;
    }
    Ok(false)
}

/// Returns the question before a step if it lets the step run. The question is asked once for all attempts.
pub(crate) fn find_passed_question(
    work: &mut Work<'_>,
    session: &Session,
    step: &Step,
) -> Result<Option<InteractionId>, Error> {
    let Some(id) = step.before else { return Ok(None) };
    let Some(asked) = work.tx.interaction(&session.scope, id)? else { return Ok(None) };
    let answer = match &asked.state {
        State::Resolved { resolution, .. } => resolution.answer(),
        State::Pending(_) => None,
    };
    let goes_on = answer.is_some_and(|answer| answer.effect.lets_step_run());
    Ok((goes_on || asked.question.kind == Kind::Notice).then_some(id))
}

/// Returns the last completed work before a step, which is the work that people saw when they were asked before the step.
fn find_previous_work(work: &mut Work<'_>, session: &Session, step: &Step) -> Result<Option<(FlowStep, Step)>, Error> {
    let Some(flow) = read_flow(work, session)? else { return Ok(None) };
    let worked = |done: &Step| {
        let definition = done.name.as_deref().and_then(|name| flow.step(name))?;
        let asked = definition.question.as_ref().is_some_and(|question| Kind::named(&question.kind) != Kind::Notice);
        (definition.agent.is_some() || asked).then(|| definition.clone())
    };
    let steps = work.tx.steps(&session.scope, session.id)?;
    let mut done = steps.into_iter().rev().filter(|done| {
        let completed = matches!(&done.phase, StepPhase::Ended { how: StepEnding::Completed, .. });
        completed && done.id < step.id && done.name != step.name
    });
    Ok(done.find_map(|done| worked(&done).map(|definition| (definition, done))))
}

/// Answer that sent a step back, which is the output of the step.
#[derive(Deserialize)]
#[serde(default)]
struct SentBackAnswer {
    by: AnsweredBy,
    feedback: Option<String>,
}

impl Default for SentBackAnswer {
    fn default() -> Self {
        Self { by: AnsweredBy::System, feedback: None }
    }
}

/// Repeats the work before a step, with the feedback of the people who sent it back.
fn redo_previous_work(work: &mut Work<'_>, session: Session, step: &Step) -> Result<Session, Error> {
    let StepPhase::Ended { output, reason, .. } = &step.phase else { return Ok(session) };
    let answer = SentBackAnswer::deserialize(output).unwrap_or_default();
    let ran = u32::try_from(work.tx.steps(&session.scope, session.id)?.len()).unwrap_or(u32::MAX);
    let session = match find_previous_work(work, &session, step)? {
        Some((definition, done)) if ran < MOST_RUNS => {
            let StepPhase::Ended { output, .. } = &done.phase else { return Ok(session) };
            let revision = Revision {
                by: answer.by,
                feedback: answer.feedback,
                asked_before: step.name.clone().unwrap_or_default(),
                output: output.clone(),
            };
            // In a step without an agent, the answer of people is the work: they are asked again.
            let before = if definition.agent.is_some() { find_passed_question(work, &session, &done)? } else { None };
            let (shared, revision) = (step.shared.clone(), Some(revision));
            let fresh = Step { shared, before, revision, ..new_step(work, &session, work.now) };
            enter_step(work, session, (&definition, step), fresh)?
        }
        Some(_) => {
            let why = format!("this session has run {MOST_RUNS} steps: it was sent back too often");
            end_session(work, session, Command::Fail, Some(why))?
        }
        None => end_session(work, session, Command::Fail, reason.clone())?,
    };
    sessions::save(work, &session)?;
    Ok(session)
}

/// Returns the flow that a session follows, in the version with which it was opened.
pub(crate) fn read_flow(work: &mut Work<'_>, session: &Session) -> Result<Option<FlowVersion>, Error> {
    let (Some(name), Some(version)) = (&session.head.flow, &session.head.flow_version) else { return Ok(None) };
    let found = work.tx.definition(&session.scope, DefinitionKind::Flow, name, version)?;
    let found = found.ok_or(Refusal::NotFound("flow"))?;
    serde_json::from_value(found.body).map(Some).map_err(|error| StoreError::Corrupt(error.to_string()).into())
}

fn end_session(
    work: &mut Work<'_>,
    session: Session,
    command: Command,
    reason: Option<String>,
) -> Result<Session, Error> {
    let note = Note { by: work.by().clone(), at: work.now, reason };
    sessions::apply_control(work, session, command, note)
}

/// Withdraws the open questions of a step that has ended, because no agent waits for their answers. Notices stay open.
pub(crate) fn withdraw_open(work: &mut Work<'_>, session: &mut Session, step: &Step, why: &str) -> Result<(), Error> {
    for id in work.tx.open_interactions(&session.scope, session.id)? {
        let asked = work.tx.interaction(&session.scope, id)?;
        if asked.is_some_and(|asked| asked.origin.step == step.id && asked.question.kind != Kind::Notice) {
            interactions::withdraw(work, session, id, why)?;
        }
    }
    revoke_unstarted_actions(work, session, Some(step.id), why)?;
    steps::cancel_waiting_deliveries(work, session, Some(step.id), why)
}

/// Revokes allowed actions that were not started, of one step or of all hosted steps: no step is left to run them.
pub(crate) fn revoke_unstarted_actions(
    work: &mut Work<'_>,
    session: &mut Session,
    step: Option<StepId>,
    why: &str,
) -> Result<(), Error> {
    const BATCH: u32 = 200;
    let message = format!("its step ended before it started: {why}");
    let mut pages = Pages::new(BATCH, |action: &Action| action.call_id.clone());
    while let Some(batch) = pages.next(|page| {
        let after = page.after.as_deref().unwrap_or_default();
        work.tx.actions(&session.scope, session.id, after, page.limit)
    })? {
        for action in batch.into_iter().filter(|action| step.map_or(action.hosted, |step| action.step == Some(step))) {
            if let Some(left) = action.abandon(&message) {
                actions::save_change(work, session, left)?;
            }
        }
    }
    Ok(())
}

/// Values that the templates of a flow can use, except the answer to the question before a step.
#[must_use]
pub fn values(input: &Value, shared: &Value, steps: &[Step]) -> Value {
    let mut ended: Map<String, Value> = Map::new();
    for step in steps {
        let (Some(name), StepPhase::Ended { how, output, .. }) = (&step.name, &step.phase) else { continue };
        let place = match how {
            StepEnding::Completed => "output",
            StepEnding::Rejected => "rejection",
            StepEnding::Failed | StepEnding::SentBack | StepEnding::Skipped | StepEnding::Cancelled => continue,
        };
        let known = ended.entry(name.clone()).or_insert_with(|| json!({}));
        if let Some(known) = known.as_object_mut() {
            // A completed run removes an earlier rejection of the step. A rejection keeps the earlier output.
            known.remove("rejection");
            known.insert(place.to_owned(), output.clone());
        }
    }
    let shared = if shared.is_null() { json!({}) } else { shared.clone() };
    json!({ "input": input, "shared": shared, "steps": ended })
}
