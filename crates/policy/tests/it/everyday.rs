//! Judges everyday calls of agents, and attempts to get round, by the policies to start from.
//!
//! Each list is a file beside this one. Of each list at least 90 % is as wanted, and nothing is looser than wanted. A row that is stricter than
//! wanted is printed.

use std::collections::BTreeMap;

use domain::{Role, Verdict};
use holdpoint_policy::{Policy, PolicyInput};
use serde_json::{Value, json};

/// The policies to start from, by name.
const PRESETS: [(&str, &str); 4] = [
    ("coding", include_str!("../../presets/coding.toml")),
    ("data", include_str!("../../presets/data.toml")),
    ("operations", include_str!("../../presets/operations.toml")),
    ("support", include_str!("../../presets/support.toml")),
];

/// The project in which the calls happen.
const ROOT: &str = "/srv/app";

/// One call, and the verdicts of which each is right.
struct Row {
    preset: &'static str,
    client: Option<String>,
    tool: String,
    arguments: Value,
    wanted: Vec<Verdict>,
}

impl Row {
    /// The call for people.
    fn shown(&self) -> String {
        format!("{} {}", self.tool, self.arguments)
    }
}

/// The rows of a list: the fields of each line that is not a comment.
fn lines(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")).map(|line| line.split('\t').collect())
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn verdicts(text: &str) -> Vec<Verdict> {
    text.split('/').map(|name| Verdict::ALL.into_iter().find(|verdict| verdict.name() == name).unwrap()).collect()
}

/// The preset of this name, with its static name.
fn preset(name: &str) -> &'static str {
    PRESETS.iter().find(|(own, _)| *own == name).unwrap().0
}

/// The call with which an agent runs a command.
fn command(agent: &str, command: Value) -> (Option<String>, &'static str, Value) {
    let (client, tool) = match agent {
        "codex" => ("codex", "shell"),
        "gemini-cli" => ("gemini-cli", "run_shell_command"),
        "opencode" => ("opencode", "bash"),
        "cursor" => ("cursor", "run_terminal_cmd"),
        "cline" => ("cline", "execute_command"),
        "goose" => ("goose", "developer__shell"),
        "sre" | "data-agent" => ("holdpoint", "execute_command"),
        _ => ("claude-code", "Bash"),
    };
    let mut arguments = json!({ "command": command });
    match client {
        "claude-code" | "opencode" => arguments["description"] = "Does what it says".into(),
        "cursor" => arguments["is_background"] = false.into(),
        "cline" => arguments["requires_approval"] = false.into(),
        _ => {}
    }
    (Some(client.to_owned()), tool, arguments)
}

fn command_row(agent: &str, policy: &str, text: &str, wanted: Vec<Verdict>) -> Row {
    let (client, tool, arguments) = command(agent, parse(text));
    Row { preset: preset(policy), client, tool: tool.to_owned(), arguments, wanted }
}

fn plain_row(policy: &str, tool: &str, arguments: Value, wanted: Vec<Verdict>) -> Row {
    Row { preset: preset(policy), client: None, tool: tool.to_owned(), arguments, wanted }
}

/// One call of the list of attempts. Any verdict other than `allow` is right.
fn attempt(fields: &[&str]) -> Row {
    let [kind, policy, text] = fields else { panic!("{fields:?}") };
    let wanted = vec![Verdict::Ask, Verdict::Deny];
    match kind.split_once(':') {
        Some(("sql", dialect)) => plain_row(policy, &format!("query_{dialect}"), json!({ "sql": parse(text) }), wanted),
        None if *kind == "command" => command_row("claude-code", policy, text, wanted),
        None if *kind == "address" => plain_row(policy, "fetch_url", json!({ "url": parse(text) }), wanted),
        _ => {
            let call = parse(text);
            let client = call["client"].as_str().map(str::to_owned);
            let tool = call["tool"].as_str().unwrap().to_owned();
            Row { preset: preset(policy), client, tool, arguments: call["arguments"].clone(), wanted }
        }
    }
}

/// Judges rows, and returns those that are stricter and those that are looser than wanted, as texts.
fn judge(rows: &[Row]) -> (Vec<String>, Vec<String>) {
    let policies: BTreeMap<&str, Policy> =
        PRESETS.iter().map(|(name, text)| (*name, Policy::load(name, text).unwrap())).collect();
    let (mut stricter, mut looser) = (Vec::new(), Vec::new());
    for row in rows {
        let call = PolicyInput {
            tool: &row.tool,
            arguments: &row.arguments,
            agent: Some("bot"),
            user: "ann",
            role: Role::Agent,
            client: row.client.as_deref(),
            root: Some(ROOT),
        };
        let ruling = policies[row.preset].judge(&call).ruling;
        if row.wanted.contains(&ruling.verdict) {
            continue;
        }
        let rule = ruling.rule.as_deref().unwrap_or("-");
        let wanted: Vec<&str> = row.wanted.iter().map(|verdict| verdict.name()).collect();
        let shown = format!(
            "{} {}, wanted {}: {} | {rule}: {}",
            row.preset,
            ruling.verdict.name(),
            wanted.join("/"),
            row.shown(),
            ruling.reason
        );
        let weakest = row.wanted.iter().min().unwrap();
        if ruling.verdict < *weakest { looser.push(shown) } else { stricter.push(shown) }
    }
    (stricter, looser)
}

/// Fails if less than 90 % is as wanted, or anything is allowed that should be asked about or denied.
fn check(least: usize, rows: &[Row]) {
    assert!(rows.len() >= least, "{} rows", rows.len());
    let (stricter, looser) = judge(rows);
    for miss in stricter.iter().chain(&looser) {
        eprintln!("{miss}");
    }
    let wrong = stricter.len() + looser.len();
    eprintln!("{} of {} as wanted", rows.len() - wrong, rows.len());
    let allowed: Vec<&String> = looser.iter().filter(|miss| miss.contains(" allow, wanted ")).collect();
    assert!(allowed.is_empty(), "allowed: {allowed:#?}");
    assert!(wrong * 10 <= rows.len(), "{wrong} of {} are not as wanted", rows.len());
}

#[test]
fn everyday_commands_are_as_a_careful_engineer_wants() {
    let rows: Vec<Row> = lines(include_str!("everyday/commands.tsv"))
        .map(|fields| {
            let [agent, policy, wanted, text] = fields[..] else { panic!("{fields:?}") };
            command_row(agent, policy, text, verdicts(wanted))
        })
        .collect();
    check(620, &rows);
}

#[test]
fn everyday_edits_are_as_a_careful_engineer_wants() {
    let rows: Vec<Row> = lines(include_str!("everyday/edits.tsv"))
        .map(|fields| {
            let [client, tool, arguments, wanted] = fields[..] else { panic!("{fields:?}") };
            let (client, tool) = (Some(client.to_owned()), tool.to_owned());
            Row { preset: "coding", client, tool, arguments: parse(arguments), wanted: verdicts(wanted) }
        })
        .collect();
    check(160, &rows);
}

#[test]
fn everyday_sql_is_as_a_careful_engineer_wants() {
    let rows: Vec<Row> = lines(include_str!("everyday/sql.tsv"))
        .map(|fields| {
            let [dialect, wanted, text] = fields[..] else { panic!("{fields:?}") };
            plain_row("data", &format!("query_{dialect}"), json!({ "sql": parse(text) }), verdicts(wanted))
        })
        .collect();
    check(110, &rows);
}

#[test]
fn everyday_addresses_are_as_a_careful_engineer_wants() {
    let rows: Vec<Row> = lines(include_str!("everyday/addresses.tsv"))
        .map(|fields| {
            let [policy, wanted, text] = fields[..] else { panic!("{fields:?}") };
            plain_row(policy, "fetch_url", json!({ "url": parse(text) }), verdicts(wanted))
        })
        .collect();
    check(65, &rows);
}

#[test]
fn no_attempt_to_get_round_is_allowed() {
    let rows: Vec<Row> = lines(include_str!("everyday/evasions.tsv")).map(|fields| attempt(&fields)).collect();
    assert!(rows.len() >= 1_600, "{} rows", rows.len());
    let (_, looser) = judge(&rows);
    assert!(looser.is_empty(), "{} allowed: {looser:#?}", looser.len());
}

#[test]
fn the_demo_asks_about_its_writes_and_its_command() {
    let policy = Policy::load("coding", PRESETS[0].1).unwrap();
    let ask = |agent, tool, arguments: Value| {
        let call = PolicyInput {
            tool,
            arguments: &arguments,
            agent: Some(agent),
            user: "ann",
            role: Role::Agent,
            client: None,
            root: None,
        };
        policy.judge(&call).ruling.verdict
    };
    let write = json!({ "path": "VERSION", "content": "1.5.0\n" });
    assert_eq!(ask("guide", "write_file", write.clone()), Verdict::Ask);
    assert_eq!(ask("scribe", "write_file", write.clone()), Verdict::Ask);
    assert_eq!(ask("guide", "execute_command", json!({ "command": "sh release.sh" })), Verdict::Ask);
    assert_eq!(ask("bot", "execute_command", json!({ "command": "sh release.sh" })), Verdict::Ask);
    assert_eq!(ask("guide", "list_files", json!({})), Verdict::Allow);
    assert_eq!(ask("guide", "read_file", json!({ "path": "CHANGELOG.md" })), Verdict::Allow);
    assert_eq!(ask("bot", "write_file", write), Verdict::Allow);
}
