//! Adds and lists the people of a project.

use domain::access::Right;
use domain::{Caller, Happening, Membership, Problem, Refusal, Role, Scope, User, Wire, text, user};
use serde_json::json;

use crate::work::{Doer, Work};
use crate::{Engine, Error, Idempotency};

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
    /// Adds a person to the caller's project; whoever the tenant knows already is the same person here.
    pub async fn user_create(&self, caller: &Caller, new: NewUser, once: Option<Idempotency>) -> Result<User, Error> {
        caller.require(Right::ManageUsers)?;
        new.check()?;
        let scope = caller.scope;
        self.command(caller, once, move |work| work.added(&scope, &new)).await
    }

    /// Adds a person to a tenant and project by name, which are made if absent: for whoever holds the database itself.
    pub async fn user_install(&self, tenant: &str, project: &str, new: NewUser) -> Result<User, Error> {
        new.check()?;
        let scope = self.scope_ensure(tenant, project).await?;
        self.transact_as(Doer::system(Wire::Cli), move |work| work.added(&scope, &new)).await
    }

    /// Everybody who belongs or has belonged to the caller's project, by name.
    pub async fn users(&self, caller: &Caller) -> Result<Vec<User>, Error> {
        caller.require(Right::ManageUsers)?;
        let scope = caller.scope;
        self.list(caller, move |reads| Ok(reads.users(&scope)?)).await
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

    fn added(&mut self, scope: &Scope, new: &NewUser) -> Result<User, Error> {
        let NewUser { name, display, role, groups } = new.clone();
        let user = match self.tx.user(scope.tenant, &name)? {
            None => self.introduce(scope, &name, display, None)?,
            Some(found) if found.user.member_of(scope.project).is_some() => {
                return Err(Refusal::UserExists(name).into());
            }
            Some(found) => found.user,
        };
        let membership = self.admit(scope, &user, role, groups)?;
        Ok(User { memberships: vec![membership], ..user })
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

    /// Says what a person is in a project from now on.
    pub(crate) fn admit(
        &mut self,
        scope: &Scope,
        user: &User,
        role: Role,
        groups: Vec<String>,
    ) -> Result<Membership, Error> {
        let membership = Membership { project: scope.project, role, groups, disabled_at: None };
        self.tx.membership_put(scope, user.id, &membership)?;
        let told = json!({ "user": user.name, "role": role, "groups": membership.groups, "subject": user.subject });
        self.audited(scope, &Happening::plain("user.added", told))?;
        Ok(membership)
    }
}
