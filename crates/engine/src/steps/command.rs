//! Runs the commands of people on a step: retry, skip and approve.

use domain::access::Right;
use domain::step::StepPhase;
use domain::{Actor, Caller, Kind, Problem, Refusal, Session, SessionId, Step, StepEnd, StepEnding, StepId, Timestamp};
use serde_json::Value;
use store::Topic;

use crate::run::transaction::Work;
use crate::sessions;
use crate::steps;
use crate::{Engine, Error, Idempotency};

/// Command of a person on a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepCommand {
    /// Tries the step again.
    Retry,
    /// Continues the flow without the step.
    Skip,
    /// Ends the step as completed with this output; `null` if it has none.
    Approve(Value),
}

impl StepCommand {
    /// Name of the command in the API.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Retry => "retry_step",
            Self::Skip => "skip_step",
            Self::Approve(_) => "approve_step",
        }
    }
}

impl Engine {
    /// Retries a failed step, skips a step, or ends it as completed.
    pub async fn step_control(
        &self,
        caller: &Caller,
        (id, step): (SessionId, Option<StepId>),
        command: StepCommand,
        reason: Option<String>,
        idempotency: Option<Idempotency>,
    ) -> Result<Session, Error> {
        crate::sessions::control::check_reason("/reason", reason.as_deref())?;
        let scope = caller.scope;
        self.command(caller, idempotency, move |work| {
            let session = sessions::lock(work, &scope, id)?;
            let caller = work.caller()?;
            // An agent's key asks and never answers: people decide about a step that has failed or has used up its limits.
            caller.require(Right::Steer)?;
            run_command(work, session, step, command.clone(), (&caller, reason.clone()))
        })
        .await
    }
}

fn run_command(
    work: &mut Work<'_>,
    session: Session,
    given: Option<StepId>,
    command: StepCommand,
    (caller, reason): (&Caller, Option<String>),
) -> Result<Session, Error> {
    let id = given.unwrap_or(session.step);
    let step = work.tx.step(&session.scope, id)?.filter(|step| step.session == session.id);
    let step = step.ok_or(Refusal::NotFound("step"))?;
    if step.id != session.step {
        let problem = Problem::new("/step", "is not the current step of the session");
        return Err(Refusal::QuestionInvalid(vec![problem]).into());
    }
    if step.lease.is_none() {
        return Err(Refusal::NotHosted(session.id).into());
    }
    let failed = matches!(&step.phase, StepPhase::Ended { how: StepEnding::Failed | StepEnding::Rejected, .. });
    let why = reason.clone().unwrap_or_else(|| format!("a person sent `{}`", command.name()));
    if let (true, StepCommand::Retry) = (step.is_alive(), &command) {
        return run_now(work, session, step);
    }
    if !step.is_alive() && !failed {
        return Err(Refusal::StepNotFailed.into());
    }
    let (session, step) = if step.is_alive() {
        session.require_alive()?;
        (session, step)
    } else {
        revive(work, session, step, (&caller.actor, &why))?
    };
    let end = match command {
        StepCommand::Retry => {
            let now = work.now;
            let session = steps::retry(work, session, &step, now, true)?;
            sessions::save(work, &session)?;
            return Ok(session);
        }
        StepCommand::Skip => StepEnd::because(StepEnding::Skipped, why),
        StepCommand::Approve(output) => StepEnd { how: StepEnding::Completed, output, reason: Some(why) },
    };
    require_may_pass_question(work, caller, &session, &step)?;
    decide_step(work, session, step, end)
}

/// Revives a failed session, as long as the secrets that people gave it are still stored: secrets that are no longer known could not be redacted. The
/// revived session does not deliver these secrets to agents again.
fn revive(
    work: &mut Work<'_>,
    session: Session,
    step: Step,
    (by, why): (&Actor, &str),
) -> Result<(Session, Step), Error> {
    let over = |at: Timestamp| at.saturating_add(work.settings.retention).unwrap_or(Timestamp::MAX);
    if session.ended.as_ref().is_some_and(|(_, note)| over(note.at) <= work.now) {
        session.require_alive()?;
    }
    let (mut session, event_draft) = session.revive(by, why)?;
    work.tx.session_sealed_values_retire(&session.scope, session.id, None)?;
    work.record_event(&mut session, None, event_draft)?;
    Ok((session, Step { withheld_upto: Some(step.id), ..step }))
}

/// Refuses a caller who may not answer the question before the step, if that question is open, was not answered with approval, or is still to be
/// asked.
fn require_may_pass_question(
    work: &mut Work<'_>,
    caller: &Caller,
    session: &Session,
    step: &Step,
) -> Result<(), Error> {
    if steps::find_passed_question(work, session, step)?.is_some() {
        return Ok(());
    }
    let asked = step.before.map(|id| work.tx.interaction(&session.scope, id)).transpose()?.flatten();
    let audiences = if let Some(asked) = asked {
        asked.admit(caller)?;
        asked.question.audiences().to_vec()
    } else {
        let flow = steps::read_flow(work, session)?;
        let definition = step.name.as_deref().and_then(|name| flow.as_ref()?.step(name));
        let question = definition.and_then(|definition| definition.question.as_ref());
        let Some(question) = question.filter(|question| Kind::named(&question.kind) != Kind::Notice) else {
            return Ok(());
        };
        vec![question.audience.clone().unwrap_or_default()]
    };
    let started = caller.actor.is_same_person(&session.started_by);
    if audiences.iter().any(|audience| audience.four_eyes && started) {
        return Err(Refusal::FourEyes.into());
    }
    if !audiences.iter().all(|audience| audience.includes(caller, started)) {
        return Err(Refusal::NotInAudience.into());
    }
    if audiences.iter().any(|audience| audience.quorum > 1) {
        let why = "would skip a question that needs several people: have them answer it";
        return Err(Refusal::QuestionInvalid(vec![Problem::new("/command", why)]).into());
    }
    Ok(())
}

/// Ends the delay before the next attempt of a step.
fn run_now(work: &mut Work<'_>, session: Session, step: Step) -> Result<Session, Error> {
    let rests = step.lease.as_ref().is_some_and(|lease| lease.worker.is_none() && lease.trouble.is_some());
    if !rests {
        return Err(Refusal::StepNotFailed.into());
    }
    session.require_not_paused()?;
    work.tx.step_save(&session.scope, &step.release(Some(work.now)))?;
    work.effects.topics.push(Topic::Steps);
    sessions::save(work, &session)?;
    Ok(session)
}

/// Ends a step as a person decided, or replaces its end. Withdraws the open questions of the step, and continues the flow accordingly.
fn decide_step(work: &mut Work<'_>, mut session: Session, step: Step, end: StepEnd) -> Result<Session, Error> {
    let why = end.reason.clone().unwrap_or_default();
    let completes = end.how == StepEnding::Completed;
    let step = if step.is_alive() {
        steps::append_cancelled(work, &session, step, &why)?
    } else {
        Step { phase: StepPhase::Running, ..step }
    };
    let step = steps::end_with_output(work, &session, step, end)?;
    if let (StepPhase::Ended { how: StepEnding::Failed, reason, .. }, true) = (&step.phase, completes) {
        let problem = Problem::new("/output", reason.clone().unwrap_or_default());
        return Err(Refusal::QuestionInvalid(vec![problem]).into());
    }
    work.tx.step_save(&session.scope, &step)?;
    steps::withdraw_open(work, &mut session, &step, &why)?;
    let by = work.by().clone();
    work.record_event(&mut session, None, step.status_event(&by))?;
    steps::advance(work, session, step)
}
