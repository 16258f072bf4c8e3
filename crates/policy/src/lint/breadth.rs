//! Lint for allowing rules with wildcards that match more tools than the examples of the rule show.

use std::collections::{BTreeMap, BTreeSet};

use domain::Verdict;

use crate::{Policy, example::Example, finding::Findings, read_rule::RulePositions};

/// Warns about a wildcard in an allowing rule whose examples show fewer than two tools: one tool can be named without a wildcard.
pub(super) fn lint(policy: &Policy, places: &[RulePositions], examples: &[Example], findings: &mut Findings<'_>) {
    let mut shown: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for example in examples.iter().filter(|example| example.shows_a_match()) {
        shown.entry(example.rule).or_default().insert(&example.tool);
    }
    for (number, (rule, places)) in policy.rules.iter().zip(places).enumerate() {
        // A rule with patterns allows what they cover, whatever the tool.
        if rule.verdict != Verdict::Allow || rule.patterns.is_some() {
            continue;
        }
        let tools = shown.get(&number);
        for (pattern, at) in rule.tools.iter().zip(&places.tools) {
            if pattern.is_everything() {
                let message = format!("rule `{}` allows every tool, including tools that do not exist yet", rule.name);
                findings.warning(*at, "allows_everything", message);
            } else if !pattern.is_exact() {
                let mut fitting = tools.into_iter().flatten().filter(|tool| pattern.matches(tool));
                let message = match (fitting.next(), fitting.next()) {
                    (_, Some(_)) => continue,
                    (Some(one), None) => {
                        format!("`{pattern}` allows every tool of that form, and its examples show `{one}` alone")
                    }
                    (None, None) => format!("`{pattern}` allows every tool of that form, and no example shows one"),
                };
                findings.warning(*at, "wildcard_broader_than_examples", message);
            }
        }
    }
}
