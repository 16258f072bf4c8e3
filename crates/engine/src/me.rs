//! Who the caller is, the project that a browser speaks for, and signing out.

use domain::{Caller, Credential, EventDraft, ProjectId, Refusal, Role, Scope, User, VisitId};
use serde_json::json;
use store::{Cost, Reads};

use crate::{Engine, Error};

/// What a caller is told about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Me {
    /// The person, where one is signed in.
    pub user: Option<User>,
    /// Whether a person has a password, or may set one without knowing an old one.
    pub password: Option<PasswordState>,
    /// What the tenant is called.
    pub tenant: String,
    /// Where the caller may be.
    pub projects: Vec<Place>,
}

/// What a person can do about their password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordState {
    /// It is set; changing it needs the old one.
    Known,
    /// It can be set, or set anew, without the old one.
    Settable,
    /// There is none, and none can be set: an identity provider knows the person, or a new link is needed.
    None,
}

/// A project in which a caller is something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Which.
    pub project: ProjectId,
    /// What it is called.
    pub name: String,
    /// What the caller may do there.
    pub role: Role,
}

impl Engine {
    /// Who the caller is.
    pub async fn me(&self, caller: &Caller) -> Result<Me, Error> {
        let caller = caller.clone();
        self.read(Cost::Point, move |reads| {
            let Credential::Visit(visit) = caller.credential else { return of_key(reads, &caller) };
            of_visit(reads, visit)
        })
        .await
    }

    /// Has the browser speak for another project of the person's.
    pub async fn project_change(&self, caller: &Caller, project: ProjectId) -> Result<(), Error> {
        let Credential::Visit(visit) = caller.credential else { return Err(Refusal::NeedsSignIn.into()) };
        self.transact_by(caller, move |work| {
            work.caller()?;
            let user = work.tx.visit(visit)?.ok_or(Error::Unauthenticated)?.user;
            let membership = user.member_of(project).ok_or(Refusal::NotFound("project"))?;
            let scope = user.scope(membership);
            if !work.tx.visit_move(visit, project)? {
                return Err(Error::Unauthenticated);
            }
            work.audited(&scope, &EventDraft::plain("user.project_changed", json!({ "user": user.name })))
        })
        .await
    }

    /// Ends the visit that the caller came with.
    pub async fn sign_out(&self, caller: &Caller) -> Result<(), Error> {
        let Credential::Visit(visit) = caller.credential else { return Err(Refusal::NeedsSignIn.into()) };
        let (scope, name) = (caller.scope, caller.actor.name.clone());
        self.transact_by(caller, move |work| {
            work.caller()?;
            if !work.tx.visit_end(visit)? {
                return Err(Error::Unauthenticated);
            }
            work.audited(&scope, &EventDraft::plain("user.signed_out", json!({ "user": name })))
        })
        .await
    }
}

fn of_key(reads: &mut dyn Reads, caller: &Caller) -> Result<Me, Error> {
    let (tenant, name) = named(reads, &caller.scope)?;
    let here = Place { project: caller.scope.project, name, role: caller.role };
    Ok(Me { user: None, password: None, tenant, projects: vec![here] })
}

fn of_visit(reads: &mut dyn Reads, visit: VisitId) -> Result<Me, Error> {
    let visit = reads.visit(visit)?.ok_or(Error::Unauthenticated)?.visit;
    let record = reads.user_by_id(visit.user)?.ok_or(Error::Unauthenticated)?;
    let (mut tenant, mut projects) = (String::new(), Vec::new());
    for membership in record.user.active() {
        let (of, name) = named(reads, &record.user.scope(membership))?;
        tenant = of;
        projects.push(Place { project: membership.project, name, role: membership.role });
    }
    let password = match (visit.by_link, record.password) {
        (true, _) => PasswordState::Settable,
        (false, Some(_)) => PasswordState::Known,
        (false, None) => PasswordState::None,
    };
    Ok(Me { user: Some(record.user), password: Some(password), tenant, projects })
}

fn named(reads: &mut dyn Reads, scope: &Scope) -> Result<(String, String), Error> {
    Ok(reads.scope_names(scope)?.ok_or(Refusal::NotFound("project"))?)
}
