//! Audiences: the people who may answer a question, how many of them must agree, and whether their votes do.
//!
//! A question has one audience, or several `requirements`, each of which must reach its quorum with votes of its own members. The policy creates
//! several if several rules ask about one call. One person may count in several of them.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use crate::event::{InteractionVoted, RequirementsMet};
use crate::question::MOST_ITEMS;
use crate::{Actor, Answer, Caller, Interaction, Problem, Question, Refusal, Resolution, Role, State, text};

/// People who may answer a question, and how many of them must agree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audience {
    /// Named people. `None` stands for every operator and admin of the project and the person who started the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named: Option<Named>,
    /// Number of different people who must give equal answers.
    pub quorum: u32,
    /// Whether these people must belong to different groups out of the named ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub distinct_groups: bool,
    /// Whether the person who started the session may not answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub four_eyes: bool,
}

/// People by name, group and role. One match is enough.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// Names of users who may answer.
    #[serde(default)]
    pub users: Vec<String>,
    /// Names of groups whose members may answer.
    #[serde(default)]
    pub groups: Vec<String>,
    /// Roles of the people.
    #[serde(default)]
    pub roles: Vec<Role>,
}

/// A person who might answer, as the project knows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// Actor of the person.
    pub actor: Actor,
    /// Role of the person.
    pub role: Role,
    /// Groups of the person.
    pub groups: Vec<String>,
}

impl Default for Audience {
    fn default() -> Self {
        Self { named: None, quorum: 1, distinct_groups: false, four_eyes: false }
    }
}

impl Audience {
    /// Lists the errors for which this audience could never answer a question.
    pub fn check(&self, problems: &mut Vec<Problem>) {
        if self.quorum == 0 || self.quorum > 100 {
            problems.push(Problem::new("/audience/quorum", "must be 1 to 100"));
        }
        let groups = self.named.as_ref().map_or(0, |named| named.groups.len());
        if let Some(named) = &self.named {
            check_names("/audience/users", &named.users, problems);
            check_names("/audience/groups", &named.groups, problems);
        }
        if self.distinct_groups && groups < self.quorum as usize {
            problems.push(Problem::new("/audience/groups", "must name at least as many groups as the quorum"));
        }
        let Some(named) = &self.named else { return };
        if named.users.is_empty() && named.groups.is_empty() && named.roles.is_empty() {
            problems.push(Problem::new("/audience", "names nobody, so that nobody could answer"));
        }
        if named.roles.contains(&Role::Agent) {
            problems.push(Problem::new("/audience/roles", "an agent's key can never answer"));
        }
        let only_users = named.groups.is_empty() && named.roles.is_empty();
        if only_users && !named.users.is_empty() && named.users.len() < self.quorum as usize {
            problems.push(Problem::new("/audience/quorum", "is greater than the number of `users`"));
        }
    }

    /// Whether the caller belongs to the audience. `started` says whether the caller started the session.
    #[must_use]
    pub fn includes(&self, caller: &Caller, started: bool) -> bool {
        self.has(&caller.actor.name, Some(caller.role), &caller.groups, started)
    }

    /// Whether a person belongs to the audience. Unlike [`Audience::includes`], it needs no authenticated caller.
    #[must_use]
    pub fn includes_person(&self, person: &Person, started: bool) -> bool {
        self.has(&person.actor.name, Some(person.role), &person.groups, started)
    }

    /// Whether these equal answers reach the quorum. Answers of people who did not belong to the audience when they answered are not
    /// counted.
    #[must_use]
    pub fn settled_by(&self, answers: &[&Answer], started_by: &Actor) -> bool {
        let belongs = |answer: &&&Answer| {
            let started = answer.by.is_same_person(started_by);
            !(self.four_eyes && started) && self.has(&answer.by.name, answer.role, &answer.groups, started)
        };
        let counted: Vec<&Answer> = answers.iter().filter(belongs).copied().collect();
        self.is_satisfied_by(&counted)
    }

    fn has(&self, name: &str, role: Option<Role>, groups: &[String], started: bool) -> bool {
        match &self.named {
            None => started || matches!(role, Some(Role::Operator | Role::Admin)),
            Some(named) => {
                named.users.iter().any(|user| text::is_same_name(user, name))
                    || role.is_some_and(|role| named.roles.contains(&role))
                    || groups.iter().any(|group| named.groups.contains(group))
            }
        }
    }

    /// Whether these equal votes of different people reach the quorum.
    #[must_use]
    pub fn is_satisfied_by(&self, votes: &[&Answer]) -> bool {
        let groups: Vec<&[String]> = votes.iter().map(|vote| vote.groups.as_slice()).collect();
        self.is_reached_by(&groups)
    }

    /// Whether equal answers of different people with these groups would reach the quorum.
    #[must_use]
    pub fn is_reached_by<G: AsRef<[String]>>(&self, people: &[G]) -> bool {
        let needed = self.quorum as usize;
        if !self.distinct_groups {
            return people.len() >= needed;
        }
        let people: Vec<&[String]> = people.iter().map(AsRef::as_ref).collect();
        let groups = self.named.as_ref().map_or(&[][..], |named| &named.groups);
        let mut holder: Vec<Option<usize>> = vec![None; groups.len()];
        let seated = (0..people.len()).filter(|&person| {
            let mut seen = vec![false; groups.len()];
            seat(person, &people, groups, &mut holder, &mut seen)
        });
        seated.count() >= needed
    }
}

/// Checks that each name is valid and that no name occurs twice, because a quorum counts different names.
fn check_names(pointer: &str, names: &[String], problems: &mut Vec<Problem>) {
    if names.len() > MOST_ITEMS {
        problems.push(Problem::new(pointer, format!("must have at most {MOST_ITEMS} items")));
        return;
    }
    for (index, name) in names.iter().enumerate() {
        text::check_identifier(&format!("{pointer}/{index}"), name, problems);
        if names[..index].iter().any(|earlier| text::is_same_name(earlier, name)) {
            problems.push(Problem::new(format!("{pointer}/{index}"), "is named twice"));
        }
    }
}

/// Assigns a group to a person, moving people with an assigned group to another of their groups if necessary (bipartite matching).
fn seat(
    person: usize,
    people: &[&[String]],
    groups: &[String],
    holder: &mut [Option<usize>],
    seen: &mut [bool],
) -> bool {
    for (index, group) in groups.iter().enumerate() {
        if seen[index] || !people[person].contains(group) {
            continue;
        }
        seen[index] = true;
        let free = match holder[index] {
            None => true,
            Some(other) => seat(other, people, groups, holder, seen),
        };
        if free {
            holder[index] = Some(person);
            return true;
        }
    }
    false
}

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

impl Interaction {
    /// Refuses a caller who belongs to none of the audiences, or is excluded from each audience that they belong to.
    pub(crate) fn require_invited(&self, caller: &Caller) -> Result<(), Refusal> {
        let started = caller.actor.is_same_person(&self.origin.started_by);
        let mut refusal = Refusal::NotInAudience;
        for audience in self.question.audiences() {
            match self.require_unbarred_in(audience, &caller.actor) {
                Ok(()) if audience.includes(caller, started) => return Ok(()),
                Ok(()) => {}
                Err(barred) => refusal = barred,
            }
        }
        Err(refusal)
    }

    /// Refuses an actor who can never count in this audience: the asker and, with four eyes, the person who started the session.
    pub(crate) fn require_unbarred_in(&self, audience: &Audience, actor: &Actor) -> Result<(), Refusal> {
        if actor.is_same_person(&self.origin.asked_by) {
            return Err(Refusal::AskerCannotAnswer);
        }
        if audience.four_eyes && actor.is_same_person(&self.origin.started_by) {
            return Err(Refusal::FourEyes);
        }
        Ok(())
    }

    /// Whether equal votes reach the quorum of every audience.
    pub(crate) fn is_settled_by(&self, agreeing: &[&Answer]) -> bool {
        match self.question.requirements.as_slice() {
            // Every voter was admitted, so they belong to the only audience.
            [] => self.question.audience.is_satisfied_by(agreeing),
            _ => self.met_by(agreeing).into_iter().all(|met| met),
        }
    }

    /// For each of the `requirements`, whether the votes so far reach its quorum. If people gave different answers, the answer that
    /// satisfies the most requirements is used.
    #[must_use]
    pub fn requirements_met(&self) -> Vec<bool> {
        let none: &[Answer] = &[];
        let (votes, said) = match &self.state {
            State::Pending(pending) => (pending.votes.as_slice(), pending.votes.as_slice()),
            State::Resolved { resolution: Resolution::Answered { answer, votes }, .. } => {
                let decided = std::slice::from_ref(answer);
                (if votes.is_empty() { decided } else { votes.as_slice() }, decided)
            }
            State::Resolved { .. } => (none, none),
        };
        self.met_at_best(votes, said)
    }

    /// Payload of the event of a vote that does not decide the question yet.
    pub(crate) fn voted(&self, answer: &Answer, votes: &[Answer]) -> InteractionVoted {
        let requirements = (!self.question.requirements.is_empty()).then(|| {
            let met = self.met_at_best(votes, votes);
            RequirementsMet { met: met.iter().filter(|met| **met).count(), of: met.len() }
        });
        let quorum = self.question.audience.quorum;
        InteractionVoted { effect: answer.effect, votes: votes.len(), quorum, requirements }
    }

    fn met_at_best(&self, votes: &[Answer], said: &[Answer]) -> Vec<bool> {
        let met = said.iter().map(|one| {
            let agreeing: Vec<&Answer> = votes.iter().filter(|vote| vote.agrees_with(one)).collect();
            self.met_by(&agreeing)
        });
        let best = met.max_by_key(|met| met.iter().filter(|met| **met).count());
        best.unwrap_or_else(|| vec![false; self.question.requirements.len()])
    }

    fn met_by(&self, agreeing: &[&Answer]) -> Vec<bool> {
        let settled = |audience: &Audience| audience.settled_by(agreeing, &self.origin.started_by);
        self.question.requirements.iter().map(settled).collect()
    }
}
