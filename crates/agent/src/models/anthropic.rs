//! Requests in the format of Anthropic's Messages API.

mod events;

use domain::agent::ModelChoice;
use serde_json::{Value, json};

pub(super) use events::Events;

use super::arguments::{object, schema};
use super::conversation::{Part, parts};
use super::names::ToolNames;
use crate::model::{ModelCall, Request};

/// Default limit of output tokens; the format of the provider requires a number.
const MAX_TOKENS: u32 = 16_384;
/// Key under which [`Events`] keeps the blocks of a turn in their order.
const BLOCKS: &str = "blocks";

/// The request for the next turn.
pub(super) fn body(choice: &ModelChoice, request: Request<'_>, names: &ToolNames) -> Value {
    let mut body = choice.options.clone();
    body.extend([
        ("model".to_owned(), json!(choice.name)),
        ("stream".to_owned(), json!(true)),
        ("max_tokens".to_owned(), json!(choice.max_tokens.unwrap_or(MAX_TOKENS))),
    ]);
    if let Some(temperature) = choice.temperature {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    if !request.instructions.is_empty() {
        body.insert("system".to_owned(), json!(request.instructions));
    }
    if !request.tools.is_empty() {
        let tools = request
            .tools
            .iter()
            .map(|tool| json!({"name": names.provider_name(&tool.name), "description": tool.description, "input_schema": schema(&tool.schema)}));
        body.insert("tools".to_owned(), tools.collect());
    }
    let messages = parts(request.history).into_iter().map(|part| match part {
        Part::Said { text, calls, provider } => {
            json!({"role": "assistant", "content": turn_content(text, calls, provider, names)})
        }
        Part::Heard { results, texts } => {
            let results = results.into_iter().map(|result| {
                let mut block = json!({"type": "tool_result", "tool_use_id": result.call, "content": result.content});
                if result.failed {
                    block["is_error"] = json!(true);
                }
                block
            });
            let mut content = results.chain(texts.into_iter().filter_map(text_block)).collect::<Vec<_>>();
            if content.is_empty() {
                // Providers refuse a message without content.
                content.extend(text_block("(nothing)"));
            }
            json!({"role": "user", "content": content})
        }
    });
    body.insert("messages".to_owned(), messages.collect());
    Value::Object(body)
}

/// Content of a model's turn. A turn with reasoning is sent back block for block, because its signatures cover the
/// blocks.
fn turn_content(text: &str, calls: &[ModelCall], provider: &Value, names: &ToolNames) -> Vec<Value> {
    let tool_use = |call: &ModelCall| json!({"type": "tool_use", "id": call.id, "name": names.provider_name(&call.tool), "input": object(&call.arguments)});
    let Some(blocks) = provider.get(BLOCKS).and_then(Value::as_array) else {
        return text_block(text).into_iter().chain(calls.iter().map(tool_use)).collect();
    };
    let block = |block: &Value| match block.get("type").and_then(Value::as_str) {
        Some("call") => calls.get(usize::try_from(block.get("call")?.as_u64()?).ok()?).map(tool_use),
        Some("text") => text_block(block.get("text")?.as_str()?),
        _ => Some(block.clone()),
    };
    blocks.iter().filter_map(block).collect()
}

/// A block of text; `None` for empty text, which the provider refuses.
fn text_block(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}
