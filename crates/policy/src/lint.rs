//! Lints: warnings and errors about parts of a policy that are probably mistakes.

mod breadth;
mod exact;
mod shadow;

use crate::{Policy, example::Example, finding::Findings, read_rule::RulePositions};

/// Adds the findings of all lints on a policy.
pub(crate) fn lint(policy: &Policy, places: &[RulePositions], examples: &[Example], findings: &mut Findings<'_>) {
    breadth::lint(policy, places, examples, findings);
    shadow::lint(policy, places, findings);
    exact::lint(policy, places, findings);
    for (rule, places) in policy.rules.iter().zip(places) {
        match rule.when.as_ref().and_then(|when| when.constant()) {
            Some(Ok(true)) => {
                findings.warning(places.when, "always_true", "`when` is true for every call; leave it out");
            }
            Some(Ok(false)) => findings.error(places.when, "never_matches", "`when` is false for every call"),
            Some(Err(error)) => findings.error(places.when, "never_matches", format!("`when` always fails: {error}")),
            None => {}
        }
        for tool in rule.when.iter().flat_map(|when| when.tools()).filter(|tool| !rule.is_about(tool)) {
            let message = format!("`tool` is never `{tool}` here, as none of the rule's `tools` is");
            findings.warning(places.when, "never_true", message);
        }
    }
}
