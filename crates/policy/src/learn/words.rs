//! Writes a learnt rule in TOML.

use std::collections::BTreeSet;

use domain::{Digest, Role, Verdict};
use serde_json::Value;

use super::{Decided, Form, LEARNT_PREFIX, Names, Run};
use crate::{Pattern, Policy, Rule};

/// Number of hexadecimal digits of the digest in the name of a learnt rule.
const DIGITS: usize = 12;

/// The parts from which a rule is written.
pub(super) struct RuleWriter<'a> {
    pub(super) run: &'a Run,
    pub(super) names: &'a Names<'a>,
    pub(super) first: &'a Decided,
    pub(super) calls: Vec<&'a Decided>,
}

/// A rule in TOML.
pub(super) struct WrittenRule {
    pub(super) name: String,
    pub(super) text: String,
}

/// The content of a learnt rule, from which its name is derived. Equal rules have equal names.
pub(super) struct RuleContent<'a> {
    tools: Vec<&'a str>,
    agents: Vec<&'a str>,
    users: Vec<&'a str>,
    roles: &'a [Role],
    arguments: Option<&'a Value>,
    when: Option<&'a str>,
    verdict: Verdict,
}

impl<'a> RuleContent<'a> {
    /// The content of a rule of a file; `None` if no learnt rule has such content.
    pub(super) fn of(rule: &'a Rule) -> Option<Self> {
        if rule.patterns.is_some() {
            return None;
        }
        let names = |patterns: &'a [Pattern]| patterns.iter().map(Pattern::as_str).collect();
        Some(Self {
            tools: names(&rule.tools),
            agents: names(rule.agents.as_ref()?),
            users: names(rule.users.as_ref()?),
            roles: rule.roles.as_ref()?,
            arguments: rule.arguments.as_ref().map(|exact| exact.value()),
            when: rule.when.as_ref().map(|when| when.source()),
            verdict: rule.verdict,
        })
    }

    /// The content in TOML; `None` if TOML cannot express the arguments.
    fn toml(&self) -> Option<String> {
        let roles: Vec<&str> = self.roles.iter().map(|role| role.name()).collect();
        let mut what = format!(
            "tools = [{}]\nagents = [{}]\nusers = [{}]\nroles = [{}]\n",
            list(&self.tools),
            list(&self.agents),
            list(&self.users),
            list(&roles)
        );
        if let Some(arguments) = self.arguments {
            what.push_str(&format!("arguments = {}\n", toml(arguments)?));
        }
        if let Some(when) = self.when {
            what.push_str(&format!("when = {}\n", text(when)));
        }
        what.push_str(&format!("verdict = \"{}\"\n", self.verdict.name()));
        Some(what)
    }

    /// The name of a rule with this content.
    pub(super) fn name(&self) -> Option<String> {
        let digest = Digest::of_bytes(self.toml()?.as_bytes()).to_string();
        Some(format!("{LEARNT_PREFIX}{}", digest.get(..DIGITS)?))
    }
}

impl RuleWriter<'_> {
    /// The rule with its examples; `None` if TOML cannot express it.
    pub(super) fn rule(&self) -> Option<WrittenRule> {
        let Self { run, names, first, .. } = self;
        let when = match &run.form {
            Form::Exactly => None,
            Form::Command { program, subcommand, words } => Some(when(program, subcommand, words)),
        };
        let content = RuleContent {
            tools: vec![&first.tool],
            agents: vec![&first.agent],
            users: names.users.iter().copied().collect(),
            roles: &names.roles,
            arguments: when.is_none().then_some(&first.arguments),
            when: when.as_deref(),
            verdict: run.verdict,
        };
        let (what, name) = (content.toml()?, content.name()?);
        let done = if run.verdict == Verdict::Allow { "approved" } else { "rejected" };
        let reason = format!("People {done} this {} times in a row.", run.decisions.len());
        let mut text = format!("[[rule]]\nname = \"{name}\"\n{what}reason = \"{reason}\"\n");
        for call in &self.calls {
            text.push_str(&self.example(call)?);
        }
        Some(WrittenRule { name, text })
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

/// The text of a policy with a rule inserted before another, or at its end.
pub(super) fn with_rule(policy: &Policy, rule: &str, before: Option<&str>) -> String {
    let line = before.and_then(|name| policy.rules.iter().find(|rule| rule.name == name)).map(|rule| rule.line);
    let Some(line) = line else {
        let gap = if policy.text.ends_with('\n') { "\n" } else { "\n\n" };
        return format!("{}{gap}{rule}", policy.text);
    };
    let lines: Vec<&str> = policy.text.split_inclusive('\n').collect();
    let mut place = line.saturating_sub(1).min(lines.len());
    // Comments right above a rule belong to it.
    while place > 0 && lines.get(place - 1).is_some_and(|line| line.trim_start().starts_with('#')) {
        place -= 1;
    }
    let (above, below) = lines.split_at(place);
    format!("{}{rule}\n{}", above.concat(), below.concat())
}

/// A text in quotes. TOML and CEL read the escapes of JSON.
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
        // `5.0` and `5` are the same number, and get one spelling.
        Value::Number(number) => whole(number.as_f64()?).unwrap_or_else(|| number.to_string()),
        Value::Bool(_) | Value::String(_) => value.to_string(),
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

/// A double that is a whole number, written as one. Larger numbers than 2^53 are not exact.
fn whole(number: f64) -> Option<String> {
    const LAST: f64 = 9_007_199_254_740_992.0;
    (number.fract() == 0.0 && number.abs() < LAST).then(|| format!("{:.0}", number + 0.0))
}
