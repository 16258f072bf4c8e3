//! Reads the events of Anthropic's Messages API.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::BLOCKS;
use crate::models::fault::Fault;
use crate::models::remote::{StreamReader, fault_of_finish_reason, parse_event};
use crate::models::turn_builder::{OnDelta, TurnBuilder};

/// Bytes that a block counts besides its content, so that the number of empty blocks is limited too.
const BLOCK: usize = 64;

/// The events of one answer.
#[derive(Debug, Default)]
pub(in crate::models) struct Events {
    blocks: Vec<Block>,
    /// Position of the block of each index. An index that is used twice begins another block, so that no call is lost.
    places: HashMap<u64, usize>,
    stop: Option<String>,
}

#[derive(Debug)]
enum Block {
    Text(String),
    Thinking {
        thinking: String,
        signature: String,
    },
    /// Reasoning that only the provider can read.
    Redacted(Value),
    /// A call, by its position among the calls; `input` if it came with the block instead of in pieces.
    Call {
        place: usize,
        input: Option<String>,
    },
    /// A block of an unknown type.
    Other,
}

impl StreamReader for Events {
    fn read_event(&mut self, data: &str, draft: &mut TurnBuilder, on_delta: OnDelta<'_>) -> Result<bool, Fault> {
        let event = parse_event(data)?;
        match event.get("type").and_then(Value::as_str) {
            Some("message_start") => add_usage(event.pointer("/message/usage"), draft),
            Some("content_block_start") => self.start(&event, draft, on_delta)?,
            Some("content_block_delta") => self.delta(&event, draft, on_delta)?,
            Some("message_delta") => {
                add_usage(event.get("usage"), draft);
                if let Some(reason) = event.pointer("/delta/stop_reason").and_then(Value::as_str) {
                    self.stop = Some(reason.to_owned());
                }
            }
            Some("message_stop") => return Ok(true),
            Some("error") => return Err(Fault::of_event(&event)),
            _ => {}
        }
        Ok(false)
    }

    fn is_whole(&self) -> bool {
        false
    }

    fn finish(self: Box<Self>, draft: &mut TurnBuilder) -> Result<(), Fault> {
        if let Some(fault) = self.stop.as_deref().and_then(fault_of_finish_reason) {
            return Err(fault);
        }
        let mut thought = false;
        let mut blocks = Vec::new();
        for block in self.blocks {
            thought |= matches!(block, Block::Thinking { .. } | Block::Redacted(_));
            blocks.extend(match block {
                Block::Text(text) => Some(json!({"type": "text", "text": text})),
                Block::Thinking { thinking, signature } if signature.is_empty() => {
                    Some(json!({"type": "thinking", "thinking": thinking}))
                }
                Block::Thinking { thinking, signature } => {
                    Some(json!({"type": "thinking", "thinking": thinking, "signature": signature}))
                }
                Block::Redacted(block) => Some(block),
                Block::Call { place, input } => {
                    if let Some(input) = input {
                        draft.arguments(place, &input)?;
                    }
                    Some(json!({"type": "call", "call": place}))
                }
                Block::Other => None,
            });
        }
        if thought {
            draft.provider = json!({BLOCKS: blocks});
        }
        Ok(())
    }
}

impl Events {
    fn start(&mut self, event: &Value, draft: &mut TurnBuilder, on_delta: OnDelta<'_>) -> Result<(), Fault> {
        let text = |name: &str| {
            event.pointer("/content_block").and_then(|block| block.get(name)?.as_str()).unwrap_or_default()
        };
        draft.keep(BLOCK)?;
        let block = match text("type") {
            "text" => {
                draft.say(text("text"), on_delta)?;
                Block::Text(text("text").to_owned())
            }
            "thinking" => {
                draft.think(text("thinking"), on_delta)?;
                draft.keep(text("signature").len())?;
                Block::Thinking { thinking: text("thinking").to_owned(), signature: text("signature").to_owned() }
            }
            "redacted_thinking" => {
                draft.keep(text("data").len())?;
                Block::Redacted(json!({"type": "redacted_thinking", "data": text("data")}))
            }
            "tool_use" => {
                let input = event
                    .pointer("/content_block/input")
                    .filter(|input| input.as_object().is_some_and(|input| !input.is_empty()));
                let input = input.map(Value::to_string);
                draft.keep(input.as_ref().map_or(0, String::len))?;
                Block::Call { place: draft.call(text("id"), text("name"))?, input }
            }
            _ => Block::Other,
        };
        self.places.insert(index(event), self.blocks.len());
        self.blocks.push(block);
        Ok(())
    }

    fn delta(&mut self, event: &Value, draft: &mut TurnBuilder, on_delta: OnDelta<'_>) -> Result<(), Fault> {
        let text = |name: &str| event.get("delta").and_then(|delta| delta.get(name)?.as_str()).unwrap_or_default();
        match self.places.get(&index(event)).and_then(|place| self.blocks.get_mut(*place)) {
            Some(Block::Text(so_far)) => {
                draft.say(text("text"), on_delta)?;
                so_far.push_str(text("text"));
            }
            Some(Block::Thinking { thinking, signature }) => {
                draft.think(text("thinking"), on_delta)?;
                draft.keep(text("signature").len())?;
                thinking.push_str(text("thinking"));
                signature.push_str(text("signature"));
            }
            Some(Block::Call { place, input }) => {
                *input = None;
                draft.arguments(*place, text("partial_json"))?;
            }
            Some(Block::Redacted(_) | Block::Other) => {}
            None => return Err(Fault::again("the provider continues a block that it has not begun")),
        }
        Ok(())
    }
}

fn index(event: &Value) -> u64 {
    event.get("index").and_then(Value::as_u64).unwrap_or_default()
}

/// Sets the tokens so far. Tokens read from or written to a cache count as input.
fn add_usage(usage: Option<&Value>, draft: &mut TurnBuilder) {
    let tokens = |name: &str| usage.and_then(|usage| usage.get(name)?.as_u64());
    let input = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    let input = input.into_iter().filter_map(tokens).fold(0_u64, u64::saturating_add);
    draft.usage.input_tokens = draft.usage.input_tokens.max(input);
    draft.usage.output_tokens = draft.usage.output_tokens.max(tokens("output_tokens").unwrap_or_default());
}
