//! The size of the values that an expression reads, from which its cost follows.

use serde_json::Value;

/// The size of the values that an expression reads.
#[derive(Debug, Default)]
pub(super) struct ListSize {
    /// Number of all values.
    pub(super) values: usize,
    /// Length of the longest list.
    pub(super) longest: usize,
}

impl ListSize {
    /// Adds a value. The fields of an object are a list only if the caller chooses them.
    pub(super) fn add(&mut self, value: &Value, fields: bool) {
        self.values += 1;
        match value {
            Value::Array(items) => {
                self.longest = self.longest.max(items.len());
                items.iter().for_each(|item| self.add(item, fields));
            }
            Value::Object(object) => {
                self.longest = self.longest.max(if fields { object.len() } else { 0 });
                object.values().for_each(|value| self.add(value, fields));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}
