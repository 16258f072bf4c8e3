//! Tests the audiences and settings of a question when several rules ask about a call.

use domain::{Audience, Fallback, Role, Verdict};
use holdpoint_policy::{AskCause, AskTerms, Judgement, Policy, PolicyInput};
use serde_json::{Value, json};

fn load(text: &str) -> Policy {
    let loaded = Policy::load("policy.toml", &format!("version = 1\n{text}"));
    loaded.unwrap_or_else(|findings| {
        panic!("{}", findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    })
}

fn judged(policy: &Policy, arguments: &Value) -> Judgement {
    let call = PolicyInput {
        tool: "deploy",
        arguments,
        agent: Some("ci-7"),
        user: "ann",
        role: Role::Agent,
        client: None,
        root: None,
    };
    let judgement = policy.judge(&call);
    assert_eq!(policy.explain(&call).asks, judgement.asks, "`explain` gives the same reasons");
    judgement
}

/// Names of the rules that ask, with `!` before a rule that could not be evaluated, and `default`.
fn asking(judgement: &Judgement) -> Vec<String> {
    let name = |rule: &Option<String>| rule.clone().unwrap_or_default();
    let told = judgement.asks.iter().map(|ask| match ask.because {
        AskCause::Matches => name(&ask.rule),
        AskCause::Fails(_) => format!("!{}", name(&ask.rule)),
        AskCause::Default => "default".to_owned(),
    });
    told.collect()
}

fn audience(value: Value) -> Audience {
    serde_json::from_value(value).unwrap()
}

fn check(policy: &Policy, arguments: Value, asks: &[&str], audiences: &[Audience]) {
    let judgement = judged(policy, &arguments);
    assert_eq!(judgement.ruling.verdict, Verdict::Ask, "{arguments}");
    assert_eq!(asking(&judgement), asks, "{arguments}");
    assert_eq!(AskTerms::of(&judgement.asks).audiences, audiences, "{arguments}");
}

fn operators() -> Audience {
    audience(json!({ "quorum": 1, "named": { "roles": ["operator"] } }))
}

/// An agent that omits an argument, or gives it another type, cannot choose the weaker of two rules.
#[test]
fn failing_rule_does_not_replace_a_stricter_matching_rule() {
    let policy = load(
        r#"[[rule]]
name = "staging"
tools = ["deploy"]
when = 'args.env == "staging"'
verdict = "ask"
ask = { audience = { roles = ["operator"] } }
[[rule]]
name = "rest"
tools = ["deploy"]
verdict = "ask"
ask = { audience = { groups = ["ops"], quorum = 2, four_eyes = true } }
"#,
    );
    let ops = || audience(json!({ "quorum": 2, "four_eyes": true, "named": { "groups": ["ops"] } }));
    check(&policy, json!({ "env": "production" }), &["rest"], &[ops()]);
    check(&policy, json!({ "env": "staging" }), &["staging"], &[operators()]);
    for wrong in [json!({ "env": ["production"] }), json!({}), json!({ "env": null }), json!({ "x": 1 })] {
        check(&policy, wrong.clone(), &["!staging", "rest"], &[operators(), ops()]);
        let ruling = judged(&policy, &wrong).ruling;
        assert_eq!(ruling.rule.as_deref(), Some("staging"));
        assert!(ruling.reason.ends_with("Rules that ask about it too: `rest`."), "{}", ruling.reason);
    }
}

/// If a rule that allows and a rule that asks both fail, the people of the asking rule are asked.
#[test]
fn failing_asking_rule_asks_even_if_an_allowing_rule_fails_too() {
    let policy = load(
        r#"[[rule]]
name = "small"
tools = ["deploy"]
when = 'args.amount >= 0.0 && args.amount < 10.0'
verdict = "allow"
[[rule]]
name = "large"
tools = ["deploy"]
when = 'args.amount >= 10.0'
verdict = "ask"
ask = { audience = { groups = ["finance"], quorum = 2, four_eyes = true } }
"#,
    );
    let finance = || audience(json!({ "quorum": 2, "four_eyes": true, "named": { "groups": ["finance"] } }));
    check(&policy, json!({ "amount": 5000.0 }), &["large"], &[finance()]);
    for wrong in [json!({ "amount": "5000" }), json!({}), json!({ "amount": [5000] })] {
        check(&policy, wrong, &["!large", "default"], &[finance(), Audience::default()]);
    }
}

#[test]
fn every_rule_that_asks_adds_its_audience() {
    let rule = |name: &str, verdict: &str, when: &str, ask: &str| {
        let ask = if ask.is_empty() { String::new() } else { format!("ask = {{ audience = {{ {ask} }} }}\n") };
        let when = if when.is_empty() { String::new() } else { format!("when = '{when}'\n") };
        format!("[[rule]]\nname = \"{name}\"\ntools = [\"deploy\"]\nverdict = \"{verdict}\"\n{when}{ask}")
    };
    let (fails, misses) = ("args.n > 3", "has(args.n)");
    let (usual, named) =
        (Audience::default, |user: &str| audience(json!({ "quorum": 1, "named": { "users": [user] } })));
    let asked = |name: &str, when: &str| rule(name, "ask", when, &format!("users = [\"{name}\"]"));
    let table: [(&[String], &[&str], &[Audience]); 9] = [
        (
            &[asked("a", fails), asked("b", "args.n > 4"), asked("c", "")],
            &["!a", "!b", "c"],
            &[named("a"), named("b"), named("c")],
        ),
        // Rules after the first match are not considered.
        (
            &[asked("a", fails), asked("b", "!has(args.n)"), asked("c", "args.n > 4")],
            &["!a", "b"],
            &[named("a"), named("b")],
        ),
        (&[asked("a", fails), rule("b", "allow", "", "")], &["!a"], &[named("a")]),
        (&[asked("a", fails)], &["!a", "default"], &[named("a"), usual()]),
        (&[asked("a", misses), asked("b", "")], &["b"], &[named("b")]),
        // A failing rule that allows or denies holds the call; the rules that ask, or the default, determine the audience.
        (&[rule("a", "allow", fails, ""), rule("b", "allow", "", "")], &["default"], &[usual()]),
        (&[rule("a", "deny", fails, ""), asked("b", "")], &["b"], &[named("b")]),
        (&[rule("a", "deny", fails, "")], &["default"], &[usual()]),
        // A rule without an audience asks the default audience.
        (&[rule("a", "ask", fails, ""), asked("b", "")], &["!a", "b"], &[usual(), named("b")]),
    ];
    for (rules, asks, audiences) in table {
        let policy = load(&rules.concat());
        check(&policy, json!({}), asks, audiences);
    }
    let denied = load(&(asked("a", fails) + &rule("b", "deny", "", "")));
    let judgement = judged(&denied, &json!({}));
    assert_eq!((judgement.ruling.verdict, judgement.asks.len()), (Verdict::Deny, 0));
}

/// A rule about another tool, agent, user or role does not count as failed.
#[test]
fn rule_about_other_callers_or_tools_does_not_fail() {
    for about in ["tools = [\"other\"]", "agents = [\"x\"]", "users = [\"x\"]", "roles = [\"admin\"]"] {
        let tools = if about.starts_with("tools") { "" } else { "tools = [\"deploy\"]\n" };
        let first = format!(
            "[[rule]]\nname = \"first\"\n{tools}{about}\nwhen = 'args.n > 3'\nverdict = \"ask\"\nask = {{ audience = {{ users = [\"eve\"] }} }}\n"
        );
        let rest = "[[rule]]\nname = \"rest\"\ntools = [\"deploy\"]\nverdict = \"ask\"\nask = { audience = { roles = [\"operator\"] } }\n";
        check(&load(&(first + rest)), json!({}), &["rest"], &[operators()]);
    }
}

/// Question of two asking rules with these settings, of which the first fails.
fn combined(first: &str, second: &str) -> AskTerms {
    let rule = |name: &str, when: &str, ask: &str| {
        format!("[[rule]]\nname = \"{name}\"\ntools = [\"deploy\"]\nverdict = \"ask\"\n{when}ask = {{ {ask} }}\n")
    };
    let policy = load(&(rule("a", "when = 'args.n > 3'\n", first) + &rule("b", "", second)));
    AskTerms::of(&judged(&policy, &json!({})).asks)
}

#[test]
fn shortest_deadline_wins_and_differing_fallbacks_become_deny() {
    let check = |first: &str, second: &str, seconds: Option<i64>, fallback: Option<Fallback>| {
        let ask = combined(first, second);
        assert_eq!((ask.deadline_seconds, ask.fallback), (seconds, fallback), "{first} and {second}");
    };
    check("", "", None, None);
    check("deadline_seconds = 9", "deadline_seconds = 5", Some(5), None);
    check("deadline_seconds = 5", "", Some(5), None);
    let hold = "deadline_seconds = 5, fallback = \"hold\"";
    let deny = "deadline_seconds = 7, fallback = \"deny\"";
    let reject = "deadline_seconds = 3, fallback = { option = \"reject\" }";
    check(hold, hold, Some(5), Some(Fallback::Hold));
    check(hold, deny, Some(5), Some(Fallback::Deny));
    check(hold, "deadline_seconds = 9", Some(5), Some(Fallback::Deny));
    check(hold, reject, Some(3), Some(Fallback::Deny));
    check(reject, reject, Some(3), Some(Fallback::Option("reject".into())));
    assert!(combined("deadline_seconds = 5", "").undated);
    assert!(!combined("deadline_seconds = 5", "deadline_seconds = 6").undated);
}

#[test]
fn approving_options_must_be_offered_by_every_asking_rule() {
    let check = |first: &str, second: &str, expected: &[(&str, &str, bool)]| {
        let ask = combined(first, second);
        let options: Vec<(String, Value, bool)> =
            ask.options.iter().map(|option| (option.id.clone(), json!(option.effect), option.requires_input)).collect();
        let expected: Vec<(String, Value, bool)> =
            expected.iter().map(|(id, effect, input)| ((*id).to_owned(), json!(effect), *input)).collect();
        assert_eq!(options, expected, "{first} and {second}");
    };
    let option = |id: &str, effect: &str| format!("{{ id = \"{id}\", label = \"{id}\", effect = \"{effect}\" }}");
    let options = |all: &[String]| format!("options = [{}]", all.join(", "));
    let (ship, no) = (option("ship", "approve"), option("no", "reject"));
    let noted = "{ id = \"ship\", label = \"Ship\", effect = \"approve\", requires_input = true }".to_owned();
    let shown = options(&[ship.clone(), option("edit", "edit"), no.clone()]);
    check("", "", &[]);
    check("", &shown, &[("ship", "approve", false), ("edit", "edit", false), ("no", "reject", false)]);
    check(&shown, "", &[("ship", "approve", false), ("edit", "edit", false), ("no", "reject", false)]);
    check(&options(&[ship.clone(), no.clone()]), &shown, &[("ship", "approve", false), ("no", "reject", false)]);
    check(&options(&[noted, no.clone()]), &shown, &[("ship", "approve", true), ("no", "reject", false)]);
    check(&options(&[no]), &options(&[ship]), &[("reject", "reject", false)]);
    let gone = "deadline_seconds = 5, fallback = { option = \"no\" }, options = [{ id = \"no\", label = \"No\", effect = \"reject\" }]";
    assert_eq!(combined(gone, gone).fallback, Some(Fallback::Option("no".into())));
}
