//! Keeps the order of the properties of a form's JSON Schema. A JSON object has no order, but people fill in a form from the first field to
//! the last, in the order in which its author wrote the properties. The order is therefore stored as data, in an annotation next to the
//! properties of each object.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Annotation that lists the properties of an object in the order in which they were written.
const ORDER: &str = "x-order";

/// Keywords whose value is a schema or a list of schemas.
const HOLD_SCHEMAS: [&str; 12] = [
    "items",
    "prefixItems",
    "additionalItems",
    "contains",
    "additionalProperties",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
];

/// Reads a schema and adds the order of its properties, unless the schema already contains an `x-order`.
pub(crate) fn in_order<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Ok(Option::<Written>::deserialize(deserializer)?.map(Written::into_schema))
}

/// JSON value that keeps the order of the fields of its objects.
enum Written {
    Object(Vec<(String, Written)>),
    Array(Vec<Written>),
    Plain(Value),
}

impl Written {
    /// Converts the value to a schema with annotations. Annotations are added only in places where JSON Schema expects a schema; a default
    /// or a constant stays unchanged.
    fn into_schema(self) -> Value {
        let Self::Object(fields) = self else { return self.into_value() };
        let mut schema = Map::new();
        for (keyword, part) in fields {
            let value = match keyword.as_str() {
                "properties" => {
                    if let Some(order) = part.order() {
                        schema.entry(ORDER).or_insert(order);
                    }
                    part.into_named_schemas()
                }
                "patternProperties" | "dependentSchemas" | "$defs" | "definitions" => part.into_named_schemas(),
                one if HOLD_SCHEMAS.contains(&one) => part.into_schemas(),
                _ => part.into_value(),
            };
            schema.insert(keyword, value);
        }
        Value::Object(schema)
    }

    fn into_schemas(self) -> Value {
        match self {
            Self::Array(list) => Value::Array(list.into_iter().map(Self::into_schema).collect()),
            one => one.into_schema(),
        }
    }

    fn into_named_schemas(self) -> Value {
        match self {
            Self::Object(fields) => fields.into_iter().map(|(name, schema)| (name, schema.into_schema())).collect(),
            other => other.into_value(),
        }
    }

    fn into_value(self) -> Value {
        match self {
            Self::Object(fields) => fields.into_iter().map(|(name, part)| (name, part.into_value())).collect(),
            Self::Array(list) => Value::Array(list.into_iter().map(Self::into_value).collect()),
            Self::Plain(value) => value,
        }
    }

    /// Names of the fields in order. `None` if there are fewer than two, because then there is nothing to order.
    fn order(&self) -> Option<Value> {
        match self {
            Self::Object(fields) if fields.len() > 1 => Some(fields.iter().map(|(name, _)| name.as_str()).collect()),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reading)
    }
}

struct Reading;

impl<'de> Visitor<'de> for Reading {
    type Value = Written;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Written, E> {
        Ok(Written::Plain(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Written, E> {
        Ok(Written::Plain(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Written, E> {
        Ok(Written::Plain(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Written, E> {
        Ok(Written::Plain(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Written, E> {
        Ok(Written::Plain(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Written, E> {
        Ok(Written::Plain(Value::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Written, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Written::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Written, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = entries.next_entry()? {
            fields.push(field);
        }
        Ok(Written::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(written: &str, expected: Value) {
        let mut reader = serde_json::Deserializer::from_str(written);
        assert_eq!(in_order(&mut reader).unwrap(), Some(expected), "{written}");
    }

    #[test]
    fn property_order_is_recorded_in_every_subschema() {
        let any = json!({});
        let two = json!({ "properties": { "a": {}, "b": {} }, "x-order": ["b", "a"] });
        let written = r#"{"properties": {"b": {}, "a": {}}}"#;
        check(written, two.clone());
        check(&format!(r#"{{"items": {written}}}"#), json!({ "items": two }));
        check(&format!(r#"{{"anyOf": [{written}, true]}}"#), json!({ "anyOf": [two, true] }));
        check(&format!(r#"{{"$defs": {{"x": {written}}}}}"#), json!({ "$defs": { "x": two } }));
        check(&format!(r#"{{"properties": {{"x": {written}}}}}"#), json!({ "properties": { "x": two } }));
        // A property may have the name of a keyword.
        check(
            r#"{"properties": {"properties": {"type": "string", "title": "P"}, "a": {}}}"#,
            json!({ "properties": { "properties": { "type": "string", "title": "P" }, "a": any },
                    "x-order": ["properties", "a"] }),
        );
    }

    #[test]
    fn data_and_an_explicit_order_stay_unchanged() {
        let data = json!({ "properties": { "b": 1, "a": [1.5, -1, null, "x"] } });
        for keyword in ["default", "const", "x-extra"] {
            check(&format!(r#"{{"{keyword}": {data}}}"#), json!({ keyword: data }));
        }
        check(&format!(r#"{{"enum": [{data}], "examples": [{data}]}}"#), json!({ "enum": [data], "examples": [data] }));
        for written in [
            r#"{"x-order": ["a", "b"], "properties": {"b": {}, "a": {}}}"#,
            r#"{"properties": {"b": {}, "a": {}}, "x-order": ["a", "b"]}"#,
        ] {
            check(written, json!({ "properties": { "a": {}, "b": {} }, "x-order": ["a", "b"] }));
        }
        check(r#"{"properties": {"only": {}}}"#, json!({ "properties": { "only": {} } }));
        check("true", json!(true));
    }
}
