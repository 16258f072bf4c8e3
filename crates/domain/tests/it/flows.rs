//! Validation of flow definitions, and the transitions between steps.

use holdpoint_domain::flow::{MOST_RUNS, Next, StepWay};
use holdpoint_domain::{AgentVersion, FlowVersion, SignedDuration};
use proptest::prelude::*;
use serde_json::{Value, json};

fn flow(steps: Value) -> FlowVersion {
    serde_json::from_value(json!({ "name": "release", "version": "1", "steps": steps })).unwrap()
}

/// Checks that a flow of these steps has errors in exactly these places.
fn check(steps: Value, places: &[&str]) {
    let problems = flow(steps.clone()).check();
    let found: Vec<&str> = problems.iter().map(|problem| problem.pointer.as_str()).collect();
    assert_eq!(found, places, "{steps} gives {problems:?}");
}

/// Checks a flow of one step with these fields and an agent.
fn one(fields: Value, places: &[&str]) {
    let mut step = json!({ "name": "a", "agent": "bot" });
    step.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    check(json!([step]), places);
}

/// Checks a question before the only step, with these fields in addition to its title.
fn question(fields: Value, places: &[&str]) {
    let mut question = json!({ "title": "May I?" });
    question.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    one(json!({ "question": question }), places);
}

#[test]
fn steps_need_valid_names_and_an_agent_or_a_question() {
    check(json!([]), &["/steps"]);
    one(json!({}), &[]);
    one(json!({ "name": "end" }), &["/steps/0/name"]);
    one(json!({ "name": "a.b" }), &["/steps/0/name"]);
    check(json!([{ "name": "a", "agent": "x" }, { "name": "a", "agent": "x" }]), &["/steps/1/name"]);
    check(json!([{ "name": "a" }]), &["/steps/0"]);
    check(json!([{ "name": "a", "question": { "kind": "confirmation", "title": "Go?" } }]), &[]);
    let people = json!({ "name": "a", "question": { "kind": "notice", "title": "Done" }, "input": 1, "tools": [], "agent_version": "1" });
    check(json!([people]), &["/steps/0/agent_version", "/steps/0/input", "/steps/0/tools"]);
    one(json!({ "attempts": 20, "delay_seconds": 3600 }), &[]);
    one(json!({ "attempts": 0 }), &["/steps/0/attempts"]);
    one(json!({ "attempts": 21, "delay_seconds": 3601 }), &["/steps/0/attempts", "/steps/0/delay_seconds"]);
    one(json!({ "pass": { "a b": 1 } }), &["/steps/0/pass/a b"]);
}

#[test]
fn transitions_name_existing_steps_and_reach_every_step() {
    one(json!({ "on_success": "end", "on_failure": "a" }), &[]);
    one(json!({ "on_success": "b", "on_failure": "c" }), &["/steps/0/on_success", "/steps/0/on_failure"]);
    one(json!({ "on_rejection": "end" }), &["/steps/0/on_rejection"]);
    let step = |name: &str, to: Value| json!({ "name": name, "agent": "x", "on_success": to });
    check(json!([step("a", json!("c")), step("b", json!(null)), step("c", json!(null))]), &["/steps/1/name"]);
    check(json!([step("a", json!("c")), step("b", json!("a")), step("c", json!("b"))]), &[]);
    check(
        json!([step("a", json!("end")), step("b", json!("c")), step("c", json!("b"))]),
        &["/steps/1/name", "/steps/2/name"],
    );
    let fallen = json!({ "name": "a", "agent": "x", "on_success": "end", "on_failure": "b" });
    check(json!([fallen, step("b", json!(null))]), &[]);
}

#[test]
fn templates_refer_only_to_available_values() {
    one(json!({ "input": { "x": ["{{ input.a }} {{ shared.b }} {{ steps.a.output.c? }}"] } }), &[]);
    one(json!({ "input": "{{ answer.data }}" }), &["/steps/0/input"]);
    let asked = json!({ "kind": "confirmation", "title": "Go?" });
    one(json!({ "input": "{{ answer.data }}", "question": asked }), &[]);
    one(json!({ "pass": { "x": "{{ answer.data }}" }, "question": asked }), &["/steps/0/pass/x"]);
    one(json!({ "input": "{{ output.x }}" }), &["/steps/0/input"]);
    one(json!({ "pass": { "x": "{{ output.x }}" } }), &[]);
    one(json!({ "input": "{{ steps.b.output }}" }), &["/steps/0/input"]);
    one(json!({ "input": "{{ steps.a }}" }), &["/steps/0/input"]);
    one(json!({ "input": "{{ env.HOME }}" }), &["/steps/0/input"]);
    one(json!({ "input": ["ok", { "a/b": "{{ input.a" }] }), &["/steps/0/input/1/a~1b"]);
    question(json!({ "kind": "confirmation", "title": "{{ answer.x }}" }), &["/steps/0/question/title"]);
    question(json!({ "kind": "confirmation", "description": "{{ output }}" }), &["/steps/0/question/description"]);
    question(json!({ "kind": "confirmation", "description": "{{ input.notes }}" }), &[]);
}

#[test]
fn invalid_question_of_a_step_is_reported() {
    question(json!({ "kind": "review", "deadline_seconds": 60, "fallback": "deny" }), &[]);
    question(json!({ "kind": "reveiw" }), &["/steps/0/question/kind"]);
    question(json!({ "kind": "secret" }), &["/steps/0/question/kind"]);
    question(json!({ "kind": "choice" }), &["/steps/0/question/options"]);
    question(json!({ "kind": "choice", "options": [{ "id": "a", "label": "A" }] }), &[]);
    question(json!({ "kind": "form" }), &["/steps/0/question/schema"]);
    question(json!({ "kind": "confirmation", "title": "" }), &["/steps/0/question/title"]);
    question(json!({ "kind": "confirmation", "deadline_seconds": 0 }), &["/steps/0/question/deadline_seconds"]);
    question(json!({ "kind": "confirmation", "fallback": "deny" }), &["/steps/0/question/fallback"]);
    question(
        json!({ "kind": "confirmation", "deadline_seconds": 5, "fallback": { "option": "x" } }),
        &["/steps/0/question/fallback/option"],
    );
    let suggestion = json!([{ "id": "s", "label": "S", "option": "nowhere" }]);
    question(json!({ "kind": "confirmation", "suggestions": suggestion }), &["/steps/0/question/suggestions/0/option"]);
    question(json!({ "kind": "confirmation", "audience": { "quorum": 0 } }), &["/steps/0/question/audience/quorum"]);
    question(json!({ "kind": "confirmation", "audience": { "groups": ["ops"], "four_eyes": true } }), &[]);
}

#[test]
fn unknown_nested_field_of_a_flow_is_refused() {
    let odd = [
        json!({ "kind": "choice", "title": "?", "options": [{ "id": "a", "label": "A", "lable": "B" }] }),
        json!({ "kind": "choice", "title": "?", "audience": { "group": ["x"] } }),
        json!({ "kind": "choice", "title": "?", "fallback": "denny" }),
    ];
    for question in odd {
        let whole = json!({ "name": "f", "version": "1", "steps": [{ "name": "a", "question": question }] });
        assert!(serde_json::from_value::<FlowVersion>(whole).is_err(), "{question}");
    }
}

#[test]
fn flow_survives_a_json_round_trip() {
    let before = flow(json!([{ "name": "a", "agent": "x", "attempts": 3, "question": {
        "kind": "choice", "title": "{{ input.t }}", "options": [{ "id": "a", "label": "A", "risk": "some" }],
        "deadline_seconds": 9, "fallback": { "value": 1 }, "audience": { "users": ["alice"], "quorum": 1 },
        "suggestions": [{ "id": "s", "label": "S", "option": "a" }] } }]));
    let kept = serde_json::to_value(&before).unwrap();
    assert_eq!(kept["steps"][0]["question"]["audience"]["users"], json!(["alice"]));
    assert_eq!(serde_json::from_value::<FlowVersion>(kept).unwrap(), before);
    let put = before.steps[0].question.as_ref().unwrap().put(&json!({ "input": { "t": "Which?" } })).unwrap();
    assert_eq!((put.title.as_str(), put.options.len(), put.suggestions.len()), ("Which?", 1, 1));
}

#[test]
fn agents_must_exist_and_have_the_tools() {
    let agent = |version: &str, tools: Value| -> AgentVersion {
        serde_json::from_value(json!({ "name": "bot", "version": version, "tools": tools, "workspace": "w",
            "model": { "provider": "openai", "name": "m" } }))
        .unwrap()
    };
    let agents = [agent("1", json!(["read_file"])), agent("2", json!(["read_file", "ask_user"]))];
    let step = |fields: Value| {
        let mut step = json!({ "name": "a", "agent": "bot" });
        step.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        flow(json!([step])).check_agents(&agents).into_iter().map(|problem| problem.pointer).collect::<Vec<_>>()
    };
    assert_eq!(step(json!({})), [""; 0]);
    assert_eq!(step(json!({ "agent": "other" })), ["/steps/0/agent"]);
    assert_eq!(step(json!({ "agent_version": "3" })), ["/steps/0/agent_version"]);
    assert_eq!(step(json!({ "agent_version": "2", "tools": ["ask_user_form", "read_file"] })), [""; 0]);
    assert_eq!(step(json!({ "agent_version": "1", "tools": ["read_file", "ask_user"] })), ["/steps/0/tools/1"]);
    assert_eq!(step(json!({ "tools": ["ask_user"] })), ["/steps/0/tools/0"]);
}

#[test]
fn every_step_end_leads_to_its_next_step() {
    let flow = flow(json!([
        { "name": "draft", "agent": "x", "on_failure": "tell" },
        { "name": "publish", "agent": "x", "question": { "kind": "review", "title": "?" }, "on_rejection": "draft" },
        { "name": "tell", "question": { "kind": "notice", "title": "Done" } },
        { "name": "never", "agent": "x", "on_success": "end" },
    ]));
    let leads = |step: &str| {
        StepWay::ALL.map(|how| match flow.next(step, how) {
            Next::Step(step) => step.name.clone(),
            Next::End => "end".to_owned(),
            Next::Failed(reason) => reason,
        })
    };
    assert_eq!(flow.first().map(|step| step.name.as_str()), Some("draft"));
    assert_eq!(leads("draft"), ["publish", "tell", "step `draft` was rejected", "publish"]);
    assert_eq!(leads("publish"), ["tell", "step `publish` failed", "draft", "tell"]);
    assert_eq!(leads("tell"), ["never", "step `tell` failed", "step `tell` was rejected", "never"]);
    assert_eq!(leads("never"), ["end", "step `never` failed", "step `never` was rejected", "end"]);
    assert_eq!(leads("other"), ["this flow has no step `other`"; 4]);
}

#[test]
fn delays_double_up_to_an_hour() {
    let delay = |seconds: Value, attempt: u32| {
        let step = json!([{ "name": "a", "agent": "x", "attempts": 3, "delay_seconds": seconds }]);
        flow(step).steps[0].delay_before(attempt)
    };
    let seconds = SignedDuration::from_secs;
    for (attempt, expected) in
        [(0, 0), (1, 0), (2, 10), (3, 20), (4, 40), (10, 2560), (11, 3600), (40, 3600), (u32::MAX, 3600)]
    {
        assert_eq!(delay(json!(10), attempt), seconds(expected), "attempt {attempt}");
    }
    assert_eq!((delay(json!(null), 2), delay(json!(0), 9)), (seconds(1), seconds(0)));
    let step = &flow(json!([{ "name": "a", "agent": "x", "attempts": 2 }])).steps[0];
    assert_eq!((step.may_retry(1), step.may_retry(2)), (true, false));
}

#[test]
fn step_can_restrict_the_tools_of_its_agent() {
    let allows =
        |tools: Value, tool: &str| flow(json!([{ "name": "a", "agent": "x", "tools": tools }])).steps[0].allows(tool);
    assert!(allows(json!(null), "anything"));
    assert!(allows(json!(["ask_user"]), "ask_user_form"));
    assert!(allows(json!(["github.*"]), "github.get_issue"));
    assert!(!allows(json!(["github.*"]), "gitlab.get_issue"));
    assert!(!allows(json!([]), "read_file"));
    assert!(!allows(json!(["*"]), "read_file"));
}

const WAYS: [StepWay; 4] = StepWay::ALL;

/// Flows of up to six steps with arbitrary transitions, including transitions to missing steps.
fn any_flow() -> impl Strategy<Value = FlowVersion> {
    let target = || prop_oneof![3 => Just(None), 1 => Just(Some("end".to_owned())), 5 => (0..7_usize).prop_map(|n| Some(format!("s{n}")))];
    let step = (target(), target(), target(), any::<bool>());
    proptest::collection::vec(step, 1..7).prop_map(|steps| {
        let steps: Vec<Value> = steps
            .into_iter()
            .enumerate()
            .map(|(index, (success, failure, rejection, asks))| {
                let question = asks.then(|| json!({ "kind": "review", "title": "?" }));
                json!({ "name": format!("s{index}"), "agent": "x", "question": question, "on_success": success,
                        "on_failure": failure, "on_rejection": rejection.filter(|_| asks) })
            })
            .collect();
        flow(Value::Array(steps))
    })
}

proptest! {
    #[test]
    fn valid_flow_ends_within_the_limit_of_steps(flow in any_flow(), ways in proptest::collection::vec(0..4_usize, 1..20)) {
        let good = flow.check().is_empty();
        let known = |target: &Option<String>| target.as_ref().is_none_or(|name| name == "end" || flow.step(name).is_some());
        let named = flow.steps.iter().all(|step| known(&step.on_success) && known(&step.on_failure) && known(&step.on_rejection));
        prop_assert!(!good || named);
        let (mut at, mut ran) = (flow.first().unwrap(), 1);
        let end = loop {
            prop_assert!(ran <= MOST_RUNS);
            match flow.next_after(&at.name, WAYS[ways[ran as usize % ways.len()]], ran) {
                Next::Step(next) => (at, ran) = (next, ran + 1),
                Next::End => break None,
                Next::Failed(reason) => break Some(reason),
            }
        };
        if let (true, Some(reason)) = (good, end) {
            prop_assert!(!reason.contains("has no step"), "{}", reason);
        }
    }

    #[test]
    fn endless_flow_is_ended_at_the_limit_of_steps(length in 1..6_usize) {
        let steps: Vec<Value> = (0..length)
            .map(|index| json!({ "name": format!("s{index}"), "agent": "x", "on_success": format!("s{}", (index + 1) % length) }))
            .collect();
        let flow = flow(Value::Array(steps));
        prop_assert_eq!(flow.check(), []);
        let (mut at, mut ran) = (flow.first().unwrap(), 1);
        while let Next::Step(next) = flow.next_after(&at.name, StepWay::Succeeded, ran) {
            (at, ran) = (next, ran + 1);
        }
        prop_assert_eq!(ran, MOST_RUNS);
    }
}
