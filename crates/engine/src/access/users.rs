//! Adds and lists the people of a project.

use domain::access::Right;
use domain::{
    Caller, EntryPoint, EventDraft, Limit, Membership, Problem, Refusal, Role, Scope, User, UserId, text, user,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::Bounded;

use crate::access;
use crate::run::transaction::{Originator, Work};
use crate::{Engine, Error, Idempotency};

/// How many people may belong to a project. Whoever is out of it is not counted.
const MOST: u64 = 10_000;

/// Who is added.
#[derive(Debug, Clone)]
pub struct NewUser {
    /// What the person is called.
    pub name: String,
    /// How the person is shown, where that differs.
    pub display: Option<String>,
    /// What the person may do in the project.
    pub role: Role,
    /// The groups that the person belongs to there.
    pub groups: Vec<String>,
    /// Whether keys of the project that have this name already are this person's. Without it such a name is taken.
    pub join_keys: bool,
}

/// Who was added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedUser {
    /// The person, as they are in the project.
    pub user: User,
    /// Whether the tenant knew the account before. Its password, its links and its browsers are then void.
    pub existing: bool,
}

impl NewUser {
    fn check(&self) -> Result<(), Error> {
        let mut problems: Vec<Problem> = Vec::new();
        user::name("/name", &self.name, &mut problems);
        if let Some(display) = &self.display {
            text::line("/display", display, &mut problems);
            text::visible("/display", display, &mut problems);
        }
        user::role("/role", Some(self.role), &mut problems);
        user::groups("/groups", &self.groups, &mut problems);
        if problems.is_empty() { Ok(()) } else { Err(Refusal::QuestionInvalid(problems).into()) }
    }
}

impl Engine {
    /// Adds a person to the caller's project. Whoever the tenant knows already is the same person here, and has to come by a new link: somebody
    /// else may have set the password, hold a link or be signed in.
    pub async fn user_create(
        &self,
        caller: &Caller,
        new: NewUser,
        once: Option<Idempotency>,
    ) -> Result<AddedUser, Error> {
        caller.require(Right::ManageUsers)?;
        new.check()?;
        let scope = caller.scope;
        self.command(caller, once, move |work| {
            work.tx.names_lock(scope.tenant)?;
            let caller = work.caller()?;
            add_user(work, &scope, &new, Some(&caller))
        })
        .await
    }

    /// Adds a person to a tenant and project by name, which are made if absent: for whoever holds the database itself.
    pub async fn user_install(&self, tenant: &str, project: &str, new: NewUser) -> Result<AddedUser, Error> {
        new.check()?;
        let scope = self.scope_ensure(tenant, project).await?;
        self.transact_as(Originator::system(EntryPoint::Cli), move |work| {
            work.tx.names_lock(scope.tenant)?;
            add_user(work, &scope, &new, None)
        })
        .await
    }

    /// At most `limit` people who belong or have belonged to the caller's project, by name, after this name.
    pub async fn users(&self, caller: &Caller, after: Option<String>, limit: u32) -> Result<Bounded<User>, Error> {
        caller.require(Right::ManageUsers)?;
        let scope = caller.scope;
        self.list(caller, move |reads| Ok(reads.users_page(&scope, after.as_deref(), limit)?)).await
    }
}

/// A name that can be looked for.
pub(crate) fn known(name: &str) -> Result<String, Error> {
    let mut problems = Vec::new();
    text::identifier("", name, &mut problems);
    if problems.is_empty() { Ok(name.to_owned()) } else { Err(Refusal::NotFound("user").into()) }
}

/// Somebody who belongs to a project.
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

/// Voids everything that lets a person in: the password, links that were not used, and browsers that are signed in.
pub(crate) fn void_sign_ins(work: &mut Work<'_>, user: UserId) -> Result<(), Error> {
    work.tx.password_save(user, None)?;
    work.tx.links_delete(user)?;
    Ok(work.tx.visits_end(user, None)?)
}

/// Refuses to sign an admin of another project out, unless the caller is an admin there too, or holds the database itself.
pub(crate) fn protect_foreign_admins(
    work: &mut Work<'_>,
    scope: &Scope,
    user: &User,
    by: Option<&Caller>,
) -> Result<(), Error> {
    let Some(caller) = by else { return Ok(()) };
    let governed = access::administered_projects(work, scope, caller.credential)?;
    let mut admin_in = user.active().filter(|membership| membership.role == Role::Admin);
    if admin_in.all(|membership| governed.contains(&membership.project)) {
        return Ok(());
    }
    Err(Refusal::UserElsewhere(user.name.clone()).into())
}

/// Makes an account, which belongs nowhere yet.
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

/// Refuses one more person in a project that has as many as it may.
pub(crate) fn require_member_room(work: &mut Work<'_>, scope: &Scope) -> Result<(), Error> {
    if work.tx.member_count(scope)? < MOST {
        return Ok(());
    }
    Err(Refusal::LimitReached { limit: Limit::ProjectPeople, max: MOST }.into())
}

/// Says what a person is in a project from now on.
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
    let told = json!({ "user": user.name, "role": role, "groups": membership.groups, "subject": user.subject });
    work.append_audit(scope, &EventDraft::plain("user.added", told))?;
    Ok(membership)
}
