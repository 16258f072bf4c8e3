//! A policy: rules in order, of which the first that matches decides.

use std::collections::BTreeMap;

use domain::{Digest, Verdict};
use serde::Serialize;
use serde_json::Value;
use tool_facts::{Catalogue, Declaration};

use crate::{
    Finding, Judgement, MismatchReason, PolicyInput,
    case::Case,
    fit_parts::CallView,
    index::Index,
    load,
    parts::Parts,
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
    /// What its arguments are, if the file says so.
    #[serde(skip)]
    pub declared: Option<Declaration>,
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

    /// Reads a policy that is in force, and that an earlier version of this program accepted. A rule that this version refuses because it allows
    /// more than it says is kept and matches nothing; the finding is among the warnings. Any other error refuses the policy.
    pub fn load_stored(file: &str, text: &str) -> Result<Self, Vec<Finding>> {
        load::load_stored(file, text)
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

    /// Reads a floor that is in force, and that an earlier version of this program accepted. Rules that this version refuses are kept, as by
    /// [`Policy::load_stored`].
    pub fn load_stored_floor(file: &str, text: &str) -> Result<Self, Vec<Finding>> {
        load::load_stored_floor(file, text)
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
        let case = self.case(call);
        let about = self.index.about(call.tool);
        let rules = about.iter().filter_map(|number| self.rules.get(*number));
        let by_parts = rules.clone().any(|rule| rule.patterns.is_some());
        let active = rules.filter(|rule| !suspended.contains(&rule.name.as_str())).take_while(|_| {
            whole = wanted();
            whole
        });
        let fits = active.map(|rule| (rule, self.effective_fit(&case, rule, rule.fit_beyond_tool(&case))));
        let judgement = if by_parts {
            let parts = Parts::of(case.parsed(), call.root);
            self.settle_parts(&CallView { case: &case, parts: &parts }, fits, &mut |_, _, _| {})
        } else {
            self.settle(&case, fits)
        };
        (judgement, whole)
    }

    /// The call with the declaration of its tool: that of the policy, or that of the catalogue for the client of the key.
    pub(crate) fn case<'a>(&'a self, call: &'a PolicyInput<'a>) -> Case<'a> {
        let own = self.tools.get(call.tool).and_then(|tool| tool.declared.as_ref());
        Case::declared(call, own.or_else(|| Catalogue::tool(call.client?, call.tool)))
    }

    /// Says whether this is the floor of a server.
    pub(crate) fn is_floor(&self) -> bool {
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
