//! A model that plays a script, for the demo and for tests.

use domain::agent::{ModelChoice, Script, ScriptedTurn};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::model::{Delta, Message, Model, ModelCall, ModelError, Request, Turn};

/// Text of a turn if no turn of the script fits.
const NOTHING: &str = "The script has nothing to say to this.";
/// Key under which a turn records its index in the script. The history alone says which turns were played, so that a
/// restart continues exactly.
const PLAYED: &str = "scripted";
/// Number of pieces in which a text is published.
const PIECES: usize = 4;

/// A model that plays a script.
pub(super) struct Scripted {
    script: Script,
}

impl Scripted {
    /// Plays the script of a model choice.
    pub(super) fn new(choice: &ModelChoice) -> Result<Self, ModelError> {
        let script =
            choice.script.clone().ok_or_else(|| ModelError::Refused("a scripted model needs a script".to_owned()))?;
        Ok(Self { script })
    }

    fn next(&self, history: &[Message]) -> Option<(usize, &ScriptedTurn)> {
        let heard = history.iter().rev().take_while(|message| !matches!(message, Message::Assistant { .. }));
        let heard = heard
            .filter_map(|message| match message {
                Message::User { content } | Message::Result { content, .. } => Some(content.as_str()),
                Message::Assistant { .. } => None,
            })
            .collect::<Vec<_>>();
        let fits = |turn: &ScriptedTurn| {
            turn.when.as_ref().is_none_or(|when| heard.iter().any(|content| content.contains(when.as_str())))
        };
        self.script
            .turns
            .iter()
            .enumerate()
            .find(|(place, turn)| (turn.again || !is_played(history, *place)) && fits(turn))
    }

    fn turn(&self, history: &[Message]) -> Turn {
        let number = history.iter().filter(|message| matches!(message, Message::Assistant { .. })).count();
        let Some((place, turn)) = self.next(history) else {
            return Turn { text: NOTHING.to_owned(), ..Turn::default() };
        };
        let calls = turn.calls.iter().enumerate().map(|(index, call)| ModelCall {
            id: format!("script_{number}_{index}"),
            tool: call.tool.clone(),
            arguments: if call.arguments.is_null() { Value::Object(Map::new()) } else { call.arguments.clone() },
        });
        Turn { text: turn.say.clone(), calls: calls.collect(), provider: json!({PLAYED: place}), ..Turn::default() }
    }
}

impl Model for Scripted {
    fn turn<'a>(
        &'a self,
        request: Request<'a>,
        on_delta: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, Result<Turn, ModelError>> {
        async move {
            let turn = self.turn(request.history);
            pieces(&turn.text).for_each(|piece| on_delta(Delta::Text(piece)));
            Ok(turn)
        }
        .boxed()
    }
}

fn is_played(history: &[Message], place: usize) -> bool {
    history.iter().any(|message| match message {
        Message::Assistant { provider, .. } => {
            provider.get(PLAYED).and_then(Value::as_u64).is_some_and(|played| played == place as u64)
        }
        Message::User { .. } | Message::Result { .. } => false,
    })
}

/// Splits a text into a few pieces between words.
fn pieces(text: &str) -> impl Iterator<Item = String> {
    let words = text.split_inclusive(char::is_whitespace).collect::<Vec<_>>();
    let size = words.len().div_ceil(PIECES).max(1);
    words.chunks(size).map(<[&str]>::concat).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use domain::agent::{Provider, ScriptedCall};

    use super::*;
    use crate::models::tests::choice;

    fn model(turns: Vec<ScriptedTurn>) -> Scripted {
        Scripted::new(&ModelChoice { script: Some(Script { turns }), ..choice(Provider::Scripted) }).unwrap()
    }

    fn says(when: Option<&str>, say: &str, again: bool) -> ScriptedTurn {
        ScriptedTurn { when: when.map(str::to_owned), say: say.to_owned(), again, calls: Vec::new() }
    }

    fn user(content: &str) -> Message {
        Message::User { content: content.to_owned() }
    }

    /// Asks a model with this history and adds its turn to it.
    async fn ask(turns: &[ScriptedTurn], history: &mut Vec<Message>) -> String {
        let model = model(turns.to_vec());
        let mut heard = String::new();
        let mut on_delta = |delta| {
            if let Delta::Text(more) = delta {
                heard.push_str(&more);
            }
        };
        let turn = Model::turn(&model, Request { instructions: "", history, tools: &[] }, &mut on_delta).await.unwrap();
        assert_eq!(heard, turn.text);
        history.push(Message::Assistant { text: turn.text.clone(), calls: turn.calls, provider: turn.provider });
        turn.text
    }

    #[tokio::test]
    async fn next_turn_is_the_first_matching_unplayed_turn() {
        let turns = [
            says(Some("hello"), "Hi!", false),
            says(Some("hello"), "Again?", false),
            says(None, "One.", false),
            says(Some("?"), "Yes.", true),
        ];
        let mut history = Vec::new();
        let mut heard = Vec::new();
        for said in ["hello", "oh hello there", "hello", "really?", "really??", "hello"] {
            history.push(user(said));
            heard.push(ask(&turns, &mut history).await);
        }
        assert_eq!(heard, ["Hi!", "Again?", "One.", "Yes.", "Yes.", NOTHING]);
    }

    #[tokio::test]
    async fn turns_match_only_messages_since_the_last_turn() {
        let call = |arguments| ScriptedCall { tool: "read".to_owned(), arguments };
        let calls = vec![call(Value::Null), call(json!({"path": "b"}))];
        let turns = [
            ScriptedTurn { calls, ..says(None, "", false) },
            says(Some("hello"), "no", false),
            says(Some("second"), "Read.", false),
        ];
        let mut history = vec![user("hello")];
        assert_eq!(ask(&turns, &mut history).await, "");
        let Some(Message::Assistant { calls, .. }) = history.last().cloned() else { panic!() };
        assert_eq!(calls.iter().map(|call| &call.arguments).collect::<Vec<_>>(), [&json!({}), &json!({"path": "b"})]);
        assert_ne!(calls[0].id, calls[1].id);
        for (call, content) in calls.into_iter().zip(["the first", "the second"]) {
            history.push(Message::Result {
                call: call.id,
                tool: call.tool,
                content: content.to_owned(),
                failed: false,
            });
        }
        assert_eq!(ask(&turns, &mut history).await, "Read.");
    }

    #[test]
    fn text_is_streamed_in_a_few_pieces() {
        assert_eq!(pieces("I look at the notes first.").collect::<Vec<_>>(), ["I look ", "at the ", "notes first."]);
        assert_eq!(pieces("").count(), 0);
    }

    #[test]
    fn missing_script_is_refused() {
        assert!(matches!(Scripted::new(&choice(Provider::Scripted)), Err(ModelError::Refused(_))));
    }
}
