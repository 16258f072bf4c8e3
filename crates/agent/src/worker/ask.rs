//! Asks people the questions of a step: the question before the step, and the questions of its model.

use domain::event::SuggestionsDropped;
use domain::flow::StepQuestion;
use domain::step::Revision;
use domain::{EventKind, InteractionId, Kind, Question, Refusal};
use engine::{Ask, Error, Journal};
use serde_json::{Value, json};

use super::StepError;
use super::step_run::{JournalExtras, StepRun};
use crate::ask_user;
use crate::machine::{ASK_USER_PREFIX, BeforeEnd, CallEnd, Input, NoAnswerReason};
use crate::tool::ToolSpec;

/// A question that a step is about to ask.
struct NewQuestion {
    /// Name of the call that asks.
    call: String,
    /// Whether it is the question before the step.
    is_before: bool,
    question: Question,
    deadline_seconds: Option<i64>,
}

impl StepRun<'_> {
    /// Asks people the question before the step.
    pub(super) async fn ask_before(&mut self, call: String, question: StepQuestion) -> Result<bool, StepError> {
        if let Some(asked) = self.asked_before {
            // An earlier attempt asked this question. It is asked once, and its answer stays valid.
            let input = Input::Asked { call, interaction: asked.to_string() };
            self.enter(vec![input], JournalExtras::default()).await?;
            return Ok(true);
        }
        let put = match question.put(&self.values) {
            Ok(put) => self.with_revision(put),
            Err(error) => {
                let how = NoAnswerReason::Other(format!("could not be asked: {error}"));
                self.enter(vec![Input::BeforeEnded(BeforeEnd::Unanswered { how })], JournalExtras::default()).await?;
                return Ok(true);
            }
        };
        let deadline = question.deadline_seconds.or_else(|| self.deadline(&put.kind));
        if let Err(why) = self
            .ask(NewQuestion { call, is_before: true, question: put, deadline_seconds: deadline }, Vec::new())
            .await?
        {
            let how = NoAnswerReason::Other(format!("could not be asked: {why}"));
            self.enter(vec![Input::BeforeEnded(BeforeEnd::Unanswered { how })], JournalExtras::default()).await?;
        }
        Ok(true)
    }

    /// Asks people a question of the model.
    pub(super) async fn ask_user(&mut self, call: String, tool: &str, arguments: &Value) -> Result<bool, StepError> {
        let Some(agent) = &self.agent else { return Ok(false) };
        let offered = |spec: &ToolSpec| spec.name.strip_prefix(ASK_USER_PREFIX) == Some(tool);
        if !self.specs.iter().any(offered) {
            let message = self.unknown_tool_message(&format!("{ASK_USER_PREFIX}{tool}"));
            let end = CallEnd::Failed { message, result: Value::Null };
            self.enter(vec![Input::Settled { call, end }], JournalExtras::default()).await?;
            return Ok(true);
        }
        let asked = match ask_user::question(tool, arguments, agent) {
            Ok((question, deadline, dropped)) => {
                for dropped in &dropped {
                    tracing::info!(?dropped, session = %self.session.id, call, "suggestionDropped");
                }
                let deadline = deadline.or_else(|| self.deadline(&question.kind));
                let told = if dropped.is_empty() {
                    Vec::new()
                } else {
                    vec![EventKind::SuggestionsDropped(SuggestionsDropped { call_id: call.clone(), dropped })]
                };
                self.ask(
                    NewQuestion { call: call.clone(), is_before: false, question, deadline_seconds: deadline },
                    told,
                )
                .await?
            }
            Err(why) => Err(why),
        };
        if let Err(message) = asked {
            let end = CallEnd::Failed { message, result: Value::Null };
            self.enter(vec![Input::Settled { call, end }], JournalExtras::default()).await?;
        }
        Ok(true)
    }

    /// Adds the feedback on the last answer to a question that is asked again.
    fn with_revision(&self, question: Question) -> Question {
        match &self.revision {
            Some(Revision { by, feedback, output, .. }) => {
                let context = json!({ "sent_back_by": by, "feedback": feedback, "answered_before": output });
                Question { context, ..question }
            }
            None => question,
        }
    }

    /// Seconds that the agent's version gives people for this kind of question.
    pub(super) fn deadline(&self, kind: &Kind) -> Option<i64> {
        self.agent.as_ref()?.deadlines.get(kind.name()).copied()
    }

    /// Asks and journals the question. The inner error is the reason why it could not be asked, in words for the model.
    async fn ask(&mut self, new: NewQuestion, told: Vec<EventKind>) -> Result<Result<(), String>, StepError> {
        let NewQuestion { call, is_before, question, deadline_seconds } = new;
        loop {
            let ask = Ask { question: question.clone(), deadline_seconds, resume_point: None, traceparent: None };
            let (state, after, call, told) = (self.state.clone(), self.journal, call.clone(), told.clone());
            let input = |call: &str, id: InteractionId| Input::Asked { call: call.into(), interaction: id.to_string() };
            let named = call.clone();
            let journal = move |id: InteractionId| {
                let input = input(&named, id);
                let state = state.clone().advance(&input).0;
                Journal {
                    after,
                    inputs: vec![serde_json::to_value(&input).unwrap_or_default()],
                    state: serde_json::to_value(&state).unwrap_or_default(),
                    told: told.clone(),
                    before: is_before.then_some(id),
                    ..Journal::default()
                }
            };
            match self.worker.engine.step_ask(&self.claim, ask, after, journal).await {
                Ok(Some(asked)) => {
                    let input = Input::Asked { call, interaction: asked.id.to_string() };
                    self.state = self.state.clone().advance(&input).0;
                    self.note_journalled(std::slice::from_ref(&input), after + 1);
                    return Ok(Ok(()));
                }
                Ok(None) => self.catch_up().await?,
                Err(Error::Refused(Refusal::QuestionInvalid(problems)) | Error::SchemaInvalid(problems)) => {
                    let problems: Vec<String> =
                        problems.iter().map(|problem| format!("{} {}", problem.pointer, problem.message)).collect();
                    return Ok(Err(problems.join("; ")));
                }
                Err(Error::Refused(refusal @ (Refusal::TooManyOpen { .. } | Refusal::LimitReached { .. }))) => {
                    return Ok(Err(refusal.to_string()));
                }
                Err(Error::Refused(Refusal::SessionEnded { .. })) => return Err(StepError::Stopped),
                Err(error) => return Err(error.into()),
            }
        }
    }
}
