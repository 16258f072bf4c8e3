//! Tests which schemas are admitted: every refusal has a stable code and a location.

use forms::{FormLimits, Forms, SchemaError};
use holdpoint_forms as forms;
use serde_json::{Map, Value, json};

fn verdict(schema: &Value) -> Result<(), (String, String)> {
    let code = |SchemaError { reason, pointer }: SchemaError| (reason.code().to_owned(), pointer);
    Forms::new(FormLimits::default()).admit(schema).map_err(code)
}

#[track_caller]
fn admitted(schema: Value) {
    assert_eq!(verdict(&schema), Ok(()), "{schema}");
}

#[track_caller]
fn refused(schema: Value, code: &str, pointer: &str) {
    assert_eq!(verdict(&schema), Err((code.to_owned(), pointer.to_owned())));
}

/// Asserts that a schema is refused for its cost, wherever in the chain the limit is reached.
#[track_caller]
fn explodes(schema: Value) {
    assert_eq!(verdict(&schema).map_err(|(code, _)| code), Err("too_expensive".to_owned()));
}

fn nested(levels: usize, wrap: impl Fn(Value) -> Value) -> Value {
    (0..levels).fold(json!({}), |inner, _| wrap(inner))
}

fn many<T: Into<Value>>(number: usize, item: impl Fn(usize) -> T) -> Value {
    Value::Array((0..number).map(|index| item(index).into()).collect())
}

fn named(number: usize, item: impl Fn(usize) -> Value) -> Map<String, Value> {
    (0..number).map(|index| (format!("f{index}"), item(index))).collect()
}

/// Builds a chain in which each definition refers to the next one twice, so that the last is checked two to the power of `links` times.
fn doubling(links: usize, ask: impl Fn(Value) -> Value) -> Value {
    let next = |index: usize| ask(json!({"$ref": format!("#/$defs/f{}", index + 1)}));
    let mut defs = named(links, next);
    defs.insert(format!("f{links}"), json!({"type": "string"}));
    json!({"$ref": "#/$defs/f0", "$defs": defs})
}

#[test]
fn ordinary_schemas_are_admitted() {
    admitted(json!(true));
    admitted(json!(false));
    admitted(json!({}));
    admitted(json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}));
    admitted(json!({"type": "string", "format": "textarea"}));
    admitted(json!({"properties": {"$ref": {"type": "string"}, "pattern": {"type": "string"}, "$id": {}}}));
    admitted(json!({"const": {"$ref": "http://example.com"}, "default": {"pattern": "(?=a)"}}));
    admitted(json!({"enum": many(400, |index| index)}));
    admitted(json!({"pattern": "^(a+)+$", "patternProperties": {"^x-": true}}));
}

#[test]
fn three_drafts_are_supported() {
    admitted(
        json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"a": {}}, "$ref": "#/$defs/a"}),
    );
    admitted(
        json!({"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveRef": "#/$defs/a", "$defs": {"a": {}}}),
    );
    admitted(
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/A", "definitions": {"A": {}}}),
    );
    refused(json!({"$schema": "http://json-schema.org/draft-04/schema#"}), "unsupported_dialect", "/$schema");
    refused(json!({"$schema": "https://example.com/mine"}), "unsupported_dialect", "/$schema");
    refused(json!({"$schema": 7}), "unsupported_dialect", "/$schema");
    refused(
        json!({"items": {"$schema": "https://json-schema.org/draft/2020-12/schema"}}),
        "unsupported_dialect",
        "/items/$schema",
    );
}

#[test]
fn value_that_is_not_a_schema_is_refused() {
    refused(json!(null), "not_a_schema", "");
    refused(json!([]), "not_a_schema", "");
    refused(json!("string"), "not_a_schema", "");
    refused(json!(1), "not_a_schema", "");
    refused(json!({"type": "strng"}), "invalid", "/type");
    refused(json!({"properties": {"a/b": {"minLength": -1}}}), "invalid", "/properties/a~1b/minLength");
    refused(json!({"required": "name"}), "invalid", "/required");
    refused(json!({"properties": []}), "invalid", "/properties");
    refused(json!({"$ref": 5}), "invalid", "/$ref");
    refused(json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": 1}), "invalid", "/type");
}

#[test]
fn schema_beyond_a_limit_is_refused() {
    refused(json!({"description": "x".repeat(64 * 1024)}), "too_large", "");
    admitted(nested(15, |inner| json!({"properties": {"a": inner}})));
    let deep = nested(40, |inner| json!({"not": inner}));
    refused(deep, "too_deep", &"/not".repeat(33));
    refused(json!({"const": nested(40, |inner| json!([inner]))}), "too_deep", &format!("/const{}", "/0".repeat(32)));
    refused(json!({"allOf": many(257, |_| json!({}))}), "too_many_branches", "/allOf/256");
    refused(json!({"properties": named(513, |_| json!({}))}), "too_many_properties", "/properties/f99");
    let refs = many(65, |_| json!({"$ref": "#/$defs/a"}));
    refused(json!({"prefixItems": refs, "$defs": {"a": {}}}), "too_many_refs", "/prefixItems/0/$ref");
    refused(json!({"pattern": "a".repeat(513)}), "pattern_too_long", "/pattern");
    refused(json!({"enum": many(5000, |index| index)}), "too_expensive", "");
}

#[test]
fn only_local_references_are_followed() {
    admitted(json!({"$ref": "#/$defs/a%20b", "$defs": {"a b": {"type": "string"}}}));
    admitted(json!({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"type": "string"}}}));
    admitted(json!({"$ref": "#name", "$defs": {"a": {"$anchor": "name"}}}));
    admitted(json!({"$ref": "#/elsewhere/a", "elsewhere": {"a": {"type": "string"}}}));
    admitted(json!({"$id": "https://example.com/form", "$ref": "#/$defs/a", "$defs": {"a": {}}}));
    admitted(json!({"$id": "form.json", "$ref": "#/$defs/a", "$defs": {"a": {}}}));
    admitted(json!({"$dynamicRef": "#name", "$defs": {"a": {"$dynamicAnchor": "name"}}}));
    admitted(json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"x": {"$ref": "#a"}},
        "definitions": {"a": {"$id": "#a"}}
    }));
    for remote in ["http://example.com/s", "https://example.com/s#/a", "file:///etc/passwd", "other.json", "/a", ""] {
        refused(json!({"properties": {"a": {"$ref": remote}}}), "remote_reference", "/properties/a/$ref");
    }
    refused(json!({"$ref": "https://json-schema.org/draft/2020-12/schema"}), "remote_reference", "/$ref");
    refused(json!({"$dynamicRef": "http://example.com/s"}), "remote_reference", "/$dynamicRef");
    refused(json!({"$ref": "#/elsewhere", "elsewhere": {"$ref": "file:///a"}}), "remote_reference", "/elsewhere/$ref");
    refused(json!({"$ref": "#/$defs/none"}), "unknown_reference", "/$ref");
    refused(json!({"$ref": "#none"}), "unknown_reference", "/$ref");
    refused(json!({"$ref": "#/title", "title": "text"}), "unknown_reference", "/$ref");
    refused(json!({"$defs": {"a": {"$id": "http://example.com/a"}}}), "embedded_resource", "/$defs/a/$id");
    refused(json!({"$defs": {"a": {"$anchor": "x"}, "b": {"$anchor": "x"}}}), "duplicate_anchor", "/$defs/a/$anchor");
}

#[test]
fn only_linear_patterns_are_compiled() {
    for pattern in ["(?=a)b", "(?!a)b", "(?<=a)b", r"(a)\1", "(", "[z-a]"] {
        refused(json!({"properties": {"p": {"pattern": pattern}}}), "unsupported_pattern", "/properties/p/pattern");
    }
    refused(json!({"patternProperties": {"(?=a)/": {}}}), "unsupported_pattern", "/patternProperties/(?=a)~1");
}

#[test]
fn compiled_size_of_a_schema_is_limited() {
    let large = r"(\p{L}{100}){100}";
    refused(json!({"properties": {"p": {"pattern": large}}}), "compiled_too_large", "/properties/p/pattern");
    // One pattern takes 628 KiB, so that three fit and the others are not compiled.
    let pattern = |index| format!("^(a|b|c|[d-z]{{1,30}}|{index}){{1,200}}0$");
    let fields = |number| named(number, |index| json!({"type": "string", "pattern": pattern(index)}));
    admitted(json!({"properties": fields(3)}));
    let hostile = json!({"type": "object", "properties": fields(400)});
    let SchemaError { reason, .. } = Forms::default().admit(&hostile).unwrap_err();
    assert_eq!(reason.code(), "compiled_too_large");
    assert_eq!(
        reason.to_string(),
        "the schema compiles to more than 2097152 bytes in all: use fewer or shorter patterns, and smaller repeats"
    );
    let same = named(400, |_| json!({"type": "string", "pattern": pattern(0)}));
    admitted(json!({"properties": same}));
    refused(json!({"prefixItems": many(5000, |_| json!({}))}), "compiled_too_large", "");
}

/// The cache stays within its limit with twelve schemas that each take most of the bytes that one schema may take.
#[test]
fn cache_of_compiled_schemas_stays_within_its_size() {
    let forms = Forms::new(FormLimits { cached_bytes: 4 * 1024 * 1024, ..FormLimits::default() });
    for index in 0..12 {
        let schema = json!({"properties": {"p": {"pattern": format!("^(a|[d-z]{{1,30}}|{index}){{1,200}}$")}}});
        assert_eq!(forms.admit(&schema), Ok(()));
        assert!(forms.cached_bytes() > 512 * 1024, "the size includes the compiled patterns");
        assert!(forms.cached_bytes() <= 4 * 1024 * 1024);
    }
    let forms = Forms::new(FormLimits { cached_bytes: 1024, ..FormLimits::default() });
    assert_eq!(forms.check(&json!({"pattern": "^a$|b"}), &json!("a")), Ok(()));
    assert_eq!(forms.cached_bytes(), 0, "a schema larger than the cache is not cached");
}

#[test]
fn compiling_stops_when_the_caller_has_gone() {
    let asked = std::cell::Cell::new(0);
    let wanted = || {
        asked.set(asked.get() + 1);
        asked.get() < 3
    };
    let fields = named(10, |index| json!({"pattern": format!("^{index}+$")}));
    let refused = Forms::default().admit_while(&json!({"properties": fields}), &wanted).unwrap_err();
    assert_eq!((refused.reason.code(), asked.get()), ("abandoned", 3), "compiling stops before the third pattern");
}

#[test]
fn doubling_references_are_refused() {
    admitted(doubling(5, |next| json!({"allOf": [next, next]})));
    let bomb = doubling(25, |next| json!({"allOf": [next, next]}));
    assert!(bomb.to_string().len() < 2048);
    refused(bomb, "too_expensive", "/$defs/f14");
    explodes(doubling(25, |next| json!({"anyOf": [next, {"not": next}]})));
    explodes(doubling(25, |next| json!({"allOf": [{"items": next}, {"items": next}]})));
    explodes(doubling(25, |next| json!({"items": next, "contains": next})));
    explodes(doubling(25, |next| json!({"properties": {"a": next}, "patternProperties": {"^a": next}})));
    explodes(doubling(25, |next| json!({"if": next, "then": next})));
    admitted(doubling(25, |next| json!({"properties": {"a": next, "b": next}})));
}

#[test]
fn recursion_is_admitted_only_if_it_follows_the_value() {
    admitted(json!({"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}}));
    admitted(json!({"properties": {"next": {"anyOf": [{"type": "null"}, {"$ref": "#"}]}}}));
    admitted(
        json!({"properties": {"children": {"type": "array", "items": {"$ref": "#"}}}, "additionalProperties": false}),
    );
    admitted(json!({"properties": {"a": {"$ref": "#"}}, "additionalProperties": {"$ref": "#"}}));
    refused(json!({"allOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}]}), "too_expensive", "");
    refused(json!({"$ref": "#"}), "reference_loop", "");
    refused(
        json!({"properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"anyOf": [{}, {"$ref": "#/$defs/a"}]}}}),
        "reference_loop",
        "/$defs/a",
    );
}

#[test]
fn long_chain_of_references_is_refused() {
    let links = named(60, |index| json!({"$ref": format!("#/$defs/f{}", index + 1)}));
    let mut defs = links;
    defs.insert("f60".into(), json!({"items": {"$ref": "#/$defs/f0"}}));
    assert!(matches!(verdict(&json!({"$ref": "#/$defs/f0", "$defs": defs})), Err((code, _)) if code == "too_nested"));
}
