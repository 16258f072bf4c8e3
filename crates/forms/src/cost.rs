//! Estimates how often validation may visit one value, which keeps validation from taking exponential time.
//!
//! Every subschema is a node of a graph. References and `allOf` lead to nodes that check the same value again, `properties`
//! and `items` to nodes that check a part of it. The estimate counts the paths that lead to one value, level by level down to
//! the deepest answer allowed. The estimate stays small for a tree, in which each part is checked once at any depth, and grows
//! exponentially if every level checks the part below it twice, with or without recursion.

use std::collections::BTreeMap;

use crate::keywords::JudgedValues;
use crate::limits::FormLimits;

/// One subschema, with edges to the subschemas that check its value or parts of its value.
pub(crate) struct Node<'a> {
    pub(crate) pointer: String,
    pub(crate) own: u64,
    pub(crate) edges: Vec<(JudgedValues<'a>, usize)>,
    /// Whether `unevaluatedProperties` or `unevaluatedItems` makes the validator run its branches a second time.
    pub(crate) asks_twice: bool,
}

/// Estimated cost of a schema.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Estimate {
    /// Largest number of visits of one value, for every node as if it were the top level.
    pub(crate) weights: Vec<u64>,
    /// Largest number of nested subschemas that are being checked at once, for every node as if it were the top level.
    pub(crate) nestings: Vec<u64>,
}

/// Estimates every node for answers as deep as allowed; the error is a node that leads back to itself.
///
/// The count stops at the first level that exceeds a limit, so that a hostile schema costs little time.
pub(crate) fn estimate(nodes: &[Node<'_>], limits: &FormLimits) -> Result<Estimate, usize> {
    let order = in_place_order(nodes)?;
    let mut visits = vec![0; nodes.len()];
    let mut nestings = vec![1; nodes.len()];
    for &node in &order {
        visits[node] = nodes[node].own;
        for target in here(&nodes[node]) {
            visits[node] = visits[node].saturating_add(visits[target].saturating_mul(times(&nodes[node])));
            nestings[node] = nestings[node].max(1 + nestings[target]);
        }
    }
    let mut weights = visits.clone();
    for _ in 0..limits.data_depth {
        if weights.iter().any(|&weight| weight > limits.weight) || nestings.iter().any(|&each| each > limits.nesting) {
            break;
        }
        visits = one_level_deeper(nodes, &order, &visits);
        if visits.iter().all(|&count| count == 0) {
            break;
        }
        nestings = one_level_longer(nodes, &order, &nestings);
        for (weight, &count) in weights.iter_mut().zip(&visits) {
            *weight = (*weight).max(count);
        }
    }
    Ok(Estimate { weights, nestings })
}

fn here(node: &Node<'_>) -> impl Iterator<Item = usize> {
    node.edges.iter().filter(|(place, _)| *place == JudgedValues::Here).map(|&(_, target)| target)
}

fn times(node: &Node<'_>) -> u64 {
    if node.asks_twice { 2 } else { 1 }
}

/// Sorts the nodes so that a node comes after all nodes that check the same value for it. The error is a node on a loop.
fn in_place_order(nodes: &[Node<'_>]) -> Result<Vec<usize>, usize> {
    let mut waiting: Vec<usize> = nodes.iter().map(|node| here(node).count()).collect();
    let mut askers = vec![Vec::new(); nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        for target in here(node) {
            askers[target].push(index);
        }
    }
    let mut order: Vec<usize> = (0..nodes.len()).filter(|&index| waiting[index] == 0).collect();
    let mut next = 0;
    while let Some(&done) = order.get(next) {
        next += 1;
        for &asker in &askers[done] {
            waiting[asker] -= 1;
            if waiting[asker] == 0 {
                order.push(asker);
            }
        }
    }
    if order.len() == nodes.len() { Ok(order) } else { Err(on_a_loop(nodes, &waiting)) }
}

/// Follows unfinished nodes until one repeats: that node is on the loop, not merely above it.
fn on_a_loop(nodes: &[Node<'_>], waiting: &[usize]) -> usize {
    let mut seen = vec![false; nodes.len()];
    let mut current = waiting.iter().position(|&count| count > 0).unwrap_or_default();
    while !seen[current] {
        seen[current] = true;
        current = here(&nodes[current]).find(|&target| waiting[target] > 0).unwrap_or(current);
    }
    current
}

/// Computes the visits of the values one level deeper from the visits of the current level.
fn one_level_deeper(nodes: &[Node<'_>], order: &[usize], below: &[u64]) -> Vec<u64> {
    let mut fans: Vec<(VisitCounts<&str>, VisitCounts<usize>)> =
        nodes.iter().map(|_| (VisitCounts::default(), VisitCounts::default())).collect();
    for &index in order {
        let node = &nodes[index];
        let (mut names, mut indexes) = own_fans(node, below);
        for target in here(node) {
            for _ in 0..times(node) {
                names.add(&fans[target].0);
                indexes.add(&fans[target].1);
            }
        }
        fans[index] = (names, indexes);
    }
    fans.iter().map(|(names, indexes)| names.largest().max(indexes.largest())).collect()
}

fn own_fans<'a>(node: &Node<'a>, below: &[u64]) -> (VisitCounts<&'a str>, VisitCounts<usize>) {
    let (mut names, mut indexes) = (VisitCounts::default(), VisitCounts::default());
    let (mut every_name, mut every_index) = (0_u64, 0_u64);
    for &(place, target) in &node.edges {
        let count = below[target];
        match place {
            JudgedValues::Name(name) => names.raise(name, count),
            JudgedValues::OtherNames => names.others = names.others.saturating_add(count),
            JudgedValues::EveryName => every_name = every_name.saturating_add(count),
            JudgedValues::Index(index) => indexes.raise(index, count),
            JudgedValues::OtherIndexes => indexes.others = indexes.others.saturating_add(count),
            JudgedValues::EveryIndex => every_index = every_index.saturating_add(count),
            JudgedValues::Here | JudgedValues::Nowhere => {}
        }
    }
    names.add(&VisitCounts { keyed: BTreeMap::new(), others: every_name });
    indexes.add(&VisitCounts { keyed: BTreeMap::new(), others: every_index });
    names.forget_idle();
    indexes.forget_idle();
    (names, indexes)
}

fn one_level_longer(nodes: &[Node<'_>], order: &[usize], below: &[u64]) -> Vec<u64> {
    let mut longest = vec![1; nodes.len()];
    for &index in order {
        for &(place, target) in &nodes[index].edges {
            let rest = match place {
                JudgedValues::Here => longest[target],
                JudgedValues::Nowhere => 0,
                _ => below[target],
            };
            longest[index] = longest[index].max(1 + rest);
        }
    }
    longest
}

/// Number of visits of each part of a value: parts with their own key, and all other parts.
struct VisitCounts<K> {
    keyed: BTreeMap<K, u64>,
    others: u64,
}

impl<K> Default for VisitCounts<K> {
    fn default() -> Self {
        Self { keyed: BTreeMap::new(), others: 0 }
    }
}

impl<K: Ord + Copy> VisitCounts<K> {
    fn raise(&mut self, key: K, count: u64) {
        let entry = self.keyed.entry(key).or_default();
        *entry = entry.saturating_add(count);
    }

    fn add(&mut self, other: &Self) {
        for (key, count) in &mut self.keyed {
            *count = count.saturating_add(other.keyed.get(key).copied().unwrap_or(other.others));
        }
        for (&key, &count) in &other.keyed {
            self.keyed.entry(key).or_insert_with(|| self.others.saturating_add(count));
        }
        self.others = self.others.saturating_add(other.others);
    }

    /// Drops keys without visits if other parts have none either, which holds for most fields of a form below their own level.
    fn forget_idle(&mut self) {
        if self.others == 0 {
            self.keyed.retain(|_, count| *count > 0);
        }
    }

    fn largest(&self) -> u64 {
        self.keyed.values().copied().max().unwrap_or_default().max(self.others)
    }
}
