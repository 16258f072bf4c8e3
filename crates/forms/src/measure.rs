//! Measures values and checks them against limits.

use std::io::{self, Write};

use serde_json::Value;

use crate::error::FieldError;
use crate::limits::FormLimits;
use crate::pointer;

/// Measurements of an answer that determine the cost of checking it.
pub(crate) struct Measure {
    pub(crate) bytes: usize,
    pub(crate) depth: usize,
    pub(crate) values: usize,
}

/// Measures an answer; the error names the limit that it exceeds.
pub(crate) fn measure(data: &Value, limits: &FormLimits, unique_items: bool) -> Result<Measure, FieldError> {
    let refuse = |pointer: String, message: String| Err(FieldError::new(pointer, "limit", message));
    if let Err(pointer) = within_depth(data, limits.data_depth) {
        return refuse(pointer, format!("Must not be nested deeper than {} levels.", limits.data_depth));
    }
    let Some(bytes) = bytes(data, limits.data_bytes) else {
        return refuse(String::new(), format!("Must not be larger than {} bytes in total.", limits.data_bytes));
    };
    let mut tally =
        ValueCounts { values: 0, depth: 0, longest: unique_items.then_some(limits.unique_items), too_long: None };
    tally.add(data, "", 1);
    if tally.values > limits.data_values {
        return refuse(String::new(), format!("Must not contain more than {} values.", limits.data_values));
    }
    if let Some(pointer) = tally.too_long {
        return refuse(pointer, format!("Must not have more than {} items.", limits.unique_items));
    }
    Ok(Measure { bytes, depth: tally.depth, values: tally.values })
}

/// Checks that no value is nested deeper than `limit`; the error is a pointer to the first one that is.
pub(crate) fn within_depth(value: &Value, limit: usize) -> Result<(), String> {
    fn tokens(value: &Value, left: usize) -> Result<(), Vec<String>> {
        let Some(left) = left.checked_sub(1) else { return Err(Vec::new()) };
        let inside = |token: String| {
            |mut path: Vec<String>| {
                path.push(token);
                path
            }
        };
        match value {
            Value::Array(items) => items
                .iter()
                .enumerate()
                .try_for_each(|(index, item)| tokens(item, left).map_err(inside(index.to_string()))),
            Value::Object(fields) => {
                fields.iter().try_for_each(|(name, field)| tokens(field, left).map_err(inside(name.clone())))
            }
            _ => Ok(()),
        }
    }
    tokens(value, limit.saturating_add(1))
        .map_err(|path| path.iter().rev().fold(String::new(), |at, token| pointer::child(&at, token)))
}

/// Counts a value and everything inside it.
pub(crate) fn values(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().fold(1, |count, item| count + values(item)),
        Value::Object(fields) => fields.values().fold(1, |count, field| count + values(field)),
        _ => 1,
    }
}

/// Counts the bytes of a value as compact JSON, or stops when there are more than `limit`.
pub(crate) fn bytes(value: &Value, limit: usize) -> Option<usize> {
    let mut room = ByteBudget { left: limit };
    serde_json::to_writer(&mut room, value).ok()?;
    Some(limit - room.left)
}

struct ByteBudget {
    left: usize,
}

impl Write for ByteBudget {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.left = self
            .left
            .checked_sub(buffer.len())
            .ok_or_else(|| io::Error::other("the value is larger than the limit"))?;
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct ValueCounts {
    values: usize,
    depth: usize,
    longest: Option<usize>,
    too_long: Option<String>,
}

impl ValueCounts {
    fn add(&mut self, value: &Value, at: &str, depth: usize) {
        self.values += 1;
        self.depth = self.depth.max(depth);
        match value {
            Value::Array(items) => {
                if self.too_long.is_none() && self.longest.is_some_and(|longest| items.len() > longest) {
                    self.too_long = Some(at.to_owned());
                }
                for (index, item) in items.iter().enumerate() {
                    self.add_part(item, at, || index.to_string(), depth + 1);
                }
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    self.add_part(field, at, || name.clone(), depth + 1);
                }
            }
            _ => {}
        }
    }

    /// Counts a part, and builds its pointer only if lists are limited and the part may contain one.
    fn add_part(&mut self, part: &Value, at: &str, token: impl Fn() -> String, depth: usize) {
        if self.longest.is_some() && matches!(part, Value::Array(_) | Value::Object(_)) {
            self.add(part, &pointer::child(at, &token()), depth);
        } else {
            self.add(part, at, depth);
        }
    }
}
