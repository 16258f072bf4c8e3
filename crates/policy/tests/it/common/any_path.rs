//! Checks for any text, used as a path, beside a path, and as the arguments of a call.

use std::sync::LazyLock;

use domain::{Role, Verdict};
use policy::{Policy, PolicyInput};
use serde_json::{Value, json};
use tool_facts::{PathFacts, under};

/// A policy whose only rule looks at paths alone.
static BY_PATH: LazyLock<Option<Policy>> = LazyLock::new(|| {
    let rule = "[[rule]]\nname = \"a\"\ntools = [\"*\"]\nverdict = \"allow\"\nwhen = 'paths.all(p, !p.escapes)'";
    Policy::load("policy.toml", &format!("version = 1\n{rule}")).ok()
});

/// Checks one text.
pub(crate) fn check(path: &str) {
    check_beside(path);
    let Ok(facts) = PathFacts::parse(path) else { return };
    let again = PathFacts::parse(&facts.canonical).map(|again| (again.canonical, again.absolute));
    assert_eq!(
        again,
        Ok((facts.canonical.clone(), facts.absolute)),
        "the canonical form of a canonical path is that path"
    );
    assert_eq!(under(path, path), Ok(!facts.escapes));
    assert!(!facts.components.iter().any(|part| part.is_empty() || part == "."));
    assert_eq!(under(path, "/safe"), Ok(facts.canonical == "/safe" || facts.canonical.starts_with("/safe/")));
}

/// Checks that a hook beside a path, or a patch that names an escaping path, is not allowed, and that no arguments make the parser panic.
fn check_beside(text: &str) {
    if !text.is_empty() {
        assert!(verdict("write", &json!({ "path": "a", "hook": text })) > Verdict::Allow);
    }
    assert!(verdict("apply_patch", &json!({ "data": format!("*** Update File: ../{text}") })) > Verdict::Allow);
    verdict("apply_patch", &json!({ "path": "a", "data": text, "argv": ["zsh", "-c", text] }));
    if let Ok(arguments) = serde_json::from_str::<Value>(text) {
        verdict("patch", &arguments);
    }
}

fn verdict(tool: &str, arguments: &Value) -> Verdict {
    let call = PolicyInput { tool, arguments, agent: None, user: "ann", role: Role::Agent, client: None, root: None };
    let Some(policy) = BY_PATH.as_ref() else { unreachable!("the policy is valid") };
    let ruling = policy.judge(&call).ruling;
    assert_eq!(ruling, policy.explain(&call).ruling);
    ruling.verdict
}
