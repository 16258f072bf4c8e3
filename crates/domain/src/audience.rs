//! Audiences: the people who may answer a question, and how many of them must agree.

use serde::{Deserialize, Serialize};

use crate::question::MOST_ITEMS;
use crate::{Actor, Answer, Caller, Problem, Role, text};

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
    /// Names of users.
    #[serde(default)]
    pub users: Vec<String>,
    /// Names of groups.
    #[serde(default)]
    pub groups: Vec<String>,
    /// Roles.
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
            problems.push(Problem::new("/audience/quorum", "is more than the users named"));
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
        self.satisfied(&counted)
    }

    fn has(&self, name: &str, role: Option<Role>, groups: &[String], started: bool) -> bool {
        match &self.named {
            None => started || matches!(role, Some(Role::Operator | Role::Admin)),
            Some(named) => {
                named.users.iter().any(|user| text::same_name(user, name))
                    || role.is_some_and(|role| named.roles.contains(&role))
                    || groups.iter().any(|group| named.groups.contains(group))
            }
        }
    }

    /// Whether these equal votes of different people reach the quorum.
    #[must_use]
    pub fn satisfied(&self, votes: &[&Answer]) -> bool {
        let groups: Vec<&[String]> = votes.iter().map(|vote| vote.groups.as_slice()).collect();
        self.enough(&groups)
    }

    /// Whether equal answers of different people with these groups would reach the quorum.
    #[must_use]
    pub fn enough<G: AsRef<[String]>>(&self, people: &[G]) -> bool {
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
        problems.push(Problem::new(pointer, format!("are more than {MOST_ITEMS}")));
        return;
    }
    for (index, name) in names.iter().enumerate() {
        text::identifier(&format!("{pointer}/{index}"), name, problems);
        if names[..index].iter().any(|earlier| text::same_name(earlier, name)) {
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
