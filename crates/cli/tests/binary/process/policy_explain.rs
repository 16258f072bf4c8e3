//! Tests `holdpoint policy explain`: the verdict on a command line or another call, its reasons, and the exit code.

use serde_json::{Value, json};

use crate::common::{Deployment, binary};

const POLICY: &str = r#"version = 1

[[rule]]
name = "no-deploying"
tools = ["deploy"]
agents = ["helper"]
verdict = "deny"
reason = "People deploy."

[[rule]]
name = "reading"
tools = ["read_file"]
users = ["ann"]
verdict = "allow"

[[rule]]
name = "this-command"
tools = ["execute_command"]
arguments = { command = "cargo test" }
verdict = "allow"
"#;

/// The exit code, the output and the error of `policy explain` on [`POLICY`].
fn explain(arguments: &[&str]) -> (Option<i32>, String, String) {
    explain_by(POLICY, arguments)
}

fn explain_by(text: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let deployment = Deployment::sqlite();
    let file = deployment.path("policy.toml");
    std::fs::write(&file, text).unwrap();
    let output = binary().args(["policy", "explain"]).arg(&file).args(arguments).output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn exit_code_says_the_verdict() {
    let file = json!({ "path": "a.md" }).to_string();
    let table: [(&[&str], i32, &str); 7] = [
        (&["cargo test"], 0, "this-command"),
        (&["cargo build"], 3, "none, the default of the file"),
        (&["--tool", "read_file", "--arguments", &file, "--user", "ann"], 0, "reading"),
        (&["--tool", "read_file", "--arguments", &file], 3, "none, the default of the file"),
        (&["--tool", "deploy", "--agent", "helper"], 4, "no-deploying"),
        (&["--tool", "deploy", "--agent", "other"], 3, "none, the default of the file"),
        (&["--tool", "deploy"], 3, "none, the default of the file"),
    ];
    for (arguments, expected, rule) in table {
        let (code, told, failure) = explain(arguments);
        assert_eq!((code, failure.as_str()), (Some(expected), ""), "{arguments:?}: {told}");
        let verdict = match expected {
            0 => "allow",
            3 => "ask",
            _ => "deny",
        };
        assert!(told.starts_with(&format!("verdict: {verdict}\nrule: {rule}\nreason: ")), "{arguments:?}: {told}");
    }
}

#[test]
fn rules_about_the_tool_are_explained() {
    let (_, told, _) = explain(&["cargo build"]);
    assert!(told.contains("\nreason: No rule matches this call.\n"), "{told}");
    assert!(
        told.ends_with(
            "  line 16: `this-command` (allow) does not match: the arguments of the call are not equal to its `arguments`\n"
        ),
        "{told}"
    );
}

#[test]
fn json_has_the_call_and_the_ruling() {
    let (code, told, _) = explain(&["cargo test", "--json"]);
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(code, Some(0));
    for (key, value) in [
        ("tool", json!("execute_command")),
        ("client", json!("holdpoint")),
        ("root", json!(null)),
        ("arguments", json!({ "command": "cargo test" })),
        ("verdict", json!("allow")),
        ("rule", json!("this-command")),
        ("reason", json!("Rule `this-command` matches.")),
    ] {
        assert_eq!(told[key], value, "{key} in {told}");
    }
}

const BUILDING: &str = r#"version = 1

[[rule]]
name = "build"
tools = ["*"]
commands = ["cargo {test,check} *", "tail *", "git status"]
verdict = "allow"

[[rule]]
name = "output"
tools = ["*"]
writes = ["target/**", "/srv/app/logs/*"]
verdict = "allow"
"#;

/// The output without the rules: the ruling, the tool and the parts.
fn parts(text: &str, arguments: &[&str]) -> (Option<i32>, Vec<String>) {
    let (code, told, failure) = explain_by(text, arguments);
    assert_eq!(failure, "", "{arguments:?}");
    let parts = told.lines().skip_while(|line| *line != "parts:").skip(1).take_while(|line| line.starts_with("  "));
    (code, parts.map(str::to_owned).collect())
}

#[test]
fn each_part_of_a_command_line_has_its_verdict_and_rule() {
    let table: [(&[&str], i32, &[&str]); 5] = [
        (&["git status"], 0, &["  allow command `git status` by rule `build`"]),
        (
            &["cargo test 2>&1 |\n  tail -5"],
            0,
            &["  allow command `cargo test 2>&1` by rule `build`", "  allow command `tail -5` by rule `build`"],
        ),
        (
            &["git status; docker push x"],
            3,
            &[
                "  allow command `git status` by rule `build`",
                "  ask   command `docker push x` by the default; rule `build` does not match: no pattern in `commands` matches \
                 `docker push …`",
            ],
        ),
        (
            &["git status > target/a.log"],
            0,
            &[
                "  allow command `git status > target/a.log` by rule `build`",
                "  allow writes `target/a.log` by rule `output`",
            ],
        ),
        (
            &["git status > logs/a.log", "--root", "/srv/app"],
            0,
            &[
                "  allow command `git status > logs/a.log` by rule `build`",
                "  allow writes `logs/a.log` by rule `output`",
            ],
        ),
    ];
    for (arguments, expected, lines) in table {
        let (code, told) = parts(BUILDING, arguments);
        assert_eq!(told, lines, "{arguments:?}");
        assert_eq!(code, Some(expected), "{arguments:?}");
    }
}

#[test]
fn tool_of_a_command_line_is_that_of_the_client_the_file_or_hosted_agents() {
    let declared = format!("{BUILDING}[[tool]]\nname = \"run\"\nshell = \"bash\"\narguments.line = \"shell\"\n");
    let table: [(&str, &[&str], &str); 4] = [
        (
            BUILDING,
            &["git status"],
            "execute_command with the command line as `command` (a tool of the client holdpoint; --tool gives another)",
        ),
        (
            &declared,
            &["git status"],
            "run with the command line as `line` (declared by the file; --tool gives another)",
        ),
        (
            &declared,
            &["git status", "--client", "claude-code"],
            "Bash with the command line as `command` (a tool of the client claude-code; --tool gives another)",
        ),
        (
            BUILDING,
            &["git status", "--client", "codex", "--tool", "exec_command"],
            "exec_command with the command line as `cmd`",
        ),
    ];
    for (text, arguments, tool) in table {
        let (code, told, failure) = explain_by(text, arguments);
        assert_eq!((code, failure.as_str()), (Some(0), ""), "{arguments:?}: {told}");
        assert!(told.contains(&format!("\ntool: {tool}\n")), "{arguments:?}: {told}");
    }
    let (code, _, failure) = explain_by(BUILDING, &["git status", "--client", "mcp-memory"]);
    assert_eq!(code, Some(1));
    assert!(failure.contains("no tool of the client `mcp-memory`"), "{failure}");
    let (code, _, failure) = explain_by(BUILDING, &["git status", "--client", "nobody"]);
    assert_eq!(code, Some(2));
    assert!(failure.contains("claude-code"), "the clients are listed: {failure}");
}

#[test]
fn wrong_commands_and_refused_files_are_failures() {
    let table: [(&[&str], i32, &str); 5] = [
        (&[], 2, "required arguments"),
        (&["--arguments", "{}"], 2, "required arguments"),
        (&["--tool", "read_file", "--arguments", "[1]"], 1, "--arguments must be a JSON object"),
        (&["--tool", "read_file", "--arguments", "{"], 1, "--arguments must be a JSON object"),
        (&["cargo test", "--tool", "read_file", "--arguments", "{}"], 2, "cannot be used with"),
    ];
    for (arguments, expected, said) in table {
        let (code, told, failure) = explain(arguments);
        assert_eq!((code, told.as_str()), (Some(expected), ""), "{arguments:?}: {failure}");
        assert!(failure.contains(said), "{arguments:?}: {failure}");
    }
    let (code, told, failure) = explain_by(&POLICY.replace("agents", "agent"), &["cargo test"]);
    assert_eq!((code, told.as_str()), (Some(1), ""), "{failure}");
    assert!(failure.contains("policy.toml:6:1: error[unknown_key]"), "{failure}");
}
