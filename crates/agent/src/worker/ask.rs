//! Asks people the questions of a step: the one before the step and those of its model.

use domain::flow::StepQuestion;
use domain::step::Revision;
use domain::{InteractionId, Kind, Question, Refusal};
use engine::{Ask, Error, Journal};
use serde_json::{Value, json};

use super::Trouble;
use super::drive::{Along, Driven};
use crate::ask_user;
use crate::machine::{ASK_USER_PREFIX, BeforeEnd, CallEnd, Input};
use crate::tool::ToolSpec;

impl Driven<'_> {
    /// Asks people the question before the step.
    pub(super) async fn ask_before(&mut self, call: String, question: StepQuestion) -> Result<bool, Trouble> {
        if let Some(asked) = self.asked_before {
            // An earlier attempt asked this question. It is asked once, and its answer stays valid.
            let input = Input::Asked { call, interaction: asked.to_string() };
            self.enter(vec![input], Along::default()).await?;
            return Ok(true);
        }
        let put = match question.put(&self.values) {
            Ok(put) => self.with_revision(put),
            Err(error) => {
                let how = format!("could not be put: {error}");
                self.enter(vec![Input::Before(BeforeEnd::Unanswered { how })], Along::default()).await?;
                return Ok(true);
            }
        };
        let deadline = question.deadline_seconds.or_else(|| self.deadline(&put.kind));
        if let Err(why) = self.ask((call, true), put, deadline, Vec::new()).await? {
            let how = format!("could not be put: {why}");
            self.enter(vec![Input::Before(BeforeEnd::Unanswered { how })], Along::default()).await?;
        }
        Ok(true)
    }

    /// Asks people a question of the model.
    pub(super) async fn ask_user(&mut self, call: String, tool: &str, arguments: &Value) -> Result<bool, Trouble> {
        let Some(agent) = &self.agent else { return Ok(false) };
        let offered = |spec: &ToolSpec| spec.name.strip_prefix(ASK_USER_PREFIX) == Some(tool);
        if !self.specs.iter().any(offered) {
            let message = self.no_such(&format!("{ASK_USER_PREFIX}{tool}"));
            let end = CallEnd::Failed { message, result: Value::Null };
            self.enter(vec![Input::Settled { call, end }], Along::default()).await?;
            return Ok(true);
        }
        let asked = match ask_user::question(tool, arguments, agent) {
            Ok((question, deadline, dropped)) => {
                for dropped in &dropped {
                    tracing::info!(?dropped, session = %self.session.id, call, "suggestionDropped");
                }
                let deadline = deadline.or_else(|| self.deadline(&question.kind));
                let told = match dropped.is_empty() {
                    true => Vec::new(),
                    false => vec![("suggestions.dropped", json!({ "call_id": call, "dropped": dropped }))],
                };
                self.ask((call.clone(), false), question, deadline, told).await?
            }
            Err(why) => Err(why),
        };
        if let Err(message) = asked {
            let end = CallEnd::Failed { message, result: Value::Null };
            self.enter(vec![Input::Settled { call, end }], Along::default()).await?;
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
    async fn ask(
        &mut self,
        (call, before): (String, bool),
        question: Question,
        deadline_seconds: Option<i64>,
        told: Vec<(&'static str, Value)>,
    ) -> Result<Result<(), String>, Trouble> {
        loop {
            let ask = Ask { question: question.clone(), deadline_seconds, resume_point: None, traceparent: None };
            let (state, after, call, told) = (self.state.clone(), self.journal, call.clone(), told.clone());
            let input = |call: &str, id: InteractionId| Input::Asked { call: call.into(), interaction: id.to_string() };
            let named = call.clone();
            let journal = move |id: InteractionId| {
                let input = input(&named, id);
                let state = state.clone().take(&input).0;
                Journal {
                    after,
                    inputs: vec![serde_json::to_value(&input).unwrap_or_default()],
                    state: serde_json::to_value(&state).unwrap_or_default(),
                    told: told.clone(),
                    before: before.then_some(id),
                    ..Journal::default()
                }
            };
            match self.worker.engine.step_ask(&self.claim, ask, after, journal).await {
                Ok(Some(asked)) => {
                    let input = Input::Asked { call, interaction: asked.id.to_string() };
                    self.state = self.state.clone().take(&input).0;
                    self.took(std::slice::from_ref(&input), after + 1);
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
                Err(Error::Refused(Refusal::SessionEnded { .. })) => return Err(Trouble::Stopped),
                Err(error) => return Err(error.into()),
            }
        }
    }
}
