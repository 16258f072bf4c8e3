//! Short constructors for the inputs of a step.

use domain::agent::Limits;
use domain::flow::StepQuestion;
use domain::{AnsweredBy, Effect as Way};
use holdpoint_agent::machine::{BeforeEnd, CallEnd, Input, MachineState, PeopleAnswer, StepEffect};
use holdpoint_agent::model::{ModelCall, Turn};
use serde_json::{Value, json};

pub(crate) fn begun(task: Option<Value>) -> Input {
    limited(Limits::default(), task)
}

pub(crate) fn limited(limits: Limits, task: Option<Value>) -> Input {
    Input::Begun { limits, task, before: None, people_only: false }
}

pub(crate) fn begun_with_question(people_only: bool) -> Input {
    Input::Begun { limits: Limits::default(), task: None, before: Some(Box::new(step_question())), people_only }
}

pub(crate) fn step_question() -> StepQuestion {
    let question = json!({ "kind": "confirmation", "title": "Begin?", "deadline_seconds": 60 });
    serde_json::from_value(question).unwrap()
}

pub(crate) fn message(content: &str) -> Input {
    Input::Message { by: "alice".into(), content: content.into(), person: true, note: false }
}

/// A turn that calls these tools, with the index of the call as its argument.
pub(crate) fn turn(tools: &[&str]) -> Input {
    let calls = tools.iter().enumerate().map(|(at, tool)| call(at, tool)).collect();
    Input::Turn(Box::new(Turn { text: "Let me see.".into(), calls, ..Turn::default() }))
}

pub(crate) fn call(at: usize, tool: &str) -> ModelCall {
    ModelCall { id: format!("call_{at}"), tool: tool.into(), arguments: json!({ "at": at }) }
}

pub(crate) fn says(text: &str) -> Input {
    Input::Turn(Box::new(Turn { text: text.into(), ..Turn::default() }))
}

pub(crate) fn asked(call: &str, interaction: &str) -> Input {
    Input::Asked { call: call.into(), interaction: interaction.into() }
}

pub(crate) fn waiting(call: &str, interaction: &str) -> Input {
    Input::Waiting { call: call.into(), interaction: interaction.into() }
}

pub(crate) fn settled(call: &str, end: CallEnd) -> Input {
    Input::Settled { call: call.into(), end }
}

pub(crate) fn done(result: impl Into<Value>) -> CallEnd {
    CallEnd::Done { result: result.into(), edited: None }
}

pub(crate) fn answered(effect: Way) -> CallEnd {
    CallEnd::Answered(answer(effect))
}

pub(crate) fn answer(effect: Way) -> PeopleAnswer {
    PeopleAnswer {
        effect,
        options: Vec::new(),
        metadata: Value::Null,
        data: Value::Null,
        feedback: None,
        by: AnsweredBy::Person("alice".into()),
    }
}

pub(crate) fn before(effect: Way, task: Option<Value>) -> Input {
    Input::BeforeEnded(BeforeEnd::Answered { answer: answer(effect), task })
}

pub(crate) fn cancelled() -> Input {
    Input::Cancelled { reason: "the session was cancelled".into() }
}

pub(crate) fn again() -> Input {
    Input::Retried { reason: "the model was overloaded".into(), after_end: false }
}

pub(crate) fn act(call: &str, at: usize, tool: &str) -> StepEffect {
    StepEffect::Act { call: call.into(), tool: tool.into(), arguments: json!({ "at": at }) }
}

/// State after a journal, and the effects of its last entry.
pub(crate) fn replay(prefix: &str, journal: &[Input]) -> (MachineState, Vec<StepEffect>) {
    let first = (MachineState::new(prefix), Vec::new());
    journal.iter().fold(first, |(state, _), input| state.advance(input))
}

/// The state after writing and reading it as JSON.
pub(crate) fn reread(state: &MachineState) -> MachineState {
    serde_json::from_str(&serde_json::to_string(state).unwrap()).unwrap()
}
