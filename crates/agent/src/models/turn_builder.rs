//! Collects a turn from events, within limits.

use std::collections::HashSet;

use domain::agent::Price;
use serde_json::Value;

use super::arguments;
use super::fault::Fault;
use super::names::ToolNames;
use crate::model::{Delta, ModelCall, Turn, Usage};

/// Largest size of one turn, in bytes.
const MAX_KEPT: usize = 4 << 20;
/// Largest number of calls in one turn.
pub(super) const MAX_CALLS: usize = 128;
/// Largest size of the arguments of one call, in bytes.
pub(super) const MAX_ARGUMENTS: usize = 256 << 10;

/// Receiver of the deltas of a turn.
pub(super) type OnDelta<'a> = &'a mut (dyn FnMut(Delta) + Send);

/// A turn that is being received. It counts only after the provider has ended it.
#[derive(Debug, Default)]
pub(super) struct TurnBuilder {
    text: String,
    thinking: String,
    calls: Vec<CallBuilder>,
    kept: usize,
    /// Tokens counted so far.
    pub(super) usage: Usage,
    /// Data that the provider expects back with the next request.
    pub(super) provider: Value,
}

#[derive(Debug, Default)]
pub(super) struct CallBuilder {
    pub(super) id: String,
    pub(super) name: String,
    arguments: String,
    /// Whether the arguments exceeded the limit; none of them are kept then.
    too_large: bool,
}

impl TurnBuilder {
    /// Whether nothing was received.
    pub(super) fn is_empty(&self) -> bool {
        self.kept == 0
    }

    /// Counts bytes against the limit of the turn.
    pub(super) fn keep(&mut self, bytes: usize) -> Result<(), Fault> {
        self.kept = self.kept.saturating_add(bytes);
        if self.kept > MAX_KEPT {
            return Err(Fault::refused(format!("the model's turn is larger than {MAX_KEPT} bytes")));
        }
        Ok(())
    }

    /// Adds text of the reply.
    pub(super) fn say(&mut self, text: &str, on_delta: OnDelta<'_>) -> Result<(), Fault> {
        if !text.is_empty() {
            self.keep(text.len())?;
            self.text.push_str(text);
            on_delta(Delta::Text(text.to_owned()));
        }
        Ok(())
    }

    /// Adds text of the reasoning.
    pub(super) fn think(&mut self, text: &str, on_delta: OnDelta<'_>) -> Result<(), Fault> {
        if !text.is_empty() {
            self.keep(text.len())?;
            self.thinking.push_str(text);
            on_delta(Delta::Thinking(text.to_owned()));
        }
        Ok(())
    }

    /// Adds a call and returns its index.
    pub(super) fn call(&mut self, id: &str, name: &str) -> Result<usize, Fault> {
        if self.calls.len() == MAX_CALLS {
            return Err(Fault::refused(format!("the model wants more than {MAX_CALLS} calls in one turn")));
        }
        self.keep(id.len() + name.len())?;
        self.calls.push(CallBuilder {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: String::new(),
            too_large: false,
        });
        Ok(self.calls.len() - 1)
    }

    /// The call at an index.
    pub(super) fn at(&self, place: usize) -> Option<&CallBuilder> {
        self.calls.get(place)
    }

    /// Adds a late identifier or another piece of the name. Some providers repeat the whole name with every piece.
    pub(super) fn more(&mut self, place: usize, id: &str, name: &str) -> Result<(), Fault> {
        self.keep(id.len() + name.len())?;
        if let Some(call) = self.calls.get_mut(place) {
            if call.id.is_empty() {
                id.clone_into(&mut call.id);
            }
            if call.name != name {
                call.name.push_str(name);
            }
        }
        Ok(())
    }

    /// Adds a piece of the arguments of a call.
    pub(super) fn arguments(&mut self, place: usize, more: &str) -> Result<(), Fault> {
        self.keep(more.len())?;
        if let Some(call) = self.calls.get_mut(place) {
            if call.arguments.len() + more.len() > MAX_ARGUMENTS {
                call.too_large = true;
                call.arguments.clear();
            }
            if !call.too_large {
                call.arguments.push_str(more);
            }
        }
        Ok(())
    }

    /// Returns the identifiers of the calls. An identifier of the provider that is missing or not unique is replaced by a generated one.
    pub(super) fn ids(&self) -> Vec<String> {
        let mut taken = HashSet::new();
        let own = self
            .calls
            .iter()
            .map(|call| (!call.id.is_empty() && taken.insert(call.id.as_str())).then_some(&call.id))
            .collect::<Vec<_>>();
        let mut number = 0_usize;
        let mut made = || loop {
            let id = format!("call_{number}");
            number += 1;
            if !taken.contains(id.as_str()) {
                return id;
            }
        };
        own.into_iter().map(|id| id.cloned().unwrap_or_else(&mut made)).collect()
    }

    /// Completes the turn and returns it.
    pub(super) fn finish(self, names: &ToolNames, price: Option<Price>) -> Turn {
        let ids = self.ids();
        let calls = self.calls.into_iter().zip(ids).map(|(call, id)| ModelCall {
            id,
            tool: names.tool(&call.name),
            arguments: if call.too_large {
                Value::String(format!("(more than {MAX_ARGUMENTS} bytes, which were not kept)"))
            } else {
                arguments::read(call.arguments)
            },
        });
        Turn {
            calls: calls.collect(),
            text: self.text,
            thinking: self.thinking,
            usage: Usage { cost: price.map(|price| cost(price, self.usage)), ..self.usage },
            provider: self.provider,
        }
    }
}

fn cost(price: Price, usage: Usage) -> f64 {
    (price.input * usage.input_tokens as f64 + price.output * usage.output_tokens as f64) / 1_000_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_gets_a_unique_id() {
        let mut turn = TurnBuilder::default();
        for id in ["call_0", "", "x", "x", ""] {
            turn.call(id, "t").unwrap();
        }
        assert_eq!(turn.ids(), ["call_0", "call_1", "x", "call_2", "call_3"]);
    }

    #[test]
    fn turn_beyond_the_size_limit_is_refused() {
        let mut turn = TurnBuilder::default();
        let mut heard = 0_usize;
        let mut on_delta = |_: Delta| heard += 1;
        turn.say(&"a".repeat(MAX_KEPT), &mut on_delta).unwrap();
        assert!(matches!(turn.think("b", &mut on_delta), Err(Fault::Refused(_))));
        assert_eq!(heard, 1);
    }
}
