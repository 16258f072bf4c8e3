//! Users who sign in: their accounts, their memberships in projects, and their visits.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::access::{AgentEnvironment, Credential, Key};
use crate::{
    Actor, ActorKind, Caller, EntryPoint, KeyId, LinkId, Problem, ProjectId, Role, Scope, TenantId, UserId, VisitId,
    text,
};

/// Largest number of groups of one user.
pub const MOST_GROUPS: usize = 100;
/// Smallest number of characters of a password.
pub const SHORTEST_PASSWORD: usize = 12;
/// Largest number of bytes of a password. Hashing is deliberately slow, so its input is bounded.
pub const LONGEST_PASSWORD: usize = 1024;

/// A user of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// Identifier of the user.
    pub id: UserId,
    /// Tenant of the user.
    pub tenant: TenantId,
    /// Name of the user, unique in the tenant.
    pub name: String,
    /// Display name, if it differs from `name`.
    pub display: Option<String>,
    /// Subject at the identity provider, if there is one. Such a user has no password.
    pub subject: Option<String>,
    /// Memberships of the user, in the order of the projects.
    pub memberships: Vec<Membership>,
    /// Time at which the account was created.
    pub created_at: Timestamp,
    /// Time of the last sign-in.
    pub signed_in_at: Option<Timestamp>,
}

/// Membership of a user in one project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Membership {
    /// Identifier of the project.
    pub project: ProjectId,
    /// Role of the user in the project.
    pub role: Role,
    /// Groups of the user in the project.
    pub groups: Vec<String>,
    /// Time at which the user was excluded from the project.
    pub disabled_at: Option<Timestamp>,
}

impl Membership {
    /// Lists the rights that a key with this role and these groups would have and the user does not have: a more powerful role, and groups without
    /// the user.
    #[must_use]
    pub fn beyond(&self, role: Role, groups: &[String]) -> Vec<Problem> {
        let mut problems = Vec::new();
        if !role.is_within(self.role) {
            let why = format!("may do more than the person, whose role in the project is `{}`", self.role.name());
            problems.push(Problem::new("/role", why));
        }
        if let Some(group) = groups.iter().find(|group| !self.groups.contains(group)) {
            problems.push(Problem::new("/groups", format!("the person is not in the group `{group}` of the project")));
        }
        problems
    }

    /// Whether the key has no right that the user does not have.
    #[must_use]
    pub fn covers(&self, key: &Key) -> bool {
        self.beyond(key.role, &key.groups).is_empty()
    }
}

impl User {
    /// Memberships that are not disabled.
    pub fn active(&self) -> impl Iterator<Item = &Membership> {
        self.memberships.iter().filter(|membership| membership.disabled_at.is_none())
    }

    /// Membership in a project, if it is not disabled.
    #[must_use]
    pub fn member_of(&self, project: ProjectId) -> Option<&Membership> {
        self.active().find(|membership| membership.project == project)
    }

    /// Actor of the user's changes.
    #[must_use]
    pub fn actor(&self) -> Actor {
        Actor { kind: ActorKind::User, name: self.name.clone() }
    }

    /// Scope of the user's work in a project.
    #[must_use]
    pub const fn scope(&self, membership: &Membership) -> Scope {
        Scope { tenant: self.tenant, project: membership.project }
    }
}

/// A browser in which a person is signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visit {
    /// Identifier of the visit.
    pub id: VisitId,
    /// Identifier of the user.
    pub user: UserId,
    /// Current project of the visit.
    pub project: ProjectId,
    /// Whether the visit began with a one-time link and the password was not set since. The password can then be set without the old one.
    pub by_link: bool,
    /// Time at which the visit began.
    pub created_at: Timestamp,
    /// Time of the last use, rounded to the minute.
    pub seen_at: Timestamp,
}

impl Visit {
    /// Time after which an unused session ends.
    pub const IDLE: SignedDuration = SignedDuration::from_hours(12);
    /// Time after which every session ends.
    pub const LONGEST: SignedDuration = SignedDuration::from_hours(24 * 7);

    /// Whether the session is valid at the time `now`.
    #[must_use]
    pub fn holds(&self, now: Timestamp) -> bool {
        now.duration_since(self.seen_at) < Self::IDLE && now.duration_since(self.created_at) < Self::LONGEST
    }

    /// Caller that the session authenticates. `None` if the session has ended or the user no longer belongs to the project.
    #[must_use]
    pub fn caller(&self, user: &User, now: Timestamp) -> Option<Caller> {
        let membership = user.member_of(self.project).filter(|_| user.id == self.user && self.holds(now))?;
        Some(Caller {
            credential: Credential::Visit(self.id),
            scope: user.scope(membership),
            role: membership.role,
            actor: user.actor(),
            groups: membership.groups.clone(),
            environment: AgentEnvironment::default(),
            from: None,
            entry_point: EntryPoint::Http,
        })
    }
}

/// A link that signs a user in once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Identifier of the link.
    pub id: LinkId,
    /// Identifier of the user.
    pub user: UserId,
    /// Time at which the link was created.
    pub created_at: Timestamp,
    /// Time at which the link expires.
    pub expires_at: Timestamp,
}

/// Method of a sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignInMethod {
    /// The user gave a password.
    Password,
    /// The user opened a one-time link.
    Link,
    /// An identity provider authenticated the user.
    Oidc,
}

/// Names that the records and the API use for Holdpoint itself. Users cannot have them.
const RESERVED: [&str; 7] = ["holdpoint", "system", "scheduler", "timer", "worker", "policy", "auto_policy"];

/// Checks the name of a user or key: an identifier that Holdpoint does not use for itself.
pub fn check_name(pointer: &str, name: &str, problems: &mut Vec<Problem>) {
    text::check_identifier(pointer, name, problems);
    let prefix = name.get(..KeyId::PREFIX.len()).unwrap_or_default();
    if RESERVED.iter().any(|word| text::is_same_name(name, word)) || text::is_same_name(prefix, KeyId::PREFIX) {
        problems.push(Problem::new(pointer, "is a name that Holdpoint itself uses"));
    }
}

/// Checks the names of groups.
pub fn check_groups(pointer: &str, groups: &[String], problems: &mut Vec<Problem>) {
    for (index, group) in groups.iter().enumerate() {
        text::check_identifier(&format!("{pointer}/{index}"), group, problems);
    }
    if groups.len() > MOST_GROUPS {
        problems.push(Problem::new(pointer, format!("must have at most {MOST_GROUPS} items")));
    }
}

/// Checks the role of a user.
pub fn check_role(pointer: &str, role: Option<Role>, problems: &mut Vec<Problem>) {
    if role == Some(Role::Agent) {
        problems.push(Problem::new(pointer, "is for agents, which have keys and do not sign in"));
    }
}

/// Checks a new password. Only its length is checked.
pub fn check_password(pointer: &str, password: &str, problems: &mut Vec<Problem>) {
    if password.chars().count() < SHORTEST_PASSWORD {
        problems.push(Problem::new(pointer, format!("must have at least {SHORTEST_PASSWORD} characters")));
    }
    if password.len() > LONGEST_PASSWORD {
        problems.push(Problem::new(pointer, format!("must have at most {LONGEST_PASSWORD} bytes")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn at(hours: i64) -> Timestamp {
        Timestamp::from_second(hours * 3600).unwrap()
    }

    fn user(disabled_at: Option<Timestamp>) -> User {
        let project = ProjectId::from_uuid(Uuid::from_u128(2));
        User {
            id: UserId::from_uuid(Uuid::from_u128(1)),
            tenant: TenantId::from_uuid(Uuid::from_u128(3)),
            name: "alice".into(),
            display: None,
            subject: None,
            memberships: vec![Membership { project, role: Role::Viewer, groups: vec!["ops".into()], disabled_at }],
            created_at: at(0),
            signed_in_at: None,
        }
    }

    fn visit(seen: i64) -> Visit {
        let User { id, memberships, .. } = user(None);
        let id_of_visit = VisitId::from_uuid(Uuid::from_u128(4));
        let project = memberships[0].project;
        Visit { id: id_of_visit, user: id, project, by_link: false, created_at: at(0), seen_at: at(seen) }
    }

    #[test]
    fn browser_session_ends_when_unused_and_after_a_week() {
        let check = |seen: i64, now: i64, holds: bool| {
            let caller = visit(seen).caller(&user(None), at(now));
            assert_eq!(caller.is_some(), holds, "last seen at hour {seen}, checked at hour {now}");
        };
        check(0, 0, true);
        check(0, 11, true);
        check(0, 12, false);
        check(11, 22, true);
        check(11, 23, false);
        check(160, 167, true);
        check(167, 168, false);
    }

    #[test]
    fn browser_session_gives_a_caller_only_to_an_active_member() {
        let caller = visit(0).caller(&user(None), at(1)).unwrap();
        assert_eq!((caller.actor.name.as_str(), caller.role), ("alice", Role::Viewer));
        assert_eq!(caller.credential, Credential::Visit(visit(0).id));
        assert_eq!(visit(0).caller(&user(Some(at(1))), at(1)), None, "disabled");
        let elsewhere = Visit { project: ProjectId::from_uuid(Uuid::from_u128(9)), ..visit(0) };
        assert_eq!(elsewhere.caller(&user(None), at(1)), None, "the user does not belong to that project");
        let other = User { id: UserId::from_uuid(Uuid::from_u128(9)), ..user(None) };
        assert_eq!(visit(0).caller(&other, at(1)), None, "somebody else");
    }

    #[test]
    fn invalid_names_and_passwords_are_refused() {
        let problems = |check: &dyn Fn(&mut Vec<Problem>)| {
            let mut problems = Vec::new();
            check(&mut problems);
            problems.len()
        };
        for (text, wrong) in [
            ("alice", 0),
            ("alice@example.org", 0),
            ("two words", 1),
            ("", 1),
            ("holdpoint", 1),
            ("System", 1),
            ("KEY_1", 1),
            ("scheduler2", 0),
        ] {
            assert_eq!(problems(&|problems| check_name("/name", text, problems)), wrong, "{text}");
        }
        for (text, wrong) in [("twelve chars", 0), ("одиннадцать", 1), ("двенадцать!!", 0), ("short", 1)]
        {
            assert_eq!(problems(&|problems| check_password("/new", text, problems)), wrong, "{text}");
        }
        assert_eq!(problems(&|problems| check_password("/new", &"x".repeat(LONGEST_PASSWORD + 1), problems)), 1);
    }
}
