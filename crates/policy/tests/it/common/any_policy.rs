//! Checks that any text loads as a policy or is refused, and that a policy does not allow calls that it cannot evaluate.
//!
//! The fuzz target `policy` and the test that replays its corpus share this file. A text that begins with `when ` is tried as the expression of a
//! rule, so that the fuzzer reaches expressions without a whole file.

use domain::{Role, Verdict};
use serde_json::{Value, json};

use crate::policy::{Policy, PolicyInput};

/// Loads a text, and judges a few calls by it if it loads.
pub(crate) fn check(text: &str) {
    let loaded = match text.strip_prefix("when ") {
        Some(expression) => Policy::load("policy.toml", &rule(expression)),
        None => Policy::load("policy.toml", text),
    };
    let Ok(policy) = loaded else { return };
    for (tool, arguments) in calls() {
        let call = PolicyInput {
            tool,
            arguments: &arguments,
            agent: Some("ci-7"),
            user: "ann",
            role: Role::Agent,
            client: None,
            root: None,
        };
        let ruling = policy.judge(&call).ruling;
        assert_eq!(ruling, policy.explain(&call).ruling);
        assert!(ruling.verdict > Verdict::Allow || ruling.rule.is_some());
    }
}

fn rule(expression: &str) -> String {
    let expression = Value::from(expression);
    format!("version = 1\n[[rule]]\nname = \"a\"\ntools = [\"*\"]\nverdict = \"ask\"\nwhen = {expression}")
}

fn calls() -> [(&'static str, Value); 4] {
    [
        ("execute_command", json!({ "command": "cd a && FOO=1 git -C x push > out" })),
        ("write_file", json!({ "path": "/tmp/../etc/passwd", "content": "x", "mode": ["force"], "n": 1e30 })),
        ("fetch_url", json!({ "url": "https://good.example@evil.example", "n": -1, "list": [[1], [2, null]] })),
        ("query_database", json!({ "sql": "select 1; drop table x", "deep": { "a": { "b": [true] } } })),
    ]
}
