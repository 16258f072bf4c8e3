//! What became of what a step waits for, as its machine takes it.

use domain::template::places;
use domain::{
    Action, ActionState, Actor, ActorKind, Answer, Effect, Interaction, InteractionId, Kind, Resolution, State, Status,
    Timestamp,
};
use serde_json::Value;

use super::Trouble;
use super::drive::{Along, Driven};
use crate::history::words;
use crate::machine::{Answered, BeforeEnd, CallEnd, Doing, Input, Left, output};

/// What a model is told of a call that its step had not come to when it ended.
const NOT_BEGUN: &str = "the step ended before anything was done about this";

impl Driven<'_> {
    /// Takes the answers to the step's own questions, and says whether there was one.
    pub(super) async fn settle_questions(&mut self) -> Result<bool, Trouble> {
        let own: Vec<_> = self.state.waiting().into_iter().filter(|one| one.own).collect();
        if own.is_empty() {
            return Ok(false);
        }
        let before = self.state.doing() == Doing::Asking;
        let (mut calls, mut ids) = (Vec::new(), Vec::new());
        for one in own {
            if let Ok(id) = one.interaction.parse::<InteractionId>() {
                calls.push(one.call);
                ids.push(id);
            }
        }
        let found = self.worker.engine.step_questions(&self.claim, ids).await?;
        let (mut inputs, mut along) = (Vec::new(), Along::default());
        for (call, asked) in calls.into_iter().zip(found) {
            let Some(asked) = asked else { continue };
            let end = match (asked.status(), &asked.question.kind) {
                // A notice holds nothing up.
                (Status::Pending, Kind::Notice) => Ok(noticed()),
                (Status::Pending, _) => continue,
                _ => answered(&asked),
            };
            along.taken.push(asked.id);
            if before {
                let (end, told) = self.before(&asked.question.title, end);
                inputs.extend(told);
                inputs.push(Input::Before(end));
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
        self.enter(inputs, along).await?;
        Ok(true)
    }

    /// Finds out what became of the calls that the attempt before left without a result: its model goes on from what is known.
    pub(super) async fn recall(&mut self) -> Result<(), Trouble> {
        let left = self.state.left().to_vec();
        if left.is_empty() {
            return Ok(());
        }
        let calls = left.iter().map(|left| left.call.clone()).collect();
        let known = self.worker.engine.step_calls(&self.claim, calls).await?;
        let mut inputs = Vec::new();
        for (Left { call, question }, (proposal, asked)) in left.into_iter().zip(known) {
            let end = match (question.and_then(|id| id.parse().ok()), proposal) {
                (Some(id), _) => {
                    let found = self.worker.engine.step_questions(&self.claim, vec![id]).await?;
                    own_end(found.first().and_then(Option::as_ref))
                }
                (None, Some(proposal)) => {
                    let ended = Self::ended(&proposal, asked.as_ref(), self.worker.engine.now());
                    ended.unwrap_or_else(|| match proposal.state {
                        ActionState::Allowed { .. } => not_begun(),
                        _ => CallEnd::Unknown,
                    })
                }
                (None, None) => not_begun(),
            };
            inputs.push(Input::Found { call, end });
        }
        self.enter(inputs, Along::default()).await
    }

    /// How the question before the step ended; and what the agent is told of it, where the input of the step does not say.
    fn before(&self, title: &str, end: Result<Answered, String>) -> (BeforeEnd, Option<Input>) {
        let answer = match end {
            Ok(answer) => answer,
            Err(how) => return (BeforeEnd::Unanswered { how }, None),
        };
        let goes_on = matches!(answer.effect, Effect::Approve | Effect::Edit | Effect::Provide | Effect::Custom);
        let Some(step) = self.flow_step.as_ref().filter(|_| self.agent.is_some() && goes_on) else {
            return (BeforeEnd::Answered { answer, task: None }, None);
        };
        let mut values = self.values.clone();
        values["answer"] = output(&answer);
        let says_more = !answer.metadata.is_null() || !answer.data.is_null() || answer.feedback.is_some();
        let told = (says_more || answer.effect == Effect::Custom) && !names_answer(&step.input);
        let told = told.then(|| {
            let (by, content) = (answer.by.clone(), words::answer_before(title, &answer));
            Input::Message { by, content, person: true, note: true }
        });
        match self.task(step, &values) {
            Ok(task) => (BeforeEnd::Answered { answer, task: Some(task) }, told),
            Err(how) => (BeforeEnd::Unanswered { how }, None),
        }
    }

    /// What became of an action, once it is settled.
    pub(super) fn ended(proposal: &Action, asked: Option<&Interaction>, now: Timestamp) -> Option<CallEnd> {
        let end = match &proposal.state {
            ActionState::Done { result } => CallEnd::Done { result: result.clone(), edited: proposal.edited.clone() },
            ActionState::Failed { message, result } => {
                CallEnd::Failed { message: message.clone(), result: result.clone() }
            }
            ActionState::Denied => CallEnd::Denied { reason: proposal.ruling.reason.clone() },
            ActionState::Rejected { by, effect, feedback } => match (asked.and_then(answer_of), effect) {
                (Some(answer), _) => CallEnd::Answered(said(answer)),
                (None, Some(effect)) => CallEnd::Answered(Answered {
                    effect: *effect,
                    options: Vec::new(),
                    metadata: Value::Null,
                    data: Value::Null,
                    feedback: feedback.clone(),
                    by: named(by),
                }),
                (None, None) => CallEnd::Unanswered { how: how(asked) },
            },
            ActionState::Unknown { interaction: None, .. } => CallEnd::Unknown,
            ActionState::Allowed { .. } if proposal.state_name(now) == "rejected" => {
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

/// What became of a question of the model's own whose step has ended.
fn own_end(asked: Option<&Interaction>) -> CallEnd {
    match asked {
        Some(asked) if asked.question.kind == Kind::Notice && asked.status() == Status::Pending => {
            CallEnd::Answered(noticed())
        }
        Some(asked) => answered(asked).map_or_else(|how| CallEnd::Unanswered { how }, CallEnd::Answered),
        None => CallEnd::Unanswered { how: how(None) },
    }
}

/// Whether a template fills in something of the answer.
fn names_answer(input: &Value) -> bool {
    let mut paths = places("", input).into_iter().filter_map(|(_, path)| path.ok());
    paths.any(|path| path.parts().first() == Some(&"answer"))
}

fn how(asked: Option<&Interaction>) -> String {
    asked.map_or("cancelled", |asked| asked.status().name()).to_owned()
}

fn answer_of(asked: &Interaction) -> Option<&Answer> {
    match &asked.state {
        State::Resolved { resolution, .. } => resolution.answer(),
        State::Pending(_) => None,
    }
}

/// What people said to a question; or how it ended without an answer.
fn answered(asked: &Interaction) -> Result<Answered, String> {
    match &asked.state {
        State::Resolved { resolution: Resolution::Cancelled { .. }, .. } => Err("cancelled".into()),
        _ => answer_of(asked).map(said).ok_or_else(|| how(Some(asked))),
    }
}

fn said(answer: &Answer) -> Answered {
    Answered {
        effect: answer.effect,
        options: answer.options.clone(),
        metadata: answer.metadata.clone(),
        data: answer.data.clone(),
        feedback: answer.feedback.clone(),
        by: named(&answer.by),
    }
}

/// Who said something, as the model is told: nobody in person is `system`.
fn named(by: &Actor) -> String {
    if by.kind == ActorKind::User { by.name.clone() } else { "system".into() }
}

fn noticed() -> Answered {
    Answered {
        effect: Effect::Provide,
        options: Vec::new(),
        metadata: Value::Null,
        data: Value::Null,
        feedback: None,
        by: "system".into(),
    }
}

fn not_begun() -> CallEnd {
    CallEnd::Failed { message: NOT_BEGUN.into(), result: Value::Null }
}
