//! Tests the messages that people get about their answers.

use forms::{CheckError, FieldError, FormLimits, Forms};
use holdpoint_forms as forms;
use serde_json::{Map, Value, json};

fn fields(result: Result<(), CheckError>) -> Vec<(String, String, String)> {
    match result {
        Ok(()) => Vec::new(),
        Err(CheckError::Schema(error)) => vec![("schema".into(), error.reason.code().into(), error.pointer)],
        Err(CheckError::Fields(fields)) => {
            fields.into_iter().map(|FieldError { pointer, keyword, message }| (pointer, keyword, message)).collect()
        }
    }
}

#[track_caller]
fn check(schema: &Value, data: Value, expected: &[(&str, &str, &str)]) {
    let got = fields(Forms::default().check(schema, &data));
    let got: Vec<_> = got.iter().map(|(a, b, c)| (a.as_str(), b.as_str(), c.as_str())).collect();
    assert_eq!(got, expected, "{data}");
}

#[test]
fn wrong_types_are_reported() {
    let number = json!({"type": "integer"});
    check(&number, json!(1), &[]);
    check(&number, json!(1.0), &[]);
    check(&number, json!(1e3), &[]);
    check(&number, json!(1.5), &[("", "type", "Must be a whole number.")]);
    check(&number, json!("1"), &[("", "type", "Must be a whole number.")]);
    check(&json!({"type": ["string", "null"]}), json!(1), &[("", "type", "Must be null or text.")]);
    check(&json!({"type": "boolean"}), json!("yes"), &[("", "type", "Must be true or false.")]);
    check(&json!(true), json!({"a": 1}), &[]);
    check(&json!(false), json!(1), &[("", "falseSchema", "Nothing is accepted here.")]);
}

#[test]
fn missing_and_unexpected_fields_are_reported() {
    let form = json!({
        "type": "object",
        "properties": {"a/b": {"type": "object", "required": ["c~d"]}, "e": {}},
        "required": ["e"],
        "additionalProperties": false
    });
    check(&form, json!({"e": 1}), &[]);
    check(&form, json!({}), &[("/e", "required", "This field is required.")]);
    check(&form, json!({"e": 1, "a/b": {}}), &[("/a~1b/c~0d", "required", "This field is required.")]);
    check(
        &form,
        json!({"e": 1, "x/y": 1, "z": 2}),
        &[
            ("/x~1y", "additionalProperties", "This field is not part of the form."),
            ("/z", "additionalProperties", "This field is not part of the form."),
        ],
    );
    check(
        &json!({"properties": {"a": {}}, "unevaluatedProperties": false}),
        json!({"b": 1}),
        &[("/b", "unevaluatedProperties", "This field is not part of the form.")],
    );
    check(
        &json!({"propertyNames": {"maxLength": 2}}),
        json!({"abc": 1}),
        &[("/abc", "propertyNames", "The name of this field is not allowed. Must have at most 2 characters.")],
    );
}

#[test]
fn values_outside_bounds_and_selections_are_reported() {
    check(&json!({"minLength": 1}), json!(""), &[("", "minLength", "Must not be empty.")]);
    check(&json!({"maxLength": 1}), json!("ab"), &[("", "maxLength", "Must have at most 1 character.")]);
    check(&json!({"minimum": 3}), json!(2), &[("", "minimum", "Must be 3 or more.")]);
    check(&json!({"exclusiveMaximum": 3}), json!(3), &[("", "exclusiveMaximum", "Must be less than 3.")]);
    check(&json!({"multipleOf": 5}), json!(3), &[("", "multipleOf", "Must be a multiple of 5.")]);
    check(&json!({"enum": ["red", 2]}), json!("secret"), &[("", "enum", "Must be one of: red, 2.")]);
    check(&json!({"const": "yes"}), json!("secret"), &[("", "const", "Must be exactly yes.")]);
    check(&json!({"pattern": "^a+$"}), json!("secret"), &[("", "pattern", "Must match the pattern ^a+$.")]);
    check(&json!({"not": {"const": 1}}), json!(1), &[("", "not", "Must not have this value.")]);
}

#[test]
fn errors_in_lists_are_reported() {
    let form = json!({"items": {"properties": {"n": {"type": "integer"}}, "required": ["n"]}, "minItems": 2});
    check(&form, json!([{"n": 1}, {"n": 2}]), &[]);
    check(
        &form,
        json!([{"n": "x"}]),
        &[("", "minItems", "Must have at least 2 items."), ("/0/n", "type", "Must be a whole number.")],
    );
    let unique = [("", "uniqueItems", "Must not contain the same item twice.")];
    check(&json!({"uniqueItems": true}), json!([1, 2, 1]), &unique);
    check(
        &json!({"contains": {"const": 1}}),
        json!([2]),
        &[("", "contains", "Must contain items of the expected kind, in the expected number.")],
    );
}

#[test]
fn errors_in_alternatives_are_reported() {
    let select = json!({"oneOf": [{"const": "a", "title": "First"}, {"const": "b"}]});
    check(&select, json!("a"), &[]);
    check(&select, json!("secret"), &[("", "oneOf", "Must be one of: a, b.")]);
    let optional = json!({"anyOf": [{"type": "string", "minLength": 3}, {"type": "null"}]});
    check(&optional, json!(null), &[]);
    check(&optional, json!("ab"), &[("", "minLength", "Must have at least 3 characters.")]);
    check(&optional, json!(1), &[("", "anyOf", "Does not fit any of the accepted alternatives.")]);
    let tagged = json!({"properties": {"pay": {"oneOf": [
        {"properties": {"kind": {"const": "card"}, "number": {"type": "string"}}, "required": ["kind", "number"]},
        {"properties": {"kind": {"const": "cash"}}, "required": ["kind"]}
    ]}}});
    check(&tagged, json!({"pay": {"kind": "cash"}}), &[]);
    check(&tagged, json!({"pay": {"kind": "card"}}), &[("/pay/number", "required", "This field is required.")]);
    check(
        &json!({"oneOf": [{"minimum": 1}, {"minimum": 2}]}),
        json!(3),
        &[("", "oneOf", "Fits more than one of the alternatives; it must fit exactly one.")],
    );
}

#[test]
fn date_and_time_without_an_offset_is_reported() {
    let moment = json!({"type": "string", "format": "date-time"});
    let advice = "The date and time has no offset: add one such as Z or +02:00, as in 2026-11-15T10:00:00+02:00.";
    check(&moment, json!("2026-11-15T10:00:00Z"), &[]);
    check(&moment, json!("2026-11-15T10:00:00.5+02:00"), &[]);
    check(&moment, json!("2026-11-15T10:00"), &[("", "format", advice)]);
    check(&moment, json!("2026-11-15T10:00:00"), &[("", "format", advice)]);
    check(&moment, json!("2026-11-15T10:00:00.123"), &[("", "format", advice)]);
    let general = "Must be a date and time with seconds and an offset, such as 2026-11-15T10:00:00Z or \
                   2026-11-15T10:00:00+02:00.";
    check(&moment, json!("2026-11-15T10:00Z"), &[("", "format", general)]);
    check(&moment, json!("tomorrow"), &[("", "format", general)]);
    let time = "The time has no offset: add one such as Z or +02:00, as in 10:00:00+02:00.";
    check(&json!({"format": "time"}), json!("10:00"), &[("", "format", time)]);
}

#[test]
fn formats_are_asserted() {
    #[track_caller]
    fn check(format: &str, good: &str, bad: &str) {
        for dialect in ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"] {
            let schema = json!({"$schema": dialect, "format": format});
            let keywords = |text: &str| fields(Forms::default().check(&schema, &json!(text))).len();
            assert_eq!((keywords(good), keywords(bad)), (0, 1), "{format} {dialect}");
        }
    }
    check("date", "2026-02-28", "2026-02-30");
    check("date-time", "2026-02-28T00:00:00Z", "2026-02-28");
    check("time", "10:00:00Z", "25:00:00Z");
    check("email", "a@example.com", "example.com");
    check("uri", "https://example.com/", "example");
    check("uuid", "123e4567-e89b-12d3-a456-426614174000", "123");
    check("ipv4", "192.0.2.1", "192.0.2.256");
    check("ipv6", "2001:db8::1", "2001:db8:::1");
    check("hostname", "www.example.com", "-a-");
    check("duration", "PT30M", "30 minutes");
    check("regex", "^a+$", "(");
    check("json-pointer", "/a/0", "a");
}

#[test]
fn every_missing_field_of_a_long_form_is_reported() {
    let names = || (0..20).map(|index| format!("f{index:02}"));
    let properties: Map<String, Value> = names().map(|name| (name, json!({"type": "string"}))).collect();
    let form = json!({"type": "object", "properties": properties, "required": names().collect::<Vec<_>>()});
    let filled: Map<String, Value> = names().map(|name| (name, json!("x"))).collect();
    check(&form, Value::Object(filled), &[]);
    let got = fields(Forms::default().check(&form, &json!({"f03": 3})));
    let expected: Vec<_> = names()
        .map(|name| match name.as_str() {
            "f03" => ("/f03".to_owned(), "type".to_owned(), "Must be text.".to_owned()),
            _ => (format!("/{name}"), "required".to_owned(), "This field is required.".to_owned()),
        })
        .collect();
    assert_eq!(got, expected);
}

#[test]
fn answer_beyond_a_limit_is_refused() {
    let deep = |levels| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    let tree = json!({"items": {"$ref": "#"}});
    check(&tree, deep(64), &[]);
    check(&tree, deep(65), &[(&"/0".repeat(65), "limit", "Must not be nested deeper than 64 levels.")]);
    let large = [("", "limit", "Must not be larger than 1048576 bytes in total.")];
    check(&json!(true), json!("x".repeat(1024 * 1024)), &large);
    let many = [("", "limit", "Must not contain more than 50000 values.")];
    check(&json!(true), json!(vec![1; 50_000]), &many);
    let unique = json!({"properties": {"l": {"uniqueItems": true}}});
    check(&unique, json!({"l": (0..10_000).collect::<Vec<_>>()}), &[]);
    check(&unique, json!({"l": vec![0; 10_001]}), &[("/l", "limit", "Must not have more than 10000 items.")]);
    let heavy = json!({"enum": (0..4000).collect::<Vec<_>>()});
    let rules = [("", "limit", "The answer is too large for a form with so many rules.")];
    check(&heavy, json!("x".repeat(1_000_000)), &rules);
    let select: Vec<_> = (0..250).map(|option| json!({"const": option})).collect();
    let nowhere = [("", "limit", "The answer does not fit the form, and is too large to say where.")];
    check(&json!({"items": {"oneOf": select}}), json!(vec!["x"; 20_000]), &nowhere);
    let linear = [("", "pattern", "Must match the pattern ^(a+)+$.")];
    check(&json!({"pattern": "^(a+)+$"}), json!(format!("{}b", "a".repeat(200_000))), &linear);
}

#[test]
fn errors_are_limited_to_the_first() {
    let forms = Forms::new(FormLimits { errors: 2, ..FormLimits::default() });
    let got = fields(forms.check(&json!({"items": {"type": "string"}}), &json!([1, 2, 3])));
    let pointers: Vec<_> = got.iter().map(|(pointer, ..)| pointer.as_str()).collect();
    assert_eq!(pointers, ["/0", "/1"]);
}

#[test]
fn check_refuses_a_schema_that_admit_refuses() {
    check(&json!({"$ref": "file:///etc/passwd"}), json!(1), &[("schema", "remote_reference", "/$ref")]);
    check(&json!(5), json!(1), &[("schema", "not_a_schema", "")]);
}

/// Canonical JSON writes both bounds as one number, so both schemas have equal digests.
#[test]
fn schemas_with_the_same_digest_are_not_confused() {
    let forms = Forms::default();
    let even = json!({"const": 9_007_199_254_740_992_u64});
    let odd = json!({"const": 9_007_199_254_740_993_u64});
    for _ in 0..2 {
        assert_eq!(forms.check(&even, &json!(9_007_199_254_740_992_u64)), Ok(()));
        assert_eq!(forms.check(&odd, &json!(9_007_199_254_740_993_u64)), Ok(()));
        assert_ne!(forms.check(&odd, &json!(9_007_199_254_740_992_u64)), Ok(()));
    }
}

/// Checks the longest chain of subschemas that is admitted, on an answer as deep as allowed, on the stack of a test thread.
#[test]
fn the_deepest_admitted_recursion_fits_the_stack() {
    let wrap = |inner: Value| json!({"anyOf": [{"type": "string"}, inner]});
    let schema = json!({"anyOf": [{"type": "string"}, wrap(wrap(wrap(json!({"items": {"$ref": "#"}}))))]});
    let chain = json!({"type": ["array", "string"], "allOf": [schema]});
    let data = (0..64).fold(json!(1), |inner, _| json!([inner]));
    let forms = Forms::default();
    assert_eq!(forms.admit(&chain), Ok(()));
    assert_eq!(forms.check(&json!({"items": chain}), &json!([])), Ok(()));
    assert!(matches!(forms.check(&chain, &data), Err(CheckError::Fields(_))));
}
