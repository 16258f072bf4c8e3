//! Explains how a ruling came about, rule by rule.

use domain::{Ruling, Verdict};
use serde::Serialize;
use serde_json::Value;

use crate::{Asking, Judgement, MismatchReason, Policy, PolicyInput, case::Case, rule::Fit};

/// The rules that were evaluated for one call, and the ruling.
#[derive(Debug, Clone, Serialize)]
pub struct Explanation {
    /// Every rule that was evaluated, in order, up to the one that decided.
    pub considered: Vec<ConsideredRule>,
    /// The facts that were parsed from the arguments.
    pub parsed: Value,
    /// The ruling, equal to that of [`Policy::judge`].
    pub ruling: Ruling,
    /// All reasons to ask, equal to those of [`Policy::judge`].
    #[serde(skip)]
    pub asks: Vec<Asking>,
}

/// One rule that was evaluated, and its result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConsideredRule {
    /// Name of the rule.
    pub rule: String,
    /// Line of the rule in the file.
    pub line: usize,
    /// Verdict of the rule.
    pub verdict: Verdict,
    /// The pattern in `tools` that matched, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The expression, if the rule has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// Whether the rule matched, and if not, the reason.
    #[serde(flatten)]
    pub fit: Fit,
}

impl Policy {
    /// Judges one call and gives the result of every rule that was evaluated.
    #[must_use]
    pub fn explain(&self, call: &PolicyInput<'_>) -> Explanation {
        self.explain_without(call, &[])
    }

    /// Like `explain`, but the rules of these names are suspended and match nothing.
    #[must_use]
    pub fn explain_without(&self, call: &PolicyInput<'_>, suspended: &[&str]) -> Explanation {
        self.explain_rules(call, suspended, &|| true).0
    }

    /// Like `explain_without`, but stops between rules and gives `None` once `wanted` is false: the caller has gone.
    #[must_use]
    pub fn explain_while(
        &self,
        call: &PolicyInput<'_>,
        suspended: &[&str],
        wanted: &dyn Fn() -> bool,
    ) -> Option<Explanation> {
        let (explanation, whole) = self.explain_rules(call, suspended, wanted);
        whole.then_some(explanation)
    }

    /// Returns the explanation, and whether every rule that had to be evaluated was evaluated.
    fn explain_rules(
        &self,
        call: &PolicyInput<'_>,
        suspended: &[&str],
        wanted: &dyn Fn() -> bool,
    ) -> (Explanation, bool) {
        let case = Case::new(call);
        let (mut considered, mut whole) = (Vec::new(), true);
        let rules = self.rules.iter().take_while(|_| {
            whole = wanted();
            whole
        });
        let fits = rules.map(|rule| {
            let silent = suspended.contains(&rule.name.as_str());
            let fit = if silent {
                Fit::Misses(MismatchReason::Suspended)
            } else {
                self.effective_fit(&case, rule, rule.fit(&case))
            };
            let pattern = rule.tools.iter().find(|pattern| pattern.matches(call.tool));
            considered.push(ConsideredRule {
                rule: rule.name.clone(),
                line: rule.line,
                verdict: rule.verdict,
                pattern: pattern.map(ToString::to_string),
                when: rule.when.as_ref().map(|when| when.source().to_owned()),
                fit: fit.clone(),
            });
            (rule, fit)
        });
        let Judgement { ruling, asks, .. } = self.settle(&case, fits);
        (Explanation { considered, parsed: case.facts().clone(), ruling, asks }, whole)
    }
}
