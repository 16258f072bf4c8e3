//! Turns answered questions and settled actions into inputs of the machine.

use domain::template::placeholders;
use domain::{
    Action, ActionState, Answer, AnsweredBy, Effect, Interaction, InteractionId, Kind, Resolution, State, Status,
    Timestamp,
};
use serde_json::Value;

use super::StepError;
use super::step_run::{JournalExtras, StepRun};
use crate::history::texts;
use crate::machine::{Activity, BeforeEnd, CallEnd, Input, NoAnswerReason, PeopleAnswer, UnsettledCall, output};

/// Message for the model about a call that was not performed before its step ended.
const NOT_BEGUN: &str = "the step ended before this call was handled";

impl StepRun<'_> {
    /// Journals the answers to the step's questions and returns whether there was one.
    pub(super) async fn settle_questions(&mut self) -> Result<bool, StepError> {
        let own: Vec<_> = self.state.waiting().into_iter().filter(|one| one.is_question).collect();
        if own.is_empty() {
            return Ok(false);
        }
        let before = self.state.activity() == Activity::Asking;
        let (mut calls, mut ids) = (Vec::new(), Vec::new());
        for one in own {
            if let Ok(id) = one.interaction.parse::<InteractionId>() {
                calls.push(one.call);
                ids.push(id);
            }
        }
        let found = self.worker.engine.step_questions(&self.claim, ids).await?;
        let (mut inputs, mut extras) = (Vec::new(), JournalExtras::default());
        for (call, asked) in calls.into_iter().zip(found) {
            let Some(asked) = asked else { continue };
            let end = match (asked.status(), &asked.question.kind) {
                // A notice does not wait for an answer.
                (Status::Pending, Kind::Notice) => Ok(notice_answer()),
                (
                    Status::Pending,
                    Kind::Approval
                    | Kind::Confirmation
                    | Kind::Choice
                    | Kind::Question
                    | Kind::Form
                    | Kind::Secret
                    | Kind::Review
                    | Kind::Custom(_),
                ) => continue,
                (Status::Answered | Status::AutoResolved | Status::Expired | Status::Cancelled, _) => {
                    answer_or_end(&asked)
                }
            };
            extras.used_answers.push(asked.id);
            if before {
                let (end, told) = self.question_before_end(&asked.question.title, end);
                inputs.extend(told);
                inputs.push(Input::BeforeEnded(end));
                continue;
            }
            let end = match end {
                Ok(answer) => CallEnd::Answered(answer),
                Err(how) => CallEnd::Unanswered { how },
            };
            inputs.push(Input::Settled { call, end });
        }
        if inputs.is_empty() {
            return Ok(false);
        }
        self.enter(inputs, extras).await?;
        Ok(true)
    }

    /// Journals the outcomes of the calls that the previous attempt left without a result, before the model is asked
    /// again.
    pub(super) async fn recover_unsettled(&mut self) -> Result<(), StepError> {
        let left = self.state.unsettled().to_vec();
        if left.is_empty() {
            return Ok(());
        }
        let calls = left.iter().map(|left| left.call.clone()).collect();
        let known = self.worker.engine.step_calls(&self.claim, calls).await?;
        let mut inputs = Vec::new();
        for (UnsettledCall { call, question }, (action, asked)) in left.into_iter().zip(known) {
            let end = match (question.and_then(|id| id.parse().ok()), action) {
                (Some(id), _) => {
                    let found = self.worker.engine.step_questions(&self.claim, vec![id]).await?;
                    question_end(found.first().and_then(Option::as_ref))
                }
                (None, Some(action)) => {
                    let ended = Self::call_end(&action, asked.as_ref(), self.worker.engine.now());
                    ended.unwrap_or_else(|| match action.state {
                        ActionState::Allowed { .. } => not_begun(),
                        ActionState::Waiting { .. }
                        | ActionState::Denied
                        | ActionState::Rejected { .. }
                        | ActionState::Started { .. }
                        | ActionState::Done { .. }
                        | ActionState::Failed { .. }
                        | ActionState::Unknown { .. } => CallEnd::Unknown,
                    })
                }
                (None, None) => not_begun(),
            };
            inputs.push(Input::CallRecovered { call, end });
        }
        self.enter(inputs, JournalExtras::default()).await
    }

    /// End of the question before the step, with a note to the agent if the input template does not use the answer.
    fn question_before_end(
        &self,
        title: &str,
        end: Result<PeopleAnswer, NoAnswerReason>,
    ) -> (BeforeEnd, Option<Input>) {
        let answer = match end {
            Ok(answer) => answer,
            Err(how) => return (BeforeEnd::Unanswered { how }, None),
        };
        let goes_on = answer.effect.lets_step_run();
        let Some(step) = self.flow_step.as_ref().filter(|_| self.agent.is_some() && goes_on) else {
            return (BeforeEnd::Answered { answer, task: None }, None);
        };
        let mut values = self.values.clone();
        values["answer"] = output(&answer);
        let says_more = !answer.metadata.is_null() || !answer.data.is_null() || answer.feedback.is_some();
        let told = (says_more || answer.effect == Effect::Custom) && !uses_answer(&step.input);
        let told = told.then(|| {
            let (by, content) = (answer.by.to_string(), texts::answer_before(title, &answer));
            Input::Message { by, content, person: true, note: true }
        });
        match Self::task(step, &values) {
            Ok(task) => (BeforeEnd::Answered { answer, task: Some(task) }, told),
            Err(why) => (BeforeEnd::Unanswered { how: NoAnswerReason::Other(why) }, None),
        }
    }

    /// Result of an action, once it is settled.
    pub(super) fn call_end(action: &Action, asked: Option<&Interaction>, now: Timestamp) -> Option<CallEnd> {
        let end = match &action.state {
            ActionState::Done { result } => CallEnd::Done { result: result.clone(), edited: action.edited.clone() },
            ActionState::Failed { message, result } => {
                CallEnd::Failed { message: message.clone(), result: result.clone() }
            }
            ActionState::Denied => CallEnd::Denied { reason: action.ruling.reason.clone() },
            ActionState::Rejected { by, effect, feedback } => match (asked.and_then(answer_of), effect) {
                (Some(answer), _) => CallEnd::Answered(people_answer(answer)),
                (None, Some(effect)) => CallEnd::Answered(PeopleAnswer {
                    effect: *effect,
                    options: Vec::new(),
                    metadata: Value::Null,
                    data: Value::Null,
                    feedback: feedback.clone(),
                    by: AnsweredBy::from(by),
                }),
                (None, None) => CallEnd::Unanswered { how: how(asked) },
            },
            ActionState::Unknown { interaction: None, .. } => CallEnd::Unknown,
            ActionState::Allowed { .. } if !action.may_start(now) => {
                CallEnd::Failed { message: "It was allowed, and was not started in time.".into(), result: Value::Null }
            }
            ActionState::Allowed { .. }
            | ActionState::Waiting { .. }
            | ActionState::Started { .. }
            | ActionState::Unknown { interaction: Some(_), .. } => return None,
        };
        Some(end)
    }
}

/// Result of a question of the model whose step has ended.
fn question_end(asked: Option<&Interaction>) -> CallEnd {
    match asked {
        Some(asked) if asked.question.kind == Kind::Notice && asked.status() == Status::Pending => {
            CallEnd::Answered(notice_answer())
        }
        Some(asked) => answer_or_end(asked).map_or_else(|how| CallEnd::Unanswered { how }, CallEnd::Answered),
        None => CallEnd::Unanswered { how: how(None) },
    }
}

/// Whether a template uses a part of the answer.
fn uses_answer(input: &Value) -> bool {
    let mut paths = placeholders("", input).into_iter().filter_map(|(_, path)| path.ok());
    paths.any(|path| path.parts().first() == Some(&"answer"))
}

fn how(asked: Option<&Interaction>) -> NoAnswerReason {
    asked.map_or(NoAnswerReason::Cancelled, |asked| asked.status().name().into())
}

fn answer_of(asked: &Interaction) -> Option<&Answer> {
    match &asked.state {
        State::Resolved { resolution, .. } => resolution.answer(),
        State::Pending(_) => None,
    }
}

/// The answer of people to a question; the error is how it ended without one.
fn answer_or_end(asked: &Interaction) -> Result<PeopleAnswer, NoAnswerReason> {
    match &asked.state {
        State::Resolved { resolution: Resolution::Cancelled { .. }, .. } => Err(NoAnswerReason::Cancelled),
        State::Pending(_) | State::Resolved { .. } => {
            answer_of(asked).map(people_answer).ok_or_else(|| how(Some(asked)))
        }
    }
}

fn people_answer(answer: &Answer) -> PeopleAnswer {
    PeopleAnswer {
        effect: answer.effect,
        options: answer.options.clone(),
        metadata: answer.metadata.clone(),
        data: answer.data.clone(),
        feedback: answer.feedback.clone(),
        by: AnsweredBy::from(&answer.by),
    }
}

fn notice_answer() -> PeopleAnswer {
    PeopleAnswer {
        effect: Effect::Provide,
        options: Vec::new(),
        metadata: Value::Null,
        data: Value::Null,
        feedback: None,
        by: AnsweredBy::System,
    }
}

fn not_begun() -> CallEnd {
    CallEnd::Failed { message: NOT_BEGUN.into(), result: Value::Null }
}
