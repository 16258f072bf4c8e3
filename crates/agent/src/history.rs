//! The messages that a model is shown, computed from the journal without I/O, clock or randomness.
//!
//! The messages of any journal can be sent as they are: each turn is followed by exactly one result for each of its
//! calls, in the order of the calls. A turn with unsettled calls is left out until all are settled; messages that
//! arrive in between come after its results. Start reading at [`History::push`]. The texts of the results are in
//! `texts.rs`.

pub(crate) mod texts;

use std::sync::Arc;

use serde_json::Value;

use crate::machine::{Activity, BeforeEnd, CallEnd, Input, MachineState, given};
use crate::model::{Message, ModelCall, Turn};

/// The messages of a whole journal.
#[must_use]
pub fn history(entries: &[Input]) -> Vec<Message> {
    let mut history = History::new();
    for entry in entries {
        history.push(entry);
    }
    Arc::unwrap_or_clone(history.messages)
}

/// The messages of a journal up to the entry that was read last. A kept history reads only the entries after that.
///
/// A clone shares the messages. They are copied only if one of two live clones reads on.
#[derive(Debug, Clone)]
pub struct History {
    /// State machine that decides which inputs fit.
    state: MachineState,
    messages: Arc<Vec<Message>>,
    open: Option<OpenTurn>,
    /// Calls that the end of the step left without a result.
    unsettled: Vec<UnsettledResult>,
    /// Messages that the current turn has not read.
    waiting_messages: Vec<Message>,
}

/// A turn whose calls are not all settled.
#[derive(Debug, Clone)]
struct OpenTurn {
    turn: Message,
    calls: Vec<ModelCall>,
    results: Vec<Option<Message>>,
}

/// A call without a result, and the message that holds its place.
#[derive(Debug, Clone)]
struct UnsettledResult {
    /// Index of the call in its turn.
    index: usize,
    /// Index of the placeholder in the messages.
    message: usize,
    call: ModelCall,
}

impl Default for History {
    fn default() -> Self {
        Self::new()
    }
}

impl History {
    /// History of a step that has not begun.
    #[must_use]
    pub fn new() -> Self {
        Self {
            state: MachineState::new(""),
            messages: Arc::default(),
            open: None,
            unsettled: Vec::new(),
            waiting_messages: Vec::new(),
        }
    }

    /// Messages that the model is shown at its next turn.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Reads the next entry of the journal.
    pub fn push(&mut self, input: &Input) {
        let (doing, finished) = (self.state.activity(), self.state.is_finished());
        match input {
            Input::Message { content, .. } => self.waiting_messages.push(Message::User { content: content.clone() }),
            Input::Turn(turn) if doing == Activity::Thinking => self.push_turn(turn),
            Input::Settled { call, end } => {
                if let (Some(index), Some(open)) = (self.state.open_call(call), &mut self.open) {
                    open.results[index] = Some(texts::result(&open.calls[index], end));
                }
            }
            Input::CallRecovered { call, end } => self.replace_result(call, end),
            Input::Begun { .. }
            | Input::MessagesShown
            | Input::Retried { .. }
            | Input::BeforeEnded(_)
            | Input::Turn(_)
            | Input::ModelFailed { .. }
            | Input::Asked { .. }
            | Input::Waiting { .. }
            | Input::Cancelled { .. } => {}
        }
        self.state.apply(input);
        self.close_turn();
        match input {
            Input::Begun { task, before: None, .. } if doing == Activity::New => self.push_task(task.as_ref()),
            Input::BeforeEnded(BeforeEnd::Answered { task, .. }) if doing == Activity::Asking => {
                self.push_task(task.as_ref());
            }
            Input::Retried { reason, after_end } => self.begin_attempt(finished.then_some(reason), *after_end),
            Input::Begun { .. }
            | Input::Message { .. }
            | Input::MessagesShown
            | Input::Turn(_)
            | Input::ModelFailed { .. }
            | Input::Asked { .. }
            | Input::Waiting { .. }
            | Input::Settled { .. }
            | Input::BeforeEnded(_)
            | Input::Cancelled { .. }
            | Input::CallRecovered { .. } => {}
        }
        self.release_messages(doing);
    }

    /// Moves waiting messages into the history when the model is about to be asked. Messages that arrive during a
    /// request wait until the model is asked again.
    fn release_messages(&mut self, before: Activity) {
        let thinks = self.state.activity() == Activity::Thinking;
        if thinks && (before != Activity::Thinking || !self.state.has_unshown_messages()) {
            Arc::make_mut(&mut self.messages).append(&mut self.waiting_messages);
        }
    }

    /// Puts the task before all messages that arrived earlier. A step that people ended has no task.
    fn push_task(&mut self, task: Option<&Value>) {
        if self.state.activity() != Activity::Ended {
            let task = given(task).map(|task| Message::User { content: texts::task(task) });
            Arc::make_mut(&mut self.messages).extend(task);
        }
    }

    /// Adds the notes for a new attempt: why the last text of the model could not be used, and that secret values are
    /// not handed out any more.
    fn begin_attempt(&mut self, not_enough: Option<&String>, after_end: bool) {
        let secret = |call: &ModelCall| call.tool == texts::SECRET;
        let asked = |message: &Message| matches!(message, Message::Assistant { calls, .. } if calls.iter().any(secret));
        let open = self.open.as_ref().is_some_and(|open| open.calls.iter().any(secret));
        let told = open || self.messages.iter().any(asked);
        let not_enough =
            not_enough.filter(|_| self.state.activity() == Activity::Thinking).map(|why| texts::not_usable(why));
        let gone = (after_end && told).then(|| texts::WITHHELD.to_owned());
        let said = not_enough.into_iter().chain(gone).map(|content| Message::User { content });
        // The notes come before messages that people wrote in between, because those may refer to them.
        self.waiting_messages.splice(0..0, said.collect::<Vec<_>>());
    }

    fn push_turn(&mut self, turn: &Turn) {
        let message =
            Message::Assistant { text: turn.text.clone(), calls: turn.calls.clone(), provider: turn.provider.clone() };
        if turn.calls.is_empty() {
            let messages = Arc::make_mut(&mut self.messages);
            // Providers refuse a message without content.
            if !turn.text.trim().is_empty() {
                messages.push(message);
            }
        } else {
            let results = vec![None; turn.calls.len()];
            self.open = Some(OpenTurn { turn: message, calls: turn.calls.clone(), results });
        }
    }

    /// Replaces the placeholder of an unsettled call by its result.
    fn replace_result(&mut self, call: &str, end: &CallEnd) {
        let Some(index) = self.state.unsettled_call(call) else { return };
        if let Some(unsettled) = self.unsettled.iter().find(|unsettled| unsettled.index == index) {
            Arc::make_mut(&mut self.messages)[unsettled.message] = texts::result(&unsettled.call, end);
        }
    }

    /// Adds the open turn once each of its calls has a result. If the step has ended, calls without a result get a
    /// placeholder.
    fn close_turn(&mut self) {
        let over = self.state.activity() == Activity::Ended;
        let Some(OpenTurn { turn, calls, results }) =
            self.open.take_if(|open| over || open.results.iter().all(Option::is_some))
        else {
            return;
        };
        let messages = Arc::make_mut(&mut self.messages);
        messages.push(turn);
        self.unsettled.clear();
        for (index, (result, call)) in results.into_iter().zip(calls).enumerate() {
            let result = result.unwrap_or_else(|| {
                let placeholder = texts::placeholder(&call);
                self.unsettled.push(UnsettledResult { index, message: messages.len(), call });
                placeholder
            });
            messages.push(result);
        }
    }
}
