//! What a person does about a step: has it tried again, passes over it, or counts it as done.

use domain::access::Right;
use domain::step::StepPhase;
use domain::{Actor, Caller, Kind, Problem, Refusal, Session, SessionId, Step, StepEnd, StepEnding, StepId, Timestamp};
use serde_json::Value;
use store::Topic;

use crate::work::Work;
use crate::{Engine, Error, Idempotency};

/// What a person does about a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepCommand {
    /// Try it again.
    Retry,
    /// Go on without it.
    Skip,
    /// Go on as if it had ended well, with this as its output; `null` where it has none.
    Approve(Value),
}

impl StepCommand {
    /// The word for it.
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
    /// Tries a failed step again, passes over one, or counts it as done.
    pub async fn control_step(
        &self,
        caller: &Caller,
        (id, step): (SessionId, Option<StepId>),
        command: StepCommand,
        reason: Option<String>,
        once: Option<Idempotency>,
    ) -> Result<Session, Error> {
        crate::control::checked("/reason", reason.as_deref())?;
        let scope = caller.scope;
        self.command(caller, once, move |work| {
            let session = work.session(&scope, id)?;
            let caller = work.caller()?;
            // An agent's key asks, and never answers: what becomes of a step that has failed, or has used up its limits, is for people.
            caller.require(Right::Steer)?;
            work.step_command(session, step, command.clone(), (&caller, reason.clone()))
        })
        .await
    }
}

impl Work<'_> {
    fn step_command(
        &mut self,
        session: Session,
        given: Option<StepId>,
        command: StepCommand,
        (caller, reason): (&Caller, Option<String>),
    ) -> Result<Session, Error> {
        let id = given.unwrap_or(session.step);
        let step = self.tx.step(&session.scope, id)?.filter(|step| step.session == session.id);
        let step = step.ok_or(Refusal::NotFound("step"))?;
        if step.id != session.step {
            let problem = Problem::new("/step", "is not the step that the session is at");
            return Err(Refusal::QuestionInvalid(vec![problem]).into());
        }
        if step.lease.is_none() {
            return Err(Refusal::NotHosted(session.id).into());
        }
        let failed = matches!(&step.phase, StepPhase::Ended { how: StepEnding::Failed | StepEnding::Rejected, .. });
        let why = reason.clone().unwrap_or_else(|| format!("a person said so: {}", command.name()));
        if let (true, StepCommand::Retry) = (step.alive(), &command) {
            return self.hurried(session, step);
        }
        if !step.alive() && !failed {
            return Err(Refusal::StepNotFailed.into());
        }
        let (session, step) = if step.alive() {
            session.alive()?;
            (session, step)
        } else {
            self.revived(session, step, (&caller.actor, &why))?
        };
        let end = match command {
            StepCommand::Retry => {
                let session = self.tried_again(session, &step, (self.now, true))?;
                self.saved(&session)?;
                return Ok(session);
            }
            StepCommand::Skip => StepEnd::because(StepEnding::Skipped, why),
            StepCommand::Approve(output) => StepEnd { how: StepEnding::Completed, output, reason: Some(why) },
        };
        self.passes_the_question(caller, &session, &step)?;
        self.step_decided(session, step, end)
    }

    /// A session that has failed goes on, for as long as everything is kept that people gave it in secret: what nobody knows any more cannot be
    /// hidden. It is handed to nobody either way.
    fn revived(&mut self, session: Session, step: Step, (by, why): (&Actor, &str)) -> Result<(Session, Step), Error> {
        let over = |at: Timestamp| at.saturating_add(self.settings.retention).unwrap_or(Timestamp::MAX);
        if session.ended.as_ref().is_some_and(|(_, note)| over(note.at) <= self.now) {
            session.alive()?;
        }
        let (mut session, happening) = session.revive(by, why)?;
        self.tx.sealed_retire(&session.scope, session.id, None)?;
        self.happened(&mut session, None, happening)?;
        Ok((session, Step { withheld_upto: Some(step.id), ..step }))
    }

    /// Refuses whoever could not have let the step run: where the question before it is open, was not answered with yes, or is still to be asked.
    fn passes_the_question(&mut self, caller: &Caller, session: &Session, step: &Step) -> Result<(), Error> {
        if self.let_run(session, step)?.is_some() {
            return Ok(());
        }
        let asked = step.before.map(|id| self.tx.interaction(&session.scope, id)).transpose()?.flatten();
        let audiences = match asked {
            Some(asked) => {
                asked.admit(caller)?;
                asked.question.audiences().to_vec()
            }
            None => {
                let flow = self.flow_of(session)?;
                let definition = step.name.as_deref().and_then(|name| flow.as_ref()?.step(name));
                let question = definition.and_then(|definition| definition.question.as_ref());
                let Some(question) = question.filter(|question| question.kind != Kind::Notice.name()) else {
                    return Ok(());
                };
                vec![question.audience.clone().unwrap_or_default()]
            }
        };
        let started = caller.actor.is_same_person(&session.started_by);
        if audiences.iter().any(|audience| audience.four_eyes && started) {
            return Err(Refusal::FourEyes.into());
        }
        if !audiences.iter().all(|audience| audience.includes(caller, started)) {
            return Err(Refusal::NotInAudience.into());
        }
        if audiences.iter().any(|audience| audience.quorum > 1) {
            let why = "passes over a question that needs several people: have them answer it";
            return Err(Refusal::QuestionInvalid(vec![Problem::new("/command", why)]).into());
        }
        Ok(())
    }

    /// A step that rests before its next attempt does not rest any longer.
    fn hurried(&mut self, session: Session, step: Step) -> Result<Session, Error> {
        let rests = step.lease.as_ref().is_some_and(|lease| lease.worker.is_none() && lease.trouble.is_some());
        if !rests {
            return Err(Refusal::StepNotFailed.into());
        }
        session.going_on()?;
        self.tx.step_save(&session.scope, &step.let_go(Some(self.now)))?;
        self.effects.topics.push(Topic::Steps);
        self.saved(&session)?;
        Ok(session)
    }

    /// A person says how a step ends, or has ended: what it asked is withdrawn, and what follows is what follows from that.
    fn step_decided(&mut self, mut session: Session, step: Step, end: StepEnd) -> Result<Session, Error> {
        let why = end.reason.clone().unwrap_or_default();
        let completes = end.how == StepEnding::Completed;
        let step = if step.alive() {
            self.cut_short(&session, step, &why)?
        } else {
            Step { phase: StepPhase::Running, ..step }
        };
        let step = self.passing(&session, step, end)?;
        if let (StepPhase::Ended { how: StepEnding::Failed, reason, .. }, true) = (&step.phase, completes) {
            let problem = Problem::new("/output", reason.clone().unwrap_or_default());
            return Err(Refusal::QuestionInvalid(vec![problem]).into());
        }
        self.tx.step_save(&session.scope, &step)?;
        self.withdraw_all(&mut session, &step, &why)?;
        let by = self.doer.actor.clone();
        self.happened(&mut session, None, step.told(&by))?;
        self.step_followed(session, step)
    }
}
