//! Why a call was ruled on as it was.

use domain::{Ruling, Verdict};
use serde::Serialize;
use serde_json::Value;

use crate::{Asking, Judgement, Miss, Policy, PolicyInput, case::Case, rule::Fit};

/// How one call went through the rules.
#[derive(Debug, Clone, Serialize)]
pub struct Explanation {
    /// Every rule that was looked at, in order, up to the one that spoke.
    pub considered: Vec<Considered>,
    /// What the parsers made of the arguments.
    pub parsed: Value,
    /// What came out: the same as [`Policy::judge`] gives.
    pub ruling: Ruling,
    /// Everything that asks: the same as [`Policy::judge`] gives.
    #[serde(skip)]
    pub asks: Vec<Asking>,
}

/// One rule, and what it made of the call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Considered {
    /// The rule's name.
    pub rule: String,
    /// Its line in the file.
    pub line: usize,
    /// What it would have said.
    pub verdict: Verdict,
    /// The pattern of its tools that matched, where one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The expression, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// Whether it matched, and if not, why.
    #[serde(flatten)]
    pub fit: Fit,
}

impl Policy {
    /// Rules on one call and says how that came about, rule by rule.
    #[must_use]
    pub fn explain(&self, call: &PolicyInput<'_>) -> Explanation {
        self.explain_without(call, &[])
    }

    /// The same where the rules of these names are suspended, and match nothing.
    #[must_use]
    pub fn explain_without(&self, call: &PolicyInput<'_>, suspended: &[&str]) -> Explanation {
        self.explained(call, suspended, &|| true).0
    }

    /// The same as long as somebody waits for it, which is looked at before each rule. None once nobody does.
    #[must_use]
    pub fn explain_while(
        &self,
        call: &PolicyInput<'_>,
        suspended: &[&str],
        wanted: &dyn Fn() -> bool,
    ) -> Option<Explanation> {
        let (explanation, whole) = self.explained(call, suspended, wanted);
        whole.then_some(explanation)
    }

    /// What came out, and whether every rule was looked at that had to be.
    fn explained(&self, call: &PolicyInput<'_>, suspended: &[&str], wanted: &dyn Fn() -> bool) -> (Explanation, bool) {
        let case = Case::new(call);
        let (mut considered, mut whole) = (Vec::new(), true);
        let heard = self.rules.iter().take_while(|_| {
            whole = wanted();
            whole
        });
        let fits = heard.map(|rule| {
            let silent = suspended.contains(&rule.name.as_str());
            let fit = if silent { Fit::Misses(Miss::Suspended) } else { self.heard(&case, rule, rule.fit(&case)) };
            let pattern = rule.tools.iter().find(|pattern| pattern.matches(call.tool));
            considered.push(Considered {
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
