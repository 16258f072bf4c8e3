//! A step ends, and its session goes on to the next one, or ends with it; a failed step is tried again or passed over.

use domain::flow::{FlowStep, MOST_RUNS, Next, StepWay};
use domain::session::Note;
use domain::step::{Revision, StepPhase};
use domain::{
    Action, Command, DefinitionKind, Effect, FlowVersion, InteractionId, Kind, Refusal, Session, State, Step, StepEnd,
    StepEnding, StepId, Timestamp, template,
};
use serde_json::{Map, Value, json};
use store::{StoreError, Topic};

use crate::drive::{Claim, later};
use crate::journal::Journal;
use crate::work::{Doer, Work};
use crate::{Engine, Error};

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
        let step = self.passing(&session, step, end)?;
        self.tx.step_save(&session.scope, &step)?;
        self.withdraw_all(&mut session, &step, &why)?;
        let agent = self.doer.actor.clone();
        self.happened(&mut session, None, step.told(&agent))?;
        self.step_followed(session, step)
    }

    pub(crate) fn step_followed(&mut self, session: Session, step: Step) -> Result<Session, Error> {
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
            && self.may_try_again(&session, &step)?
        {
            let due = later(self.now, definition.delay_before(step.attempt + 1));
            return self.tried_again(session, &step, (due, false));
        }
        let ran = u32::try_from(self.tx.steps(&session.scope, session.id)?.len()).unwrap_or(u32::MAX);
        match flow.next_after(&name, way, ran) {
            Next::Step(next) => {
                let next = next.clone();
                let fresh = Step { shared: step.shared.clone(), ..self.fresh(&session, self.now) };
                self.stepped(session, (&next, &step), fresh)
            }
            Next::End => self.closed_with(session, Command::Complete, None),
            Next::Failed(why) => {
                let StepPhase::Ended { reason, .. } = &step.phase else { return Ok(session) };
                let why = reason.as_ref().map_or_else(|| why.clone(), |reason| format!("{why}: {reason}"));
                self.closed_with(session, Command::Fail, Some(why))
            }
        }
    }

    /// A step that has completed leaves what it passes on; where that is not to be had, it has failed after all.
    pub(crate) fn passing(&mut self, session: &Session, step: Step, end: StepEnd) -> Result<Step, Error> {
        // A step that a person counts as done has left nothing that could be passed on.
        if end.how != StepEnding::Completed || end.output.is_null() {
            return Ok(step.end(end, self.now));
        }
        let flow = self.flow_of(session)?;
        let definition = step.name.as_deref().and_then(|name| flow.as_ref()?.step(name));
        match definition.map(|definition| self.passed(session, definition, (&step, &end.output))).transpose()? {
            Some(Err(why)) => {
                let end = StepEnd { how: StepEnding::Failed, output: end.output, reason: Some(why) };
                Ok(step.end(end, self.now))
            }
            Some(Ok(shared)) => Ok(Step { shared, ..step }.end(end, self.now)),
            None => Ok(step.end(end, self.now)),
        }
    }

    /// What a step leaves to those that come after it; or why it cannot.
    fn passed(
        &mut self,
        session: &Session,
        definition: &FlowStep,
        (step, output): (&Step, &Value),
    ) -> Result<Result<Value, String>, Error> {
        if definition.pass.is_empty() {
            return Ok(Ok(step.shared.clone()));
        }
        let (scope, id) = (session.scope, session.id);
        let input = self.tx.luggage(&scope, id)?.unwrap_or_default().input;
        let steps = self.tx.steps(&scope, id)?;
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

    /// A step that a worker is to run from a moment on.
    fn fresh(&self, session: &Session, due: Timestamp) -> Step {
        Step::hosted(self.ids.step_after(session.step, self.now), session.id, self.now, due)
    }

    /// Begins a step of the flow. What was said to the step before it, and shown to nobody, is said to it.
    fn stepped(
        &mut self,
        mut session: Session,
        (definition, before): (&FlowStep, &Step),
        fresh: Step,
    ) -> Result<Session, Error> {
        let agents = self.tx.luggage(&session.scope, session.id)?.unwrap_or_default().agents;
        let mut step = Step {
            agent: definition.agent.clone(),
            agent_version: agents.get(&definition.name).cloned(),
            name: Some(definition.name.clone()),
            withheld_upto: before.withheld_upto,
            ..fresh
        };
        self.tx.step_insert(&session.scope, &step)?;
        let unheard = self.unheard(&session, before)?;
        if !unheard.is_empty() {
            for said in unheard {
                step = self.entered(&session, step, said)?;
            }
            self.tx.step_save(&session.scope, &step)?;
        }
        session.step = step.id;
        self.told_of_trouble(&mut session, &step)?;
        self.effects.topics.push(Topic::Steps);
        Ok(session)
    }

    /// Whether a step is tried again by itself: not where people did the work, or the question before it let it not run, for that is final.
    fn may_try_again(&mut self, session: &Session, step: &Step) -> Result<bool, Error> {
        Ok(step.agent.is_some() && (step.before.is_none() || self.let_run(session, step)?.is_some()))
    }

    /// Begins the next attempt at a step, from a moment on: it goes on from where the one before was.
    pub(crate) fn tried_again(
        &mut self,
        mut session: Session,
        step: &Step,
        (due, after_end): (Timestamp, bool),
    ) -> Result<Session, Error> {
        // Where only people worked, their answer is the work: they are asked again.
        let before = if step.agent.is_some() { self.let_run(&session, step)? } else { None };
        let mut fresh = Step {
            agent: step.agent.clone(),
            agent_version: step.agent_version.clone(),
            name: step.name.clone(),
            attempt: step.attempt + 1,
            shared: step.shared.clone(),
            before,
            revision: step.revision.clone(),
            withheld_upto: step.withheld_upto,
            ..self.fresh(&session, due)
        };
        self.tx.step_insert(&session.scope, &fresh)?;
        session.step = fresh.id;
        let why = match &step.phase {
            StepPhase::Ended { reason: Some(reason), .. } => reason.clone(),
            _ => "the attempt before came to nothing".to_owned(),
        };
        fresh = self.taken_up(&session, step, fresh, (&why, after_end))?;
        if let Some(lease) = fresh.lease.as_mut().filter(|_| due > self.now) {
            lease.trouble = Some(why);
        }
        self.tx.step_save(&session.scope, &fresh)?;
        self.told_of_trouble(&mut session, &fresh)?;
        self.effects.topics.push(Topic::Steps);
        Ok(session)
    }

    /// Whether the step that an action was proposed for goes on, in this attempt or in a later one. What foreign agents propose is not of a step
    /// of ours.
    pub(crate) fn step_goes_on(&mut self, session: &Session, proposal: &Action) -> Result<bool, Error> {
        let Some(of) = proposal.step else { return Ok(true) };
        if of == session.step {
            return Ok(self.tx.step(&session.scope, of)?.is_some_and(|step| step.alive()));
        }
        let steps = self.tx.steps(&session.scope, session.id)?;
        let mut later = steps.iter().rev().skip_while(|step| step.id > session.step);
        let Some(last) = later.next().filter(|last| last.alive()) else { return Ok(false) };
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

    /// The question before a step, where it lets the step run: it is asked once, however often the step is tried.
    pub(crate) fn let_run(&mut self, session: &Session, step: &Step) -> Result<Option<InteractionId>, Error> {
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
                self.stepped(session, (&definition, step), fresh)?
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
        let (Some(name), Some(version)) = (&session.head.flow, &session.head.flow_version) else { return Ok(None) };
        let found = self.tx.definition(&session.scope, DefinitionKind::Flow, name, version)?;
        let found = found.ok_or(Refusal::NotFound("flow"))?;
        serde_json::from_value(found.body).map(Some).map_err(|error| StoreError::Corrupt(error.to_string()).into())
    }

    fn closed_with(&mut self, session: Session, command: Command, reason: Option<String>) -> Result<Session, Error> {
        let note = Note { by: self.doer.actor.clone(), at: self.now, reason };
        self.control(session, command, note)
    }

    /// Closes what a step that has ended asked, so that nobody answers in vain. A notice stays: nothing waits for it.
    pub(crate) fn withdraw_all(&mut self, session: &mut Session, step: &Step, why: &str) -> Result<(), Error> {
        for id in self.tx.open_of(&session.scope, session.id)? {
            let asked = self.tx.interaction(&session.scope, id)?;
            if asked.is_some_and(|asked| asked.origin.step == step.id && asked.question.kind != Kind::Notice) {
                self.withdraw(session, id, why)?;
            }
        }
        self.left_unstarted(session, Some(step.id), why)?;
        self.left_untaken(session, Some(step.id), why)
    }

    /// What a step was allowed, or all steps of ours, and has not begun is not allowed any more: nobody is left who would go on from it.
    pub(crate) fn left_unstarted(
        &mut self,
        session: &mut Session,
        step: Option<StepId>,
        why: &str,
    ) -> Result<(), Error> {
        const PORTION: u32 = 200;
        let message = format!("its step ended before it was begun: {why}");
        let mut after = String::new();
        loop {
            let portion = self.tx.proposals(&session.scope, session.id, &after, PORTION)?;
            let full = portion.more;
            let Some(last) = portion.last() else { return Ok(()) };
            after.clone_from(&last.call_id);
            for proposal in
                portion.into_iter().filter(|proposal| step.map_or(proposal.hosted, |step| proposal.step == Some(step)))
            {
                if let Some(left) = proposal.left(&message) {
                    self.acted(session, left)?;
                }
            }
            if !full {
                return Ok(());
            }
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
