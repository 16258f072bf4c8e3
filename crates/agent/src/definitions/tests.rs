//! Tests of definition files: valid ones, and the finding of each error.

use domain::ProjectName;
use domain::agent::{Provider, Script};
use serde_json::json;

use super::*;

const AGENT: &str = r#"
name = "helper"
version = "1"
workspace = "demo"
tools = ["read_file", "ask_user"]

[model]
provider = "scripted"

[[model.script.turns]]
say = "Hello"
"#;

const FLOW: &str = r#"
name = "release"
version = "1"

[[steps]]
name = "draft"
agent = "helper"
input = { task = "{{ input.version }}" }

[[steps]]
name = "tell"
[steps.question]
kind = "notice"
title = "Done"
"#;

fn agents() -> Vec<AgentVersion> {
    vec![read_agent(AGENT, Path::new("a.toml")).unwrap().agent]
}

fn lines<T>(read: Result<T, Vec<FileFinding>>) -> Vec<String> {
    read.err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

/// Checks that the agent with one line replaced is refused with these findings.
fn check(from: &str, to: &str, expected: &[&str]) {
    assert!(AGENT.contains(from), "{from}");
    assert_eq!(lines(read_agent(&AGENT.replacen(from, to, 1), Path::new("a.toml"))), expected, "{to}");
}

fn check_flow(from: &str, to: &str, expected: &[&str]) {
    assert!(FLOW.contains(from), "{from}");
    assert_eq!(lines(read_flow(&FLOW.replacen(from, to, 1), Path::new("f.toml"), &agents())), expected, "{to}");
}

#[test]
fn toml_syntax_error_is_reported_with_its_line() {
    let found = lines(read_agent("name = \"a\"\nversion = \n[model\n", Path::new("a.toml")));
    assert!(found.iter().any(|line| line.starts_with("a.toml:2: ")), "{found:?}");
    assert!(found.iter().any(|line| line.starts_with("a.toml:3: ")), "{found:?}");
    check("version = \"1\"", "version = 1\nversion = 2", &["a.toml:4: duplicate key"]);
    check(
        "workspace = \"demo\"",
        "limits = { iterations = 99999999999999999999 }",
        &["a.toml:4: `limits.iterations`: is a number that JSON cannot represent"],
    );
}

#[test]
fn unknown_key_is_reported_with_a_suggestion() {
    check("workspace", "workspce", &["a.toml:4: the file has no key `workspce`; did you mean `workspace`?"]);
    check(
        "provider = \"scripted\"",
        "provider = \"scripted\"\nmodle = 1",
        &[
            "a.toml:9: `model` has no key `modle`; it takes `provider`, `name`, `endpoint`, `key_env`, `key_secret`, `temperature`, \
         `max_tokens`, `timeout_seconds`, `options`, `price`, `script`",
        ],
    );
    check("say", "sya", &["a.toml:11: `model.script.turns` has no key `sya`; did you mean `say`?"]);
    check("\"scripted\"", "\"scriptd\"", &["a.toml:8: `model.provider` cannot be `scriptd`; did you mean `scripted`?"]);
    check_flow(
        "title",
        "titel",
        &[
            "f.toml:12: `steps.question` needs `title`",
            "f.toml:14: `steps.question` has no key `titel`; did you mean `title`?",
        ],
    );
    check_flow(
        "title = \"Done\"",
        "title = \"Done\"\naudience = { group = [\"ops\"] }",
        &["f.toml:15: `steps.question.audience` has no key `group`; did you mean `groups`?"],
    );
    check_flow(
        "title = \"Done\"",
        "title = \"Done\"\n[[steps.question.options]]\nid = \"a\"\nlabel = \"A\"\nrisky = true",
        &["f.toml:18: `steps.question.options` has no key `risky`; did you mean `risk`?"],
    );
}

#[test]
fn every_wrong_type_is_reported() {
    let wrong = AGENT
        .replace("version = \"1\"", "version = 1")
        .replace("[\"read_file\", \"ask_user\"]", "\"read_file\"")
        .replace(
            "say = \"Hello\"",
            "say = [1]\nagain = \"yes\"\n[limits]\nrounds = -1\nretries = 1.5\n[deadlines]\nform = \"soon\"",
        );
    assert_eq!(
        lines(read_agent(&wrong, Path::new("a.toml"))),
        [
            "a.toml:3: `version` must be a text, not 1",
            "a.toml:5: `tools` must be a list, not the text \"read_file\"",
            "a.toml:11: `model.script.turns.say` must be a text, not a list",
            "a.toml:12: `model.script.turns.again` must be true or false, not the text \"yes\"",
            "a.toml:14: `limits.rounds` must be a whole number of at least 0, not -1",
            "a.toml:15: `limits.retries` must be a whole number of at least 0, not 1.5",
            "a.toml:17: `deadlines.form` must be a whole number, not the text \"soon\"",
        ]
    );
    assert_eq!(
        lines(read_agent("nmae = 1\n[model]\nname = \"m\"", Path::new("a.toml"))),
        [
            "a.toml:1: the file has no key `nmae`; did you mean `name`?",
            "a.toml:1: the file needs `name`",
            "a.toml:2: `model` needs `provider`",
        ]
    );
}

#[test]
fn invalid_value_is_reported_with_its_line() {
    check(
        "\"read_file\"",
        "\"read_fiel\"",
        &[
            "a.toml:5: `tools`: is not a built-in tool; those are read_file, list_files, search_files, write_file, create_directory, \
         move_file, delete_file, execute_command, ask_user",
        ],
    );
    check("workspace = \"demo\"\n", "", &["a.toml:1: `workspace`: is missing: `read_file` needs a directory"]);
    check("say = \"Hello\"", "when = \"x\"", &["a.toml:10: `model.script.turns`: needs `say` or `calls`"]);
    check(
        "say = \"Hello\"",
        "say = \"x\"\n[[client_tools]]\nname = \"t\"\n[client_tools.schema]\ntype = \"objekt\"",
        &[
            "a.toml:15: `client_tools.schema.type`: the schema is not valid: Does not fit any of the accepted alternatives.",
        ],
    );
}

#[test]
fn flow_is_checked_against_its_agents() {
    assert!(read_flow(FLOW, Path::new("f.toml"), &agents()).is_ok());
    check_flow("agent = \"helper\"", "agent = \"healper\"", &["f.toml:7: `steps.agent`: there is no agent `healper`"]);
    check_flow(
        "agent = \"helper\"",
        "agent = \"helper\"\nagent_version = \"2\"",
        &["f.toml:8: `steps.agent_version`: agent `helper` has no version `2`"],
    );
    check_flow(
        "agent = \"helper\"",
        "agent = \"helper\"\ntools = [\n  \"read_file\",\n  \"write_file\",\n]",
        &["f.toml:10: `steps.tools`: agent `helper` 1 has no tool `write_file`"],
    );
    check_flow(
        "{{ input.version }}",
        "{{ steps.telll.output }}",
        &["f.toml:8: `steps.input.task`: there is no step `telll`"],
    );
    check_flow(
        "name = \"tell\"",
        "name = \"tell\"\non_success = \"nowhere\"",
        &["f.toml:12: `steps.on_success`: there is no step `nowhere`, and it is not `end`"],
    );
}

#[test]
fn toml_and_json_give_the_same_definition() {
    let agent = json!({ "name": "helper", "version": "1", "workspace": "demo", "tools": ["read_file", "ask_user"],
        "model": { "provider": "scripted", "script": { "turns": [{ "say": "Hello" }] } } });
    assert_eq!(agents(), [serde_json::from_value(agent).unwrap()]);
    let flow = json!({ "name": "release", "version": "1", "steps": [
        { "name": "draft", "agent": "helper", "input": { "task": "{{ input.version }}" } },
        { "name": "tell", "question": { "kind": "notice", "title": "Done" } },
    ] });
    let read = read_flow(FLOW, Path::new("f.toml"), &agents()).unwrap();
    assert_eq!(read.flow, serde_json::from_value(flow).unwrap());
}

fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

/// Findings in a directory, without the name of the directory.
fn found<T>(dir: &tempfile::TempDir, read: Result<T, Vec<FileFinding>>) -> Vec<String> {
    let prefix = format!("{}/", dir.path().display());
    lines(read).into_iter().map(|line| line.replace(&prefix, "")).collect()
}

fn scripted(script: &str) -> String {
    let head = AGENT.split("[[model").next().unwrap();
    format!("{head}script = \"{script}\"\n")
}

#[test]
fn script_can_be_in_a_separate_file() {
    let script = "[[turns]]\nsay = \"Hello\"\n";
    let dir = directory(&[("a.toml", &scripted("a.script.toml")), ("a.script.toml", script), ("notes.txt", "x")]);
    let agents = read_agents(dir.path()).unwrap();
    let agents: Vec<AgentVersion> = agents.into_iter().map(|filed| filed.agent).collect();
    assert_eq!(agents[0].model.provider, Provider::Scripted);
    assert_eq!(agents[0].model.script.as_ref().map(|Script { turns }| turns.len()), Some(1));
    assert_eq!(agents, super::tests::agents());

    let dir =
        directory(&[("a.toml", &scripted("a.script.toml")), ("a.script.toml", "[[turns]]\nsay = 1\n[[turns]]\n")]);
    assert_eq!(
        found(&dir, read_agents(dir.path())),
        ["a.script.toml:2: `model.script.turns.say` must be a text, not 1"]
    );
    let dir = directory(&[("a.toml", &scripted("a.script.toml")), ("a.script.toml", "\n[[turns]]\n")]);
    let nothing = "a.script.toml:2: `model.script.turns`: needs `say` or `calls`";
    assert_eq!(found(&dir, read_agents(dir.path())), [nothing]);
}

#[test]
fn script_file_must_be_in_the_directory_of_its_agent() {
    for outside in ["../a.script.toml", "/etc/passwd", ".hidden", "x/y"] {
        let dir = directory(&[("a.toml", &scripted(outside))]);
        let expected = "a.toml:10: `model.script` must be the name of a file beside this one, or a table with `turns`";
        assert_eq!(found(&dir, read_agents(dir.path())), [expected], "{outside}");
    }
    let dir = directory(&[("a.toml", &scripted("none.toml"))]);
    let missing = found(&dir, read_agents(dir.path()));
    assert!(missing[0].starts_with("a.toml:10: `model.script`: none.toml cannot be read: "), "{missing:?}");
}

#[test]
fn every_problem_of_every_file_is_listed() {
    let second = AGENT.replace("version = \"1\"", "version = \"2\"");
    let good = directory(&[("a.toml", AGENT), ("b.toml", &second)]);
    assert_eq!(read_agents(good.path()).unwrap().len(), 2);
    let twice = AGENT.replace("Hello", "Hi");
    let bad = AGENT.replace("workspace", "workspce");
    let dir = directory(&[("a.toml", AGENT), ("b.toml", &twice), ("c.toml", &bad), ("d.toml", "x = ")]);
    let lines = found(&dir, read_agents(dir.path()));
    assert_eq!(
        lines[..2],
        [
            "b.toml:3: version `1` of agent `helper` is in a.toml already",
            "c.toml:4: the file has no key `workspce`; did you mean `workspace`?",
        ]
    );
    assert!(lines[2].starts_with("d.toml:1: "), "{lines:?}");
    let flows = directory(&[("f.toml", FLOW), ("g.toml", FLOW)]);
    let lines = found(&flows, read_flows(flows.path(), &agents()));
    assert_eq!(lines, ["g.toml:3: version `1` of flow `release` is in f.toml already"]);
    let nowhere = read_agents(&dir.path().join("nowhere"));
    assert!(lines_of(&nowhere)[0].contains("cannot be read"), "{nowhere:?}");
}

fn lines_of<T>(read: &Result<T, Vec<FileFinding>>) -> Vec<String> {
    read.as_ref().err().map(|found| found.iter().map(ToString::to_string).collect()).unwrap_or_default()
}

#[test]
fn deep_and_large_files_are_refused_with_few_findings() {
    let deep = format!("{} = 1", vec!["a"; 100_000].join("."));
    let found = lines(read_agent(&deep, Path::new("a.toml")));
    assert_eq!(found.len(), 1, "{found:?}");
    let large = "#".repeat(600 << 10);
    assert_eq!(lines(read_agent(&large, Path::new("a.toml"))), ["a.toml:1: has more than 524288 bytes"]);
    let many: String = (0..2_000).map(|n| format!("k{n} = {n}\n")).collect();
    assert_eq!(lines(read_agent(&many, Path::new("a.toml"))).len(), 500);
}

#[test]
fn generated_version_changes_only_with_the_content() {
    let version = |text: &str| read_agent(text, Path::new("a.toml")).unwrap().agent.version;
    let plain = AGENT.replacen("version = \"1\"\n", "", 1);
    let first = version(&plain);
    assert!(first.starts_with("auto-") && first.len() == 17, "{first}");
    assert_eq!(version(&format!("# a comment\n{plain}")), first, "equal definitions have equal versions");
    assert_ne!(version(&plain.replacen("Hello", "Good day", 1)), first);
    assert_eq!(version(AGENT), "1");
    check(
        "version = \"1\"",
        "version = \"\"",
        &[
            "a.toml:3: `version`: must be 1 to 64 ASCII letters, digits, `-`, `_`, `.`, `+`, beginning with a letter or a digit",
        ],
    );
    let flow = FLOW.replacen("version = \"1\"\n", "", 1);
    let FlowFile { flow, .. } = read_flow(&flow, Path::new("f.toml"), &agents()).unwrap();
    assert!(flow.version.starts_with("auto-"), "{}", flow.version);
}

/// The agent with two MCP servers and these lines of settings.
fn with_settings(top: &str, of_server: &str) -> String {
    format!(
        "{top}{AGENT}[[mcp]]\nname = \"tickets\"\ncommand = [\"mcp-tickets\"]\n{of_server}[[mcp]]\nname = \"wiki\"\ncommand = [\"w\"]\n"
    )
}

#[test]
fn agent_file_sets_projects_network_and_read_only_directories() {
    let read = |text: &str| read_agent(text, Path::new("a.toml")).unwrap();
    let plain = read(&with_settings("", ""));
    assert_eq!(plain.settings, OperatorSettings::default());
    assert!(plain.settings.projects.include(&ProjectName::default()));
    let top = "projects = [\"acme/main\", \"default/web\"]\nnetwork = true\nread_only = [\"/srv/docs\"]\n";
    let told = read(&with_settings(top, "network = true\nread_only = [\"/opt/tickets\", \"/srv\"]\n"));
    let projects = [ProjectName::new("acme", "main"), ProjectName::new("default", "web")];
    assert_eq!(told.settings.projects, Projects::Named(projects.into()));
    assert!(!told.settings.projects.include(&ProjectName::default()));
    assert_eq!((told.settings.network, &told.settings.read_only), (true, &vec!["/srv/docs".into()]));
    let tickets = McpSettings { network: true, read_only: vec!["/opt/tickets".into(), "/srv".into()] };
    assert_eq!(told.settings.mcp, [("tickets".to_owned(), tickets)].into());
    assert_eq!(told.agent, plain.agent, "no setting is part of the version");
    assert_eq!(read(&with_settings("projects = [\"*\"]\n", "")).settings.projects, Projects::All);
}

#[test]
fn settings_do_not_change_the_generated_version() {
    let unversioned = |text: &str| text.replacen("version = \"1\"\n", "", 1);
    let version = |text: &str| read_agent(&unversioned(text), Path::new("a.toml")).unwrap().agent.version;
    let settings = with_settings("projects = [\"*\"]\nnetwork = true\nread_only = [\"/srv\"]\n", "network = true\n");
    assert_eq!(version(&settings), version(&with_settings("", "")));
    let flow = |text: &str| read_flow(&unversioned(text), Path::new("f.toml"), &agents()).unwrap();
    let told = flow(&format!("projects = [\"acme/main\"]\n{FLOW}"));
    assert_eq!(told.flow, flow(FLOW).flow);
    assert_eq!(told.projects, Projects::Named([ProjectName::new("acme", "main")].into()));
    assert_eq!(flow(FLOW).projects, Projects::default());
}

#[test]
fn invalid_setting_is_reported_with_its_line() {
    let found = |text: &str| lines(read_agent(text, Path::new("a.toml")));
    let wrong = with_settings(
        "projects = [\"acme/main\", \"acme\"]\nnetwork = \"yes\"\nread_only = [\"/srv\", \"docs\", \"/a/../b\", \"/\"]\n",
        "network = 1\nread_only = \"/srv\"\nnetwrok = true\n",
    );
    let directory = "each directory is an absolute path below `/`, without `.` and `..`";
    assert_eq!(
        found(&wrong),
        [
            "a.toml:1: `projects`: each is written `TENANT/PROJECT`, and `*` alone stands for all".to_owned(),
            "a.toml:2: `network` must be true or false".to_owned(),
            format!("a.toml:3: `read_only`: {directory}"),
            format!("a.toml:3: `read_only`: {directory}"),
            format!("a.toml:3: `read_only`: {directory}"),
            "a.toml:18: `mcp.network` must be true or false".to_owned(),
            "a.toml:19: `mcp.read_only` must be a list of texts".to_owned(),
            "a.toml:20: `mcp` has no key `netwrok`; did you mean `network`?".to_owned(),
        ]
    );
    let projects = |value: &str| found(&format!("projects = {value}\n{AGENT}")).concat();
    assert!(projects("[]").contains("names no project"), "{}", projects("[]"));
    assert!(projects("\"acme/main\"").contains("must be a list"), "{}", projects("\"acme/main\""));
    assert!(projects("[\"*\", \"acme/main\"]").contains("needs no others"), "{}", projects("[\"*\", \"acme/main\"]"));
    for wrong in ["*/main", "acme/*", "a/b/c", "acme/", "/main", ""] {
        assert!(projects(&format!("[\"{wrong}\"]")).contains("TENANT/PROJECT"), "{wrong}");
    }
    let flow = lines(read_flow(&format!("network = true\n{FLOW}"), Path::new("f.toml"), &agents()));
    assert!(flow[0].starts_with("f.toml:1: the file has no key `network`"), "{flow:?}");
}
