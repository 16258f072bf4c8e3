//! The agent loop as a state machine: `(state, input) → (state, effects)`, without I/O, clock or randomness.
//!
//! This module holds the inputs, the effects and the transitions of one step. `worker` performs the effects; `history`
//! turns the inputs into the messages of a model. Start reading at [`Input`], then `state.rs`.
//!
//! ```text
//! new ── begun ──> asking ── asked ──> asked ── before ──> thinking | listening | ended
//! new ── begun ──> thinking ── turn with calls ──> acting ── every call settled ──> thinking
//!                  thinking ── turn without calls ──> ended (it had a task) | listening (it had none)
//!                  listening ── message ──> thinking
//! anything ── cancelled, a limit, a model that cannot be asked ──> ended
//! ended by the last turn ── message, before the end is stored ──> thinking
//! ended, asked ── again ──> thinking (its agent had started) | new (it had not)
//! ```
//!
//! [`MachineState::advance`] is total. An input that does not fit the current phase changes nothing and has no effects:
//! the first result of a call counts, and an ended step stays ended. A journal may therefore hold an input twice and
//! still replay to the same state.

mod calls;
mod end;
mod limits;
mod state;

pub use calls::{ASK_USER_PREFIX, UnsettledCall, WaitingCall};
pub use state::{Activity, MachineState};

pub(crate) use calls::asks_people;
pub(crate) use end::output;
pub(crate) use state::given;

use domain::agent::Limits;
use domain::flow::StepQuestion;
use domain::{AnsweredBy, Effect as AnswerEffect, OptionId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::Turn;

/// Input of a step. Each one is journalled before it is applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "input", rename_all = "snake_case")]
pub enum Input {
    /// The step begins. This is always the first input.
    Begun {
        /// Limits on turns, rounds and retries.
        limits: Limits,
        /// Task of the agent; `None` for an agent that waits for messages.
        task: Option<Value>,
        /// Question that people answer before the step runs.
        before: Option<Box<StepQuestion>>,
        /// Whether the step has no agent, so that the answer of people is its output.
        people_only: bool,
    },
    /// A message to the agent. A message that arrives while a turn is under way is read at the next turn.
    Message {
        /// Name of the sender.
        by: String,
        /// Text of the message.
        content: String,
        /// Whether a person sent the message, or a client on a person's behalf. The message then resets the used limits.
        #[serde(default = "yes")]
        person: bool,
        /// Whether the worker wrote the message for the model of this step, in a person's name.
        #[serde(default)]
        note: bool,
    },
    /// All messages so far are part of the request for the turn that is about to be asked for.
    #[serde(rename = "heard")]
    MessagesShown,
    /// The model has produced a turn.
    Turn(Box<Turn>),
    /// The model cannot be asked.
    ModelFailed {
        /// Reason, in words for people.
        message: String,
    },
    /// People were asked a question of the step: the question before the step, or a question of the model. A call has at most one such input.
    Asked {
        /// Name of the call that asks.
        call: String,
        /// Identifier of the question.
        interaction: String,
    },
    /// An action waits for people; no call is settled by it. A later input for the same call replaces the earlier one:
    /// an edit may need other reviewers, and an action with an unknown outcome is asked about again.
    Waiting {
        /// Name of the call.
        call: String,
        /// Identifier of the question.
        interaction: String,
    },
    /// A call has its result.
    Settled {
        /// Name of the call.
        call: String,
        /// Result of the call.
        end: CallEnd,
    },
    /// The question before the step has ended.
    #[serde(rename = "before")]
    BeforeEnded(BeforeEnd),
    /// The step is cancelled in any phase.
    Cancelled {
        /// Reason, in words for people.
        reason: String,
    },
    /// The step is tried again. Finished work stays; the use of the limits is reset.
    #[serde(rename = "again")]
    Retried {
        /// Reason, in words for people.
        reason: String,
        /// Whether the session had ended in between. Secret values that people gave before are then not handed out any
        /// more.
        #[serde(default)]
        after_end: bool,
    },
    /// The outcome of a call that the previous attempt left without a result. It changes nothing but the message that
    /// the model reads.
    #[serde(rename = "found")]
    CallRecovered {
        /// Name of the call.
        call: String,
        /// Result of the call.
        end: CallEnd,
    },
}

const fn yes() -> bool {
    true
}

/// Result of a call, as the model will read it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum CallEnd {
    /// The call ran, perhaps with arguments that a person edited.
    Done {
        /// Result of the tool.
        result: Value,
        /// Arguments that the call ran with, if a person edited them.
        edited: Option<Value>,
    },
    /// The call ran and failed, or it could not be proposed.
    Failed {
        /// Reason, in words for the model.
        message: String,
        /// Partial result of the tool; `null` without one.
        result: Value,
    },
    /// The policy denies the call.
    Denied {
        /// Reason that the policy gives.
        reason: String,
    },
    /// People answered and the call does not run, or people answered a question of the model.
    Answered(PeopleAnswer),
    /// The question expired or was cancelled.
    Unanswered {
        /// Reason for the missing answer.
        how: NoAnswerReason,
    },
    /// The call was started, and its outcome is unknown.
    Unknown,
}

/// Answer of people to a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PeopleAnswer {
    /// Effect of the answer on the step.
    pub effect: AnswerEffect,
    /// Identifiers of the chosen options.
    pub options: Vec<OptionId>,
    /// Metadata of the chosen option; for several options, an object with the metadata of each under its identifier.
    pub metadata: Value,
    /// Filled-in form or given information; for a secret only the names of the values.
    pub data: Value,
    /// Reason or free text.
    pub feedback: Option<String>,
    /// Author of the answer.
    pub by: AnsweredBy,
}

/// Reason why a question ended without an answer. The journal stores it as a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum NoAnswerReason {
    /// Nobody answered in time.
    Expired,
    /// The question was cancelled.
    Cancelled,
    /// Any other reason, in words.
    Other(String),
}

impl From<String> for NoAnswerReason {
    fn from(text: String) -> Self {
        match text.as_str() {
            "expired" => Self::Expired,
            "cancelled" => Self::Cancelled,
            _ => Self::Other(text),
        }
    }
}

impl From<&str> for NoAnswerReason {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<NoAnswerReason> for String {
    fn from(silence: NoAnswerReason) -> Self {
        match silence {
            NoAnswerReason::Expired => "expired".to_owned(),
            NoAnswerReason::Cancelled => "cancelled".to_owned(),
            NoAnswerReason::Other(text) => text,
        }
    }
}

/// End of the question before a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum BeforeEnd {
    /// People answered a question of the step.
    Answered {
        /// Answer of the people.
        answer: PeopleAnswer,
        /// Task of the agent after the answer: the input template of the step, filled in.
        task: Option<Value>,
    },
    /// A question of the step ended without an answer.
    Unanswered {
        /// Reason for the missing answer.
        how: NoAnswerReason,
    },
}

/// Effect that the worker performs for a step.
#[derive(Debug, Clone, PartialEq)]
pub enum StepEffect {
    /// Ask the model for its next turn.
    CallModel,
    /// Propose an action and run it once it is allowed.
    Act {
        /// Name of the call, unique in the session.
        call: String,
        /// Name of the tool.
        tool: String,
        /// Arguments of the tool.
        arguments: Value,
    },
    /// Ask people the question before the step.
    AskBefore {
        /// Name of the call under which it is asked.
        call: String,
        /// Question to ask the people.
        question: Box<StepQuestion>,
    },
    /// Ask people a question of the model: a call of one of the `ask_user` tools.
    AskUser {
        /// Name of the call.
        call: String,
        /// Tool without its prefix: `clarify`, `choose`, `form`, `secret` or `confirm`.
        tool: String,
        /// Arguments that the model gave.
        arguments: Value,
    },
    /// Complete the step with its output.
    Finish {
        /// Output of the step.
        output: Value,
    },
    /// Fail the step with a reason.
    Fail {
        /// Reason, in words for people.
        reason: String,
    },
    /// Reject the step, because the question before it was rejected.
    Reject {
        /// Reason, in words for people.
        reason: String,
        /// Answer of people, as templates read it.
        answer: Value,
    },
    /// Send the step back, because the answer to the question before it asks for the previous work to be redone.
    SendBack {
        /// Reason, in words for people.
        reason: String,
        /// Answer of people, as templates read it.
        answer: Value,
    },
    /// Skip the step, because people said so.
    Skip {
        /// Reason, if people gave one.
        reason: Option<String>,
    },
}
