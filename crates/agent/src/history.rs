//! What the model is shown: the journal as the messages of a conversation, without I/O, clock or randomness.
//!
//! Whatever the journal holds, the messages can be sent as they stand: each turn is followed by exactly one result for each of its calls, in
//! the order of the calls, and a turn whose calls are not all settled is left out until they are. What people say meanwhile comes after.

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

/// The messages of a journal as far as it was read: one that was kept takes the tail alone.
///
/// A clone shares the messages. Only to read on in one of two that are both still held copies them.
#[derive(Debug, Clone)]
pub struct History {
    /// Which inputs fit is decided in one place.
    state: State,
    messages: Arc<Vec<Message>>,
    open: Option<Open>,
    /// Calls that the end of the step left without a result: their places in the turn, and where it is said that nothing is known of them.
    left: Vec<(usize, usize, Call)>,
    /// What people said that the turn under way has not read.
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
    /// The history of a step that has not begun.
    #[must_use]
    pub fn new() -> Self {
        Self { state: State::new(""), messages: Arc::default(), open: None, left: Vec::new(), held: Vec::new() }
    }

    /// What the model is shown at its next turn.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Reads on: the entry of the journal that follows the last.
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

    /// What was said is shown to the model as soon as it is to be asked; what comes while it is being asked, when it is asked anew.
    fn show(&mut self, before: Doing) {
        let thinks = self.state.doing() == Doing::Thinking;
        if thinks && (before != Doing::Thinking || !self.state.unheard()) {
            Arc::make_mut(&mut self.messages).append(&mut self.held);
        }
    }

    /// The task stands before everything that was said meanwhile; where people let the step not run, it has none.
    fn begin(&mut self, task: Option<&Value>) {
        if self.state.doing() != Doing::Ended {
            let task = given(task).map(|task| Message::User { content: words::task(task) });
            Arc::make_mut(&mut self.messages).extend(task);
        }
    }

    /// The next attempt goes on from what is known. A model that had its last word is told why that was not enough, and one that was given secrets
    /// that they are handed out no more.
    fn take_up(&mut self, not_enough: Option<&String>, after_end: bool) {
        let secret = |call: &Call| call.tool == words::SECRET;
        let asked = |message: &Message| matches!(message, Message::Assistant { calls, .. } if calls.iter().any(secret));
        let open = self.open.as_ref().is_some_and(|open| open.calls.iter().any(secret));
        let told = open || self.messages.iter().any(asked);
        let not_enough = not_enough.filter(|_| self.state.doing() == Doing::Thinking).map(|why| words::again(why));
        let gone = (after_end && told).then(|| words::WITHHELD.to_owned());
        let said = not_enough.into_iter().chain(gone).map(|content| Message::User { content });
        // Before what people have said meanwhile: that may be said to it.
        self.held.splice(0..0, said.collect::<Vec<_>>());
    }

    fn speak(&mut self, turn: &Turn) {
        let message =
            Message::Assistant { text: turn.text.clone(), calls: turn.calls.clone(), provider: turn.provider.clone() };
        if turn.calls.is_empty() {
            let messages = Arc::make_mut(&mut self.messages);
            // Providers refuse a message that says nothing.
            if !turn.text.trim().is_empty() {
                messages.push(message);
            }
        } else {
            let results = vec![None; turn.calls.len()];
            self.open = Some(Open { turn: message, calls: turn.calls.clone(), results });
        }
    }

    /// In place of that nothing is known of a call stands what is.
    fn find(&mut self, call: &str, end: &CallEnd) {
        let Some(index) = self.state.left_call(call) else { return };
        if let Some((_, at, call)) = self.left.iter().find(|(place, ..)| *place == index) {
            Arc::make_mut(&mut self.messages)[*at] = words::result(call, end);
        }
    }

    /// Adds the open turn once each of its calls has a result; of a step that is over, what is left has none.
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
