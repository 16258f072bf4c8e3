//! Who may answer a question, and how many must agree.

use serde::{Deserialize, Serialize};

use crate::question::MOST_ITEMS;
use crate::{Actor, Answer, Caller, Problem, Role, text};

/// Who may answer, and how many of them must.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audience {
    /// The people named, or `None` for every operator and admin of the project and whoever started the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named: Option<Named>,
    /// How many distinct people must say the same.
    pub quorum: u32,
    /// Whether they must come from distinct groups of those named.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub distinct_groups: bool,
    /// Whether the person who started the session is barred as well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub four_eyes: bool,
}

/// People by name, by group and by role. Being in one of the lists is enough.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// User names.
    #[serde(default)]
    pub users: Vec<String>,
    /// Group names.
    #[serde(default)]
    pub groups: Vec<String>,
    /// Roles.
    #[serde(default)]
    pub roles: Vec<Role>,
}

/// Somebody who might answer, as the project knows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// Who.
    pub actor: Actor,
    /// What they may do.
    pub role: Role,
    /// The groups that they belong to.
    pub groups: Vec<String>,
}

impl Default for Audience {
    fn default() -> Self {
        Self { named: None, quorum: 1, distinct_groups: false, four_eyes: false }
    }
}

impl Audience {
    /// Lists why a question could never be answered by this audience.
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

    /// Whether a caller belongs to it. `started` says whether they started the session.
    #[must_use]
    pub fn includes(&self, caller: &Caller, started: bool) -> bool {
        self.has(&caller.actor.name, Some(caller.role), &caller.groups, started)
    }

    /// Whether somebody belongs to it who has not called.
    #[must_use]
    pub fn includes_person(&self, person: &Person, started: bool) -> bool {
        self.has(&person.actor.name, Some(person.role), &person.groups, started)
    }

    /// Whether these equal answers are enough for it. Answers of people who do not belong to it, as they were then, are not counted.
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

    /// Whether these equal votes of distinct people are enough.
    #[must_use]
    pub fn satisfied(&self, votes: &[&Answer]) -> bool {
        let groups: Vec<&[String]> = votes.iter().map(|vote| vote.groups.as_slice()).collect();
        self.enough(&groups)
    }

    /// Whether distinct people of these groups are enough, if they say the same.
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

/// Each name usable, and none twice: a quorum counts distinct ones.
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

/// Finds a group for a person, moving earlier ones to other groups of theirs where that helps.
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
