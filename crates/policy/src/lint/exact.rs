//! Rules that name their arguments and match none of the calls that have them.

use domain::Role;

use crate::{
    Miss, Policy, PolicyInput, Rule,
    case::Case,
    finding::Findings,
    read_rule::Places,
    rule::{Exact, Fit},
};

/// How many tools of a rule are tried.
const MOST_TOOLS: usize = 4;
/// How many small steps the expressions may take together before later rules are left alone.
const MOST_STEPS: usize = 50_000;

/// Notes every rule whose other conditions contradict the arguments that it names, where that can be said without knowing the caller.
pub(super) fn lint(policy: &Policy, places: &[Places], findings: &mut Findings<'_>) {
    let mut steps = MOST_STEPS;
    for (rule, places) in policy.rules.iter().zip(places) {
        let Some(exact) = &rule.arguments else { continue };
        let Some(left) = steps.checked_sub(cost(rule, exact)) else { return };
        steps = left;
        if let Some(why) = contradiction(rule, exact) {
            findings.error(places.arguments, "never_matches", why);
        }
    }
}

/// Why no call with its arguments is matched by a rule.
fn contradiction(rule: &Rule, exact: &Exact) -> Option<String> {
    let told = rule.tools.len() <= MOST_TOOLS && rule.tools.iter().all(|tool| tool.is_exact());
    if !told || rule.when.as_ref().is_some_and(|when| when.looks_at_caller()) {
        return None;
    }
    let fits = rule.tools.iter().map(|tool| {
        let call =
            PolicyInput { tool: tool.as_str(), arguments: exact.value(), agent: None, user: "", role: Role::Agent };
        rule.fit_contents(&Case::new(&call))
    });
    let fits: Vec<Fit> = fits.collect();
    if fits.contains(&Fit::Matches) {
        return None;
    }
    fits.into_iter().next().map(|fit| match fit {
        Fit::Misses(Miss::Condition) => "`when` is false of these arguments".into(),
        Fit::Misses(miss) => format!("a call with these arguments is never matched: {miss}"),
        Fit::Fails(error) => format!("`when` always fails on these arguments: {error}"),
        Fit::Matches => String::new(),
    })
}

fn cost(rule: &Rule, exact: &Exact) -> usize {
    let size = exact.value().to_string().len() / 2;
    let once = rule.when.as_ref().map_or(1, |when| when.cost(size)).saturating_add(size / 8);
    once.saturating_mul(rule.tools.len().min(MOST_TOOLS))
}
