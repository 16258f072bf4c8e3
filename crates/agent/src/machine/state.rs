//! The state of a step and its transitions. [`MachineState::advance`] is the entry.

use std::borrow::Borrow;

use domain::Effect as AnswerEffect;
use domain::agent::Limits;
use domain::flow::StepQuestion;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::calls::{self, PendingCall, UnsettledCall, WaitingCall};
use super::end::End;
use super::limits::LimitUse;
use super::{BeforeEnd, CallEnd, Input, StepEffect};
use crate::model::Turn;

/// Version of the stored state.
const VERSION: u32 = 1;

/// State of a step. Its size depends on the current turn only: messages and settled results are in the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MachineState {
    #[serde(deserialize_with = "known_version")]
    version: u32,
    prefix: String,
    limits: Limits,
    /// Whether the step has a task, so that a turn without calls ends it.
    working: bool,
    people_only: bool,
    turn: u64,
    spent: LimitUse,
    /// Whether there is a message that the next turn has not read.
    unread: bool,
    #[serde(default)]
    reached: StepProgress,
    /// Calls of the last turn that had no result when the step ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    left: Vec<UnsettledCall>,
    phase: Phase,
}

/// Most progress that any attempt has made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StepProgress {
    #[default]
    Nothing,
    Begun,
    /// The question before the step, if any, was answered so that the step runs.
    Work,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
enum Phase {
    New,
    Asking {
        question: Box<StepQuestion>,
    },
    Asked {
        interaction: String,
    },
    Thinking,
    Acting {
        calls: Vec<PendingCall>,
        asked: bool,
        sent_back: bool,
    },
    Listening,
    Ended {
        end: End,
        /// Whether the step was waiting for a message when it ended.
        #[serde(default)]
        listening: bool,
    },
}

/// Phase of a step without its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// The step has not begun.
    New,
    /// The question before the step is open or about to be asked.
    Asking,
    /// The next turn of the model is due.
    Thinking,
    /// Some calls of the current turn are not settled.
    Acting,
    /// The step waits for a message.
    Listening,
    /// The step has ended.
    Ended,
}

impl MachineState {
    /// State of a step that has not begun. The names of its calls begin with `prefix`, which must be unique in the
    /// session. With an empty prefix, calls are recognised by turn and index alone.
    #[must_use]
    pub fn new(prefix: impl Into<String>) -> Self {
        Self {
            version: VERSION,
            prefix: prefix.into(),
            limits: Limits::default(),
            working: false,
            people_only: false,
            turn: 0,
            spent: LimitUse::default(),
            unread: false,
            reached: StepProgress::Nothing,
            left: Vec::new(),
            phase: Phase::New,
        }
    }

    /// Applies a journalled input and returns the new state with the effects that are new.
    #[must_use]
    pub fn advance(mut self, input: impl Borrow<Input>) -> (Self, Vec<StepEffect>) {
        let effects = self.apply(input.borrow());
        (self, effects)
    }

    /// All effects that are due in this state, for a worker that takes over or wakes a step.
    ///
    /// Waiting actions are included, because proposing an action again returns its current state. Questions of the step
    /// that were asked are not: [`MachineState::waiting`] lists them, and their results are read from the questions.
    #[must_use]
    pub fn outstanding(&self) -> Vec<StepEffect> {
        match &self.phase {
            Phase::New | Phase::Asked { .. } | Phase::Listening => Vec::new(),
            Phase::Asking { question } => {
                vec![StepEffect::AskBefore { call: self.before_call(), question: question.clone() }]
            }
            Phase::Thinking => vec![StepEffect::CallModel],
            Phase::Acting { calls, .. } => {
                calls.iter().enumerate().filter_map(|(at, call)| call.effect(self.call_name(at))).collect()
            }
            Phase::Ended { end, .. } => end.effect().into_iter().collect(),
        }
    }

    /// The calls that wait for people, in the order of the turn.
    #[must_use]
    pub fn waiting(&self) -> Vec<WaitingCall> {
        match &self.phase {
            Phase::Asked { interaction } => {
                vec![WaitingCall { call: self.before_call(), interaction: interaction.clone(), is_question: true }]
            }
            Phase::Acting { calls, .. } => calls
                .iter()
                .enumerate()
                .filter_map(|(at, call)| match call {
                    PendingCall::Waiting { interaction, .. } => Some(WaitingCall {
                        call: self.call_name(at),
                        interaction: interaction.clone(),
                        is_question: call.is_question().unwrap_or_default(),
                    }),
                    PendingCall::New { .. } | PendingCall::Settled => None,
                })
                .collect(),
            Phase::New | Phase::Asking { .. } | Phase::Thinking | Phase::Listening | Phase::Ended { .. } => Vec::new(),
        }
    }

    /// Whether only people can move the step on. A worker that has performed the outstanding effects may release it.
    #[must_use]
    pub fn is_asleep(&self) -> bool {
        match &self.phase {
            Phase::Asked { .. } | Phase::Listening => true,
            Phase::Acting { calls, .. } => !calls.iter().any(PendingCall::is_new),
            Phase::New | Phase::Asking { .. } | Phase::Thinking | Phase::Ended { .. } => false,
        }
    }

    /// Current phase without its data.
    #[must_use]
    pub const fn activity(&self) -> Activity {
        match &self.phase {
            Phase::New => Activity::New,
            Phase::Asking { .. } | Phase::Asked { .. } => Activity::Asking,
            Phase::Thinking => Activity::Thinking,
            Phase::Acting { .. } => Activity::Acting,
            Phase::Listening => Activity::Listening,
            Phase::Ended { .. } => Activity::Ended,
        }
    }

    /// Number of turns that the model has had.
    #[must_use]
    pub const fn turn(&self) -> u64 {
        self.turn
    }

    /// Calls that the previous attempt left without a result and whose outcome was not found since.
    #[must_use]
    pub fn unsettled(&self) -> &[UnsettledCall] {
        &self.left
    }

    /// Whether the step has begun, in this attempt or an earlier one.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.reached >= StepProgress::Begun
    }

    /// Whether there are messages that the next request to the model would not include.
    pub(crate) const fn has_unshown_messages(&self) -> bool {
        self.unread && matches!(self.phase, Phase::Thinking)
    }

    /// Whether the step ended with an output.
    pub(crate) const fn is_finished(&self) -> bool {
        matches!(self.phase, Phase::Ended { end: End::Finished { .. }, .. })
    }

    /// Index of an unsettled call of the current turn.
    pub(crate) fn open_call(&self, call: &str) -> Option<usize> {
        let Phase::Acting { calls, .. } = &self.phase else { return None };
        let index = calls::index(call, &self.prefix, self.turn)?;
        calls.get(index).is_some_and(|call| !call.is_settled()).then_some(index)
    }

    /// Index of a call of the last turn that was left without a result.
    pub(crate) fn unsettled_call(&self, call: &str) -> Option<usize> {
        let index = calls::index(call, &self.prefix, self.turn)?;
        let name = self.call_name(index);
        self.left.iter().any(|left| left.call == name).then_some(index)
    }

    pub(crate) fn apply(&mut self, input: &Input) -> Vec<StepEffect> {
        match input {
            Input::Begun { limits, task, before, people_only } => {
                self.begin(*limits, given(task.as_ref()).is_some(), before.as_deref(), *people_only)
            }
            Input::Message { person, .. } => self.receive_message(*person),
            Input::MessagesShown => self.mark_messages_shown(),
            Input::Turn(turn) => self.apply_turn(turn),
            Input::ModelFailed { message } if matches!(self.phase, Phase::Thinking) => {
                self.end(End::Failed { reason: message.clone() })
            }
            Input::ModelFailed { .. } => Vec::new(),
            Input::Asked { call, interaction } => self.wait(call, interaction, true),
            Input::Waiting { call, interaction } => self.wait(call, interaction, false),
            Input::Settled { call, end } => self.settle(call, end),
            Input::BeforeEnded(end) => self.end_question_before(end),
            Input::Cancelled { reason } => self.cancel(reason),
            Input::Retried { .. } => self.try_again(),
            Input::CallRecovered { call, .. } => self.forget_unsettled(call),
        }
    }

    fn begin(
        &mut self,
        limits: Limits,
        task: bool,
        before: Option<&StepQuestion>,
        people_only: bool,
    ) -> Vec<StepEffect> {
        let Phase::New = self.phase else { return Vec::new() };
        self.limits = limits;
        self.people_only = people_only;
        self.reached = StepProgress::Begun;
        match before {
            Some(question) => {
                self.phase = Phase::Asking { question: Box::new(question.clone()) };
                self.outstanding()
            }
            None if people_only => {
                self.end(End::Failed { reason: "the step has neither an agent nor a question".into() })
            }
            None => self.start_work(task),
        }
    }

    /// Starts the work or ends the step, after the question before it has ended.
    fn end_question_before(&mut self, end: &BeforeEnd) -> Vec<StepEffect> {
        let (Phase::Asking { .. } | Phase::Asked { .. }) = self.phase else { return Vec::new() };
        match end {
            BeforeEnd::Answered { answer, task } => match End::from_answer(answer, self.people_only) {
                Some(end) => self.end(end),
                None => self.start_work(given(task.as_ref()).is_some()),
            },
            BeforeEnd::Unanswered { how } => self.end(End::from_silence(how)),
        }
    }

    fn start_work(&mut self, task: bool) -> Vec<StepEffect> {
        self.reached = StepProgress::Work;
        self.working = task;
        if task || self.unread { self.think() } else { self.listen() }
    }

    /// Waits for the next message. The count of turns starts at zero again.
    fn listen(&mut self) -> Vec<StepEffect> {
        self.spent.iterations = 0;
        self.phase = Phase::Listening;
        Vec::new()
    }

    fn think(&mut self) -> Vec<StepEffect> {
        if let Some(reason) = self.spent.exceeded(&self.limits) {
            return self.end(End::Failed { reason });
        }
        self.unread = false;
        self.phase = Phase::Thinking;
        vec![StepEffect::CallModel]
    }

    /// Receives a message. A message of a person resets the use of the limits. A step that finished, but whose end is
    /// not stored yet, continues; any other ended step reads the message in its next attempt.
    fn receive_message(&mut self, person: bool) -> Vec<StepEffect> {
        if person {
            self.spent = LimitUse::default();
        }
        self.unread = true;
        match &self.phase {
            Phase::Listening => self.think(),
            Phase::Ended { end: End::Finished { .. }, .. } if !self.people_only => self.think(),
            // A message may arrive before the first worker does.
            Phase::New
            | Phase::Asking { .. }
            | Phase::Asked { .. }
            | Phase::Thinking
            | Phase::Acting { .. }
            | Phase::Ended { .. } => Vec::new(),
        }
    }

    /// Marks all messages as part of the request that is about to be sent.
    fn mark_messages_shown(&mut self) -> Vec<StepEffect> {
        if let Phase::Thinking = self.phase {
            self.unread = false;
        }
        Vec::new()
    }

    fn apply_turn(&mut self, turn: &Turn) -> Vec<StepEffect> {
        let Phase::Thinking = self.phase else { return Vec::new() };
        self.left.clear();
        self.turn += 1;
        self.spent.iterations = self.spent.iterations.saturating_add(1);
        if turn.calls.is_empty() {
            return match (self.unread, self.working) {
                (true, _) => self.think(),
                (false, true) => self.end(End::from_text(&turn.text)),
                (false, false) => self.listen(),
            };
        }
        let asks = turn.calls.iter().any(|call| calls::asks_people(&call.tool).is_some());
        if let Some(reason) = self.spent.rounds_used_up(&self.limits).filter(|_| asks) {
            return self.end(End::Failed { reason });
        }
        let calls = turn.calls.iter().map(PendingCall::of).collect();
        self.phase = Phase::Acting { calls, asked: false, sent_back: false };
        self.outstanding()
    }

    fn wait(&mut self, call: &str, question: &str, own: bool) -> Vec<StepEffect> {
        if own && matches!(self.phase, Phase::Asking { .. }) && call == self.before_call() {
            self.phase = Phase::Asked { interaction: question.to_owned() };
            return Vec::new();
        }
        let Some(index) = self.open_call(call) else { return Vec::new() };
        let Phase::Acting { calls, .. } = &mut self.phase else { return Vec::new() };
        let call = &mut calls[index];
        // A question of the step is asked once; people may be asked about an action again.
        let again = own && !call.is_new();
        if call.is_question() != Some(own) || again || !call.wait(question) {
            return Vec::new();
        }
        self.count_round();
        self.progress()
    }

    fn settle(&mut self, call: &str, end: &CallEnd) -> Vec<StepEffect> {
        let Some(index) = self.open_call(call) else { return Vec::new() };
        if let CallEnd::Answered(answer) = end
            && answer.effect == AnswerEffect::Terminate
        {
            return self.end(End::terminated(answer));
        }
        let Phase::Acting { calls, sent_back, .. } = &mut self.phase else { return Vec::new() };
        calls[index] = PendingCall::Settled;
        *sent_back |= matches!(end, CallEnd::Answered(answer) if answer.effect == AnswerEffect::Retry);
        // The answer may arrive before the input that records the wait.
        let asked = match end {
            CallEnd::Done { edited, .. } => given(edited.as_ref()).is_some(),
            CallEnd::Answered(_) | CallEnd::Unanswered { .. } => true,
            CallEnd::Failed { .. } | CallEnd::Denied { .. } | CallEnd::Unknown => false,
        };
        if asked {
            self.count_round();
        }
        self.progress()
    }

    fn count_round(&mut self) {
        if let Phase::Acting { asked, .. } = &mut self.phase
            && !std::mem::replace(asked, true)
        {
            self.spent.rounds = self.spent.rounds.saturating_add(1);
        }
    }

    /// Asks the model again once every call is settled. A turn that exceeds the limit of rounds fails only when none of
    /// its calls runs, so that no running action is interrupted and no person answers a question of a step that will
    /// fail.
    fn progress(&mut self) -> Vec<StepEffect> {
        let Phase::Acting { calls, asked, sent_back } = &self.phase else { return Vec::new() };
        if calls.iter().all(PendingCall::is_settled) {
            self.spent.count_settled_turn(*asked, *sent_back);
            return self.think();
        }
        match self.spent.too_many_rounds(&self.limits) {
            Some(reason) if self.is_asleep() => self.end(End::Failed { reason }),
            _ => Vec::new(),
        }
    }

    fn cancel(&mut self, reason: &str) -> Vec<StepEffect> {
        if let Phase::Ended { .. } = self.phase {
            return Vec::new();
        }
        self.end(End::Cancelled { reason: reason.to_owned() })
    }

    /// Begins the next attempt after any kind of end. A step whose agent had not started asks its question again, because
    /// nobody waits for the old answer; any other step continues with its results.
    fn try_again(&mut self) -> Vec<StepEffect> {
        self.spent = LimitUse::default();
        match &self.phase {
            // Without a new message there is nothing to ask the model.
            Phase::Ended { listening: true, .. } if !self.unread => self.listen(),
            Phase::Ended { .. } if self.reached == StepProgress::Work => self.think(),
            Phase::Ended { .. } | Phase::Asking { .. } | Phase::Asked { .. } => {
                self.phase = Phase::New;
                Vec::new()
            }
            Phase::New | Phase::Thinking | Phase::Acting { .. } | Phase::Listening => Vec::new(),
        }
    }

    fn forget_unsettled(&mut self, call: &str) -> Vec<StepEffect> {
        if let Some(index) = self.unsettled_call(call) {
            let name = self.call_name(index);
            self.left.retain(|left| left.call != name);
        }
        Vec::new()
    }

    fn end(&mut self, end: End) -> Vec<StepEffect> {
        if let Phase::Acting { calls, .. } = &self.phase {
            self.left = calls.iter().enumerate().filter_map(|(at, call)| call.unsettled(self.call_name(at))).collect();
        }
        self.phase = Phase::Ended { end, listening: matches!(self.phase, Phase::Listening) };
        self.outstanding()
    }

    fn before_call(&self) -> String {
        format!("{}before", self.prefix)
    }

    fn call_name(&self, index: usize) -> String {
        calls::name(&self.prefix, self.turn, index)
    }
}

/// The value, unless it is `null`: the journal reads `Some(null)` back as `None`.
pub(crate) fn given(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !value.is_null())
}

fn known_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let version = u32::deserialize(deserializer)?;
    if version == VERSION {
        Ok(version)
    } else {
        Err(D::Error::custom(format!(
            "the stored state has version {version}, but this server reads version {VERSION}"
        )))
    }
}
