//! Tests one realistic policy with calls that try to get round its rules. The policy is in `policy.toml`, the calls are in `actions.txt`.

use domain::{Role, Verdict};
use holdpoint_policy::{Policy, PolicyInput};
use serde_json::Value;

const POLICY: &str = include_str!("policy.toml");
const ACTIONS: &str = include_str!("actions.txt");

/// One row of `actions.txt`.
struct Row<'a> {
    line: usize,
    tool: &'a str,
    agent: &'a str,
    arguments: Value,
    verdict: &'a str,
    /// Name of the rule, `-` for the default, `*` where only the verdict is checked.
    rule: &'a str,
}

fn rows() -> Vec<Row<'static>> {
    let lines = ACTIONS.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines.map(|(number, line)| row(number + 1, line)).collect()
}

fn row(line: usize, text: &'static str) -> Row<'static> {
    let mut ends = text.rsplitn(3, " | ");
    let (rule, verdict, start) = (ends.next().unwrap(), ends.next().unwrap(), ends.next().unwrap());
    let (tool, arguments) = start.split_once(" | ").unwrap();
    let (tool, agent) = tool.split_once(" as ").unwrap_or((tool, "ci-7"));
    let arguments = serde_json::from_str(arguments).unwrap_or_else(|error| panic!("line {line}: {error}"));
    Row { line, tool, agent, arguments, verdict, rule }
}

fn policy() -> Policy {
    Policy::load("policy.toml", POLICY).unwrap_or_else(|findings| {
        panic!("{}", findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    })
}

#[test]
fn every_action_gets_the_ruling_of_the_table() {
    let policy = policy();
    let mut wrong = Vec::new();
    for row in rows() {
        let call = PolicyInput {
            tool: row.tool,
            arguments: &row.arguments,
            agent: Some(row.agent),
            user: "ann",
            role: Role::Agent,
            client: None,
            root: None,
        };
        let ruling = policy.judge(&call).ruling;
        assert_eq!(policy.explain(&call).ruling, ruling);
        let rule = ruling.rule.as_deref().unwrap_or("-");
        if ruling.verdict.name() != row.verdict || (row.rule != "*" && rule != row.rule) {
            let Row { line, tool, arguments, verdict, .. } = row;
            let given = ruling.verdict.name();
            wrong.push(format!(
                "{line}: {tool} {arguments}\n  wanted {verdict} by {}, got {given} by {rule}: {}",
                row.rule, ruling.reason
            ));
        }
    }
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn table_covers_every_rule_and_verdict() {
    let rows = rows();
    assert!(rows.len() >= 150, "{} rows", rows.len());
    for rule in policy().rules() {
        assert!(rows.iter().any(|row| row.rule == rule.name), "no row is ruled on by `{}`", rule.name);
    }
    for verdict in Verdict::ALL {
        assert!(rows.iter().filter(|row| row.verdict == verdict.name()).count() >= 30, "few rows with {verdict:?}");
    }
}

#[test]
fn policy_of_the_table_has_no_warnings() {
    assert_eq!(policy().warnings(), []);
}
