//! The messages that a model is shown, computed from the journal without I/O, clock or randomness.
//!
//! The messages of any journal can be sent as they are: each turn is followed by exactly one result for each of its
//! calls, in the order of the calls. A turn with unsettled calls is left out until all are settled; messages that
//! arrive in between come after its results. Start reading at [`History::push`]. The texts of the results are in
//! `texts.rs`.

pub(crate) mod words;

use std::sync::Arc;

use serde_json::Value;

use crate::machine::{BeforeEnd, CallEnd, Doing, Input, State, given};
use crate::model::{Call, Message, Turn};

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
    state: State,
    messages: Arc<Vec<Message>>,
    open: Option<Open>,
    /// Calls that the end of the step left without a result.
    left: Vec<(usize, usize, Call)>,
    /// Messages that the current turn has not read.
    held: Vec<Message>,
}

/// A turn whose calls are not all settled.
#[derive(Debug, Clone)]
struct Open {
    turn: Message,
    calls: Vec<Call>,
    results: Vec<Option<Message>>,
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
        Self { state: State::new(""), messages: Arc::default(), open: None, left: Vec::new(), held: Vec::new() }
    }

    /// Messages that the model is shown at its next turn.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Reads the next entry of the journal.
    pub fn push(&mut self, input: &Input) {
        let (doing, finished) = (self.state.doing(), self.state.finished());
        match input {
            Input::Message { content, .. } => self.held.push(Message::User { content: content.clone() }),
            Input::Turn(turn) if doing == Doing::Thinking => self.speak(turn),
            Input::Settled { call, end } => {
                if let (Some(index), Some(open)) = (self.state.open_call(call), &mut self.open) {
                    open.results[index] = Some(words::result(&open.calls[index], end));
                }
            }
            Input::Found { call, end } => self.find(call, end),
            Input::Begun { .. }
            | Input::Heard
            | Input::Again { .. }
            | Input::Before(_)
            | Input::Turn(_)
            | Input::ModelFailed { .. }
            | Input::Asked { .. }
            | Input::Waiting { .. }
            | Input::Cancelled { .. } => {}
        }
        self.state.apply(input);
        self.close();
        match input {
            Input::Begun { task, before: None, .. } if doing == Doing::New => self.begin(task.as_ref()),
            Input::Before(BeforeEnd::Answered { task, .. }) if doing == Doing::Asking => self.begin(task.as_ref()),
            Input::Again { reason, after_end } => self.take_up(finished.then_some(reason), *after_end),
            _ => {}
        }
        self.show(doing);
    }

    /// Moves waiting messages into the history when the model is about to be asked. Messages that arrive during a
    /// request wait until the model is asked again.
    fn show(&mut self, before: Doing) {
        let thinks = self.state.doing() == Doing::Thinking;
        if thinks && (before != Doing::Thinking || !self.state.unheard()) {
            Arc::make_mut(&mut self.messages).append(&mut self.held);
        }
    }

    /// Puts the task before all messages that arrived earlier. A step that people ended has no task.
    fn begin(&mut self, task: Option<&Value>) {
        if self.state.doing() != Doing::Ended {
            let task = given(task).map(|task| Message::User { content: words::task(task) });
            Arc::make_mut(&mut self.messages).extend(task);
        }
    }

    /// Adds the notes for a new attempt: why the last text of the model could not be used, and that secret values are
    /// not handed out any more.
    fn take_up(&mut self, not_enough: Option<&String>, after_end: bool) {
        let secret = |call: &Call| call.tool == words::SECRET;
        let asked = |message: &Message| matches!(message, Message::Assistant { calls, .. } if calls.iter().any(secret));
        let open = self.open.as_ref().is_some_and(|open| open.calls.iter().any(secret));
        let told = open || self.messages.iter().any(asked);
        let not_enough = not_enough.filter(|_| self.state.doing() == Doing::Thinking).map(|why| words::again(why));
        let gone = (after_end && told).then(|| words::WITHHELD.to_owned());
        let said = not_enough.into_iter().chain(gone).map(|content| Message::User { content });
        // The notes come before messages that people wrote in between, because those may refer to them.
        self.held.splice(0..0, said.collect::<Vec<_>>());
    }

    fn speak(&mut self, turn: &Turn) {
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
            self.open = Some(Open { turn: message, calls: turn.calls.clone(), results });
        }
    }

    /// Replaces the placeholder of an unsettled call by its result.
    fn find(&mut self, call: &str, end: &CallEnd) {
        let Some(index) = self.state.left_call(call) else { return };
        if let Some((_, at, call)) = self.left.iter().find(|(place, ..)| *place == index) {
            Arc::make_mut(&mut self.messages)[*at] = words::result(call, end);
        }
    }

    /// Adds the open turn once each of its calls has a result. If the step has ended, calls without a result get a
    /// placeholder.
    fn close(&mut self) {
        let over = self.state.doing() == Doing::Ended;
        let Some(Open { turn, calls, results }) =
            self.open.take_if(|open| over || open.results.iter().all(Option::is_some))
        else {
            return;
        };
        let messages = Arc::make_mut(&mut self.messages);
        messages.push(turn);
        self.left.clear();
        for (place, (result, call)) in results.into_iter().zip(calls).enumerate() {
            let result = result.unwrap_or_else(|| {
                let left = words::left(&call);
                self.left.push((place, messages.len(), call));
                left
            });
            messages.push(result);
        }
    }
}
