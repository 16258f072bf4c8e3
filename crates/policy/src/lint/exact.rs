//! Lint for rules with exact arguments whose other conditions are false for these arguments.

use domain::Role;

use crate::{
    MismatchReason, Policy, PolicyInput, Rule,
    finding::Findings,
    read_rule::RulePositions,
    rule::{Exact, Fit},
};

/// Largest number of tools of a rule that are tried.
const MOST_TOOLS: usize = 4;
/// Number of steps that all expressions together may take; later rules are not checked.
const MOST_STEPS: usize = 50_000;

/// Adds an error for every rule whose other conditions contradict its exact arguments, if that does not depend on the caller.
pub(super) fn lint(policy: &Policy, places: &[RulePositions], findings: &mut Findings<'_>) {
    let mut steps = MOST_STEPS;
    for (rule, places) in policy.rules.iter().zip(places) {
        let Some(exact) = &rule.arguments else { continue };
        let Some(left) = steps.checked_sub(cost(rule, exact)) else { return };
        steps = left;
        if let Some(why) = contradiction(policy, rule, exact) {
            findings.error(places.arguments, "never_matches", why);
        }
    }
}

/// The reason why a rule matches no call with its exact arguments, if there is one.
fn contradiction(policy: &Policy, rule: &Rule, exact: &Exact) -> Option<String> {
    let told = rule.tools.len() <= MOST_TOOLS && rule.tools.iter().all(|tool| tool.is_exact());
    if !told || rule.when.as_ref().is_some_and(|when| when.looks_at_caller()) {
        return None;
    }
    let fits = rule.tools.iter().map(|tool| {
        let call = PolicyInput {
            tool: tool.as_str(),
            arguments: exact.value(),
            agent: None,
            user: "",
            role: Role::Agent,
            client: None,
            root: None,
        };
        let case = policy.case(&call);
        rule.fit_all(&case, rule.fit_contents(&case))
    });
    let fits: Vec<Fit> = fits.collect();
    if fits.contains(&Fit::Matches) {
        return None;
    }
    fits.into_iter().next().map(|fit| match fit {
        Fit::Misses(MismatchReason::Condition) => "`when` is false for these arguments".into(),
        Fit::Misses(miss) => format!("a call with these arguments is never matched: {miss}"),
        Fit::Fails(error) => format!("`when` always fails on these arguments: {error}"),
        Fit::Matches => String::new(),
    })
}

fn cost(rule: &Rule, exact: &Exact) -> usize {
    let size = exact.value().to_string().len() / 2;
    let cost_per_tool = rule.when.as_ref().map_or(1, |when| when.cost(size)).saturating_add(size / 8);
    cost_per_tool.saturating_mul(rule.tools.len().min(MOST_TOOLS))
}
