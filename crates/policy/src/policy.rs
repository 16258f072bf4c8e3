//! A policy: rules in order, of which the first that matches decides.

use std::collections::BTreeMap;

use domain::{Digest, Ruling, Verdict};
use serde::Serialize;
use serde_json::Value;

use crate::{
    AskCause, Asking, Finding, Judgement, MismatchReason, PolicyInput,
    case::Case,
    index::Index,
    load,
    rule::{Fit, Rule},
};

/// Text of the policy that is in force if nobody has written one.
const BUILTIN: &str = include_str!("builtin.toml");

/// Rules in order. A policy is immutable: a changed file is another policy with another version.
#[derive(Debug)]
pub struct Policy {
    pub(crate) text: String,
    pub(crate) version: String,
    /// Verdict if no rule matches. `allow` marks a floor, which then leaves the call to the policy of the project.
    pub(crate) default: Verdict,
    pub(crate) rules: Vec<Rule>,
    pub(crate) index: Index,
    pub(crate) tools: BTreeMap<String, ToolDeclaration>,
    pub(crate) warnings: Vec<Finding>,
}

/// Declaration of a tool in a policy file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolDeclaration {
    /// JSON Schema of its arguments. The `forms` crate checks whether it compiles.
    pub schema: Option<Value>,
    /// The tool may be run again if it is not known whether it ran.
    pub idempotent: bool,
}

/// Largest number of further asking rules that the reason of a ruling names.
const MOST_NAMED: usize = 10;

/// A rule that could not be evaluated, so that a person has to decide about the call.
struct Failed<'p> {
    rule: &'p Rule,
    error: String,
}

impl Policy {
    /// The built-in policy: three reading tools are allowed; five writing tools and all other tools ask.
    #[must_use]
    pub fn builtin() -> Self {
        Self::load("builtin.toml", BUILTIN).unwrap_or_else(|_| Self::empty(BUILTIN))
    }

    /// Reads a policy. A policy with an error is refused as a whole, with all findings.
    pub fn load(file: &str, text: &str) -> Result<Self, Vec<Finding>> {
        load::load(file, text)
    }

    /// A policy without rules, under which every call asks.
    pub(crate) fn empty(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            version: Digest::of_bytes(text.as_bytes()).to_string(),
            default: Verdict::Ask,
            rules: Vec::new(),
            index: Index::default(),
            tools: BTreeMap::new(),
            warnings: Vec::new(),
        }
    }

    /// Reads the floor of a server: a policy that leaves a call which none of its rules match to the policy of the project. It has no `default` and
    /// declares no tools.
    pub fn load_floor(file: &str, text: &str) -> Result<Self, Vec<Finding>> {
        load::load_floor(file, text)
    }

    /// The text of the policy file.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The SHA-256 of the text, in hexadecimal.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Warnings for the author of the policy.
    #[must_use]
    pub fn warnings(&self) -> &[Finding] {
        &self.warnings
    }

    /// The rules, in order.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter()
    }

    /// The declaration of a tool, if the file has one.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&ToolDeclaration> {
        self.tools.get(name)
    }

    /// JSON Schema of a tool's arguments, if the file declares one.
    #[must_use]
    pub fn schema(&self, tool: &str) -> Option<&Value> {
        self.tool(tool)?.schema.as_ref()
    }

    /// Judges one call.
    #[must_use]
    pub fn judge(&self, call: &PolicyInput<'_>) -> Judgement {
        self.judge_without(call, &[])
    }

    /// Like `judge`, but the rules of these names are suspended and match nothing.
    #[must_use]
    pub fn judge_without(&self, call: &PolicyInput<'_>, suspended: &[&str]) -> Judgement {
        self.judge_rules(call, suspended, &|| true).0
    }

    /// Like `judge_without`, but stops between rules and gives `None` once `wanted` is false: the caller has gone.
    #[must_use]
    pub fn judge_while(
        &self,
        call: &PolicyInput<'_>,
        suspended: &[&str],
        wanted: &dyn Fn() -> bool,
    ) -> Option<Judgement> {
        let (judgement, whole) = self.judge_rules(call, suspended, wanted);
        whole.then_some(judgement)
    }

    /// Returns the judgement, and whether every rule that had to be evaluated was evaluated.
    fn judge_rules(&self, call: &PolicyInput<'_>, suspended: &[&str], wanted: &dyn Fn() -> bool) -> (Judgement, bool) {
        let mut whole = true;
        let case = Case::new(call);
        let rules = self.index.about(call.tool).into_iter().filter_map(|number| self.rules.get(number));
        let active = rules.filter(|rule| !suspended.contains(&rule.name.as_str())).take_while(|_| {
            whole = wanted();
            whole
        });
        let judgement =
            self.settle(&case, active.map(|rule| (rule, self.effective_fit(&case, rule, rule.fit_beyond_tool(&case)))));
        (judgement, whole)
    }

    /// Says whether this is the floor of a server.
    fn is_floor(&self) -> bool {
        self.default == Verdict::Allow
    }

    /// The fit that counts for a rule. In a policy no rule allows a call that cannot be parsed, so it is at least asked. A floor without a match
    /// leaves the call to the policy of the project. So a floor rule that asks or denies counts as failed if its condition is false of a call
    /// that cannot be parsed: the condition may not have seen the part that it is about.
    pub(crate) fn effective_fit(&self, case: &Case<'_>, rule: &Rule, fit: Fit) -> Fit {
        let blind = self.is_floor() && rule.verdict != Verdict::Allow && fit == Fit::Misses(MismatchReason::Condition);
        match case.parsed().first_failure().filter(|_| blind) {
            Some(it) => Fit::Fails(format!("its {} is not trusted: {}", it.what, it.reason)),
            None => fit,
        }
    }

    /// Goes through the rules until one matches.
    ///
    /// After a rule that fails the verdict is at least `ask`; only a later rule or a default that denies is stronger. Every asking rule that
    /// fails, and the rule or default that asks at the end, asks its own audience.
    pub(crate) fn settle<'p>(&'p self, case: &Case<'_>, fits: impl Iterator<Item = (&'p Rule, Fit)>) -> Judgement {
        let mut failed: Vec<Failed<'p>> = Vec::new();
        let mut matched = None;
        for (rule, fit) in fits {
            match fit {
                Fit::Misses(_) => {}
                Fit::Fails(error) => failed.push(Failed { rule, error }),
                Fit::Matches => {
                    matched = Some(rule);
                    break;
                }
            }
        }
        let rest = matched.map_or(self.default, |rule| rule.verdict);
        let mut judgement = match (failed.first(), matched) {
            (Some(first), matched) if rest <= Verdict::Ask => {
                let asks = self.asks(&failed, matched);
                let reason = held_because(first, &asks, &doubts(case));
                Judgement { asks, ..self.judgement(Verdict::Ask, Some(first.rule), reason) }
            }
            (_, Some(rule)) => self.judgement(rule.verdict, Some(rule), rule.reason.clone()),
            (_, None) => self.judgement(self.default, None, format!("No rule matches this call.{}", doubts(case))),
        };
        if judgement.ruling.verdict == Verdict::Ask {
            judgement.certain = failed.is_empty() && case.parsed().first_failure().is_none();
        }
        judgement
    }

    fn judgement(&self, verdict: Verdict, rule: Option<&Rule>, reason: String) -> Judgement {
        let ruling = Ruling {
            verdict,
            rule: rule.map(|rule| rule.name.clone()),
            reason,
            policy: self.version.clone(),
            floor: None,
        };
        let asks = if verdict == Verdict::Ask { self.asks(&[], rule) } else { Vec::new() };
        Judgement { ruling, asks, certain: true }
    }

    /// All reasons to ask about a call: the asking rules that could not be evaluated, then the rule that matches or
    /// the default.
    ///
    /// If no rule matches, the default asks too: otherwise an agent could have a call that the default asks about decided by the audience of
    /// a rule for other calls. A floor has no default. If an allowing rule matches and nothing else asks, the default audience decides.
    fn asks(&self, failed: &[Failed<'_>], matched: Option<&Rule>) -> Vec<Asking> {
        let asking = failed.iter().filter(|failed| failed.rule.verdict == Verdict::Ask);
        let mut asks: Vec<Asking> =
            asking.map(|Failed { rule, error }| Asking::by(rule, AskCause::Fails(error.clone()))).collect();
        match matched {
            Some(rule) if rule.verdict == Verdict::Ask => asks.push(Asking::by(rule, AskCause::Matches)),
            Some(_) if !asks.is_empty() => {}
            None if !asks.is_empty() && self.is_floor() => {}
            Some(_) | None => asks.push(Asking::by_default()),
        }
        asks
    }
}

/// The reason of a call that is asked because of a failed rule: the first such rule, and the other rules that ask.
fn held_because(first: &Failed<'_>, asks: &[Asking], doubts: &str) -> String {
    let Failed { rule, error } = first;
    let others: Vec<&str> =
        asks.iter().filter_map(|ask| ask.rule.as_deref()).filter(|name| *name != rule.name).collect();
    let mut named = others.iter().take(MOST_NAMED).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if others.len() > MOST_NAMED {
        named = format!("{named} and {} more", others.len() - MOST_NAMED);
    }
    let also = if others.is_empty() { String::new() } else { format!(" Rules that ask about it too: {named}.") };
    format!("Rule `{}` could not be evaluated: {error}.{doubts}{also}", rule.name)
}

/// A sentence about the part of a call that could not be parsed, to add to a reason. Empty if every part was parsed.
fn doubts(case: &Case<'_>) -> String {
    if let Some(it) = case.parsed().first_failure() {
        return format!(" Its {} is not trusted: {}.", it.what, it.reason);
    }
    // Arguments such as `to` and `source` may not be paths at all.
    let files = case.parsed().names_files();
    let unexamined = case.parsed().first_unexamined(|variable| files || variable != "path", |_| false);
    unexamined.map_or_else(String::new, |(argument, beside)| {
        let argument: String = argument.chars().filter(char::is_ascii_graphic).take(60).collect();
        format!(
            " It has `{argument}` beside its {beside}: a rule that allows the call by its {beside} must test that argument too."
        )
    })
}

#[cfg(test)]
mod tests {
    use domain::Role;
    use serde_json::json;

    use super::*;

    fn check(tool: &str, verdict: Verdict, rule: Option<&str>) {
        let arguments = json!({});
        let call = PolicyInput {
            tool,
            arguments: &arguments,
            agent: None,
            user: "ann",
            role: Role::Agent,
            client: None,
            root: None,
        };
        let ruling = Policy::builtin().judge(&call).ruling;
        assert_eq!((ruling.verdict, ruling.rule.as_deref()), (verdict, rule), "{tool}");
    }

    #[test]
    fn builtin_policy_allows_reading_and_asks_about_all_else() {
        for tool in ["read_file", "list_files", "search_files"] {
            check(tool, Verdict::Allow, Some("read-freely"));
        }
        for tool in ["write_file", "delete_file", "execute_command", "create_directory", "move_file"] {
            check(tool, Verdict::Ask, Some("ask-before-changing"));
        }
        for tool in ["read_file_unsafe", "Read_File", "read_fіle", "", "*", "launch"] {
            check(tool, Verdict::Ask, None);
        }
        assert_eq!(Policy::builtin().warnings(), []);
    }
}
