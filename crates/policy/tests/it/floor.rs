//! Tests the server's floor policy: an ordinary file, in which calls that no rule matches are left to the project's policy.

use domain::{Role, Verdict};
use holdpoint_policy::{Policy, PolicyInput};
use serde_json::{Value, json};

const FLOOR: &str = r#"version = 1
[[rule]]
name = "look"
tools = ["execute_command"]
when = 'shell.plain && shell.commands[0].program == "ls"'
verdict = "allow"

[[rule]]
name = "never-push"
tools = ["execute_command"]
when = 'shell.commands.exists(c, c.name == "git" && c.subcommand == "push")'
verdict = "deny"

[[rule]]
name = "pay"
tools = ["pay"]
when = 'args.amount >= 10.0'
verdict = "ask"
ask = { audience = { groups = ["finance"] } }
"#;

fn codes(text: &str) -> Vec<&'static str> {
    Policy::load_floor("floor.toml", text).unwrap_err().into_iter().map(|finding| finding.code).collect()
}

#[test]
fn floor_allows_unmatched_calls_and_asks_if_a_rule_fails() {
    let floor = Policy::load_floor("floor.toml", FLOOR).unwrap();
    let check = |tool: &str, arguments: Value, verdict: Verdict, rule: Option<&str>| {
        let call = PolicyInput {
            tool,
            arguments: &arguments,
            agent: Some("bot"),
            user: "ann",
            role: Role::Agent,
            client: None,
            root: None,
        };
        let judged = floor.judge(&call);
        assert_eq!((judged.ruling.verdict, judged.ruling.rule.as_deref()), (verdict, rule), "{tool} {arguments}");
        let explained = floor.explain(&call).ruling;
        assert_eq!(explained, judged.ruling, "{tool} {arguments}");
    };
    check("read_file", json!({ "path": "a" }), Verdict::Allow, None);
    check("execute_command", json!({ "command": "ls -l" }), Verdict::Allow, Some("look"));
    check("execute_command", json!({ "command": "make" }), Verdict::Allow, None);
    check("execute_command", json!({ "command": "git push" }), Verdict::Deny, Some("never-push"));
    // An unreadable command may hide the program that the rule looks for.
    check("execute_command", json!({ "command": "$CMD push" }), Verdict::Ask, Some("never-push"));
    check("execute_command", json!({ "command": "git 'push" }), Verdict::Ask, Some("never-push"));
    check("pay", json!({ "amount": 5.0 }), Verdict::Allow, None);
    check("pay", json!({ "amount": 50.0 }), Verdict::Ask, Some("pay"));
    check("pay", json!({ "amount": "50" }), Verdict::Ask, Some("pay"));
    check("pay", json!({}), Verdict::Ask, Some("pay"));
}

#[test]
fn a_floor_has_no_default_and_declares_no_tools() {
    assert_eq!(codes("version = 1\ndefault = \"deny\"\n"), ["floor_default"]);
    assert_eq!(codes("version = 1\n[[tool]]\nname = \"t\"\nidempotent = true\n"), ["floor_tool"]);
    assert_eq!(codes("version = 1\nrules = 1\n"), ["unknown_key"]);
}
