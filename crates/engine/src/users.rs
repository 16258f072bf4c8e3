//! Adds and lists the people of a project.

use domain::access::Right;
use domain::{
    Caller, EntryPoint, EventDraft, Limit, Membership, Problem, Refusal, Role, Scope, User, UserId, text, user,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::Bounded;

use crate::work::{Doer, Work};
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
            work.added(&scope, &new, Some(&caller))
        })
        .await
    }

    /// Adds a person to a tenant and project by name, which are made if absent: for whoever holds the database itself.
    pub async fn user_install(&self, tenant: &str, project: &str, new: NewUser) -> Result<AddedUser, Error> {
        new.check()?;
        let scope = self.scope_ensure(tenant, project).await?;
        self.transact_as(Doer::system(EntryPoint::Cli), move |work| {
            work.tx.names_lock(scope.tenant)?;
            work.added(&scope, &new, None)
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

impl Work<'_> {
    /// Somebody who belongs to a project.
    pub(crate) fn member(&mut self, scope: &Scope, name: &str) -> Result<(User, Membership), Error> {
        let user = self.tx.user(scope.tenant, name)?.ok_or(Refusal::NotFound("user"))?.user;
        let membership = user.member_of(scope.project).cloned().ok_or(Refusal::NotFound("user"))?;
        Ok((user, membership))
    }

    fn added(&mut self, scope: &Scope, new: &NewUser, by: Option<&Caller>) -> Result<AddedUser, Error> {
        let NewUser { name, display, role, groups, join_keys } = new.clone();
        let found = self.tx.user_alike(scope.tenant, &name)?.map(|found| found.user);
        if found.as_ref().is_some_and(|found| found.member_of(scope.project).is_some()) {
            return Err(Refusal::UserExists(name).into());
        }
        if !join_keys && !self.tx.keys_of_name(scope, &name)?.is_empty() {
            return Err(Refusal::NameTaken(name).into());
        }
        let existing = found.is_some();
        let user = match found {
            None => self.introduce(scope, &name, display, None)?,
            Some(found) => {
                self.spare_admins_elsewhere(scope, &found, by)?;
                self.void_sign_ins(found.id)?;
                found
            }
        };
        let membership = self.admit(scope, &user, role, groups)?;
        Ok(AddedUser { user: User { memberships: vec![membership], ..user }, existing })
    }

    /// Voids everything that lets a person in: the password, links that were not used, and browsers that are signed in.
    pub(crate) fn void_sign_ins(&mut self, user: UserId) -> Result<(), Error> {
        self.tx.password_put(user, None)?;
        self.tx.links_drop(user)?;
        Ok(self.tx.visits_end(user, None)?)
    }

    /// Refuses to sign an admin of another project out, unless the caller is an admin there too, or holds the database itself.
    pub(crate) fn spare_admins_elsewhere(
        &mut self,
        scope: &Scope,
        user: &User,
        by: Option<&Caller>,
    ) -> Result<(), Error> {
        let Some(caller) = by else { return Ok(()) };
        let governed = self.governed(scope, caller.credential)?;
        let mut admin_in = user.active().filter(|membership| membership.role == Role::Admin);
        if admin_in.all(|membership| governed.contains(&membership.project)) {
            return Ok(());
        }
        Err(Refusal::UserElsewhere(user.name.clone()).into())
    }

    /// Makes an account, which belongs nowhere yet.
    pub(crate) fn introduce(
        &mut self,
        scope: &Scope,
        name: &str,
        display: Option<String>,
        subject: Option<&str>,
    ) -> Result<User, Error> {
        let user = User {
            id: self.ids.user(self.now),
            tenant: scope.tenant,
            name: name.to_owned(),
            display,
            subject: subject.map(str::to_owned),
            memberships: Vec::new(),
            created_at: self.now,
            signed_in_at: None,
        };
        self.tx.user_insert(&user)?;
        Ok(user)
    }

    /// Refuses one more person in a project that has as many as it may.
    pub(crate) fn check_room(&mut self, scope: &Scope) -> Result<(), Error> {
        if self.tx.member_count(scope)? < MOST {
            return Ok(());
        }
        Err(Refusal::LimitReached { limit: Limit::ProjectPeople, max: MOST }.into())
    }

    /// Says what a person is in a project from now on.
    pub(crate) fn admit(
        &mut self,
        scope: &Scope,
        user: &User,
        role: Role,
        groups: Vec<String>,
    ) -> Result<Membership, Error> {
        self.check_room(scope)?;
        let membership = Membership { project: scope.project, role, groups, disabled_at: None };
        self.tx.membership_put(scope, user.id, &membership)?;
        let told = json!({ "user": user.name, "role": role, "groups": membership.groups, "subject": user.subject });
        self.audited(scope, &EventDraft::plain("user.added", told))?;
        Ok(membership)
    }
}
