//! Lists the subschemas of a schema and the values that they check.

use serde_json::{Map, Value};

use crate::pointer;

/// Values that a subschema checks, relative to the value that its parent checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JudgedValues<'a> {
    /// The value of the parent itself.
    Here,
    /// The field of this name.
    Name(&'a str),
    /// Every field that the parent does not name.
    OtherNames,
    /// Any field, named or not.
    EveryName,
    /// The item at this index.
    Index(usize),
    /// Every item that has no subschema of its own.
    OtherIndexes,
    /// Any item of a list.
    EveryIndex,
    /// No value, unless a reference leads to the subschema.
    Nowhere,
}

/// A subschema with its location and the values that it checks.
pub(crate) struct Child<'a> {
    pub(crate) place: JudgedValues<'a>,
    pub(crate) pointer: String,
    pub(crate) schema: &'a Value,
    pub(crate) named: bool,
}

/// Lists the direct subschemas of a schema, for all supported drafts at once.
///
/// A keyword of the wrong type is skipped here, because the meta-schema refuses it.
pub(crate) fn children<'a>(schema: &'a Map<String, Value>, at: &str) -> Vec<Child<'a>> {
    let mut found = Vec::new();
    for (keyword, value) in schema {
        let pointer = pointer::child(at, keyword);
        match (keyword.as_str(), value) {
            ("items" | "prefixItems", Value::Array(list)) => {
                add_items(&mut found, &pointer, list, JudgedValues::Index);
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(list)) => {
                add_items(&mut found, &pointer, list, |_| JudgedValues::Here);
            }
            ("properties", Value::Object(map)) => add_fields(&mut found, &pointer, map, JudgedValues::Name),
            ("patternProperties", Value::Object(map)) => {
                add_fields(&mut found, &pointer, map, |_| JudgedValues::EveryName);
            }
            ("dependentSchemas" | "dependencies", Value::Object(map)) => {
                add_fields(&mut found, &pointer, map, |_| JudgedValues::Here);
            }
            ("$defs" | "definitions", Value::Object(map)) => {
                add_fields(&mut found, &pointer, map, |_| JudgedValues::Nowhere);
            }
            _ => {
                if let (Some(place), Value::Object(_) | Value::Bool(_)) = (single(keyword), value) {
                    found.push(Child { place, pointer, schema: value, named: false });
                }
            }
        }
    }
    found
}

fn single(keyword: &str) -> Option<JudgedValues<'static>> {
    match keyword {
        "not" | "if" | "then" | "else" => Some(JudgedValues::Here),
        "additionalProperties" | "unevaluatedProperties" => Some(JudgedValues::OtherNames),
        "propertyNames" => Some(JudgedValues::EveryName),
        "items" | "additionalItems" | "unevaluatedItems" => Some(JudgedValues::OtherIndexes),
        "contains" => Some(JudgedValues::EveryIndex),
        "contentSchema" => Some(JudgedValues::Nowhere),
        _ => None,
    }
}

fn add_items<'a>(found: &mut Vec<Child<'a>>, at: &str, list: &'a [Value], place: impl Fn(usize) -> JudgedValues<'a>) {
    found.extend(list.iter().enumerate().map(|(index, schema)| Child {
        place: place(index),
        pointer: pointer::child(at, &index.to_string()),
        schema,
        named: false,
    }));
}

fn add_fields<'a>(
    found: &mut Vec<Child<'a>>,
    at: &str,
    map: &'a Map<String, Value>,
    place: impl Fn(&'a str) -> JudgedValues<'a>,
) {
    found.extend(map.iter().map(|(name, schema)| Child {
        place: place(name),
        pointer: pointer::child(at, name),
        schema,
        named: true,
    }));
}
