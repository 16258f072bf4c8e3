//! Tests the answers that each kind of question accepts, and the locations of the errors in refused ones.

use crate::common::people::{at, caller, session, uuid};
use crate::common::questions::{draft, question};
use holdpoint_domain::text::{DEPTH, PARAGRAPHS};
use holdpoint_domain::{AnswerId, Effect, FormProof, Interaction, InteractionId, Question, Role};
use serde_json::{Value, json};

/// Result of a draft: the effect and the chosen options, or the pointers of all errors.
fn settled(question: &Question, body: &Value, proof: Option<FormProof>) -> String {
    match question.settle(draft(body.clone()), proof) {
        Ok(settled) => [vec![settled.effect.name().to_owned()], settled.options].concat().join(" "),
        Err(problems) => problems.into_iter().map(|problem| problem.pointer).collect::<Vec<_>>().join(" "),
    }
}

/// Checks a body against a question, without the proof of a validator.
fn check(question: &Question, body: Value, expected: &str) {
    assert_eq!(settled(question, &body, None), expected, "{} -- {body}", question.kind.name());
}

/// Checks a body against a question, with the proof that a validator has accepted the data.
fn check_filled(question: &Question, body: Value, expected: &str) {
    assert_eq!(settled(question, &body, Some(FormProof::checked())), expected, "{} -- {body}", question.kind.name());
}

fn admitted(fields: Value) -> Question {
    question(fields).admit().unwrap()
}

fn approval() -> Question {
    admitted(json!({ "kind": "approval", "action": { "tool": "write_file", "arguments": { "path": "a" } } }))
}

fn option(id: &str, effect: &str) -> Value {
    json!({ "id": id, "label": id, "effect": effect })
}

#[test]
fn free_text_never_chooses_an_option() {
    let mut wipe = option("wipe", "provide");
    wipe["dangerous"] = json!(true);
    let keep = option("keep", "provide");
    for kind in ["question", "notice"] {
        let with = |options: &[&Value]| admitted(json!({ "kind": kind, "options": options }));
        for asked in [with(&[&wipe]), with(&[&keep]), with(&[&wipe, &keep])] {
            check(&asked, json!({ "effect": "provide", "data": "leave it" }), "provide");
            check(&asked, json!({ "effect": "provide", "feedback": "leave it" }), "provide");
            check(&asked, json!({ "data": "leave it" }), "provide");
        }
        check(&with(&[&wipe]), json!({ "options": ["wipe"], "data": "leave it" }), "provide wipe");
        check(&with(&[&wipe, &keep]), json!({ "effect": "provide" }), "/effect");
        check(&with(&[&keep]), json!({ "effect": "provide" }), "provide keep");
        let silent = if kind == "notice" { "provide" } else { "/data" };
        check(&with(&[&wipe]), json!({ "effect": "provide" }), silent);
    }
}

#[test]
fn approval_accepts_an_option_by_id_or_by_effect() {
    let approval = approval();
    check(&approval, json!({ "options": ["approve"] }), "approve approve");
    check(&approval, json!({ "effect": "approve" }), "approve approve");
    check(&approval, json!({ "options": ["approve"], "effect": "approve" }), "approve approve");
    check(&approval, json!({ "options": ["reject"], "feedback": "not today" }), "reject reject");
    check(&approval, json!({ "effect": "reject" }), "reject reject");
    check(&approval, json!({ "effect": "terminate" }), "terminate terminate");
    check(&approval, json!({}), "/option");
    check(&approval, json!({ "feedback": "fine with me" }), "/option");
    check(&approval, json!({ "options": ["aprove"] }), "/option");
    check(&approval, json!({ "options": [""] }), "/option");
    check(&approval, json!({ "options": ["approve"], "effect": "reject" }), "/effect");
    check(&approval, json!({ "options": ["approve", "reject"] }), "/options /options");
    check(&approval, json!({ "options": ["approve", "gone"] }), "/options /option");
    check(&approval, json!({ "effect": "provide", "data": "x" }), "/effect");
    check(&approval, json!({ "effect": "custom" }), "/effect");
    check(&approval, json!({ "effect": "skip" }), "/effect");
}

#[test]
fn only_edit_takes_arguments_and_requires_them() {
    let approval = approval();
    check(&approval, json!({ "effect": "edit", "arguments": { "path": "b" } }), "edit edit");
    check(&approval, json!({ "options": ["edit"], "arguments": {} }), "edit edit");
    check(&approval, json!({ "effect": "edit" }), "/arguments");
    check(&approval, json!({ "effect": "edit", "arguments": "rm -rf /" }), "/arguments");
    check(&approval, json!({ "effect": "edit", "arguments": null }), "/arguments");
    check(&approval, json!({ "effect": "edit", "arguments": [1] }), "/arguments");
    check(&approval, json!({ "effect": "approve", "arguments": { "path": "b" } }), "/arguments");
    check(&approval, json!({ "effect": "reject", "arguments": {} }), "/arguments");
    check(&approval, json!({ "effect": "retry", "feedback": "why?", "arguments": {} }), "/arguments");
    let deep = (0..DEPTH).fold(json!({}), |inner, _| json!({ "a": inner }));
    check(&approval, json!({ "effect": "edit", "arguments": deep }), "/arguments");
    let no_action = admitted(json!({ "kind": "approval" }));
    check(&no_action, json!({ "effect": "edit", "arguments": {} }), "/effect");
    let no_edit = admitted(json!({
        "kind": "approval", "action": { "tool": "pay", "arguments": {} },
        "options": [option("yes", "approve"), option("no", "reject")],
    }));
    check(&no_edit, json!({ "effect": "edit", "arguments": {} }), "/effect");
}

#[test]
fn option_that_requires_input_is_refused_without_input() {
    let approval = approval();
    check(&approval, json!({ "effect": "retry" }), "/feedback");
    check(&approval, json!({ "effect": "retry", "feedback": " \n" }), "/feedback");
    check(&approval, json!({ "effect": "retry", "feedback": "use staging" }), "retry retry");
    let mut other = option("other", "custom");
    other["requires_input"] = json!(true);
    let choice = admitted(json!({ "kind": "choice", "options": [option("a", "provide"), other] }));
    check(&choice, json!({ "options": ["a"] }), "provide a");
    check(&choice, json!({ "options": ["other"] }), "/feedback");
    check(&choice, json!({ "options": ["other"], "data": "  " }), "/feedback");
    check(&choice, json!({ "options": ["other"], "data": {} }), "/feedback");
    check(&choice, json!({ "options": ["other"], "data": "mauve" }), "custom other");
    check(&choice, json!({ "options": ["other"], "data": 0 }), "custom other");
    check(&choice, json!({ "options": ["other"], "feedback": "mauve" }), "custom other");
}

#[test]
fn confirmation_and_review_accept_only_their_own_options() {
    let confirmation = admitted(json!({ "kind": "confirmation" }));
    check(&confirmation, json!({ "options": ["confirm"] }), "approve confirm");
    check(&confirmation, json!({ "options": ["cancel"] }), "reject cancel");
    check(&confirmation, json!({ "options": ["approve"] }), "/option");
    check(&confirmation, json!({ "data": "yes" }), "/option");
    let review = admitted(json!({ "kind": "review" }));
    check(&review, json!({ "effect": "approve" }), "approve approve");
    check(&review, json!({ "options": ["revise"] }), "/feedback");
    check(&review, json!({ "options": ["revise"], "feedback": "shorter" }), "retry revise");
    check(&review, json!({ "effect": "reject" }), "reject reject");
    check(&review, json!({ "effect": "terminate" }), "/effect");
}

#[test]
fn choice_accepts_several_options_only_if_it_is_multiple() {
    let options = json!([option("a", "provide"), option("b", "provide"), option("none", "skip")]);
    let one = admitted(json!({ "kind": "choice", "options": options }));
    check(&one, json!({ "options": ["b"] }), "provide b");
    check(&one, json!({ "options": ["a", "b"] }), "/options");
    check(&one, json!({ "options": ["c"] }), "/option");
    check(&one, json!({ "effect": "provide" }), "/effect");
    check(&one, json!({ "effect": "skip" }), "skip none");
    check(&one, json!({ "data": "b" }), "/option");
    check(&one, json!({ "effect": "reject" }), "/effect");
    let many = admitted(json!({ "kind": "choice", "multiple": true, "options": options }));
    check(&many, json!({ "options": ["b", "a"] }), "provide a b");
    check(&many, json!({ "options": ["b", "b"] }), "provide b");
    check(&many, json!({ "options": ["a", "none"] }), "/options");
    check(&many, json!({ "options": ["a", "c", "d"] }), "/option /option");
    check(&many, json!({ "options": [] }), "/option");
}

#[test]
fn a_question_without_options_or_schema_takes_free_text() {
    for kind in [json!("question"), json!({ "custom": "vote" })] {
        let free = admitted(json!({ "kind": kind }));
        check(&free, json!({ "data": "blue" }), "provide");
        check(&free, json!({ "feedback": "blue" }), "provide");
        check(&free, json!({ "data": { "colour": "blue" } }), "provide");
        check(&free, json!({ "effect": "provide", "data": false }), "provide");
        check(&free, json!({ "effect": "reject" }), "reject");
        check(&free, json!({}), "/data");
        check(&free, json!({ "data": {} }), "/data");
        check(&free, json!({ "data": " \t" }), "/data");
        check(&free, json!({ "feedback": "" }), "/data");
        check(&free, json!({ "options": ["blue"] }), "/option");
        check(&free, json!({ "effect": "approve", "data": "blue" }), "/effect");
        check(&free, json!({ "effect": "reject", "data": "blue" }), "/data");
        check(&free, json!({ "effect": "skip" }), "/effect");
        check(&free, json!({ "data": "blue", "feedback": "nul\0" }), "/feedback");
        check(&free, json!({ "feedback": "x".repeat(PARAGRAPHS + 1) }), "/feedback");
        let deep = (0..=DEPTH).fold(Value::Null, |inner, _| json!([inner]));
        check(&free, json!({ "data": deep }), "/data");
    }
}

#[test]
fn question_with_options_accepts_text_and_a_custom_kind_does_not() {
    let options = json!([option("a", "provide"), option("stop", "terminate")]);
    let both = admitted(json!({ "kind": "question", "options": options }));
    check(&both, json!({ "options": ["a"] }), "provide a");
    check(&both, json!({ "data": "neither" }), "provide");
    check(&both, json!({ "effect": "terminate", "data": "x" }), "/data");
    let custom = admitted(json!({ "kind": { "custom": "vote" }, "options": options }));
    check(&custom, json!({ "options": ["a"], "data": { "weight": 2 } }), "provide a");
    check(&custom, json!({ "data": "neither" }), "/option");
    check(&custom, json!({ "effect": "reject" }), "/effect");
}

#[test]
fn keep_is_accepted_only_with_provided_secrets() {
    let secret = admitted(json!({ "kind": "secret", "secrets": [{ "name": "A", "required": true }] }));
    check_filled(&secret, json!({ "data": { "A": "x" }, "keep": true }), "provide");
    check(&secret, json!({ "effect": "reject", "keep": true }), "/keep");
    check(&admitted(json!({ "kind": "confirmation" })), json!({ "options": ["confirm"], "keep": true }), "/keep");
}

#[test]
fn form_data_is_required_unless_the_form_is_rejected_or_skipped() {
    let schema = json!({ "type": "object", "required": ["name"] });
    let form = admitted(json!({ "kind": "form", "schema": schema }));
    check_filled(&form, json!({ "data": { "name": "x" } }), "provide");
    check_filled(&form, json!({ "effect": "provide", "data": { "name": "x" } }), "provide");
    check_filled(&form, json!({ "data": {} }), "provide");
    check(&form, json!({ "data": { "name": "x" } }), "/data");
    check(&form, json!({}), "/data");
    check(&form, json!({ "feedback": "no idea" }), "/data");
    check(&form, json!({ "effect": "reject", "feedback": "private" }), "reject");
    check(&form, json!({ "effect": "reject", "data": { "name": "x" } }), "/data");
    check_filled(&form, json!({ "effect": "reject", "data": { "name": "x" } }), "/data");
    check(&form, json!({ "effect": "skip" }), "/effect");
    let optional = admitted(json!({ "kind": "form", "schema": schema, "required": false }));
    check(&optional, json!({ "effect": "skip" }), "skip");
    check(&optional, json!({ "effect": "skip", "feedback": "later" }), "skip");
    check(&optional, json!({ "effect": "skip", "data": { "name": "x" } }), "/data");
    check(&optional, json!({}), "/data");
    let options =
        [option("send", "provide"), option("no", "skip"), option("end", "terminate"), option("ok", "approve")];
    let buttons = admitted(json!({ "kind": "form", "schema": schema, "options": options }));
    check_filled(&buttons, json!({ "options": ["send"], "data": { "name": "x" } }), "provide send");
    check(&buttons, json!({ "options": ["send"] }), "/data");
    check(&buttons, json!({ "options": ["ok"] }), "/data");
    check(&buttons, json!({ "options": ["no"] }), "skip no");
    check(&buttons, json!({ "options": ["end"] }), "terminate end");
    check(&buttons, json!({ "effect": "reject" }), "reject");
}

#[test]
fn approve_and_edit_require_the_form_of_an_approval() {
    let schema = json!({ "type": "object", "required": ["ticket"] });
    let action = json!({ "tool": "deploy", "arguments": {} });
    let approval = admitted(json!({ "kind": "approval", "schema": schema, "action": action }));
    check(&approval, json!({ "effect": "approve" }), "/data");
    check_filled(&approval, json!({ "effect": "approve", "data": { "ticket": 1 } }), "approve approve");
    check_filled(&approval, json!({ "effect": "edit", "arguments": {}, "data": {} }), "edit edit");
    check(&approval, json!({ "effect": "edit", "data": {} }), "/arguments /data");
    check(&approval, json!({ "effect": "reject" }), "reject reject");
    check(&approval, json!({ "effect": "retry", "feedback": "smaller" }), "retry retry");
    check(&approval, json!({ "effect": "terminate" }), "terminate terminate");
}

#[test]
fn secret_requires_validated_values_or_a_rejection() {
    let secrets =
        json!([{ "name": "TOKEN", "required": true, "pattern": "^t" }, { "name": "USER", "required": false }]);
    let secret = admitted(json!({ "kind": "secret", "secrets": secrets }));
    check_filled(&secret, json!({ "data": { "TOKEN": "t1" } }), "provide");
    check(&secret, json!({ "data": { "TOKEN": "t1" } }), "/data");
    check(&secret, json!({ "feedback": "TOKEN is t1" }), "/data");
    check(&secret, json!({ "effect": "reject" }), "reject");
    check(&secret, json!({ "effect": "skip" }), "/effect");
    let form = json!({
        "type": "object", "required": ["TOKEN"], "additionalProperties": false,
        "properties": {
            "TOKEN": { "type": "string", "maxLength": 65_536, "minLength": 1, "pattern": "^t" },
            "USER": { "type": "string", "maxLength": 65_536 },
        },
    });
    assert_eq!(secret.form(), Some(form));
}

#[test]
fn notice_accepts_an_empty_answer() {
    let notice = admitted(json!({ "kind": "notice", "required": false }));
    check(&notice, json!({}), "provide");
    check(&notice, json!({ "data": "thanks" }), "provide");
    check(&notice, json!({ "effect": "skip" }), "skip");
    check(&notice, json!({ "effect": "approve" }), "/effect");
    check(&notice, json!({ "options": ["ok"] }), "/option");
}

#[test]
fn optional_question_can_be_skipped_without_an_option() {
    for kind in ["approval", "confirmation", "review", "question"] {
        let optional = admitted(json!({ "kind": kind, "required": false }));
        check(&optional, json!({ "effect": "skip" }), "skip");
        check(&optional, json!({ "effect": "skip", "data": {} }), "skip");
        check(&optional, json!({ "effect": "skip", "data": "x" }), "/data");
    }
}

#[test]
fn every_effect_has_its_consequences() {
    let with = |has: fn(Effect) -> bool| Effect::ALL.into_iter().filter(|effect| has(*effect)).collect::<Vec<_>>();
    assert_eq!(with(Effect::runs_action), [Effect::Approve, Effect::Edit]);
    assert_eq!(with(Effect::holds_back), [Effect::Retry, Effect::Reject, Effect::Terminate]);
    assert_eq!(with(Effect::carries_form), [Effect::Approve, Effect::Edit, Effect::Provide, Effect::Custom]);
}

#[test]
fn answer_contains_option_metadata_data_and_feedback() {
    let mut plan = option("b", "custom");
    plan["metadata"] = json!({ "plan": 7 });
    let choice = admitted(json!({ "kind": "choice", "options": [option("a", "provide"), plan] }));
    let body = draft(json!({ "options": ["b"], "data": { "when": "now" }, "feedback": "go" }));
    let (alice, id) = (caller("alice", Role::Operator, &["ops"]), AnswerId::from_uuid(uuid(20)));
    let interaction = InteractionId::from_uuid(uuid(10));
    let asked = Interaction::ask(interaction, &session(), caller("bot", Role::Agent, &[]).actor, choice, at(0)).0;
    let reviewer = asked.admit(&alice).unwrap();
    let (after, event) = asked.answer(&reviewer, id, body, None, at(9)).unwrap();
    let state = json!({
        "status": "resolved", "at": at(9), "delivery": { "state": "waiting", "attempt": 0 },
        "resolution": { "how": "answered", "answer": {
            "id": id, "by": { "kind": "user", "name": "alice" }, "groups": ["ops"], "role": "operator", "wire": "http", "at": at(9), "effect": "custom",
            "options": ["b"], "metadata": { "plan": 7 }, "data": { "when": "now" }, "feedback": "go",
        } },
    });
    assert_eq!(serde_json::to_value(&after.state).unwrap(), state);
    let told = json!({ "effect": "custom", "options": ["b"], "by": { "kind": "user", "name": "alice" } });
    assert_eq!((event.kind.name(), event.data()), ("interaction.answered", told));
}

/// Checks the result at the deadline: the event, and the fields of the answer that differ between fallbacks.
fn check_deadline(fallback: Value, expected: Value) {
    let options = json!([
        { "id": "wait", "label": "Wait", "effect": "skip", "metadata": { "plan": 7 } },
        { "id": "go", "label": "Go", "effect": "approve" },
    ]);
    let fields = json!({ "kind": "question", "options": options, "deadline": at(100), "fallback": fallback });
    let id = InteractionId::from_uuid(uuid(10));
    let asked = Interaction::ask(id, &session(), caller("bot", Role::Agent, &[]).actor, admitted(fields), at(0)).0;
    let (after, event) = asked.tick(AnswerId::from_uuid(uuid(20)), at(100)).unwrap();
    let mut state = serde_json::to_value(&after.state).unwrap();
    let (name, data) = (event.kind.name(), event.data());
    let mut told = json!({ "event": name, "how": state["resolution"]["how"], "source": data["source"] });
    for field in ["effect", "options", "metadata", "data", "arguments"] {
        told[field] = state["resolution"]["answer"][field].take();
    }
    let mut all = json!({
        "event": null, "how": null, "source": null,
        "effect": null, "options": null, "metadata": null, "data": null, "arguments": null,
    });
    all.as_object_mut().unwrap().extend(expected.as_object().unwrap().clone());
    assert_eq!(told, all, "{fallback}");
    let by = &state["resolution"]["answer"]["by"];
    assert!(by.is_null() || *by == json!({ "kind": "system", "name": "holdpoint" }), "{fallback}: {by}");
}

#[test]
fn deadline_applies_the_fallback_of_the_question() {
    let auto = |rest: Value| {
        let mut all = json!({ "event": "interaction.auto_resolved", "how": "auto_resolved", "source": "system" });
        all.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        all
    };
    check_deadline(Value::Null, json!({ "event": "interaction.expired", "how": "expired" }));
    check_deadline(json!("hold"), json!({ "event": "interaction.overdue" }));
    check_deadline(json!("deny"), auto(json!({ "effect": "reject" })));
    check_deadline(json!({ "value": { "n": 1 } }), auto(json!({ "effect": "provide", "data": { "n": 1 } })));
    let waited = json!({ "effect": "skip", "options": ["wait"], "metadata": { "plan": 7 } });
    check_deadline(json!({ "option": "wait" }), auto(waited));
    check_deadline(json!({ "option": "go" }), auto(json!({ "effect": "approve", "options": ["go"] })));
}
