//! Requests in the format of OpenAI's chat completions, which many providers accept with small differences.

mod events;

use domain::agent::ModelChoice;
use serde_json::{Value, json};

pub(super) use events::Events;

use super::arguments::{object, schema};
use super::conversation::{Part, parts};
use super::names::ToolNames;
use crate::model::{ModelCall, Request};

/// Fields that providers add to a message of the model and expect back.
const REASONING: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_details"];
/// Key under which [`Events`] keeps the fields that providers add to single calls.
const CALLS: &str = "calls";

/// The request for the next turn. `own` says that it goes to OpenAI itself.
pub(super) fn body(choice: &ModelChoice, request: Request<'_>, names: &ToolNames, own: bool) -> Value {
    let mut body = choice.options.clone();
    body.extend([
        ("model".to_owned(), json!(choice.name)),
        ("stream".to_owned(), json!(true)),
        ("stream_options".to_owned(), json!({"include_usage": true})),
    ]);
    if let Some(temperature) = choice.temperature {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    if let Some(max_tokens) = choice.max_tokens {
        body.insert(if own { "max_completion_tokens" } else { "max_tokens" }.to_owned(), json!(max_tokens));
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            let function = json!({"name": names.provider_name(&tool.name), "description": tool.description, "parameters": schema(&tool.schema)});
            json!({"type": "function", "function": function})
        });
        body.insert("tools".to_owned(), tools.collect());
    }
    body.insert("messages".to_owned(), messages(request, names).into());
    Value::Object(body)
}

fn messages(request: Request<'_>, names: &ToolNames) -> Vec<Value> {
    let mut messages = Vec::new();
    if !request.instructions.is_empty() {
        messages.push(json!({"role": "system", "content": request.instructions}));
    }
    for part in parts(request.history) {
        match part {
            Part::Said { text, calls, provider } => messages.push(turn_message(text, calls, provider, names)),
            Part::Heard { results, texts } => {
                let results = results
                    .into_iter()
                    .map(|result| json!({"role": "tool", "tool_call_id": result.call, "content": result.content}));
                messages.extend(results);
                messages.extend(texts.into_iter().map(|text| json!({"role": "user", "content": text})));
            }
        }
    }
    messages
}

fn turn_message(text: &str, calls: &[ModelCall], provider: &Value, names: &ToolNames) -> Value {
    let mut message = json!({"role": "assistant", "content": if text.is_empty() { Value::Null } else { json!(text) }});
    if !calls.is_empty() {
        let calls = calls.iter().enumerate().map(|(place, call)| {
            let function =
                json!({"name": names.provider_name(&call.tool), "arguments": object(&call.arguments).to_string()});
            let mut sent = json!({"id": call.id, "type": "function", "function": function});
            if let Some(Value::Object(added)) = provider.get(CALLS).and_then(|calls| calls.get(place)) {
                added.iter().for_each(|(name, value)| sent[name] = value.clone());
            }
            sent
        });
        message["tool_calls"] = calls.collect();
    }
    for name in REASONING {
        if let Some(reasoning) = provider.get(name) {
            message[name] = reasoning.clone();
        }
    }
    message
}
