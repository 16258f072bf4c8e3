//! Reads the chunks of a chat completion.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};

use super::CALLS;
use crate::model::Usage;
use crate::models::fault::Fault;
use crate::models::remote::{StreamReader, fault_of_finish_reason, parse_event};
use crate::models::turn_builder::{OnDelta, TurnBuilder};

/// The chunks of one answer.
#[derive(Debug, Default)]
pub(in crate::models) struct Events {
    finish: Option<String>,
    /// Position of the call of each index.
    places: HashMap<u64, usize>,
    last: Option<usize>,
    /// Fields that the provider added to each call, by position.
    added: BTreeMap<usize, Map<String, Value>>,
    /// Field in which the provider sends reasoning, and its text.
    reasoning: Option<(&'static str, String)>,
    details: Vec<Value>,
}

impl StreamReader for Events {
    fn read_event(&mut self, data: &str, draft: &mut TurnBuilder, on_delta: OnDelta<'_>) -> Result<bool, Fault> {
        if data.trim() == "[DONE]" {
            return Ok(true);
        }
        let chunk = parse_event(data)?;
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Fault::of_event(&chunk));
        }
        if let Some(used) =
            ["/usage", "/x_groq/usage"].iter().find_map(|path| chunk.pointer(path).filter(|usage| usage.is_object()))
        {
            let tokens = |name: &str| used.get(name).and_then(Value::as_u64).unwrap_or_default();
            draft.usage =
                Usage { input_tokens: tokens("prompt_tokens"), output_tokens: tokens("completion_tokens"), cost: None };
        }
        let Some(choice) = chunk.pointer("/choices/0") else { return Ok(false) };
        if let Some(delta) = choice.get("delta") {
            self.delta(delta, draft, on_delta)?;
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str).filter(|reason| !reason.is_empty()) {
            self.finish = Some(reason.to_owned());
        }
        Ok(false)
    }

    /// Returns true after a finish reason, because not every provider sends `[DONE]`.
    fn is_whole(&self) -> bool {
        self.finish.is_some()
    }

    fn finish(self: Box<Self>, draft: &mut TurnBuilder) -> Result<(), Fault> {
        if let Some(fault) = self.finish.as_deref().and_then(fault_of_finish_reason) {
            return Err(fault);
        }
        if self.finish.is_none() && draft.is_empty() {
            return Err(Fault::again("the provider's reply is empty"));
        }
        let mut provider = Map::new();
        if let Some((field, thought)) = self.reasoning {
            provider.insert(field.to_owned(), json!(thought));
        }
        if !self.details.is_empty() {
            provider.insert("reasoning_details".to_owned(), self.details.into());
        }
        if !self.added.is_empty() {
            let places = 0..=self.added.last_key_value().map_or(0, |(place, _)| *place);
            let added = places.map(|place| self.added.get(&place).cloned().map_or(Value::Null, Value::Object));
            provider.insert(CALLS.to_owned(), added.collect());
        }
        if !provider.is_empty() {
            draft.provider = Value::Object(provider);
        }
        Ok(())
    }
}

impl Events {
    fn delta(&mut self, delta: &Value, draft: &mut TurnBuilder, on_delta: OnDelta<'_>) -> Result<(), Fault> {
        for field in ["reasoning_content", "reasoning"] {
            if let Some(thought) = delta.get(field).and_then(Value::as_str).filter(|thought| !thought.is_empty()) {
                let (known, so_far) = self.reasoning.get_or_insert((field, String::new()));
                // Some providers send the reasoning in both fields.
                if *known == field {
                    draft.think(thought, on_delta)?;
                    so_far.push_str(thought);
                }
            }
        }
        for detail in list(delta, "reasoning_details") {
            draft.keep(size(detail))?;
            add_detail(&mut self.details, detail);
        }
        match delta.get("content") {
            Some(Value::String(text)) => draft.say(text, on_delta)?,
            Some(Value::Array(pieces)) => pieces.iter().try_for_each(|piece| add_content(piece, draft, on_delta))?,
            _ => {}
        }
        if let Some(refusal) = delta.get("refusal").and_then(Value::as_str) {
            draft.say(refusal, on_delta)?;
        }
        list(delta, "tool_calls").try_for_each(|call| self.call(call, draft))
    }

    /// Adds a piece of a call. By the specification every piece has an index, and the first piece has id and name. Some
    /// providers omit the index or always send 0 and send whole calls; others repeat id and name in every piece.
    fn call(&mut self, piece: &Value, draft: &mut TurnBuilder) -> Result<(), Fault> {
        let text = |path: &str| piece.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let (id, name) = (text("/id"), text("/function/name"));
        let index = piece.get("index").and_then(Value::as_u64);
        let known = index.map_or(self.last, |index| self.places.get(&index).copied());
        let known = known.filter(|place| {
            draft.at(*place).is_some_and(|call| {
                let another = !id.is_empty() && !call.id.is_empty() && id != call.id;
                let unnumbered = index.is_none() && !name.is_empty() && (id.is_empty() || id != call.id);
                !(another && !name.is_empty() || unnumbered)
            })
        });
        let place = match known {
            Some(place) => {
                draft.more(place, id, name)?;
                place
            }
            None => draft.call(id, name)?,
        };
        self.last = Some(self.last.map_or(place, |last| last.max(place)));
        if let Some(index) = index {
            self.places.insert(index, place);
        }
        match piece.pointer("/function/arguments") {
            Some(Value::String(more)) => draft.arguments(place, more)?,
            Some(whole @ Value::Object(_)) => draft.arguments(place, &whole.to_string())?,
            _ => {}
        }
        self.add(place, piece, draft)
    }

    /// Keeps fields beyond the specification, such as the signature of reasoning.
    fn add(&mut self, place: usize, piece: &Value, draft: &mut TurnBuilder) -> Result<(), Fault> {
        let known = ["index", "id", "type", "function"];
        for (name, value) in piece
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(name, value)| !known.contains(&name.as_str()) && !value.is_null())
        {
            draft.keep(name.len() + size(value))?;
            self.added.entry(place).or_default().insert(name.clone(), value.clone());
        }
        Ok(())
    }
}

/// Adds a typed piece of content: text or reasoning.
fn add_content(piece: &Value, draft: &mut TurnBuilder, on_delta: OnDelta<'_>) -> Result<(), Fault> {
    if let Some(text) = piece.get("text").and_then(Value::as_str) {
        draft.say(text, on_delta)?;
    }
    for thought in list(piece, "thinking").filter_map(|thought| thought.get("text")?.as_str()) {
        draft.think(thought, on_delta)?;
    }
    Ok(())
}

/// Adds a piece to the reasoning block that it continues, or begins a new block.
fn add_detail(details: &mut Vec<Value>, piece: &Value) {
    let same = |block: &Value, field: &str| block.get(field).is_some() && block.get(field) == piece.get(field);
    let Some(block) = details.last_mut().filter(|block| same(block, "type") && same(block, "index")) else {
        details.push(piece.clone());
        return;
    };
    for (name, value) in piece.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null()) {
        match (block.get_mut(name), value) {
            (Some(Value::String(so_far)), Value::String(more))
                if matches!(name.as_str(), "text" | "summary" | "data") =>
            {
                so_far.push_str(more);
            }
            _ => block[name] = value.clone(),
        }
    }
}

fn list<'v>(value: &'v Value, field: &str) -> impl Iterator<Item = &'v Value> + use<'v> {
    value.get(field).and_then(Value::as_array).into_iter().flatten()
}

fn size(value: &Value) -> usize {
    value.to_string().len()
}
