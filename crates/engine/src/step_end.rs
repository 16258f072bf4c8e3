//! A step ends, and its session goes on to the next one, or ends with it; a failed step is tried again or passed over.

use domain::flow::{FlowStep, MOST_RUNS, Next, StepWay};
use domain::session::Note;
use domain::step::{Revision, StepPhase};
use domain::{
    Actor, Caller, Command, DefinitionKind, Effect, FlowVersion, InteractionId, Kind, Problem, Refusal, Session,
    SessionId, State, Step, StepEnd, StepEnding, StepId, Timestamp, template,
};
use serde_json::{Map, Value, json};
use store::{StoreError, Topic};

use crate::drive::{Claim, later};
use crate::journal::Journal;
use crate::work::{Doer, Work};
use crate::{Engine, Error, Idempotency};

/// What a person does about a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepCommand {
    /// Try it again.
    Retry,
    /// Go on without it.
    Skip,
    /// Go on as if it had ended well.
    Approve,
}

impl Engine {
    /// Ends a step, with everything that follows from it; `None` if others journalled something in between.
    pub async fn step_end(&self, claim: &Claim, journal: Journal, end: StepEnd) -> Result<Option<()>, Error> {
        let claim = claim.clone();
        self.transact_as(Doer::worker(&claim.agent), move |work| {
            let (mut session, step) = work.fenced(&claim)?;
            let Some(step) = work.journalled(&mut session, step, &journal)? else { return Ok(None) };
            work.step_over(session, step, end.clone())?;
            Ok(Some(()))
        })
        .await
    }

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
        let caller_then = caller.clone();
        self.command(caller, once, move |work| {
            let session = work.session(&caller_then.scope, id)?;
            Self::steers(&caller_then, &session)?;
            work.step_command(session, step, command, (&caller_then.actor, reason.clone()))
        })
        .await
    }
}

impl Work<'_> {
    /// Ends a step and finds out what comes next.
    pub(crate) fn step_over(&mut self, mut session: Session, step: Step, end: StepEnd) -> Result<Session, Error> {
        let why = end.reason.clone().unwrap_or_else(|| "the step that asked has ended".into());
        let end = match end.how {
            // There is nothing that could be done again.
            StepEnding::SentBack if self.work_before(&session, &step)?.is_none() => {
                StepEnd { how: StepEnding::Rejected, ..end }
            }
            _ => end,
        };
        let step = step.end(end, self.now);
        self.tx.step_save(&session.scope, &step)?;
        self.withdraw_all(&mut session, &step, &why)?;
        let agent = self.doer.actor.clone();
        self.happened(&mut session, None, step.told(&agent))?;
        self.step_followed(session, step)
    }

    fn step_followed(&mut self, session: Session, step: Step) -> Result<Session, Error> {
        let StepPhase::Ended { how, reason, .. } = &step.phase else { return Ok(session) };
        let way = match how {
            StepEnding::Completed => StepWay::Succeeded,
            StepEnding::Failed => StepWay::Failed,
            StepEnding::Rejected => StepWay::Rejected,
            StepEnding::Skipped => StepWay::Skipped,
            StepEnding::SentBack => return self.sent_back(session, &step),
            StepEnding::Cancelled => return Ok(session),
        };
        let reason = reason.clone();
        let session = match self.flow_of(&session)? {
            Some(flow) => self.gone_on(session, &flow, step, way)?,
            None if way == StepWay::Failed || way == StepWay::Rejected => {
                self.closed_with(session, Command::Fail, reason)?
            }
            None => self.closed_with(session, Command::Complete, reason)?,
        };
        self.saved(&session)?;
        Ok(session)
    }

    fn gone_on(&mut self, session: Session, flow: &FlowVersion, step: Step, way: StepWay) -> Result<Session, Error> {
        let name = step.name.clone().unwrap_or_default();
        let definition = flow.step(&name);
        if let Some(definition) =
            definition.filter(|definition| way == StepWay::Failed && definition.again(step.attempt))
            && let Some(session) = self.tried_again(&session, definition, &step)?
        {
            return Ok(session);
        }
        // A step that a person counts as done has left nothing that could be passed on.
        let left = matches!(&step.phase, StepPhase::Ended { output, .. } if !output.is_null());
        let shared = match definition.filter(|_| way == StepWay::Succeeded && left) {
            Some(definition) => match self.passed(&session, definition, &step) {
                Ok(shared) => shared,
                Err(why) => return self.closed_with(session, Command::Fail, Some(why)),
            },
            None => step.shared.clone(),
        };
        let ran = u32::try_from(self.tx.steps(&session.scope, session.id)?.len()).unwrap_or(u32::MAX);
        match flow.next_after(&name, way, ran) {
            Next::Step(next) => {
                let next = next.clone();
                let fresh = Step { shared, ..self.fresh(&session, self.now) };
                self.stepped(session, &next, fresh)
            }
            Next::End => self.closed_with(session, Command::Complete, None),
            Next::Failed(why) => {
                let StepPhase::Ended { reason, .. } = &step.phase else { return Ok(session) };
                let why = reason.as_ref().map_or_else(|| why.clone(), |reason| format!("{why}: {reason}"));
                self.closed_with(session, Command::Fail, Some(why))
            }
        }
    }

    /// What a step leaves to those that come after it.
    fn passed(&mut self, session: &Session, definition: &FlowStep, step: &Step) -> Result<Value, String> {
        if definition.pass.is_empty() {
            return Ok(step.shared.clone());
        }
        let StepPhase::Ended { output, .. } = &step.phase else { return Ok(step.shared.clone()) };
        let (scope, id) = (session.scope, session.id);
        let input = self.tx.luggage(&scope, id).map_err(|error| error.to_string())?.unwrap_or_default().input;
        let steps = self.tx.steps(&scope, id).map_err(|error| error.to_string())?;
        let mut values = values(&input, &step.shared, &steps);
        values["output"] = output.clone();
        let mut shared = step.shared.as_object().cloned().unwrap_or_default();
        for (name, template) in &definition.pass {
            let filled = template::fill(template, &values).map_err(|error| format!("`pass.{name}`: {error}"))?;
            shared.insert(name.clone(), filled);
        }
        Ok(Value::Object(shared))
    }

    /// A step that a worker is to run from a moment on.
    fn fresh(&self, session: &Session, due: Timestamp) -> Step {
        Step::driven(self.ids.step_after(session.step, self.now), session.id, self.now, due)
    }

    /// Begins a step of the flow.
    fn stepped(&mut self, mut session: Session, definition: &FlowStep, fresh: Step) -> Result<Session, Error> {
        let agents = self.tx.luggage(&session.scope, session.id)?.unwrap_or_default().agents;
        let step = Step {
            agent: definition.agent.clone(),
            agent_version: agents.get(&definition.name).cloned(),
            name: Some(definition.name.clone()),
            ..fresh
        };
        self.tx.step_insert(&session.scope, &step)?;
        session.step = step.id;
        self.told_of_trouble(&mut session, &step)?;
        self.effects.topics.push(Topic::Steps);
        Ok(session)
    }

    /// Begins the next attempt at a step, later each time; not where the question before it let it not run, for that is final.
    fn tried_again(&mut self, session: &Session, definition: &FlowStep, step: &Step) -> Result<Option<Session>, Error> {
        let before = self.let_run(session, step)?;
        if step.before.is_some() && before.is_none() {
            return Ok(None);
        }
        let attempt = step.attempt + 1;
        let due = later(self.now, definition.delay_before(attempt));
        let (shared, revision) = (step.shared.clone(), step.revision.clone());
        let mut fresh = Step { attempt, shared, before, revision, ..self.fresh(session, due) };
        if let (StepPhase::Ended { reason, .. }, Some(drive)) = (&step.phase, &mut fresh.drive) {
            drive.trouble.clone_from(reason);
        }
        self.stepped(session.clone(), definition, fresh).map(Some)
    }

    /// The question before a step, where it lets the step run: it is asked once, however often the step is tried.
    fn let_run(&mut self, session: &Session, step: &Step) -> Result<Option<InteractionId>, Error> {
        let Some(id) = step.before else { return Ok(None) };
        let Some(asked) = self.tx.interaction(&session.scope, id)? else { return Ok(None) };
        let answer = match &asked.state {
            State::Resolved { resolution, .. } => resolution.answer(),
            State::Pending(_) => None,
        };
        let goes_on = answer.is_some_and(|answer| {
            matches!(answer.effect, Effect::Approve | Effect::Edit | Effect::Provide | Effect::Custom)
        });
        Ok((goes_on || asked.question.kind == Kind::Notice).then_some(id))
    }

    /// The last work that was done before a step: what people who were asked before it have seen.
    fn work_before(&mut self, session: &Session, step: &Step) -> Result<Option<(FlowStep, Step)>, Error> {
        let Some(flow) = self.flow_of(session)? else { return Ok(None) };
        let worked = |done: &Step| {
            let definition = done.name.as_deref().and_then(|name| flow.step(name))?;
            let asked = definition.question.as_ref().is_some_and(|question| question.kind != Kind::Notice.name());
            (definition.agent.is_some() || asked).then(|| definition.clone())
        };
        let steps = self.tx.steps(&session.scope, session.id)?;
        let mut done = steps.into_iter().rev().filter(|done| {
            let completed = matches!(&done.phase, StepPhase::Ended { how: StepEnding::Completed, .. });
            completed && done.id < step.id && done.name != step.name
        });
        Ok(done.find_map(|done| worked(&done).map(|definition| (definition, done))))
    }

    /// The work before a step is done again, with what people said to it.
    fn sent_back(&mut self, session: Session, step: &Step) -> Result<Session, Error> {
        let StepPhase::Ended { output: answer, reason, .. } = &step.phase else { return Ok(session) };
        let ran = u32::try_from(self.tx.steps(&session.scope, session.id)?.len()).unwrap_or(u32::MAX);
        let session = match self.work_before(&session, step)? {
            Some((definition, done)) if ran < MOST_RUNS => {
                let StepPhase::Ended { output, .. } = &done.phase else { return Ok(session) };
                let revision = Revision {
                    by: answer["by"].as_str().unwrap_or_default().to_owned(),
                    feedback: answer["feedback"].as_str().map(str::to_owned),
                    asked_before: step.name.clone().unwrap_or_default(),
                    output: output.clone(),
                };
                // Where only people worked, their answer is the work: they are asked again.
                let before = if definition.agent.is_some() { self.let_run(&session, &done)? } else { None };
                let (shared, revision) = (step.shared.clone(), Some(revision));
                let fresh = Step { shared, before, revision, ..self.fresh(&session, self.now) };
                self.stepped(session, &definition, fresh)?
            }
            Some(_) => {
                let why = format!("this session has run {MOST_RUNS} steps: it was sent back too often");
                self.closed_with(session, Command::Fail, Some(why))?
            }
            None => self.closed_with(session, Command::Fail, reason.clone())?,
        };
        self.saved(&session)?;
        Ok(session)
    }

    /// The flow that a session follows, in the version that it was opened with.
    pub(crate) fn flow_of(&mut self, session: &Session) -> Result<Option<FlowVersion>, Error> {
        let (Some(name), Some(version)) = (&session.brief.flow, &session.brief.flow_version) else { return Ok(None) };
        let found = self.tx.definition(&session.scope, DefinitionKind::Flow, name, version)?;
        let found = found.ok_or(Refusal::NotFound("flow"))?;
        serde_json::from_value(found.body).map(Some).map_err(|error| StoreError::Corrupt(error.to_string()).into())
    }

    fn closed_with(&mut self, session: Session, command: Command, reason: Option<String>) -> Result<Session, Error> {
        let note = Note { by: self.doer.actor.clone(), at: self.now, reason };
        self.control(session, command, note)
    }

    fn step_command(
        &mut self,
        session: Session,
        given: Option<StepId>,
        command: StepCommand,
        (by, reason): (&Actor, Option<String>),
    ) -> Result<Session, Error> {
        let id = given.unwrap_or(session.step);
        let step = self.tx.step(&session.scope, id)?.filter(|step| step.session == session.id);
        let step = step.ok_or(Refusal::NotFound("step"))?;
        if step.id != session.step {
            let problem = Problem::new("/step", "is not the step that the session is at");
            return Err(Refusal::QuestionInvalid(vec![problem]).into());
        }
        if step.drive.is_none() {
            return Err(Refusal::NotDriven(session.id).into());
        }
        let failed = matches!(&step.phase, StepPhase::Ended { how: StepEnding::Failed | StepEnding::Rejected, .. });
        let why = reason.clone().unwrap_or_else(|| format!("a person said so: {}", command.name()));
        if step.alive() && command != StepCommand::Retry {
            return self.step_cut(session, step, command, why);
        }
        if !failed {
            return Err(Refusal::StepNotFailed.into());
        }
        let (mut session, happening) = session.revive(by, &why)?;
        self.happened(&mut session, None, happening)?;
        if command == StepCommand::Retry {
            return self.retried(session, &step);
        }
        // It stays as it ended; what follows is what would follow if it had ended otherwise.
        let how = if command == StepCommand::Skip { StepEnding::Skipped } else { StepEnding::Completed };
        let phase = StepPhase::Ended { how, at: self.now, output: Value::Null, reason: Some(why) };
        let step = Step { phase, ..step };
        self.tx.step_save(&session.scope, &step)?;
        self.happened(&mut session, None, step.told(by))?;
        self.step_followed(session, step)
    }

    /// A step that has not ended is ended by a person: what it asked is withdrawn.
    fn step_cut(
        &mut self,
        mut session: Session,
        step: Step,
        command: StepCommand,
        why: String,
    ) -> Result<Session, Error> {
        session.alive()?;
        let how = if command == StepCommand::Skip { StepEnding::Skipped } else { StepEnding::Completed };
        let end = StepEnd { how, output: Value::Null, reason: Some(why.clone()) };
        let step = self.cut_short(&session, step, &why)?.end(end, self.now);
        self.tx.step_save(&session.scope, &step)?;
        self.withdraw_all(&mut session, &step, &why)?;
        let by = self.doer.actor.clone();
        self.happened(&mut session, None, step.told(&by))?;
        self.step_followed(session, step)
    }

    /// Closes what a step that has ended asked, so that nobody answers in vain. A notice stays: nothing waits for it.
    fn withdraw_all(&mut self, session: &mut Session, step: &Step, why: &str) -> Result<(), Error> {
        for id in self.tx.open_of(&session.scope, session.id)? {
            let asked = self.tx.interaction(&session.scope, id)?;
            if asked.is_some_and(|asked| asked.origin.step == step.id && asked.question.kind != Kind::Notice) {
                self.withdraw(session, id, why)?;
            }
        }
        self.left_untaken(session, Some(step.id), why)
    }

    fn retried(&mut self, session: Session, step: &Step) -> Result<Session, Error> {
        let session = match (self.flow_of(&session)?, &step.name) {
            (Some(flow), Some(name)) => {
                let definition = flow.step(name).cloned().ok_or(Refusal::NotFound("step"))?;
                let (shared, revision) = (step.shared.clone(), step.revision.clone());
                let before = self.let_run(&session, step)?;
                let attempt = step.attempt + 1;
                let fresh = Step { attempt, shared, before, revision, ..self.fresh(&session, self.now) };
                self.stepped(session, &definition, fresh)?
            }
            _ => self.again(session, step)?,
        };
        self.saved(&session)?;
        Ok(session)
    }

    fn again(&mut self, mut session: Session, step: &Step) -> Result<Session, Error> {
        let fresh = Step {
            agent: step.agent.clone(),
            agent_version: step.agent_version.clone(),
            attempt: step.attempt + 1,
            ..self.fresh(&session, self.now)
        };
        self.tx.step_insert(&session.scope, &fresh)?;
        session.step = fresh.id;
        self.effects.topics.push(Topic::Steps);
        Ok(session)
    }
}

impl StepCommand {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Retry => "retry_step",
            Self::Skip => "skip_step",
            Self::Approve => "approve_step",
        }
    }
}

/// What the templates of a flow can name, apart from the answer to the question before a step.
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
            // A rejection is over once the step was let run after all; what it gave before stays.
            known.remove("rejection");
            known.insert(place.to_owned(), output.clone());
        }
    }
    let shared = if shared.is_null() { json!({}) } else { shared.clone() };
    json!({ "input": input, "shared": shared, "steps": ended })
}
