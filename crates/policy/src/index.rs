//! An index of the rules by tool, so that not every rule has to be checked.

use std::collections::HashMap;

use crate::{Pattern, Rule};

/// The rules by the names of their tools.
#[derive(Debug, Default)]
pub(crate) struct Index {
    exact: HashMap<String, Vec<usize>>,
    prefixes: Groups,
    suffixes: Groups,
    /// Patterns that begin and end with a wildcard.
    others: Vec<(Pattern, usize)>,
    /// Rules for every tool.
    everything: Vec<usize>,
}

/// Patterns by the literal text at one of their ends.
#[derive(Debug, Default)]
struct Groups {
    /// The lengths that occur, so that only ends of these lengths are looked up.
    lengths: Vec<usize>,
    patterns: HashMap<String, Vec<(Pattern, usize)>>,
}

impl Index {
    pub(crate) fn of(rules: &[Rule]) -> Self {
        let mut index = Self::default();
        for (number, rule) in rules.iter().enumerate() {
            for pattern in &rule.tools {
                index.add(pattern, number);
            }
        }
        index
    }

    fn add(&mut self, pattern: &Pattern, rule: usize) {
        if pattern.is_exact() {
            self.exact.entry(pattern.as_str().to_owned()).or_default().push(rule);
        } else if pattern.is_everything() {
            self.everything.push(rule);
        } else if !pattern.prefix().is_empty() {
            self.prefixes.add(pattern.prefix(), pattern, rule);
        } else if !pattern.suffix().is_empty() {
            self.suffixes.add(pattern.suffix(), pattern, rule);
        } else {
            self.others.push((pattern.clone(), rule));
        }
    }

    /// The numbers of the rules for a tool, in the order of the file.
    pub(crate) fn about(&self, tool: &str) -> Vec<usize> {
        let mut rules = self.everything.clone();
        rules.extend(self.exact.get(tool).into_iter().flatten());
        self.prefixes.find(tool, |length| tool.get(..length), &mut rules);
        self.suffixes.find(tool, |length| tool.get(tool.len().checked_sub(length)?..), &mut rules);
        rules.extend(self.others.iter().filter(|(pattern, _)| pattern.matches(tool)).map(|(_, rule)| *rule));
        rules.sort_unstable();
        rules.dedup();
        rules
    }
}

impl Groups {
    fn add(&mut self, end: &str, pattern: &Pattern, rule: usize) {
        if let Err(place) = self.lengths.binary_search(&end.len()) {
            self.lengths.insert(place, end.len());
        }
        self.patterns.entry(end.to_owned()).or_default().push((pattern.clone(), rule));
    }

    fn find<'n>(&self, tool: &str, end: impl Fn(usize) -> Option<&'n str>, rules: &mut Vec<usize>) {
        for group in self.lengths.iter().filter_map(|length| self.patterns.get(end(*length)?)) {
            rules.extend(group.iter().filter(|(pattern, _)| pattern.matches(tool)).map(|(_, rule)| *rule));
        }
    }
}
