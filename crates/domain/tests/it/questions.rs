//! Tests the validation of questions, the defaults of their kinds, and the locations of errors in refused ones.

use crate::common::questions::{draft, question};
use holdpoint_domain::text::{DEPTH, LINE};
use holdpoint_domain::{Kind, KindName, Timestamp};
use serde_json::{Value, json};

/// Admits a question and compares its options, or the pointers of all errors.
fn check(fields: Value, expected: &str) {
    let admitted = match question(fields.clone()).admit() {
        Ok(question) => {
            assert_eq!(
                question.clone().admit().as_ref(),
                Ok(&question),
                "an admitted question is admitted again: {fields}"
            );
            question.options.into_iter().map(|option| option.id).collect::<Vec<_>>().join(" ")
        }
        Err(problems) => problems.into_iter().map(|problem| problem.pointer).collect::<Vec<_>>().join(" "),
    };
    assert_eq!(admitted, expected, "{fields}");
}

fn action() -> Value {
    json!({ "tool": "write_file", "arguments": { "path": "a" } })
}

fn option(id: &str, effect: &str) -> Value {
    json!({ "id": id, "label": id, "effect": effect })
}

fn due() -> Timestamp {
    Timestamp::from_second(100).unwrap()
}

#[test]
fn kind_without_options_gets_its_default_options() {
    check(json!({ "kind": "approval", "action": action() }), "approve edit retry reject terminate");
    check(json!({ "kind": "approval" }), "approve retry reject terminate");
    check(json!({ "kind": "confirmation" }), "confirm cancel");
    check(json!({ "kind": "review" }), "approve revise reject");
    check(json!({ "kind": "question" }), "");
    check(json!({ "kind": "form", "schema": {} }), "");
    check(json!({ "kind": "secret", "secrets": [{ "name": "TOKEN", "required": true }] }), "");
    check(json!({ "kind": "notice" }), "");
    check(json!({ "kind": { "custom": "vote" } }), "");
    check(json!({ "kind": "choice", "options": [option("a", "provide")] }), "a");
    check(json!({ "kind": "approval", "options": [option("go", "approve"), option("no", "reject")] }), "go no");
}

/// Checks the default fallback. The question must be valid with it.
fn check_usual(fields: Value, expected: Value) {
    let asked = question(fields.clone());
    let usual = asked.usual_fallback();
    assert_eq!(json!(usual), expected, "{fields}");
    let put = holdpoint_domain::Question { fallback: usual, deadline: Some(due()), ..asked };
    assert!(put.admit().is_ok(), "{fields}");
}

#[test]
fn default_fallback_is_deny_or_the_default_or_recommended_option() {
    check_usual(json!({ "kind": "approval", "action": action() }), json!("deny"));
    check_usual(json!({ "kind": "approval", "options": [option("no", "reject")] }), json!("deny"));
    let (mut recommended, mut default) = (option("b", "provide"), option("c", "provide"));
    recommended["recommended"] = json!(true);
    default["default"] = json!(true);
    let options = json!([option("a", "provide"), recommended, default]);
    check_usual(json!({ "kind": "choice", "options": options }), json!({ "option": "c" }));
    let options = json!([option("a", "provide"), recommended]);
    check_usual(json!({ "kind": "choice", "options": options }), json!({ "option": "b" }));
    check_usual(json!({ "kind": "choice", "options": [option("a", "provide")] }), Value::Null);
    check_usual(json!({ "kind": "question" }), Value::Null);
    recommended["requires_input"] = json!(true);
    check_usual(json!({ "kind": "choice", "options": [recommended] }), Value::Null);
    check_usual(json!({ "kind": "question", "schema": {}, "options": [default] }), Value::Null);
}

#[test]
fn question_without_the_field_of_its_kind_is_refused() {
    check(json!({ "kind": "choice" }), "/options");
    check(json!({ "kind": "form" }), "/schema");
    check(json!({ "kind": "secret" }), "/secrets");
    let secrets = json!([{ "name": "TOKEN", "required": true }]);
    check(json!({ "kind": "form", "schema": {}, "secrets": secrets }), "/secrets");
    check(json!({ "kind": "secret", "schema": {}, "secrets": secrets }), "/schema");
    check(json!({ "kind": "secret", "secrets": secrets, "audience": { "quorum": 2 } }), "/audience/quorum");
    check(json!({ "kind": "question", "multiple": true }), "/multiple");
    check(json!({ "kind": { "custom": "" } }), "/kind");
    check(json!({ "kind": { "custom": "two words" } }), "/kind");
}

#[test]
fn secret_names_are_printable_and_unique() {
    let with = |secrets: Value| json!({ "kind": "secret", "secrets": secrets });
    check(with(json!([{ "name": "A", "required": true }, { "name": "B", "required": false }])), "");
    check(with(json!([{ "name": "A", "required": true }, { "name": "A", "required": false }])), "/secrets/1/name");
    check(with(json!([{ "name": "A B", "required": true }])), "/secrets/0/name");
    let field = json!({ "name": "A", "required": true, "label": "", "type": "a\nb", "placeholder": "\u{202E}" });
    check(with(json!([field])), "/secrets/0/type /secrets/0/label /secrets/0/placeholder");
    for (input, problem) in [("password", ""), ("text", ""), ("multiline", ""), ("Text", "/secrets/0/type")] {
        check(with(json!([{ "name": "A", "required": true, "type": input }])), problem);
    }
    check(json!({ "kind": "question", "fresh": true }), "/fresh");
    let many: Vec<Value> = (0..101).map(|n| json!({ "name": format!("S{n}"), "required": true })).collect();
    check(with(json!(many)), "/secrets");
}

#[test]
fn option_ids_are_unique_and_option_texts_valid() {
    let with = |options: Value| json!({ "kind": "choice", "options": options });
    check(with(json!([option("a", "provide"), option("a", "skip")])), "/options/1/id");
    check(with(json!([option("", "provide")])), "/options/0/id /options/0/label");
    check(with(json!([option("a b", "provide")])), "/options/0/id");
    check(with(json!([{ "id": "a", "label": "x".repeat(LINE + 1), "effect": "skip" }])), "/options/0/label");
    check(with(json!([option("e", "edit")])), "/options/0/effect");
    let mut loud = option("a", "provide");
    for field in ["description", "input_prompt", "risk", "cost", "duration"] {
        loud[field] = json!("\u{7}");
    }
    let all = "/options/0/description /options/0/input_prompt /options/0/risk /options/0/cost /options/0/duration";
    check(with(json!([loud])), all);
    let many: Vec<Value> = (0..101).map(|n| option(&format!("o{n}"), "provide")).collect();
    check(with(json!(many)), "/options");
}

#[test]
fn an_edit_is_offered_only_with_an_action() {
    let options = json!([option("e", "edit"), option("no", "reject")]);
    check(json!({ "kind": "approval", "options": options }), "/options/0/effect");
    check(json!({ "kind": "approval", "options": options, "action": action() }), "e no");
    check(json!({ "kind": "question", "options": options }), "/options/0/effect");
}

#[test]
fn misleading_texts_and_deep_values_are_refused() {
    let deep = (0..=DEPTH).fold(Value::Null, |inner, _| json!([inner]));
    check(json!({ "kind": "question", "title": "" }), "/title");
    check(json!({ "kind": "question", "title": "two\nlines" }), "/title");
    check(json!({ "kind": "question", "message": "nul\0", "details": "\u{1b}[2J" }), "/message /details");
    check(json!({ "kind": "question", "message": "two\nlines" }), "");
    check(json!({ "kind": "question", "context": deep, "metadata": deep }), "/context /metadata");
    check(json!({ "kind": "approval", "action": { "tool": "", "arguments": {} } }), "/action/tool");
    check(json!({ "kind": "approval", "action": { "tool": "x", "arguments": [] } }), "/action/arguments");
    check(json!({ "kind": "approval", "action": { "tool": "x", "arguments": { "a": deep } } }), "/action/arguments");
    check(
        json!({ "kind": "choice", "options": [{ "id": "a", "label": "a", "effect": "skip", "metadata": deep }] }),
        "/options/0/metadata",
    );
}

#[test]
fn suggestions_name_options_that_exist() {
    let with = |suggestions: Value| json!({ "kind": "confirmation", "suggestions": suggestions });
    check(with(json!([{ "id": "s", "label": "Yes", "source": "rule", "option": "confirm" }])), "confirm cancel");
    check(with(json!([{ "id": "s", "label": "Yes", "source": "llm", "option": "gone" }])), "/suggestions/0/option");
    check(with(json!([{ "id": "", "label": "", "source": "llm" }])), "/suggestions/0/id /suggestions/0/label");
    let many: Vec<Value> =
        (0..101).map(|n| json!({ "id": format!("s{n}"), "label": "x", "source": "analytics" })).collect();
    check(with(json!(many)), "/suggestions");
}

#[test]
fn fallback_must_be_a_valid_answer() {
    let approval =
        |fallback: Value| json!({ "kind": "approval", "action": action(), "deadline": due(), "fallback": fallback });
    let usual = "approve edit retry reject terminate";
    check(approval(json!("deny")), usual);
    check(approval(json!("hold")), usual);
    check(approval(json!({ "option": "reject" })), usual);
    check(approval(json!({ "option": "gone" })), "/fallback/option");
    check(approval(json!({ "option": "edit" })), "/fallback/option");
    check(approval(json!({ "value": 1 })), "/fallback/value");
    check(json!({ "kind": "approval", "fallback": "deny" }), "/fallback");
    check(json!({ "kind": "question", "deadline": due(), "fallback": { "value": "blue" } }), "");
    let deep = (0..=DEPTH).fold(Value::Null, |inner, _| json!([inner]));
    check(json!({ "kind": "question", "deadline": due(), "fallback": { "value": deep } }), "/fallback/value");
    let form = |fallback: Value| {
        let options = [option("send", "provide"), option("no", "skip")];
        json!({ "kind": "form", "schema": {}, "options": options, "deadline": due(), "fallback": fallback })
    };
    check(form(json!({ "value": { "name": "x" } })), "send no");
    check(form(json!({ "option": "no" })), "send no");
    check(form(json!({ "option": "send" })), "/fallback/option");
    let secret = |fallback: Value| {
        let secrets = [json!({ "name": "TOKEN", "required": true })];
        json!({ "kind": "secret", "secrets": secrets, "deadline": due(), "fallback": fallback })
    };
    check(secret(json!("deny")), "");
    check(secret(json!({ "value": { "TOKEN": "t" } })), "/fallback/value");
}

#[test]
fn audience_that_cannot_reach_its_quorum_is_refused() {
    let with = |audience: Value| json!({ "kind": "question", "audience": audience });
    check(with(json!({ "quorum": 1 })), "");
    check(with(json!({ "quorum": 0 })), "/audience/quorum");
    check(with(json!({ "quorum": 101 })), "/audience/quorum");
    check(with(json!({ "quorum": 1, "named": {} })), "/audience");
    check(with(json!({ "quorum": 1, "named": { "users": [], "groups": [], "roles": [] } })), "/audience");
    check(with(json!({ "quorum": 1, "named": { "roles": ["agent"] } })), "/audience/roles");
    check(with(json!({ "quorum": 1, "named": { "roles": ["viewer"] } })), "");
    check(with(json!({ "quorum": 2, "named": { "users": ["alice"] } })), "/audience/quorum");
    check(with(json!({ "quorum": 2, "named": { "users": ["alice"], "groups": ["ops"] } })), "");
    check(with(json!({ "quorum": 2, "distinct_groups": true, "named": { "groups": ["ops"] } })), "/audience/groups");
    check(with(json!({ "quorum": 2, "distinct_groups": true, "named": { "groups": ["ops", "law"] } })), "");
    check(with(json!({ "quorum": 2, "distinct_groups": true })), "/audience/groups");
}

#[test]
fn all_errors_of_a_question_are_listed() {
    let fields = json!({
        "kind": "form", "title": "", "multiple": true, "fallback": "deny",
        "options": [option("a", "edit"), option("a", "skip")], "audience": { "quorum": 0, "named": {} },
    });
    let all = "/title /options/0/effect /options/1/id /multiple /schema /fallback /audience/quorum /audience";
    check(fields, all);
}

#[test]
fn unknown_kind_name_is_a_custom_kind() {
    for name in KindName::ALL {
        let kind = Kind::named(name.as_str());
        assert_eq!((kind.kind_name(), kind.blocks()), (name, name != KindName::Notice));
        assert_eq!(matches!(kind, Kind::Custom(_)), name == KindName::Custom);
        assert_eq!((kind.custom_name(), json!(name)), (None, json!(name.as_str())));
    }
    assert_eq!(Kind::named("vote"), Kind::Custom("vote".into()));
    assert_eq!(Kind::named("vote").custom_name(), Some("vote"));
    assert!(Kind::named("vote").blocks());
}

#[test]
fn effect_of_a_draft_is_known_before_form_validation() {
    let approval = question(json!({ "kind": "approval", "schema": {} })).admit().unwrap();
    let effect = |body: Value| approval.effect_of(&draft(body)).map_or("none", |effect| effect.name());
    assert_eq!(effect(json!({ "options": ["reject"] })), "reject");
    assert_eq!(effect(json!({ "effect": "approve" })), "approve");
    assert_eq!(effect(json!({ "options": ["gone"] })), "none");
    assert_eq!(effect(json!({})), "none");
}

#[test]
fn digest_of_a_call_depends_on_tool_and_arguments() {
    let digest = |action: Value| {
        let question = question(json!({ "kind": "approval", "action": action })).admit().unwrap();
        question.call.unwrap().digest()
    };
    let plain = digest(json!({ "tool": "pay", "arguments": { "to": "bob", "amount": 1 } }));
    assert_eq!(plain, digest(json!({ "tool": "pay", "arguments": { "amount": 1.0, "to": "bob" } })));
    assert_ne!(plain, digest(json!({ "tool": "pay", "arguments": { "to": "bob", "amount": 10 } })));
    assert_ne!(plain, digest(json!({ "tool": "pay2", "arguments": { "to": "bob", "amount": 1 } })));
}
