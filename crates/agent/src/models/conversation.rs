//! The history as the formats of both providers need it: the turns of the model, each followed by results and then messages.

use serde_json::Value;

use crate::model::{Message, ModelCall};

/// Part of a conversation by one side.
#[derive(Debug, PartialEq)]
pub(super) enum Part<'a> {
    /// A turn of the model.
    Said { text: &'a str, calls: &'a [ModelCall], provider: &'a Value },
    /// Results and messages until the next turn of the model.
    Heard { results: Vec<CallResult<'a>>, texts: Vec<&'a str> },
}

/// Result of one call.
#[derive(Debug, PartialEq)]
pub(super) struct CallResult<'a> {
    pub(super) call: &'a str,
    pub(super) content: &'a str,
    pub(super) failed: bool,
}

/// Groups the history. Results come in the order of the calls and before messages, because providers refuse anything
/// between a call and its result. An empty turn is left out, because they refuse that too.
pub(super) fn parts(history: &[Message]) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut asked: &[ModelCall] = &[];
    let mut heard = ReceivedInput::default();
    for message in history {
        match message {
            Message::Assistant { text, calls, .. } if text.trim().is_empty() && calls.is_empty() => {}
            Message::Assistant { text, calls, provider } => {
                parts.extend(heard.drain(asked));
                asked = calls;
                parts.push(Part::Said { text, calls, provider });
            }
            Message::User { content } => heard.texts.push(content),
            Message::Result { call, content, failed, .. } => {
                heard.results.push(CallResult { call, content, failed: *failed });
            }
        }
    }
    parts.extend(heard.drain(asked));
    parts
}

#[derive(Default)]
struct ReceivedInput<'a> {
    results: Vec<CallResult<'a>>,
    texts: Vec<&'a str>,
}

impl<'a> ReceivedInput<'a> {
    /// Returns the results of the calls in `asked` and the messages since, and removes them; `None` without any.
    fn drain(&mut self, asked: &[ModelCall]) -> Option<Part<'a>> {
        let Self { mut results, texts } = std::mem::take(self);
        results.sort_by_key(|outcome| asked.iter().position(|call| call.id == outcome.call));
        (!results.is_empty() || !texts.is_empty()).then_some(Part::Heard { results, texts })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn results_come_in_call_order_before_user_messages() {
        let call = |id: &str| ModelCall { id: id.into(), tool: "t".into(), arguments: json!({}) };
        let result =
            |id: &str| Message::Result { call: id.into(), tool: "t".into(), content: id.into(), failed: id == "b" };
        let silence = Message::Assistant { text: " ".into(), calls: Vec::new(), provider: Value::Null };
        let calls = vec![call("a"), call("b")];
        let history = [
            Message::User { content: "go".into() },
            silence,
            Message::User { content: "well?".into() },
            Message::Assistant { text: String::new(), calls: calls.clone(), provider: Value::Null },
            result("b"),
            Message::User { content: "hurry".into() },
            result("a"),
        ];
        let outcome = |call| CallResult { call, content: call, failed: call == "b" };
        assert_eq!(
            parts(&history),
            [
                Part::Heard { results: vec![], texts: vec!["go", "well?"] },
                Part::Said { text: "", calls: &calls, provider: &Value::Null },
                Part::Heard { results: vec![outcome("a"), outcome("b")], texts: vec!["hurry"] },
            ]
        );
    }
}
