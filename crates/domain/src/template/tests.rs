//! Tests of templates: values, places and errors.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn values() -> Value {
    json!({
        "input": { "version": "1.4.0", "count": 3, "list": ["a", { "b": true }], "braces": "{{ input.count }}", "none": null },
        "steps": { "cut-it": { "output": { "text": "done" } } },
    })
}

fn check(template: Value, expected: Result<Value, &str>) {
    let filled = fill(&template, &values()).map_err(|error| error.to_string());
    assert_eq!(filled, expected.map_err(str::to_owned), "{template}");
}

#[test]
fn lone_placeholder_keeps_the_type_of_its_value() {
    check(json!("Cut {{ input.version }}?"), Ok(json!("Cut 1.4.0?")));
    check(json!("{{input.count}}"), Ok(json!(3)));
    check(json!(" {{input.count}}"), Ok(json!(" 3")));
    check(json!("{{ input.list }}"), Ok(json!(["a", { "b": true }])));
    check(json!("{{ input.list.1.b }} {{ input.list.0 }}"), Ok(json!("true a")));
    check(json!("all: {{ input.list }}"), Ok(json!("all: [\"a\",{\"b\":true}]")));
    check(json!("{{ steps.cut-it.output.text }}"), Ok(json!("done")));
    check(json!({ "a": ["{{ input.count }}", 1, null, true, ""] }), Ok(json!({ "a": [3, 1, null, true, ""] })));
}

#[test]
fn missing_value_is_named_in_the_error() {
    check(json!("{{ input.nothing }}"), Err("there is no `input.nothing`"));
    check(json!({ "deep": ["x {{ steps.other.output }}"] }), Err("there is no `steps.other.output`"));
    check(json!("{{ input.version.more }}"), Err("there is no `input.version.more`"));
    check(json!("{{ input.list.2 }}"), Err("there is no `input.list.2`"));
}

#[test]
fn missing_optional_value_is_null_or_empty() {
    check(json!("{{ input.nothing? }}"), Ok(json!(null)));
    check(json!("[{{ input.nothing.at.all? }}]"), Ok(json!("[]")));
    check(json!("[{{ input.none }}]"), Ok(json!("[]")));
    check(json!("{{ input.version? }}"), Ok(json!("1.4.0")));
}

#[test]
fn filled_values_are_not_expanded_and_expressions_are_refused() {
    check(json!("{{ input.braces }}"), Ok(json!("{{ input.count }}")));
    check(json!("say {{ input.braces }}"), Ok(json!("say {{ input.count }}")));
    check(json!("{{ input.count + 1 }}"), Err("`input.count + 1` is not a path: write {{ path.to.value }}"));
    check(json!("{{ }}"), Err("`` is not a path: write {{ path.to.value }}"));
    check(json!("{{ input..count }}"), Err("`input..count` is not a path: write {{ path.to.value }}"));
    check(json!("{{ input.count"), Err("`{{` is not closed"));
    check(json!("a } and a { and }}"), Ok(json!("a } and a { and }}")));
}

#[test]
fn result_beyond_the_limits_is_refused() {
    let large = json!({ "input": "x".repeat(MOST_BYTES / 2) });
    assert!(fill(&json!(["{{ input }}"]), &large).is_ok());
    assert_eq!(fill(&json!(["{{ input }}", "{{ input }}"]), &large), Err(TemplateError::TooLarge));
    assert_eq!(fill_text("{{ input }}{{ input }}!", &large), Err(TemplateError::TooLarge));
    let nested = |n: usize| (0..n).fold(json!("{{ input }}"), |inner, _| Value::Array(vec![inner]));
    let deep = json!({ "input": (0..40).fold(json!(1), |inner, _| json!([inner])) });
    assert!(fill(&nested(24), &deep).is_ok());
    assert_eq!(fill(&nested(25), &deep), Err(TemplateError::TooLarge));
    assert_eq!(fill(&nested(500), &json!({ "input": 1 })), Err(TemplateError::TooLarge));
}

#[test]
fn every_placeholder_is_listed_with_its_pointer() {
    let found =
        placeholders("/steps/0/input", &json!({ "a/b": ["plain", "{{ input.x }} {{ shared.y? }}"], "c": "{{" }));
    let shown: Vec<(String, String)> = found
        .into_iter()
        .map(|(at, place)| (at, place.map_or_else(|error| error.to_string(), |path| path.parts().join("."))))
        .collect();
    let expected = [
        ("/steps/0/input/a~1b/1", "input.x"),
        ("/steps/0/input/a~1b/1", "shared.y"),
        ("/steps/0/input/c", "`{{` is not closed"),
    ];
    assert_eq!(shown, expected.map(|(at, what)| (at.to_owned(), what.to_owned())));
}

proptest! {
    #[test]
    fn text_without_placeholders_stays_unchanged(text in "[a-z{}. ?]{0,40}") {
        let filled = fill_text(&text, &values());
        if !text.contains("{{") {
            prop_assert_eq!(filled, Ok(text));
        }
    }
}
