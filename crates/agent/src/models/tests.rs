//! The model clients against servers that speak the formats of the providers.

mod anthropic;
mod arbitrary_events;
mod faults;
mod guide;
mod limits;
mod openai;
mod server;
mod time_limits;

use std::time::Duration;

use domain::agent::{ModelChoice, Provider};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::http::Http;
use super::remote::RemoteModel;
use super::retry::TimeLimits;
use crate::model::{Delta, Message, Model, ModelCall, ModelError, Request, Turn};
use crate::tool::ToolSpec;

const KEY: &str = "sk-test-0123456789";

/// A model choice with only a provider and a name.
pub(super) fn choice(provider: Provider) -> ModelChoice {
    ModelChoice {
        provider,
        name: "test-model".to_owned(),
        endpoint: None,
        key_env: None,
        key_secret: None,
        temperature: None,
        max_tokens: None,
        timeout_seconds: None,
        options: serde_json::Map::new(),
        price: None,
        script: None,
    }
}

/// Generous time limits and very short delays between retries.
const QUICK: TimeLimits = TimeLimits {
    total: Duration::from_mins(1),
    idle: Duration::from_mins(1),
    patience: Duration::from_secs(5),
    first: Duration::from_millis(1),
    retries: 2,
};

fn at(endpoint: &str, choice: ModelChoice, pace: TimeLimits) -> RemoteModel {
    let choice = ModelChoice { endpoint: Some(endpoint.to_owned()), ..choice };
    let key = Zeroizing::new(KEY.to_owned());
    let transport = Http::new(&choice, Some(&key)).unwrap();
    RemoteModel::new(&choice, Some(key), Box::new(transport), pace)
}

/// Asks for a turn and collects the deltas.
async fn ask(model: &dyn Model, request: Request<'_>) -> (Result<Turn, ModelError>, Vec<Delta>) {
    let mut heard = Vec::new();
    let turn = model.turn(request, &mut |delta| heard.push(delta)).await;
    (turn, heard)
}

fn user(content: &str) -> Message {
    Message::User { content: content.to_owned() }
}

fn assistant(turn: &Turn) -> Message {
    Message::Assistant { text: turn.text.clone(), calls: turn.calls.clone(), provider: turn.provider.clone() }
}

fn result(call: &str, content: &str, failed: bool) -> Message {
    Message::Result { call: call.to_owned(), tool: "files.read".to_owned(), content: content.to_owned(), failed }
}

fn call(id: &str, tool: &str, arguments: Value) -> ModelCall {
    ModelCall { id: id.to_owned(), tool: tool.to_owned(), arguments }
}

fn tool(name: &str) -> ToolSpec {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    ToolSpec {
        name: name.to_owned(),
        description: format!("What {name} does."),
        schema,
        repeatable: false,
        parallel: false,
    }
}

/// Text and reasoning text of the deltas.
fn aloud(heard: &[Delta]) -> (String, String) {
    let mut aloud = (String::new(), String::new());
    for delta in heard {
        match delta {
            Delta::Text(more) => aloud.0.push_str(more),
            Delta::Thinking(more) => aloud.1.push_str(more),
            Delta::Again { .. } => aloud = (String::new(), String::new()),
        }
    }
    aloud
}

fn retries(heard: &[Delta]) -> Vec<&str> {
    heard.iter().filter_map(|delta| if let Delta::Again { why } = delta { Some(why.as_str()) } else { None }).collect()
}
