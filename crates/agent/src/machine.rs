//! The loop that sleeps: `(state, input) → (state, effects)`, without I/O, clock or randomness.
//!
//! ```text
//! new ── begun ──> asking ── asked ──> asked ── before ──> thinking | listening | ended
//! new ── begun ──> thinking ── turn with calls ──> acting ── all of them settled ──> thinking
//!                  thinking ── turn without calls ──> ended (it had a task) | listening (it had none)
//!                  listening ── message ──> thinking
//! anything ── cancelled, a limit, a model that cannot be asked ──> ended
//! ended with its last word ── message, before anybody knows of the end ──> thinking
//! ended, asked ── again ──> thinking (it had come to work) | new (it had not)
//! ```
//!
//! [`State::take`] is total. An input that does not fit where the step is changes nothing and wants nothing: the first word on a call
//! is the one that counts, and what is over stays over. So a journal may hold an input twice, and replays to the same state.

mod calls;
mod end;
mod limits;
mod state;

pub use calls::{ASK_USER_PREFIX, Left, Waiting};
pub use state::{Doing, State};

pub(crate) use calls::asks_people;
pub(crate) use end::output;
pub(crate) use state::given;

use domain::agent::Limits;
use domain::flow::StepQuestion;
use domain::{Effect as AnswerEffect, OptionId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::Turn;

/// What a step is given, and what it goes on with. Each is journalled before it is used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "input", rename_all = "snake_case")]
pub enum Input {
    /// The step begins. Always the first.
    Begun {
        /// How far it may go.
        limits: Limits,
        /// What the agent works on; none where it waits for messages.
        task: Option<Value>,
        /// What is asked before it runs.
        before: Option<Box<StepQuestion>>,
        /// Whether there is no agent: people's answer is the output.
        people_only: bool,
    },
    /// Somebody says something to the agent. What comes while the model is being asked or calls are open is read at its next turn.
    Message {
        /// Who.
        by: String,
        /// What.
        content: String,
        /// Whether a person says it, or somebody on a person's behalf: then what was used of the limits is forgotten.
        #[serde(default = "yes")]
        person: bool,
        /// Whether it is a note of the worker's own to this step's model, in a person's name.
        #[serde(default)]
        note: bool,
    },
    /// What was said so far is shown to the model at the turn that it is about to be asked for.
    Heard,
    /// The model has spoken.
    Turn(Box<Turn>),
    /// The model cannot be asked.
    ModelFailed {
        /// Why.
        message: String,
    },
    /// A question of the step itself was put to people: the one before it, or one that the model asked. Once for each.
    Asked {
        /// The call that asks.
        call: String,
        /// The question.
        interaction: String,
    },
    /// An action waits for people: nothing else is settled by it. A later one for the same call takes the place of the earlier: an edit
    /// may need others, and what was started and not heard of again is asked about too.
    Waiting {
        /// The call.
        call: String,
        /// The question.
        interaction: String,
    },
    /// What became of a call.
    Settled {
        /// The call.
        call: String,
        /// What.
        end: CallEnd,
    },
    /// The question before the step has ended.
    Before(BeforeEnd),
    /// The step is over, whatever it was doing.
    Cancelled {
        /// Why.
        reason: String,
    },
    /// The step is tried again, from where it was: what was done stays done, and what was used of the limits is forgotten.
    Again {
        /// Why.
        reason: String,
        /// Whether its session had ended meanwhile: what people gave it in secret is handed out no more.
        #[serde(default)]
        after_end: bool,
    },
    /// What is known by now of a call that the attempt before left without a result. Nothing is done about it; the model is told.
    Found {
        /// The call.
        call: String,
        /// What became of it.
        end: CallEnd,
    },
}

const fn yes() -> bool {
    true
}

/// What became of a call, as the model will read it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum CallEnd {
    /// It ran, perhaps with arguments that a person put in place of the model's.
    Done {
        /// What came of it.
        result: Value,
        /// The arguments that it ran with, where they are not the model's.
        edited: Option<Value>,
    },
    /// It ran, and failed; or it could not be proposed at all.
    Failed {
        /// Why.
        message: String,
        /// What came of it all the same.
        result: Value,
    },
    /// Policy says no.
    Denied {
        /// Why.
        reason: String,
    },
    /// People have spoken, and it does not run; or they have answered what the model asked them.
    Answered(Answered),
    /// Nobody answered in time, or the question was withdrawn.
    Unanswered {
        /// `expired` or `cancelled`.
        how: String,
    },
    /// It was started, and nobody knows what became of it.
    Unknown,
}

/// What people said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    /// Which way on.
    pub effect: AnswerEffect,
    /// The options chosen.
    pub options: Vec<OptionId>,
    /// The metadata of the option chosen; of several, that of each under its id.
    pub metadata: Value,
    /// The form, or the information; of a secret only the names.
    pub data: Value,
    /// A reason, or free text.
    pub feedback: Option<String>,
    /// Who; `system` where nobody in person did.
    pub by: String,
}

/// How the question before a step ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum BeforeEnd {
    /// People have spoken.
    Answered {
        /// What.
        answer: Answered,
        /// What the agent works on, now that they have: the step's template, filled in.
        task: Option<Value>,
    },
    /// Nobody did.
    Unanswered {
        /// `expired` or `cancelled`.
        how: String,
    },
}

/// What the machine wants done.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Ask the model for its next turn.
    CallModel,
    /// Propose an action and, once it is allowed, run it.
    Act {
        /// Our name for the call, unique in the session.
        call: String,
        /// The tool.
        tool: String,
        /// Its arguments.
        arguments: Value,
    },
    /// Put the question before the step to people.
    AskBefore {
        /// Our name for it.
        call: String,
        /// The question.
        question: Box<StepQuestion>,
    },
    /// Put a question of the model's own to people: a call of one of the `ask_user` tools.
    AskUser {
        /// Our name for the call.
        call: String,
        /// Which one: `clarify`, `choose`, `form`, `secret`, `confirm`.
        tool: String,
        /// What the model gave.
        arguments: Value,
    },
    /// The step is done.
    Finish {
        /// What came of it.
        output: Value,
    },
    /// The step has failed.
    Fail {
        /// Why.
        reason: String,
    },
    /// The question before it was rejected.
    Reject {
        /// Why.
        reason: String,
        /// What people said.
        answer: Value,
    },
    /// The question before it was answered with the wish that the work before it be done again.
    SendBack {
        /// Why.
        reason: String,
        /// What people said.
        answer: Value,
    },
    /// The step was not run: people said so.
    Skip {
        /// Why, where they said.
        reason: Option<String>,
    },
}
