//! Tests that any schema and any answer give a result and never a panic.

use forms::{CheckError, Forms};
use holdpoint_forms as forms;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Names that have a meaning for a validator, so that random JSON passes the first checks.
const WORDS: [&str; 30] = [
    "$ref",
    "$id",
    "$anchor",
    "$dynamicRef",
    "$dynamicAnchor",
    "$defs",
    "$schema",
    "type",
    "properties",
    "items",
    "prefixItems",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "required",
    "enum",
    "const",
    "pattern",
    "format",
    "patternProperties",
    "additionalProperties",
    "unevaluatedProperties",
    "uniqueItems",
    "minLength",
    "contains",
    "dependentSchemas",
    "propertyNames",
];

fn word() -> impl Strategy<Value = String> {
    let values = ["#", "#/$defs/a", "#a", "a", "b", "object", "string", "integer", "date-time", "^(a+)+$", "(?=a)"];
    prop_oneof![
        4 => prop::sample::select(WORDS.to_vec()).prop_map(str::to_owned),
        4 => prop::sample::select(values.to_vec()).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((word(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Generates schemas that are mostly valid, so that compiling and validating are reached.
fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        prop::sample::select(vec!["string", "integer", "object", "array"]).prop_map(|name| json!({ "type": name })),
        prop::sample::select(vec!["#", "#/$defs/a", "#a"]).prop_map(|target| json!({ "$ref": target })),
        any_json().prop_map(|value| json!({ "const": value })),
        word().prop_map(|format| json!({ "format": format, "$anchor": "a" })),
    ];
    leaf.prop_recursive(5, 48, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            (prop::sample::select(vec!["allOf", "anyOf", "oneOf", "prefixItems"]), list)
                .prop_map(|(keyword, list)| json!({ keyword: list })),
            (
                prop::sample::select(vec!["not", "items", "contains", "propertyNames", "unevaluatedProperties"]),
                inner.clone()
            )
                .prop_map(|(keyword, schema)| json!({ keyword: schema })),
            (prop::sample::select(vec!["properties", "$defs", "patternProperties", "dependentSchemas"]), word(), inner)
                .prop_map(|(keyword, name, schema)| json!({ keyword: { name: schema }, "required": ["a"] })),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(512), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_json_is_admitted_or_refused(schema in any_json(), data in any_json()) {
        let forms = Forms::default();
        let admitted = forms.admit(&schema);
        match forms.check(&schema, &data) {
            Err(CheckError::Schema(error)) => prop_assert_eq!(admitted, Err(error)),
            Ok(()) | Err(CheckError::Fields(_)) => prop_assert_eq!(admitted, Ok(())),
        }
    }

    #[test]
    fn errors_are_sorted_limited_and_point_into_the_data(schema in any_schema(), data in any_json()) {
        if let Err(CheckError::Fields(fields)) = Forms::default().check(&schema, &data) {
            prop_assert!(!fields.is_empty() && fields.len() <= 50);
            prop_assert!(fields.is_sorted_by(|one, next| one < next));
            for field in fields.iter().filter(|field| field.keyword != "required") {
                prop_assert!(data.pointer(&field.pointer).is_some(), "{:?}", field);
            }
        }
    }

    #[test]
    fn refusals_point_into_the_schema(schema in any_schema()) {
        if let Err(error) = Forms::default().admit(&schema) {
            prop_assert!(schema.pointer(&error.pointer).is_some(), "{:?}", error);
            prop_assert_ne!(error.reason.code(), "unusable");
        }
    }
}
