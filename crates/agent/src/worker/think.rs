//! Asks the model for its next turn and publishes its text at intervals.

use std::sync::Arc;
use std::time::Duration;

use domain::EventKind;
use domain::event::{ModelFailed, ModelText, ModelTurn};
use parking_lot::Mutex;
use serde_json::json;

use super::StepError;
use super::step_run::{JournalExtras, StepRun};
use crate::machine::Input;
use crate::model::{Delta, Model, ModelError, Request, Turn};

/// Interval at which the text of a running turn is published.
const PUBLISH_INTERVAL: Duration = Duration::from_millis(300);

impl StepRun<'_> {
    /// Asks for the next turn and journals it.
    pub(super) async fn think(&mut self) -> Result<(), StepError> {
        self.recover_unsettled().await?;
        let turn_number = self.state.turn() + 1;
        let model = match self.model().await? {
            Ok(model) => model,
            Err(error) => return self.fail_model(&error).await,
        };
        while self.state.has_unshown_messages() {
            self.enter(vec![Input::MessagesShown], JournalExtras::default()).await?;
        }
        let history = self.history().await?;
        let instructions = self.agent.as_ref().map(|agent| agent.instructions.clone()).unwrap_or_default();
        let begun = tokio::time::Instant::now();
        let said: Arc<Mutex<Vec<Delta>>> = Arc::default();
        let heard = Arc::clone(&said);
        let mut hear = move |delta| heard.lock().push(delta);
        let (mut again, mut told_some) = (std::mem::take(&mut self.has_predecessor), false);
        let result = {
            let request = Request { instructions: &instructions, history: history.messages(), tools: &self.specs };
            let asked = model.turn(request, &mut hear);
            tokio::pin!(asked);
            let mut tick = tokio::time::interval(PUBLISH_INTERVAL);
            tick.tick().await;
            loop {
                tokio::select! {
                    biased;
                    result = &mut asked => break result,
                    () = self.lost.cancelled() => {
                        if told_some {
                            self.retract_turn(turn_number).await;
                        }
                        return Err(StepError::Stopped);
                    }
                    _ = tick.tick() => {
                        let told = delta_events(turn_number, std::mem::take(&mut *said.lock()));
                        if !told.is_empty() {
                            let told = with_restart_event(turn_number, &mut again, told);
                            told_some = true;
                            self.worker.engine.step_publish(&self.claim, told).await?;
                        }
                    }
                }
            }
        };
        // A shared history would be copied when it grows.
        drop(history);
        metrics::histogram!("flow_model_turn_duration_seconds").record(begun.elapsed().as_secs_f64());
        let turn = match result {
            Ok(turn) => count_tokens(turn),
            Err(error) => return self.fail_model(&error).await,
        };
        let mut told = delta_events(turn_number, std::mem::take(&mut *said.lock()));
        told.push(turn_event(turn_number, &turn));
        let told = with_restart_event(turn_number, &mut again, told);
        self.enter(vec![Input::Turn(Box::new(turn))], JournalExtras { events: told, ..JournalExtras::default() }).await
    }

    /// Retracts the published text of a turn that will not be completed. A worker that has lost the step cannot retract it; the next worker does.
    async fn retract_turn(&self, turn: u64) {
        let told = with_restart_event(turn, &mut true, Vec::new());
        if let Err(error) = self.worker.engine.step_publish(&self.claim, told).await {
            tracing::debug!(%error, step = %self.claim.step, "the published text of a turn could not be retracted");
        }
    }

    async fn model(&self) -> Result<Result<Arc<dyn Model>, ModelError>, StepError> {
        let Some(agent) = &self.agent else {
            return Ok(Err(ModelError::Refused("the step has no agent".into())));
        };
        let key = match &agent.model.key_secret {
            Some(name) => {
                let key = self.worker.engine.hosted_secret(&self.claim, name).await?;
                if key.is_none() {
                    let why = format!("no secret `{name}` is kept for the agent `{}`", agent.name);
                    return Ok(Err(ModelError::Refused(why)));
                }
                key
            }
            None => None,
        };
        Ok(self.worker.kit.model(agent, key))
    }

    async fn fail_model(&mut self, error: &ModelError) -> Result<(), StepError> {
        let message = format!("the model could not be asked: {error}");
        let told = vec![EventKind::ModelFailed(ModelFailed { reason: message.clone() })];
        self.enter(vec![Input::ModelFailed { message }], JournalExtras { events: told, ..JournalExtras::default() })
            .await
    }
}

/// Adds an event at the front that retracts the part of this turn that an earlier worker published.
fn with_restart_event(turn: u64, again: &mut bool, told: Vec<EventKind>) -> Vec<EventKind> {
    let anew = std::mem::take(again);
    let text = "the turn was started again: its earlier worker no longer holds the step".to_owned();
    let first = anew.then_some(EventKind::ModelAgain(ModelText { turn, text }));
    first.into_iter().chain(told).collect()
}

/// Counts the tokens of a turn in the metrics.
fn count_tokens(turn: Turn) -> Turn {
    metrics::counter!("flow_model_tokens_total", "of" => "input").increment(turn.usage.input_tokens);
    metrics::counter!("flow_model_tokens_total", "of" => "output").increment(turn.usage.output_tokens);
    turn
}

/// Events of the received deltas; neighbours of one kind are joined.
fn delta_events(turn: u64, deltas: Vec<Delta>) -> Vec<EventKind> {
    let mut told: Vec<EventKind> = Vec::new();
    for delta in deltas {
        match (delta, told.last_mut()) {
            (Delta::Text(text), Some(EventKind::ModelSaid(said))) => said.text.push_str(&text),
            (Delta::Thinking(text), Some(EventKind::ModelThought(thought))) => thought.text.push_str(&text),
            (Delta::Text(text), _) => told.push(EventKind::ModelSaid(ModelText { turn, text })),
            (Delta::Thinking(text), _) => told.push(EventKind::ModelThought(ModelText { turn, text })),
            (Delta::Again { why }, _) => told.push(EventKind::ModelAgain(ModelText { turn, text: why })),
        }
    }
    told
}

/// Event of a turn: its texts and the names of its tools. Clients read the arguments from the actions.
fn turn_event(number: u64, turn: &Turn) -> EventKind {
    EventKind::ModelTurn(ModelTurn {
        turn: number,
        text: turn.text.clone(),
        thinking: turn.thinking.clone(),
        tools: turn.calls.iter().map(|call| call.tool.clone()).collect(),
        usage: json!(turn.usage),
    })
}
