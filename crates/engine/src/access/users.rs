//! Adds people to a project and lists them.

use domain::access::Right;
use domain::audit::kind::UserAdded;
use domain::{
    AuditDraft, AuditKind, Caller, EntryPoint, Limit, Membership, Problem, Refusal, Role, Scope, User, UserId, text,
    user,
};
use serde::{Deserialize, Serialize};
use store::Bounded;

use crate::access;
use crate::run::transaction::{Originator, Work};
use crate::{Engine, Error, Idempotency};

/// Maximum number of people in a project. Disabled people do not count.
const MOST: u64 = 10_000;

/// Request for a new member.
#[derive(Debug, Clone)]
pub struct NewUser {
    /// Name of the account.
    pub name: String,
    /// Display name, where it differs.
    pub display: Option<String>,
    /// Role in the project.
    pub role: Role,
    /// Groups in the project.
    pub groups: Vec<String>,
    /// Whether existing keys of the project with this name belong to the person. Without it such a name is refused.
    pub join_keys: bool,
}

/// Result of adding a member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedUser {
    /// The account, with its membership of this project only.
    pub user: User,
    /// Whether the tenant had the account already. Its password, links and visits are void then.
    pub existing: bool,
}

impl NewUser {
    fn check(&self) -> Result<(), Error> {
        let mut problems: Vec<Problem> = Vec::new();
        user::check_name("/name", &self.name, &mut problems);
        if let Some(display) = &self.display {
            text::check_line("/display", display, &mut problems);
            text::check_visible("/display", display, &mut problems);
        }
        user::check_role("/role", Some(self.role), &mut problems);
        user::check_groups("/groups", &self.groups, &mut problems);
        if problems.is_empty() { Ok(()) } else { Err(Refusal::QuestionInvalid(problems).into()) }
    }
}

impl Engine {
    /// Adds a person to the caller's project. An account that the tenant has already is reused, and its person must sign in by a new link: somebody
    /// else may have set the password, hold a link or be signed in.
    pub async fn user_create(
        &self,
        caller: &Caller,
        new: NewUser,
        idempotency: Option<Idempotency>,
    ) -> Result<AddedUser, Error> {
        caller.require(Right::ManageUsers)?;
        new.check()?;
        let scope = caller.scope;
        self.command(caller, idempotency, move |work| {
            work.tx.names_lock(scope.tenant)?;
            let caller = work.caller()?;
            add_user(work, &scope, &new, Some(&caller))
        })
        .await
    }

    /// Adds a person to a tenant and project by name, which are created if absent. For the command line, which opens the database itself.
    pub async fn user_install(&self, tenant: &str, project: &str, new: NewUser) -> Result<AddedUser, Error> {
        new.check()?;
        let scope = access::keys::ensure_scope(self, tenant, project).await?;
        self.transact_as(Originator::system(EntryPoint::Cli), move |work| {
            work.tx.names_lock(scope.tenant)?;
            add_user(work, &scope, &new, None)
        })
        .await
    }

    /// At most `limit` present and former members of the caller's project, ordered by name, after the given name.
    pub async fn user_list(&self, caller: &Caller, after: Option<String>, limit: u32) -> Result<Bounded<User>, Error> {
        caller.require(Right::ManageUsers)?;
        let scope = caller.scope;
        self.list(caller, move |reads, _| Ok(reads.users_page(&scope, after.as_deref(), limit)?)).await
    }
}

/// Checks the form of a name before it is looked up.
pub(crate) fn require_user_name(name: &str) -> Result<String, Error> {
    let mut problems = Vec::new();
    text::check_identifier("", name, &mut problems);
    if problems.is_empty() { Ok(name.to_owned()) } else { Err(Refusal::NotFound("user").into()) }
}

/// Finds a member of a project who is not disabled.
pub(crate) fn find_member(work: &mut Work<'_>, scope: &Scope, name: &str) -> Result<(User, Membership), Error> {
    let user = work.tx.user(scope.tenant, name)?.ok_or(Refusal::NotFound("user"))?.user;
    let membership = user.member_of(scope.project).cloned().ok_or(Refusal::NotFound("user"))?;
    Ok((user, membership))
}

fn add_user(work: &mut Work<'_>, scope: &Scope, new: &NewUser, by: Option<&Caller>) -> Result<AddedUser, Error> {
    let NewUser { name, display, role, groups, join_keys } = new.clone();
    let found = work.tx.user_by_folded_name(scope.tenant, &name)?.map(|found| found.user);
    if found.as_ref().is_some_and(|found| found.member_of(scope.project).is_some()) {
        return Err(Refusal::UserExists(name).into());
    }
    if !join_keys && !work.tx.keys_named(scope, &name)?.is_empty() {
        return Err(Refusal::NameTaken(name).into());
    }
    let existing = found.is_some();
    let user = match found {
        None => create_account(work, scope, &name, display, None)?,
        Some(found) => {
            protect_foreign_admins(work, scope, &found, by)?;
            void_sign_ins(work, found.id)?;
            found
        }
    };
    let membership = add_member(work, scope, &user, role, groups)?;
    Ok(AddedUser { user: User { memberships: vec![membership], ..user }, existing })
}

/// Voids everything that lets a person in: the password, unused links, and visits.
pub(crate) fn void_sign_ins(work: &mut Work<'_>, user: UserId) -> Result<(), Error> {
    work.tx.password_save(user, None)?;
    work.tx.links_delete(user)?;
    Ok(work.tx.visits_end(user, None)?)
}

/// Refuses to sign out an admin of another project, unless the caller is an admin there too. The command line passes no caller.
pub(crate) fn protect_foreign_admins(
    work: &mut Work<'_>,
    scope: &Scope,
    user: &User,
    by: Option<&Caller>,
) -> Result<(), Error> {
    let Some(caller) = by else { return Ok(()) };
    let governed = access::list_administered_projects(work, scope, caller.credential)?;
    let mut admin_in = user.active().filter(|membership| membership.role == Role::Admin);
    if admin_in.all(|membership| governed.contains(&membership.project)) {
        return Ok(());
    }
    Err(Refusal::UserElsewhere(user.name.clone()).into())
}

/// Creates an account without memberships.
pub(crate) fn create_account(
    work: &mut Work<'_>,
    scope: &Scope,
    name: &str,
    display: Option<String>,
    subject: Option<&str>,
) -> Result<User, Error> {
    let user = User {
        id: work.ids.user(work.now),
        tenant: scope.tenant,
        name: name.to_owned(),
        display,
        subject: subject.map(str::to_owned),
        memberships: Vec::new(),
        created_at: work.now,
        signed_in_at: None,
    };
    work.tx.user_insert(&user)?;
    Ok(user)
}

/// Refuses another person in a project that has reached its limit.
pub(crate) fn require_member_room(work: &mut Work<'_>, scope: &Scope) -> Result<(), Error> {
    if work.tx.member_count(scope)? < MOST {
        return Ok(());
    }
    Err(Refusal::LimitReached { limit: Limit::ProjectPeople, max: MOST }.into())
}

/// Adds a person to a project and records that.
pub(crate) fn add_member(
    work: &mut Work<'_>,
    scope: &Scope,
    user: &User,
    role: Role,
    groups: Vec<String>,
) -> Result<Membership, Error> {
    require_member_room(work, scope)?;
    let membership = Membership { project: scope.project, role, groups, disabled_at: None };
    work.tx.membership_save(scope, user.id, &membership)?;
    let groups = membership.groups.clone();
    let added = UserAdded { user: user.name.clone(), role, groups, subject: user.subject.clone() };
    work.append_audit(scope, &AuditDraft::plain(AuditKind::UserAdded(added)))?;
    Ok(membership)
}
