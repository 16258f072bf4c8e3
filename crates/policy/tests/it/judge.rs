//! Tests the verdicts on calls: order of rules, callers, failing expressions, and explanations.

use std::sync::Arc;

use domain::{Role, Verdict};
use holdpoint_policy::{Fit, MismatchReason, Policy, PolicyInput};
use serde_json::{Value, json};

fn load(text: &str) -> Policy {
    let loaded = Policy::load("policy.toml", &format!("version = 1\n{text}"));
    loaded.unwrap_or_else(|findings| {
        panic!("{}", findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    })
}

fn rule(name: &str, verdict: &str, more: &str) -> String {
    format!("[[rule]]\nname = \"{name}\"\nverdict = \"{verdict}\"\n{more}\n")
}

fn call<'a>(tool: &'a str, arguments: &'a Value) -> PolicyInput<'a> {
    PolicyInput { tool, arguments, agent: Some("ci-7"), user: "ann", role: Role::Agent, client: None, root: None }
}

fn check(policy: &Policy, call: &PolicyInput<'_>, verdict: Verdict, rule: Option<&str>) {
    let ruling = policy.judge(call).ruling;
    assert_eq!((ruling.verdict, ruling.rule.as_deref()), (verdict, rule), "{call:?}: {}", ruling.reason);
    assert_eq!(policy.explain(call).ruling, ruling);
}

#[test]
fn first_matching_rule_decides() {
    let policy = load(
        &[
            rule("exact", "deny", "tools = [\"write_file\"]"),
            rule("end", "ask", "tools = [\"*_file\"]"),
            rule("start", "deny", "tools = [\"write_*\"]"),
            rule("middle", "ask", "tools = [\"*_x_*\"]"),
            rule("one", "deny", "tools = [\"?\"]"),
        ]
        .concat(),
    );
    let none = json!({});
    check(&policy, &call("write_file", &none), Verdict::Deny, Some("exact"));
    check(&policy, &call("read_file", &none), Verdict::Ask, Some("end"));
    check(&policy, &call("write_x_file", &none), Verdict::Ask, Some("end"));
    check(&policy, &call("write_x_y", &none), Verdict::Deny, Some("start"));
    check(&policy, &call("a_x_b", &none), Verdict::Ask, Some("middle"));
    check(&policy, &call("я", &none), Verdict::Deny, Some("one"));
    check(&policy, &call("unheard_of", &none), Verdict::Ask, None);
}

#[test]
fn rules_match_agents_users_and_roles() {
    let policy = load(
        &[
            rule("agents", "allow", "tools = [\"a\"]\nagents = [\"ci-*\"]"),
            rule("users", "allow", "tools = [\"b\"]\nusers = [\"ann\", \"b?b\"]"),
            rule("roles", "allow", "tools = [\"c\"]\nroles = [\"admin\", \"operator\"]"),
        ]
        .concat(),
    );
    let none = json!({});
    let by =
        |tool, agent, user, role| PolicyInput { tool, arguments: &none, agent, user, role, client: None, root: None };
    check(&policy, &by("a", Some("ci-7"), "ann", Role::Agent), Verdict::Allow, Some("agents"));
    check(&policy, &by("a", Some("CI-7"), "ann", Role::Agent), Verdict::Ask, None);
    check(&policy, &by("a", None, "ann", Role::Agent), Verdict::Ask, None);
    check(&policy, &by("b", None, "bob", Role::Agent), Verdict::Allow, Some("users"));
    check(&policy, &by("b", None, "annabel", Role::Agent), Verdict::Ask, None);
    check(&policy, &by("c", None, "ann", Role::Operator), Verdict::Allow, Some("roles"));
    check(&policy, &by("c", None, "ann", Role::Agent), Verdict::Ask, None);
}

/// A rule that cannot be evaluated asks, whatever its verdict is, and only a denial overrides it.
#[test]
fn failing_rule_asks_unless_the_call_is_denied() {
    let when = "tools = [\"t\"]\nwhen = 'args.n > 3'";
    let after = |verdict: &str, next: &str, default: &str| {
        let next = if next.is_empty() { String::new() } else { rule("next", next, "tools = [\"t\"]") };
        load(&format!("default = \"{default}\"\n{}{next}", rule("first", verdict, when)))
    };
    let (absent, wrong, small) = (json!({}), json!({ "n": "4" }), json!({ "n": 1 }));
    for verdict in ["allow", "ask", "deny"] {
        for arguments in [&absent, &wrong] {
            let failing = call("t", arguments);
            check(&after(verdict, "", "ask"), &failing, Verdict::Ask, Some("first"));
            check(&after(verdict, "allow", "ask"), &failing, Verdict::Ask, Some("first"));
            check(&after(verdict, "ask", "ask"), &failing, Verdict::Ask, Some("first"));
            check(&after(verdict, "deny", "ask"), &failing, Verdict::Deny, Some("next"));
            check(&after(verdict, "", "deny"), &failing, Verdict::Deny, None);
        }
        check(&after(verdict, "allow", "ask"), &call("t", &small), Verdict::Allow, Some("next"));
    }
    let ruling = after("allow", "allow", "ask").judge(&call("t", &absent)).ruling;
    assert_eq!(ruling.reason, "Rule `first` could not be evaluated: there is no `n`.");
}

#[test]
fn no_allowing_rule_matches_an_unparsable_call() {
    let all = rule("all", "allow", "tools = [\"*\"]");
    let unparseable = json!({ "command": "echo 'never closed" });
    let ruling = load(&all).judge(&call("execute_command", &unparseable)).ruling;
    assert_eq!((ruling.verdict, ruling.rule), (Verdict::Ask, None));
    assert!(ruling.reason.contains("is not trusted"), "{}", ruling.reason);
    check(&load(&format!("default = \"deny\"\n{all}")), &call("execute_command", &unparseable), Verdict::Deny, None);
    check(&load(&all), &call("execute_command", &json!({ "command": "echo closed" })), Verdict::Allow, Some("all"));
}

#[test]
fn policy_is_shared_between_threads_and_keeps_its_text() {
    let text =
        "version = 1\n[[tool]]\nname = \"t\"\nidempotent = true\nschema = { type = \"object\", required = [\"n\"] }\n";
    let policy = Arc::new(Policy::load("policy.toml", text).unwrap());
    let other = Arc::clone(&policy);
    let version = std::thread::spawn(move || other.version().to_owned()).join().unwrap();
    assert_eq!(version, domain::Digest::of_bytes(text.as_bytes()).to_string());
    assert_eq!(policy.text(), text);
    assert_eq!(policy.schema("t"), Some(&json!({ "type": "object", "required": ["n"] })));
    assert!(policy.tool("t").is_some_and(|tool| tool.idempotent));
    assert_eq!((policy.schema("u"), policy.rules().count()), (None, 0));
}

#[test]
fn explanation_lists_every_rule_up_to_the_deciding_one() {
    let policy = load(
        &[
            rule("other-tool", "deny", "tools = [\"u\"]"),
            rule("other-agent", "deny", "tools = [\"*\"]\nagents = [\"x\"]"),
            rule("false", "deny", "tools = [\"t*\", \"t\"]\nwhen = 'args.n > 3'"),
            rule("speaks", "allow", "tools = [\"t\"]\nwhen = 'args.n > 1'"),
            rule("unheard", "deny", "tools = [\"*\"]"),
        ]
        .concat(),
    );
    let arguments = json!({ "n": 2 });
    let explanation = policy.explain(&call("t", &arguments));
    let told: Vec<_> = explanation.considered.iter().map(|one| (one.rule.as_str(), one.fit.clone())).collect();
    let expected = vec![
        ("other-tool", Fit::Misses(MismatchReason::Tool)),
        ("other-agent", Fit::Misses(MismatchReason::Agent)),
        ("false", Fit::Misses(MismatchReason::Condition)),
        ("speaks", Fit::Matches),
    ];
    assert_eq!(told, expected);
    assert_eq!(explanation.ruling.rule.as_deref(), Some("speaks"));
    insta::assert_snapshot!(serde_json::to_string(&explanation.considered[2]).unwrap(), @r#"{"rule":"false","line":11,"verdict":"deny","pattern":"t*","when":"args.n > 3","outcome":"misses","why":"condition"}"#);
    insta::assert_snapshot!(serde_json::to_string(&explanation.considered[3]).unwrap(), @r#"{"rule":"speaks","line":16,"verdict":"allow","pattern":"t","when":"args.n > 1","outcome":"matches"}"#);
    insta::assert_snapshot!(explanation.parsed, @r#"{"path":null,"paths":[],"shell":null,"sql":null,"url":null}"#);
}

/// If the caller has gone, the policy returns no judgement and evaluates no further rules.
#[test]
fn evaluation_stops_when_the_caller_has_gone() {
    let number = |n| rule(&format!("r{n}"), "ask", &format!("tools = [\"run\"]\nwhen = 'args.n == {n}'"));
    let (policy, arguments) = (load(&[1, 2, 3, 4].map(number).concat()), json!({ "n": 0 }));
    let looked = std::cell::Cell::new(0);
    let twice = || {
        looked.set(looked.get() + 1);
        looked.get() <= 2
    };
    assert!(policy.explain_while(&call("run", &arguments), &[], &twice).is_none());
    assert_eq!(looked.replace(0), 3);
    assert!(policy.judge_while(&call("run", &arguments), &[], &twice).is_none());
    assert_eq!(looked.get(), 3);
    let judged = policy.judge_while(&call("run", &arguments), &[], &|| true).map(|judgement| judgement.ruling);
    assert_eq!(judged, Some(policy.judge(&call("run", &arguments)).ruling));
}
