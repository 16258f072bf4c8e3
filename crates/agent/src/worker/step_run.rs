//! One claimed step: performs its effects and journals the results until it ends or sleeps.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::agent::Limits;
use domain::event::ActionUnusable;
use domain::flow::FlowStep;
use domain::step::Revision;
use domain::{AgentVersion, Caller, EventKind, InteractionId, Refusal, Session, StepEnd, StepEnding, template};
use engine::{ClaimedStep, Journal, StepClaim, StepSleep, values};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{StepError, Worker};
use crate::history::{History, texts};
use crate::machine::{Activity, Input, MachineState, StepEffect};
use crate::tool::{Tool, ToolSpec};

/// Task of an agent of a flow whose step has no input.
const BEGIN: &str = "Begin.";

/// A step that a worker has claimed.
pub(super) struct StepRun<'a> {
    pub(super) worker: &'a Worker,
    pub(super) claim: StepClaim,
    pub(super) caller: Caller,
    pub(super) session: Session,
    pub(super) agent: Option<AgentVersion>,
    pub(super) flow_step: Option<FlowStep>,
    /// Values that the templates of the flow can name.
    pub(super) values: Value,
    /// The question before the step, if an earlier attempt asked it.
    pub(super) asked_before: Option<InteractionId>,
    /// Reason why the step is done again.
    pub(super) revision: Option<Revision>,
    pub(super) state: MachineState,
    /// Whether an earlier worker may have published parts of the next turn.
    pub(super) has_predecessor: bool,
    /// Length of the journal.
    pub(super) journal: u64,
    pub(super) tools: BTreeMap<String, Arc<dyn Tool>>,
    /// Tools that the model is offered.
    pub(super) specs: Vec<ToolSpec>,
    pub(super) lost: CancellationToken,
    history: Option<History>,
    /// Number of journal entries that the history has read.
    read: u64,
}

/// Events to publish and answers that the step has used, together with a journal entry.
#[derive(Default, Clone)]
pub(super) struct JournalExtras {
    pub(super) events: Vec<EventKind>,
    pub(super) used_answers: Vec<InteractionId>,
}

impl<'a> StepRun<'a> {
    pub(super) async fn begin(
        worker: &'a Worker,
        claimed: ClaimedStep,
        lost: CancellationToken,
    ) -> Result<Self, StepError> {
        let ClaimedStep { claim, session, session_input, step, steps, state, left_behind, project } = claimed;
        let engine = &worker.engine;
        let flow = engine.flow_of(&session).await?;
        let flow_step = step.name.as_deref().and_then(|name| flow.as_ref()?.step(name).cloned());
        let agent = match (&step.agent, &step.agent_version) {
            (Some(name), Some(version)) => Some(engine.agent_of(claim.scope, name, version).await?),
            _ => None,
        };
        let prefix = format!("s{}", steps.iter().filter(|one| one.id <= step.id).count());
        let (state, journal) = match state {
            Some(state) => (serde_json::from_value(state.body)?, state.upto),
            None => (MachineState::new(prefix), 0),
        };
        let mut run = Self {
            worker,
            caller: Caller::worker(claim.scope, claim.agent.clone()),
            values: values(&session_input.input, &step.shared, &steps),
            claim,
            session,
            agent,
            flow_step,
            asked_before: step.before,
            revision: step.revision,
            state,
            has_predecessor: false,
            journal,
            tools: BTreeMap::new(),
            specs: Vec::new(),
            lost,
            history: None,
            read: 0,
        };
        let thinking = run.state.activity() == Activity::Thinking;
        run.catch_up().await?;
        run.has_predecessor = run.state.activity() == Activity::Thinking && (thinking || left_behind);
        run.load_tools(&project).await?;
        Ok(run)
    }

    /// Runs the step until it ends or sleeps.
    pub(super) async fn run(mut self) -> Result<(), StepError> {
        loop {
            if self.lost.is_cancelled() {
                return Err(StepError::Stopped);
            }
            if self.state.activity() == Activity::New {
                let Some(begun) = self.first_input().await? else { return Ok(()) };
                // An earlier attempt may have told the agent already.
                let revision = self.revision.as_ref().filter(|_| self.agent.is_some() && !self.state.has_begun());
                let said = revision.map(|revision| {
                    let (by, content) = (revision.by.to_string(), texts::revision(revision));
                    Input::Message { by, content, person: true, note: true }
                });
                self.enter(said.into_iter().chain([begun]).collect(), JournalExtras::default()).await?;
                continue;
            }
            if self.worker.engine.is_step_paused(&self.claim).await? && self.sleep().await? {
                return Ok(());
            }
            let wanted = self.state.outstanding();
            match wanted.first() {
                Some(StepEffect::CallModel) => self.think().await?,
                Some(
                    StepEffect::Finish { .. }
                    | StepEffect::Fail { .. }
                    | StepEffect::Reject { .. }
                    | StepEffect::SendBack { .. }
                    | StepEffect::Skip { .. },
                ) => {
                    if self.finish(&wanted[0]).await? {
                        return Ok(());
                    }
                }
                None if self.state.activity() == Activity::Ended => return Ok(()),
                _ => {
                    let progressed = self.settle_questions().await? | self.perform(wanted).await?;
                    if !progressed && self.sleep().await? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// First input of the step; `None` if the step failed before it began.
    async fn first_input(&mut self) -> Result<Option<Input>, StepError> {
        let limits = self.agent.as_ref().map_or_else(Limits::default, |agent| agent.limits);
        let before = self.flow_step.as_ref().and_then(|step| step.question.clone()).map(Box::new);
        let people_only = self.agent.is_none();
        let task = match &self.flow_step {
            Some(_) if before.is_some() => Ok(None),
            Some(step) => Self::task(step, &self.values).map(Some),
            None => Ok(Some(self.values["input"].clone()).filter(|input| !input.is_null())),
        };
        match task {
            Ok(task) => Ok(Some(Input::Begun { limits, task, before, people_only })),
            Err(why) => {
                let end = StepEnd::because(StepEnding::Failed, why);
                let state = serde_json::to_value(&self.state)?;
                let journal = Journal { after: self.journal, state, ..Journal::default() };
                let ended = self.worker.engine.step_end(&self.claim, journal, end).await?;
                if ended.is_none() {
                    self.catch_up().await?;
                }
                Ok(None)
            }
        }
    }

    /// Task of the agent in a step of a flow. There is always one, because nobody would write to an agent of a flow
    /// that waits for messages.
    pub(super) fn task(step: &FlowStep, values: &Value) -> Result<Value, String> {
        let task = if step.input.is_null() {
            values["input"].clone()
        } else {
            template::fill(&step.input, values).map_err(|error| format!("the input of the step: {error}"))?
        };
        Ok(if task.is_null() { json!(BEGIN) } else { task })
    }

    /// Journals inputs and applies them, after any inputs that others journalled in between.
    pub(super) async fn enter(&mut self, inputs: Vec<Input>, extras: JournalExtras) -> Result<(), StepError> {
        let bodies = inputs.iter().map(serde_json::to_value).collect::<Result<Vec<_>, _>>()?;
        loop {
            let state = inputs.iter().fold(self.state.clone(), |state, input| state.advance(input).0);
            let journal = Journal {
                after: self.journal,
                inputs: bodies.clone(),
                state: serde_json::to_value(&state)?,
                told: extras.events.clone(),
                before: None,
                used_answers: extras.used_answers.clone(),
            };
            match self.worker.engine.step_journal_append(&self.claim, journal).await? {
                Some(length) => {
                    self.note_journalled(&inputs, length);
                    self.state = state;
                    return Ok(());
                }
                None => self.catch_up().await?,
            }
        }
    }

    /// Adds journalled inputs to the history, if one is loaded, and notes the new length of the journal.
    pub(super) fn note_journalled(&mut self, inputs: &[Input], length: u64) {
        if let Some(history) = self.history.as_mut().filter(|_| self.read == self.journal) {
            for input in inputs {
                history.push(input);
            }
            self.read = length;
        }
        self.journal = length;
    }

    /// Applies the inputs that others have journalled.
    pub(super) async fn catch_up(&mut self) -> Result<(), StepError> {
        for entry in self.worker.engine.step_journal_after(&self.claim, self.journal).await? {
            let input: Input = serde_json::from_value(entry.body)?;
            self.state = self.state.clone().advance(&input).0;
            self.note_journalled(std::slice::from_ref(&input), entry.seq);
        }
        Ok(())
    }

    /// The messages of the model. Reads only the entries that are not in memory.
    pub(super) async fn history(&mut self) -> Result<History, StepError> {
        if self.history.is_none() {
            let kept = self.worker.histories.remove(&self.claim.step).filter(|kept| kept.0 <= self.journal);
            let kept = kept.map(Arc::unwrap_or_clone);
            let (read, history) = kept.unwrap_or_else(|| (0, History::new()));
            (self.read, self.history) = (read, Some(history));
        }
        if self.read < self.journal {
            let entries = self.worker.engine.step_journal_after(&self.claim, self.read).await?;
            for entry in entries.into_iter().take_while(|entry| entry.seq <= self.journal) {
                let input: Input = serde_json::from_value(entry.body)?;
                if let Some(history) = &mut self.history {
                    history.push(&input);
                }
                self.read = entry.seq;
            }
        }
        Ok(self.history.clone().unwrap_or_default())
    }

    /// Ends the step. Returns `false` if new inputs arrived first.
    async fn finish(&mut self, wanted: &StepEffect) -> Result<bool, StepError> {
        let end = match wanted {
            StepEffect::Finish { output } => StepEnd::completed(output.clone()),
            StepEffect::Reject { reason, answer } => end_by_answer(StepEnding::Rejected, reason, answer),
            StepEffect::SendBack { reason, answer } => end_by_answer(StepEnding::SentBack, reason, answer),
            StepEffect::Skip { reason } => {
                StepEnd { how: StepEnding::Skipped, output: Value::Null, reason: reason.clone() }
            }
            StepEffect::Fail { reason } => StepEnd::because(StepEnding::Failed, reason.clone()),
            StepEffect::CallModel
            | StepEffect::Act { .. }
            | StepEffect::AskBefore { .. }
            | StepEffect::AskUser { .. } => return Ok(false),
        };
        let how = match end.how {
            StepEnding::Completed => "completed",
            StepEnding::Failed => "failed",
            StepEnding::Rejected => "rejected",
            StepEnding::SentBack => "sent_back",
            StepEnding::Skipped => "skipped",
            StepEnding::Cancelled => "cancelled",
        };
        let state = serde_json::to_value(&self.state)?;
        let journal = Journal { after: self.journal, state, ..Journal::default() };
        if self.worker.engine.step_end(&self.claim, journal, end).await?.is_some() {
            self.worker.histories.invalidate(&self.claim.step);
            metrics::counter!("flow_steps_ended_total", "how" => how).increment(1);
            return Ok(true);
        }
        self.catch_up().await?;
        Ok(false)
    }

    /// Puts the step to sleep. Returns `false` if a new input, an answer or the end of an action came first.
    async fn sleep(&mut self) -> Result<bool, StepError> {
        let waiting = self.state.waiting();
        let questions: Vec<InteractionId> =
            waiting.iter().filter(|one| one.is_question).filter_map(|one| one.interaction.parse().ok()).collect();
        let acts = self
            .state
            .outstanding()
            .into_iter()
            .filter_map(|effect| if let StepEffect::Act { call, .. } = effect { Some(call) } else { None });
        let listening = self.state.activity() == Activity::Listening;
        let sleep = StepSleep { journal: self.journal, questions, calls: acts.collect(), listening };
        if let (Some(history), true) = (self.history.take(), self.read == self.journal) {
            self.worker.histories.insert(self.claim.step, Arc::new((self.read, history)));
        }
        match self.worker.engine.step_sleep(&self.claim, sleep).await {
            Ok(true) => {
                metrics::counter!("flow_steps_slept_total").increment(1);
                Ok(true)
            }
            Ok(false) => {
                self.catch_up().await?;
                Ok(false)
            }
            Err(engine::Error::Refused(Refusal::StepLost)) => Err(StepError::Stopped),
            Err(error) => Err(error.into()),
        }
    }

    /// Event about a call that could not be proposed.
    pub(super) fn unusable_event(call: &str, tool: &str, message: &str) -> EventKind {
        let (call_id, tool, reason) = (call.to_owned(), tool.to_owned(), message.to_owned());
        EventKind::ActionUnusable(ActionUnusable { call_id, tool, reason })
    }
}

/// End of a step by an answer of people.
fn end_by_answer(how: StepEnding, reason: &str, answer: &Value) -> StepEnd {
    StepEnd { how, output: answer.clone(), reason: Some(reason.to_owned()) }
}
