//! Whatever file is loaded, it is loaded or refused within bounded time, and never takes the process down.

use std::fmt::Write as _;

use domain::Role;
use holdpoint_policy::{Call, Policy};
use serde_json::json;

fn codes(text: &str) -> Vec<&'static str> {
    let mut codes: Vec<_> =
        Policy::load("policy.toml", text).err().into_iter().flatten().map(|finding| finding.code).collect();
    codes.dedup();
    codes
}

#[test]
fn deep_files_are_refused() {
    let deep = 300_000;
    assert_eq!(codes(&format!("version = 1\nx{} = 1", ".a".repeat(deep))), ["not_toml"]);
    assert_eq!(codes(&format!("version = 1\n[x{}]", ".a".repeat(deep))), ["not_toml"]);
    assert_eq!(codes(&format!("version = 1\nx = {}", "[".repeat(deep))), ["not_toml"]);
    assert_eq!(codes(&format!("version = 1\nx = {}", "{a=".repeat(deep))), ["not_toml"]);
    assert_eq!(codes(&format!("version = 1\n{}", "[".repeat(deep))), ["not_toml"]);
    let json = format!("version = 1\n[[tool]]\nname = \"t\"\nschema_json = '{}'", "[".repeat(deep));
    assert_eq!(codes(&json), ["not_json"]);
}

#[test]
fn many_findings_are_cut_short() {
    let mut text = String::from("version = 1\n");
    for number in 0..50_000 {
        let _ = writeln!(text, "unknown_{number} = 1");
    }
    let findings = Policy::load("policy.toml", &text).unwrap_err();
    assert_eq!(findings.len(), 1_000);
}

/// The largest files that the limits let through, of the sorts that cost most.
#[test]
fn large_files_are_loaded_or_refused_in_time() {
    let mut distinct = String::from("version = 1\n");
    let mut overlapping = String::from("version = 1\n");
    let mut conditional = String::from("version = 1\n");
    let mut examples = String::from("version = 1\n");
    for n in 0..10_000 {
        let _ = writeln!(distinct, "[[rule]]\nname = \"r{n}\"\ntools = [\"tool_{n}\"]\nverdict = \"ask\"");
        let _ = writeln!(overlapping, "[[rule]]\nname = \"r{n}\"\ntools = [\"*{n:05}*\"]\nverdict = \"ask\"");
    }
    for n in 0..1_000 {
        let rule = format!("[[rule]]\nname = \"r{n}\"\ntools = [\"*\"]\nverdict = \"ask\"\nwhen = 'args.n == {n}'");
        let _ = writeln!(conditional, "{rule}");
        let _ = writeln!(examples, "{rule}\n[[rule.example]]\ntool = \"t\"\narguments.n = {n}\nmatches = true");
    }
    assert_eq!(codes(&distinct), [""; 0]);
    assert_eq!(codes(&overlapping), [""; 0]);
    assert_eq!(codes(&conditional), [""; 0]);
    assert_eq!(codes(&examples), ["too_costly"]);
    let policy = Policy::load("policy.toml", &overlapping).unwrap();
    assert_eq!(policy.warnings().iter().map(|warning| warning.code).collect::<Vec<_>>(), ["not_compared"]);
    let arguments = json!({});
    let call = Call { tool: "tool_09999_b", arguments: &arguments, agent: None, user: "ann", role: Role::Agent };
    assert_eq!(policy.judge(&call).ruling.rule.as_deref(), Some("r9999"));
}
