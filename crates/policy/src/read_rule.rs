//! Reads one `[[rule]]` of the file.

use std::sync::Arc;

use domain::{Role, Verdict};

use crate::{
    Exact, Pattern, Rule,
    condition::Condition,
    document::{Located, Table, listed},
    example::{self, Example},
    finding::Findings,
    load::verdict,
    read_ask, read_patterns,
};

/// A rule with the positions of its parts and its examples.
pub(crate) struct ReadRule {
    pub(crate) rule: Rule,
    pub(crate) places: RulePositions,
    pub(crate) examples: Vec<Example>,
}

/// Positions of the parts of a rule in the file, in bytes.
#[derive(Debug, Clone)]
pub(crate) struct RulePositions {
    pub(crate) rule: usize,
    pub(crate) name: usize,
    pub(crate) tools: Vec<usize>,
    pub(crate) when: usize,
    pub(crate) arguments: usize,
}

const KEYS: [&str; 18] = [
    "name",
    "tools",
    "agents",
    "users",
    "roles",
    "arguments",
    "commands",
    "writes",
    "paths",
    "hosts",
    "tables",
    "env",
    "in",
    "when",
    "verdict",
    "reason",
    "ask",
    "example",
];

/// Reads one rule. `regexes` is the number of patterns of `matches` that are left for the file. Returns `None` if too little of the rule
/// could be read; the errors are in the findings.
pub(crate) fn read(table: &Table<'_>, regexes: &mut usize, findings: &mut Findings<'_>) -> Option<ReadRule> {
    table.only(&KEYS, findings);
    let name = table.required("name", findings);
    if let Some(name) = &name {
        check_line(name, "name", findings);
    }
    if !table.has("tools") {
        findings.error(table.at, "missing_key", "a rule needs `tools`; `[\"*\"]` is every tool");
    }
    let tools = patterns(table, "tools", findings);
    let agents = patterns(table, "agents", findings);
    let users = patterns(table, "users", findings);
    let roles = read_roles(table, findings);
    let arguments = table.table("arguments", "`arguments`", findings).and_then(|it| it.to_json(findings));
    let reason = table.text("reason", findings);
    if let Some(reason) = &reason {
        check_line(reason, "reason", findings);
    }
    let verdict = table.required("verdict", findings).and_then(|text| verdict(&text, "verdict", findings));
    let (when, refused) = read_when(table, verdict, regexes, findings);
    let patterns = read_patterns::read(table, verdict, findings);
    let ask = table.table("ask", "`ask`", findings).map(|ask| {
        if verdict.is_some_and(|verdict| verdict != Verdict::Ask) {
            findings.error(ask.at, "ask_unused", "`ask` is only for rules with the verdict `ask`");
        }
        Arc::new(read_ask::read(&ask, findings))
    });
    let examples = example::read(table, findings);
    let (name, tools) = (name?, tools?);
    let places = RulePositions {
        rule: table.at,
        name: name.at,
        tools: tools.it.iter().map(|pattern| pattern.at).collect(),
        when: table.place("when"),
        arguments: table.place("arguments"),
    };
    let rule = Rule {
        name: name.it.to_owned(),
        tools: bare(tools),
        agents: agents.map(bare),
        users: users.map(bare),
        roles,
        arguments: arguments.map(Exact::new),
        when,
        patterns,
        disarmed: refused && verdict == Some(Verdict::Allow),
        verdict: verdict?,
        reason: reason.map_or_else(|| format!("Rule `{}` matches.", name.it), |reason| reason.it.to_owned()),
        ask,
        line: findings.line(table.at),
    };
    Some(ReadRule { rule, places, examples })
}

fn bare(patterns: Located<Vec<Located<Pattern>>>) -> Vec<Pattern> {
    patterns.it.into_iter().map(|pattern| pattern.it).collect()
}

/// Checks a text that people read in one line, by the rules for the questions of agents.
fn check_line(text: &Located<&str>, key: &str, findings: &mut Findings<'_>) {
    let mut problems = Vec::new();
    domain::text::check_line("", text.it, &mut problems);
    for problem in problems {
        findings.error(text.at, "unfit_text", format!("`{key}` {}", problem.message));
    }
}

fn patterns(table: &Table<'_>, key: &str, findings: &mut Findings<'_>) -> Option<Located<Vec<Located<Pattern>>>> {
    let texts = table.texts(key, findings)?;
    if texts.it.is_empty() {
        findings.error(texts.at, "never_matches", format!("`{key}` is empty, so that this rule matches nothing"));
    }
    let mut patterns: Vec<Located<Pattern>> = Vec::with_capacity(texts.it.len());
    for text in &texts.it {
        match Pattern::new(text.it) {
            Ok(it) => patterns.push(Located { at: text.at, it }),
            Err(why) => findings.error(text.at, "wrong_pattern", format!("a pattern of `{key}` {why}")),
        }
    }
    Some(Located { at: texts.at, it: patterns })
}

fn read_roles(table: &Table<'_>, findings: &mut Findings<'_>) -> Option<Vec<Role>> {
    let texts = table.texts("roles", findings)?;
    if texts.it.is_empty() {
        findings.error(texts.at, "never_matches", "`roles` is empty, so that this rule matches nothing");
    }
    Some(texts.it.iter().filter_map(|text| role(text, findings)).collect())
}

/// The role of this name.
pub(crate) fn role(text: &Located<&str>, findings: &mut Findings<'_>) -> Option<Role> {
    let found = Role::ALL.into_iter().find(|role| role.name() == text.it);
    if found.is_none() {
        let names = listed(&Role::ALL.map(Role::name));
        findings.error(text.at, "unknown_role", format!("`{}` is not a role; the roles are {names}", text.it));
    }
    found
}

/// Reads the expression, and says whether the rule is refused because of it.
fn read_when(
    table: &Table<'_>,
    verdict: Option<Verdict>,
    regexes: &mut usize,
    findings: &mut Findings<'_>,
) -> (Option<Condition>, bool) {
    let Some(text) = table.text("when", findings) else { return (None, false) };
    // Patterns are counted before any is compiled. The word within a text counts too, so that the limit is only stricter.
    let Some(left) = regexes.checked_sub(text.it.matches("matches").count()) else {
        *regexes = 0;
        findings.error(text.at, "too_costly", "the file has too many patterns of `matches`; use `glob`");
        return (None, false);
    };
    *regexes = left;
    match Condition::new(text.it) {
        Ok((condition, remarks)) => {
            let mut refused = false;
            for remark in remarks.into_iter().filter(|remark| remark.is_about(verdict)) {
                if remark.refuses {
                    refused = true;
                    findings.refusal(text.at, remark.code, remark.message);
                } else {
                    findings.warning(text.at, remark.code, remark.message);
                }
            }
            (Some(condition), refused)
        }
        Err(refusal) => {
            findings.error(text.at, refusal.code, refusal.message);
            (None, false)
        }
    }
}
