//! HTTP headers that change neither the target nor the effect of a request.

use serde_json::Value;

use super::name::plain;
use crate::word_list::WordList;

/// Names of headers in lower case and without `-`. `Host`, proxy headers and headers that name another method or address are not among them.
static HARMLESS: WordList = WordList::new(include_str!("../../data/argument/headers.txt"));

/// Says whether all headers are harmless, in any of the forms in which tools take them.
pub(super) fn harmless(headers: &Value) -> bool {
    match headers {
        Value::Object(fields) => fields.iter().all(|(name, value)| one(name, value)),
        Value::Array(items) => items.iter().all(|item| match item {
            Value::String(line) => written(line),
            Value::Array(pair) => matches!(pair.as_slice(), [Value::String(name), value] if one(name, value)),
            Value::Object(fields) => listed(fields),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }),
        Value::String(line) => written(line),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Checks a header of the form `{"name": …, "value": …}`.
fn listed(fields: &serde_json::Map<String, Value>) -> bool {
    let name = fields.get("name").or_else(|| fields.get("key")).and_then(Value::as_str);
    let value = fields.get("value").unwrap_or(&Value::Null);
    fields.len() == 2 && name.is_some_and(|name| one(name, value)) && !value.is_null()
}

/// Checks a header of the form `Name: value`. It must be one line: a second line would be a second header.
fn written(line: &str) -> bool {
    line.split_once(':').is_some_and(|(name, value)| one(name, &Value::from(value)))
}

fn one(name: &str, value: &Value) -> bool {
    let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let quiet = match value {
        Value::String(text) => !text.contains(char::is_control),
        Value::Null | Value::Number(_) => true,
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
    };
    letters && quiet && HARMLESS.contains(&plain(name))
}
