//! Returns the caller's own account and projects, changes the project of a browser, and signs out.

use domain::audit::kind::UserNamed;
use domain::{AuditDraft, AuditKind, Caller, Credential, ProjectId, Refusal, Role, Scope, User, VisitId};
use store::{Cost, Reads};

use crate::{Engine, Error};

/// Description of the caller, for the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Me {
    /// Account of the caller, where a person is signed in.
    pub user: Option<User>,
    /// State of the person's password, where a person is signed in.
    pub password: Option<PasswordState>,
    /// Name of the tenant.
    pub tenant: String,
    /// Projects that the caller can work in.
    pub projects: Vec<ProjectMembership>,
}

/// Changes that a person can make to their password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordState {
    /// A password is set; a change needs the old one.
    Known,
    /// A password can be set or replaced without the old one.
    Settable,
    /// The account has no password and cannot set one: an identity provider signs the person in, or a new link is needed.
    None,
}

/// A project and the caller's role in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectMembership {
    /// Identifier of the project.
    pub project: ProjectId,
    /// Name of the project.
    pub name: String,
    /// Role of the caller in the project.
    pub role: Role,
}

impl Engine {
    /// Returns the caller's account, tenant and projects.
    pub async fn me_get(&self, caller: &Caller) -> Result<Me, Error> {
        self.read_by(caller, Cost::Point, |reads, caller| {
            let Credential::Visit(visit) = caller.credential else { return of_key(reads, caller) };
            of_visit(reads, visit)
        })
        .await
    }

    /// Switches the browser to another project of the person.
    pub async fn me_project(&self, caller: &Caller, project: ProjectId) -> Result<(), Error> {
        let Credential::Visit(visit) = caller.credential else { return Err(Refusal::NeedsSignIn.into()) };
        self.transact_by(caller, move |work| {
            work.caller()?;
            let user = work.tx.visit(visit)?.ok_or(Error::Unauthenticated)?.user;
            let membership = user.member_of(project).ok_or(Refusal::NotFound("project"))?;
            let scope = user.scope(membership);
            if !work.tx.visit_set_project(visit, project)? {
                return Err(Error::Unauthenticated);
            }
            work.append_audit(&scope, &AuditDraft::plain(AuditKind::UserProjectChanged(UserNamed { user: user.name })))
        })
        .await
    }

    /// Ends the visit of the caller.
    pub async fn sign_out(&self, caller: &Caller) -> Result<(), Error> {
        let Credential::Visit(visit) = caller.credential else { return Err(Refusal::NeedsSignIn.into()) };
        let (scope, name) = (caller.scope, caller.actor.name.clone());
        self.transact_by(caller, move |work| {
            work.caller()?;
            if !work.tx.visit_end(visit)? {
                return Err(Error::Unauthenticated);
            }
            let named = UserNamed { user: name.clone() };
            work.append_audit(&scope, &AuditDraft::plain(AuditKind::UserSignedOut(named)))
        })
        .await
    }
}

fn of_key(reads: &mut dyn Reads, caller: &Caller) -> Result<Me, Error> {
    let (tenant, name) = read_names(reads, &caller.scope)?;
    let here = ProjectMembership { project: caller.scope.project, name, role: caller.role };
    Ok(Me { user: None, password: None, tenant, projects: vec![here] })
}

fn of_visit(reads: &mut dyn Reads, visit: VisitId) -> Result<Me, Error> {
    let visit = reads.visit(visit)?.ok_or(Error::Unauthenticated)?.visit;
    let record = reads.user_by_id(visit.user)?.ok_or(Error::Unauthenticated)?;
    let (mut tenant, mut projects) = (String::new(), Vec::new());
    for membership in record.user.active() {
        let (of, name) = read_names(reads, &record.user.scope(membership))?;
        tenant = of;
        projects.push(ProjectMembership { project: membership.project, name, role: membership.role });
    }
    let password = match (visit.by_link, record.password) {
        (true, _) => PasswordState::Settable,
        (false, Some(_)) => PasswordState::Known,
        (false, None) => PasswordState::None,
    };
    Ok(Me { user: Some(record.user), password: Some(password), tenant, projects })
}

fn read_names(reads: &mut dyn Reads, scope: &Scope) -> Result<(String, String), Error> {
    Ok(reads.scope_names(scope)?.ok_or(Refusal::NotFound("project"))?)
}
