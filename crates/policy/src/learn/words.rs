//! A learnt rule in TOML.

use std::collections::BTreeSet;

use domain::{Digest, Verdict};
use serde_json::Value;

use super::{Decided, Form, LEARNT, Names, Run};
use crate::Policy;

/// How many signs of a digest make a name.
const DIGITS: usize = 12;

/// What a rule is written from.
pub(super) struct Words<'a> {
    pub(super) run: &'a Run,
    pub(super) names: &'a Names<'a>,
    pub(super) first: &'a Decided,
    pub(super) calls: Vec<&'a Decided>,
}

/// A rule as it is written.
pub(super) struct Written {
    pub(super) name: String,
    pub(super) text: String,
}

impl Words<'_> {
    /// The rule with its examples; none where TOML has no words for it.
    pub(super) fn rule(&self) -> Option<Written> {
        let Self { run, names, first, .. } = self;
        let roles: Vec<&str> = names.roles.iter().map(|role| role.name()).collect();
        let users: Vec<&str> = names.users.iter().copied().collect();
        let mut what = format!(
            "tools = [{}]\nagents = [{}]\nusers = [{}]\nroles = [{}]\n",
            text(&first.tool),
            text(&first.agent),
            list(&users),
            list(&roles)
        );
        what.push_str(&match &run.form {
            Form::Exactly => format!("arguments = {}\n", toml(&first.arguments)?),
            Form::Command { program, subcommand, words } => {
                format!("when = {}\n", text(&when(program, subcommand, words)))
            }
        });
        what.push_str(&format!("verdict = \"{}\"\n", run.verdict.name()));
        // What it says makes its name: the same rule is the same suggestion.
        let digest = Digest::of_bytes(what.as_bytes()).to_string();
        let name = format!("{LEARNT}{}", digest.get(..DIGITS)?);
        let done = if run.verdict == Verdict::Allow { "approved" } else { "rejected" };
        let reason = format!("People {done} this {} times in a row.", run.decisions.len());
        let mut text = format!("[[rule]]\nname = \"{name}\"\n{what}reason = \"{reason}\"\n");
        for call in &self.calls {
            text.push_str(&self.example(call)?);
        }
        Some(Written { name, text })
    }

    fn example(&self, call: &Decided) -> Option<String> {
        Some(format!(
            "\n[[rule.example]]\ntool = {}\nagent = {}\nuser = {}\nrole = \"{}\"\narguments = {}\nverdict = \"{}\"\n",
            text(&call.tool),
            text(&call.agent),
            text(&call.user),
            call.role.name(),
            toml(&call.arguments)?,
            self.run.verdict.name()
        ))
    }
}

fn when(program: &str, subcommand: &str, words: &BTreeSet<Vec<String>>) -> String {
    let in_order = |words: &Vec<String>| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        format!("shell.commands[0].words == [{}]", list(&words))
    };
    format!(
        "shell != null && shell.plain && shell.commands[0].program == {} && shell.commands[0].subcommand == {} && ({})",
        text(program),
        text(subcommand),
        words.iter().map(in_order).collect::<Vec<_>>().join(" || ")
    )
}

/// The policy with a rule in front of another, or at its end.
pub(super) fn inserted(policy: &Policy, rule: &str, before: Option<&str>) -> String {
    let line = before.and_then(|name| policy.rules.iter().find(|rule| rule.name == name)).map(|rule| rule.line);
    let Some(line) = line else {
        let gap = if policy.text.ends_with('\n') { "\n" } else { "\n\n" };
        return format!("{}{gap}{rule}", policy.text);
    };
    let lines: Vec<&str> = policy.text.split_inclusive('\n').collect();
    let mut place = line.saturating_sub(1).min(lines.len());
    // What is said right above a rule is about that rule.
    while place > 0 && lines.get(place - 1).is_some_and(|line| line.trim_start().starts_with('#')) {
        place -= 1;
    }
    let (above, below) = lines.split_at(place);
    format!("{}{rule}\n{}", above.concat(), below.concat())
}

/// A text between quotes. What JSON escapes, TOML and expressions read alike.
fn text(text: &str) -> String {
    Value::from(text).to_string()
}

fn list(texts: &[&str]) -> String {
    texts.iter().map(|it| text(it)).collect::<Vec<_>>().join(", ")
}

/// A value in TOML, which has no `null`.
fn toml(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
        Value::Array(items) => {
            let items: Option<Vec<String>> = items.iter().map(toml).collect();
            format!("[{}]", items?.join(", "))
        }
        Value::Object(fields) => {
            let fields: Option<Vec<String>> =
                fields.iter().map(|(name, value)| Some(format!("{} = {}", text(name), toml(value)?))).collect();
            format!("{{ {} }}", fields?.join(", "))
        }
    })
}
