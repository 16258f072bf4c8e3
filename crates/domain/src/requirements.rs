//! Several audiences of one question, each of which must reach its quorum with votes of its own members.
//!
//! The policy creates them if several rules ask about one call. One person may count in several audiences.

use std::cmp::Reverse;

use crate::audience::Named;
use crate::{Audience, Problem, Question, Role};

/// Removes the audiences that another one implies. The order is kept.
#[must_use]
pub fn combined(audiences: impl IntoIterator<Item = Audience>) -> Vec<Audience> {
    let mut kept: Vec<Audience> = Vec::new();
    for audience in audiences {
        if !kept.iter().any(|other| other.implies(&audience)) {
            kept.retain(|other| !audience.implies(other));
            kept.push(audience);
        }
    }
    kept
}

/// The strictest of several audiences; the first one if several are equally strict.
///
/// The comparison uses, in this order: four eyes, the quorum, distinct groups, the way in which people are named (only by user, by group,
/// by role, not at all), and the number of names, where fewer is stricter.
#[must_use]
pub fn strictest(audiences: &[Audience]) -> Option<&Audience> {
    let strictness = |audience: &&Audience| {
        let (naming, names) = audience.named.as_ref().map_or((0, 0), |Named { users, groups, roles }| {
            let naming = if !roles.is_empty() {
                1
            } else if !groups.is_empty() {
                2
            } else {
                3
            };
            (naming, users.len() + groups.len() + roles.len())
        });
        (audience.four_eyes, audience.quorum, audience.distinct_groups, naming, Reverse(names))
    };
    audiences.iter().rev().max_by_key(strictness)
}

impl Audience {
    /// Whether votes that satisfy this audience always satisfy `other`, too. The check is conservative: it may return `false` although they
    /// would, but never `true` if they would not.
    #[must_use]
    pub fn implies(&self, other: &Self) -> bool {
        let eyes = self.four_eyes || !other.four_eyes;
        if self.quorum < other.quorum || !eyes {
            return false;
        }
        if !other.distinct_groups {
            return self.is_within(other);
        }
        // Each voter who is counted for one of these groups also belongs to the other audience through that group.
        let groups = |audience: &Self| audience.named.clone().unwrap_or_default().groups;
        self.distinct_groups && is_subset(&groups(self), &groups(other))
    }

    /// Whether every possible member of this audience also belongs to `other`.
    fn is_within(&self, other: &Self) -> bool {
        match (&self.named, &other.named) {
            (None, None) => true,
            (None, Some(_)) => false,
            (Some(named), None) => {
                let usual = |role: &Role| matches!(role, Role::Operator | Role::Admin);
                named.users.is_empty() && named.groups.is_empty() && named.roles.iter().all(usual)
            }
            (Some(named), Some(others)) => {
                is_subset(&named.users, &others.users)
                    && is_subset(&named.groups, &others.groups)
                    && is_subset(&named.roles, &others.roles)
            }
        }
    }
}

fn is_subset<T: PartialEq>(these: &[T], those: &[T]) -> bool {
    these.iter().all(|one| those.contains(one))
}

impl Question {
    /// Audiences that must each reach their quorum: the `requirements`, or the only audience.
    #[must_use]
    pub fn audiences(&self) -> &[Audience] {
        if self.requirements.is_empty() { std::slice::from_ref(&self.audience) } else { &self.requirements }
    }

    /// Sets the audiences that must all be satisfied. Without any, the default audience applies.
    #[must_use]
    pub fn asked_of(self, audiences: impl IntoIterator<Item = Audience>) -> Self {
        let mut requirements = combined(audiences);
        let audience = strictest(&requirements).cloned().unwrap_or_default();
        if requirements.len() < 2 {
            requirements.clear();
        }
        Self { audience, requirements, ..self }
    }

    /// Whether the answer of one member of the audience may not be enough.
    #[must_use]
    pub const fn needs_several(&self) -> bool {
        self.audience.quorum > 1 || !self.requirements.is_empty()
    }

    pub(crate) fn check_requirements(&self, problems: &mut Vec<Problem>) {
        self.audience.check(problems);
        let others = self.requirements.iter().filter(|requirement| **requirement != self.audience);
        others.for_each(|requirement| requirement.check(problems));
        if !self.requirements.is_empty() && !self.requirements.contains(&self.audience) {
            problems.push(Problem::new("/audience", "must be one of the requirements"));
        }
    }
}
