//! Explains how a ruling came about, rule by rule.

use domain::{Ruling, Verdict};
use serde::Serialize;
use serde_json::Value;

use crate::{
    Asking, Judgement, MismatchReason, PartRuling, Policy, PolicyInput, Rule,
    fit_parts::{CallView, PartFit},
    parts::Parts,
    rule::Fit,
};

/// The rules that were evaluated for one call, and the ruling.
#[derive(Debug, Clone, Serialize)]
pub struct Explanation {
    /// Every rule that was evaluated, in order, up to the one that decided.
    pub considered: Vec<ConsideredRule>,
    /// The facts that were parsed from the arguments.
    pub parsed: Value,
    /// The ruling on each part of the call, equal to those of [`Policy::judge`].
    pub parts: Vec<PartRuling>,
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
    /// Whether a rule with patterns matched each part that no earlier rule had decided.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<ConsideredPart>,
}

/// Result of the check of a rule against one part of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConsideredPart {
    /// Number of the part in [`Explanation::parts`].
    pub part: usize,
    /// Whether the rule matched it, and if not, the first term that is false.
    #[serde(flatten)]
    pub fit: PartFit,
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
        let case = self.case(call);
        let (mut considered, mut whole) = (Vec::new(), true);
        let by_parts = self.rules.iter().any(|rule| rule.patterns.is_some() && rule.is_about(call.tool));
        let rules = self.rules.iter().take_while(|_| {
            whole = wanted();
            whole
        });
        let fits = rules.map(|rule| {
            let silent = suspended.contains(&rule.name.as_str());
            let fit = match rule.is_about(call.tool) {
                _ if silent => Fit::Misses(MismatchReason::Suspended),
                false => Fit::Misses(MismatchReason::Tool),
                true => self.effective_fit(&case, rule, rule.fit_beyond_tool(&case)),
            };
            (rule, fit)
        });
        let judgement = if by_parts {
            let parts = Parts::of(case.parsed(), call.root);
            let view = CallView { case: &case, parts: &parts };
            self.settle_parts(&view, fits, &mut |rule, rest, fits| {
                considered.push(considered_rule(call, rule, rest, fits));
            })
        } else {
            let noted = fits.inspect(|(rule, fit)| considered.push(considered_rule(call, rule, fit, Vec::new())));
            self.settle(&case, noted)
        };
        let Judgement { ruling, asks, parts, .. } = judgement;
        (Explanation { considered, parsed: case.facts().clone(), parts, ruling, asks }, whole)
    }
}

/// One rule with its results.
fn considered_rule(call: &PolicyInput<'_>, rule: &Rule, rest: &Fit, fits: Vec<(usize, PartFit)>) -> ConsideredRule {
    let pattern = rule.tools.iter().find(|pattern| pattern.matches(call.tool));
    let by_parts = rule.patterns.is_some() && !matches!(rest, Fit::Misses(_));
    let failed = fits.iter().find_map(|(_, fit)| if let PartFit::Fails(error) = fit { Some(error) } else { None });
    let fit = match failed {
        _ if !by_parts => rest.clone(),
        _ if fits.iter().any(|(_, fit)| *fit == PartFit::Matches) => Fit::Matches,
        Some(error) => Fit::Fails(error.clone()),
        None => Fit::Misses(MismatchReason::Patterns),
    };
    let parts = fits.into_iter().filter(|_| by_parts).map(|(part, fit)| ConsideredPart { part, fit }).collect();
    ConsideredRule {
        rule: rule.name.clone(),
        line: rule.line,
        verdict: rule.verdict,
        pattern: pattern.map(ToString::to_string),
        when: rule.when.as_ref().map(|when| when.source().to_owned()),
        fit,
        parts,
    }
}
