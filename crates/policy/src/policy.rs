//! A policy: rules in order, of which the first that matches speaks.

use std::collections::BTreeMap;

use domain::{Digest, Ruling, Verdict};
use serde::Serialize;
use serde_json::Value;

use crate::{
    Asking, Because, Finding, Judgement, Miss, PolicyInput,
    case::Case,
    index::Index,
    load,
    rule::{Fit, Rule},
};

/// The text of the policy that holds where nobody has written one.
const BUILTIN: &str = include_str!("builtin.toml");

/// Rules in order. Immutable: a changed file is another policy with another version.
#[derive(Debug)]
pub struct Policy {
    pub(crate) text: String,
    pub(crate) version: String,
    /// What is said where no rule matches. Only a floor allows here, which means that it has no opinion.
    pub(crate) default: Verdict,
    pub(crate) rules: Vec<Rule>,
    pub(crate) index: Index,
    pub(crate) tools: BTreeMap<String, Tool>,
    pub(crate) warnings: Vec<Finding>,
}

/// What a policy file declares about a tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tool {
    /// JSON Schema of its arguments. Whether it can be compiled is for the `forms` crate to say.
    pub schema: Option<Value>,
    /// Whether it may be run again when nobody knows whether it ran.
    pub idempotent: bool,
}

/// How many further rules that ask are named in the reason of a ruling.
const MOST_NAMED: usize = 10;

/// A rule that could not be evaluated, and so holds the call.
struct Failed<'p> {
    rule: &'p Rule,
    error: String,
}

impl Policy {
    /// What holds out of the box: three reading tools run, five writing tools ask, and so does every other.
    #[must_use]
    pub fn builtin() -> Self {
        Self::load("builtin.toml", BUILTIN).unwrap_or_else(|_| Self::empty(BUILTIN))
    }

    /// Reads a policy. One with an error in it is refused whole, with every finding.
    pub fn load(file: &str, text: &str) -> Result<Self, Vec<Finding>> {
        load::load(file, text)
    }

    /// A policy without rules, under which everything asks.
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

    /// Reads the floor of a server: a policy that leaves what none of its rules match to the policy of the project. It has no `default`, and
    /// declares no tools.
    pub fn load_floor(file: &str, text: &str) -> Result<Self, Vec<Finding>> {
        load::load_floor(file, text)
    }

    /// The text that it was read from.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The SHA-256 of the text, in hexadecimal.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// What its author should look at again.
    #[must_use]
    pub fn warnings(&self) -> &[Finding] {
        &self.warnings
    }

    /// Its rules, in order.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter()
    }

    /// What is said where no rule matches: `ask` or `deny`, and of a floor `allow`.
    #[must_use]
    pub const fn default_verdict(&self) -> Verdict {
        self.default
    }

    /// What the file declares about a tool.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name)
    }

    /// The schema of a tool's arguments, where the file declares one.
    #[must_use]
    pub fn schema(&self, tool: &str) -> Option<&Value> {
        self.tool(tool)?.schema.as_ref()
    }

    /// Rules on one call.
    #[must_use]
    pub fn judge(&self, call: &PolicyInput<'_>) -> Judgement {
        self.judge_without(call, &[])
    }

    /// The same where the rules of these names are suspended, and match nothing.
    #[must_use]
    pub fn judge_without(&self, call: &PolicyInput<'_>, suspended: &[&str]) -> Judgement {
        self.judged(call, suspended, &|| true).0
    }

    /// The same as long as somebody waits for it, which is looked at before each rule. None once nobody does.
    #[must_use]
    pub fn judge_while(
        &self,
        call: &PolicyInput<'_>,
        suspended: &[&str],
        wanted: &dyn Fn() -> bool,
    ) -> Option<Judgement> {
        let (judgement, whole) = self.judged(call, suspended, wanted);
        whole.then_some(judgement)
    }

    /// What came out, and whether every rule was looked at that had to be.
    fn judged(&self, call: &PolicyInput<'_>, suspended: &[&str], wanted: &dyn Fn() -> bool) -> (Judgement, bool) {
        let mut whole = true;
        let case = Case::new(call);
        let rules = self.index.about(call.tool).into_iter().filter_map(|number| self.rules.get(number));
        let heard = rules.filter(|rule| !suspended.contains(&rule.name.as_str())).take_while(|_| {
            whole = wanted();
            whole
        });
        let judgement =
            self.settle(&case, heard.map(|rule| (rule, self.heard(&case, rule, rule.fit_beyond_tool(&case)))));
        (judgement, whole)
    }

    /// Whether it is the floor of a server.
    fn is_floor(&self) -> bool {
        self.default == Verdict::Allow
    }

    /// What counts as the answer of a rule. In a policy, what cannot be parsed is allowed by nothing and so at least asked. A floor that is silent
    /// leaves the call to others: a rule of it that would ask or deny, and finds its condition false of a call that cannot be parsed, may have been
    /// kept from seeing what it is about, and counts as failed.
    pub(crate) fn heard(&self, case: &Case<'_>, rule: &Rule, fit: Fit) -> Fit {
        let blind = self.is_floor() && rule.verdict != Verdict::Allow && fit == Fit::Misses(Miss::Condition);
        match case.parsed().failed().filter(|_| blind) {
            Some(it) => Fit::Fails(format!("its {} cannot be relied on: {}", it.what, it.reason)),
            None => fit,
        }
    }

    /// Goes through rules until one speaks.
    ///
    /// A rule that fails holds the call: from there on it is at least asked, and only a later rule that denies, or a default that
    /// does, outdoes that. Every rule that asks and fails, and whatever asks at the end, asks its own people.
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
                Judgement { asks, ..self.said(Verdict::Ask, Some(first.rule), reason) }
            }
            (_, Some(rule)) => self.said(rule.verdict, Some(rule), rule.reason.clone()),
            (_, None) => self.said(self.default, None, format!("No rule matches this call.{}", doubts(case))),
        };
        if judgement.ruling.verdict == Verdict::Ask {
            judgement.certain = failed.is_empty() && case.parsed().failed().is_none();
        }
        judgement
    }

    fn said(&self, verdict: Verdict, rule: Option<&Rule>, reason: String) -> Judgement {
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

    /// Everything that asks about a call: the rules that ask and could not be evaluated, and what speaks after them.
    ///
    /// Where no rule matches, the default asks too: otherwise an agent could have a call that the default asks about decided by the people of
    /// a rule that is about other calls. A floor has no default. Where a rule that allows matches and nothing asks, the usual people decide in its
    /// place.
    fn asks(&self, failed: &[Failed<'_>], matched: Option<&Rule>) -> Vec<Asking> {
        let asking = failed.iter().filter(|failed| failed.rule.verdict == Verdict::Ask);
        let mut asks: Vec<Asking> =
            asking.map(|Failed { rule, error }| Asking::by(rule, Because::Fails(error.clone()))).collect();
        match matched {
            Some(rule) if rule.verdict == Verdict::Ask => asks.push(Asking::by(rule, Because::Matches)),
            Some(_) if !asks.is_empty() => {}
            None if !asks.is_empty() && self.is_floor() => {}
            Some(_) | None => asks.push(Asking::by_default()),
        }
        asks
    }
}

/// Why a call is held: the first rule that could not be evaluated, and which other rules ask about it.
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

/// What could not be parsed of a call, as a sentence to add to a reason.
fn doubts(case: &Case<'_>) -> String {
    if let Some(it) = case.parsed().failed() {
        return format!(" Its {} cannot be relied on: {}.", it.what, it.reason);
    }
    // `to` and `source` may be no paths at all.
    let files = case.parsed().names_files();
    let stranger = case.parsed().overlooked(|variable| files || variable != "path", |_| false);
    stranger.map_or_else(String::new, |(argument, beside)| {
        let argument: String = argument.chars().filter(char::is_ascii_graphic).take(60).collect();
        format!(
            " It has `{argument}` beside its {beside}: a rule that allows it by its {beside} has to look at that too."
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
        let call = PolicyInput { tool, arguments: &arguments, agent: None, user: "ann", role: Role::Agent };
        let ruling = Policy::builtin().judge(&call).ruling;
        assert_eq!((ruling.verdict, ruling.rule.as_deref()), (verdict, rule), "{tool}");
    }

    #[test]
    fn out_of_the_box_reading_runs_writing_asks_and_so_does_the_unknown() {
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
