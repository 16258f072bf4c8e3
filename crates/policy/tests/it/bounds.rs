//! Tests that any policy file is loaded or refused within bounded time, and never crashes the process.

use std::fmt::Write as _;

use domain::Role;
use holdpoint_policy::{Policy, PolicyInput};
use serde_json::json;

fn codes(text: &str) -> Vec<&'static str> {
    let mut codes: Vec<_> =
        Policy::load("policy.toml", text).err().into_iter().flatten().map(|finding| finding.code).collect();
    codes.dedup();
    codes
}

#[test]
fn deep_files_are_refused() {
    let deep = 80_000;
    assert_eq!(codes(&format!("version = 1\nx{} = 1", ".a".repeat(deep))), ["not_toml"]);
    assert_eq!(codes(&format!("version = 1\n[x{}]", ".a".repeat(deep))), ["not_toml"]);
    assert_eq!(codes(&format!("version = 1\nx = {}", "[".repeat(deep))), ["not_toml"]);
    assert_eq!(codes(&format!("version = 1\nx = {}", "{a=".repeat(deep))), ["not_toml"]);
    assert_eq!(codes(&format!("version = 1\n{}", "[".repeat(deep))), ["not_toml"]);
    let json = format!("version = 1\n[[tool]]\nname = \"t\"\nschema_json = '{}'", "[".repeat(deep));
    assert_eq!(codes(&json), ["not_json"]);
}

#[test]
fn number_of_findings_is_limited() {
    let mut text = String::from("version = 1\n");
    for number in 0..10_000 {
        let _ = writeln!(text, "unknown_{number} = 1");
    }
    let findings = Policy::load("policy.toml", &text).unwrap_err();
    assert_eq!(findings.len(), 1_000);
}

/// The most expensive kinds of files, as large as the limits allow.
#[test]
fn large_files_are_loaded_or_refused_quickly() {
    let mut distinct = String::from("version = 1\n");
    let mut overlapping = String::from("version = 1\n");
    let mut conditional = String::from("version = 1\n");
    let mut examples = String::from("version = 1\n");
    for n in 0..4_000 {
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
    assert_eq!(codes(&examples), ["too_costly", "not_compared"]);
    let policy = Policy::load("policy.toml", &overlapping).unwrap();
    assert_eq!(policy.warnings().iter().map(|warning| warning.code).collect::<Vec<_>>(), ["not_compared"]);
    let arguments = json!({});
    let call = PolicyInput {
        tool: "tool_03999_b",
        arguments: &arguments,
        agent: None,
        user: "ann",
        role: Role::Agent,
        client: None,
        root: None,
    };
    assert_eq!(policy.judge(&call).ruling.rule.as_deref(), Some("r3999"));
}

/// Files that are expensive for their length are refused before the cost is incurred.
#[test]
fn costly_files_are_refused() {
    let rule = |n: usize, when: &str| {
        format!("[[rule]]\nname = \"r{n}\"\ntools = [\"t{n}\"]\nverdict = \"ask\"\nwhen = '{when}'\n")
    };
    let patterns = |rules: usize, pattern: &str| {
        let rules = (0..rules).map(|n| rule(n, &format!("args.x.matches(\"{pattern}\")")));
        format!("version = 1\n{}", rules.collect::<String>())
    };
    assert_eq!(codes(&patterns(200, "^[\\\\w.-]+@corp\\\\.example$")), [""; 0]);
    assert_eq!(codes(&patterns(201, "^a$")), ["too_costly"]);
    assert_eq!(codes(&patterns(1, "^\\\\w{60}$")), ["wrong_regex"]);
    let looping = |examples: usize, values: usize| {
        let example =
            format!("[[rule.example]]\ntool = \"t0\"\narguments.l = [{}]\nverdict = \"ask\"\n", "1,".repeat(values));
        format!("version = 1\n{}{}", rule(0, "args.l.all(x, args.l.all(y, x == y))"), example.repeat(examples))
    };
    assert_eq!(codes(&looping(50, 10)), [""; 0]);
    assert_eq!(codes(&looping(50, 250)), ["too_costly"]);
    let literal = vec!["1"; 200].join(",");
    let listed = rule(0, &format!("[{literal}].all(x, [{literal}].all(y, x == args.l))"));
    let example = "[[rule.example]]\ntool = \"t0\"\narguments.l = 1\nverdict = \"ask\"\n";
    assert_eq!(codes(&format!("version = 1\n{listed}{}", example.repeat(50))), ["too_costly"]);
}

#[test]
fn presets_leave_room_for_further_examples() {
    for (name, preset) in [
        ("coding", include_str!("../../presets/coding.toml")),
        ("data", include_str!("../../presets/data.toml")),
        ("operations", include_str!("../../presets/operations.toml")),
        ("support", include_str!("../../presets/support.toml")),
    ] {
        let example = "[[rule.example]]\ntool = \"execute_command\"\n\
                       arguments = { command = \"git log --oneline -n 20 -- src/main.rs | head -5\" }\nmatches = false\n";
        let own = "[[rule]]\nname = \"own\"\ntools = [\"execute_command\"]\ncommands = [\"our-deploy *\"]\nverdict = \"ask\"\n";
        let text = format!("{preset}\n{own}{}", example.repeat(100));
        assert_eq!(codes(&text), [""; 0], "{name}");
    }
}
