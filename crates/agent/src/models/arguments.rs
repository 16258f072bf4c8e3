//! The arguments of a call, as they arrive and as they are sent back.

use domain::exact_numbers::first_rounded;
use serde_json::{Map, Value, json};

/// Parses the arguments of a call. Empty text means no arguments. Text that is not JSON, or has a number that would be
/// rounded, stays text: it is refused when the call is proposed, and the model reads the reason.
pub(super) fn read(text: String) -> Value {
    if text.trim().is_empty() {
        return Value::Object(Map::new());
    }
    match serde_json::from_str(&text) {
        Ok(Value::Null) => Value::Object(Map::new()),
        Ok(value) if first_rounded(text.as_bytes()).is_none() => value,
        _ => Value::String(text),
    }
}

/// Converts arguments to the form that providers accept in the history: an object. Any other value is wrapped in an object.
pub(super) fn object(arguments: &Value) -> Value {
    if arguments.is_object() { arguments.clone() } else { json!({"malformed": arguments}) }
}

/// Converts the schema of a tool to the form that providers accept: the schema of an object.
pub(super) fn schema(schema: &Value) -> Value {
    let mut schema = schema.as_object().cloned().unwrap_or_default();
    schema.entry("type").or_insert_with(|| json!("object"));
    if schema.get("type") == Some(&json!("object")) {
        schema.entry("properties").or_insert_with(|| json!({}));
    }
    Value::Object(schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_parsed_or_kept_as_text() {
        for (text, expected) in [
            ("", json!({})),
            (" \n", json!({})),
            ("null", json!({})),
            (r#"{"a": [1]}"#, json!({"a": [1]})),
            (r#"{"a": 1"#, json!(r#"{"a": 1"#)),
            ("[1]", json!([1])),
            (r#"{"n": 1e22}"#, json!({"n": 1e22})),
            (r#"{"n": 9007199254740993.0}"#, json!(r#"{"n": 9007199254740993.0}"#)),
        ] {
            assert_eq!(read(text.to_owned()), expected, "{text}");
        }
        let deep = "[".repeat(100_000);
        assert_eq!(read(deep.clone()), json!(deep));
    }

    #[test]
    fn arguments_and_schemas_are_sent_as_objects() {
        assert_eq!(object(&json!({"a": 1})), json!({"a": 1}));
        assert_eq!(object(&json!("{\"a\"")), json!({"malformed": "{\"a\""}));
        assert_eq!(schema(&Value::Null), json!({"type": "object", "properties": {}}));
        assert_eq!(schema(&json!({"properties": {"a": true}})), json!({"type": "object", "properties": {"a": true}}));
    }
}
