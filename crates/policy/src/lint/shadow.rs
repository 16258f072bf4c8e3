//! Lint for rules that never match, because earlier rules match all of their calls.

use domain::Verdict;

use crate::{Pattern, Policy, Rule, finding::Findings, read_rule::RulePositions};

/// Largest number of pairs of patterns that are compared.
const MOST_PAIRS: usize = 250_000;

/// Adds a finding for every rule each of whose tools is covered by an earlier rule with the same or weaker conditions.
pub(super) fn lint(policy: &Policy, places: &[RulePositions], findings: &mut Findings<'_>) {
    let mut pairs = MOST_PAIRS;
    let mut wildcards: Vec<(&Pattern, usize)> = Vec::new();
    for (number, (rule, places)) in policy.rules.iter().zip(places).enumerate() {
        let mut by: Vec<usize> = Vec::with_capacity(rule.tools.len());
        for pattern in &rule.tools {
            let earlier: Vec<usize> = if pattern.is_exact() {
                policy.index.about(pattern.as_str()).into_iter().filter(|other| *other < number).collect()
            } else {
                let near = wildcards.iter().filter(|(wide, _)| pattern.prefix().starts_with(wide.prefix()));
                near.take(pairs).filter(|(wide, _)| wide.covers(pattern)).map(|(_, rule)| *rule).collect()
            };
            pairs = pairs.saturating_sub(if pattern.is_exact() { earlier.len() } else { wildcards.len() });
            let covering =
                earlier.into_iter().find(|other| policy.rules.get(*other).is_some_and(|wide| covers(wide, rule)));
            by.extend(covering);
        }
        wildcards.extend(rule.tools.iter().filter(|pattern| !pattern.is_exact()).map(|pattern| (pattern, number)));
        if by.len() == rule.tools.len() && !by.is_empty() {
            note(policy, rule, &by, places, findings);
        }
        if pairs == 0 {
            findings.warning(places.rule, "not_compared", "rules from here on were not compared with earlier ones");
            return;
        }
    }
}

/// Says whether a rule matches every caller and every content that another rule matches.
fn covers(wide: &Rule, narrow: &Rule) -> bool {
    let names = |wide: &Option<Vec<Pattern>>, narrow: &Option<Vec<Pattern>>| match (wide, narrow) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(wide), Some(narrow)) => narrow.iter().all(|name| wide.iter().any(|wider| wider.covers(name))),
    };
    let roles = match (&wide.roles, &narrow.roles) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(wide), Some(narrow)) => narrow.iter().all(|role| wide.contains(role)),
    };
    let contents = match (&wide.when, &narrow.when) {
        (None, _) => true,
        (Some(wide), narrow) => narrow.as_ref().is_some_and(|narrow| narrow.source() == wide.source()),
    };
    let arguments = wide.arguments.is_none() || wide.arguments == narrow.arguments;
    // A rule with lists may leave a part of a call to a later rule.
    let patterns = wide.patterns.is_none() || wide.patterns == narrow.patterns;
    patterns
        && roles
        && contents
        && arguments
        && names(&wide.agents, &narrow.agents)
        && names(&wide.users, &narrow.users)
}

fn note(policy: &Policy, rule: &Rule, by: &[usize], places: &RulePositions, findings: &mut Findings<'_>) {
    let wide: Vec<&Rule> = by.iter().filter_map(|number| policy.rules.get(*number)).collect();
    let mut names: Vec<String> = wide.iter().map(|wide| format!("`{}` in line {}", wide.name, wide.line)).collect();
    names.dedup();
    let names = names.join(", ");
    // An allowing rule does not match a call that cannot be parsed, so such a call still reaches a later rule.
    let remnant = wide.iter().any(|wide| wide.verdict == Verdict::Allow);
    match rule.verdict {
        Verdict::Ask if remnant => {
            let message =
                format!("rule `{}` can match only calls that cannot be parsed, because {names} comes first", rule.name);
            findings.warning(places.name, "shadowed", message);
        }
        Verdict::Deny if remnant => {
            let message =
                format!("rule `{}` can deny only calls that cannot be parsed, because {names} comes first", rule.name);
            findings.error(places.name, "shadowed", format!("{message}; move it up"));
        }
        Verdict::Allow | Verdict::Ask | Verdict::Deny => findings.error(
            places.name,
            "shadowed",
            format!("rule `{}` can never match, because {names} comes first", rule.name),
        ),
    }
}
