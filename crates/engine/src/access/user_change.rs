//! Changes a person's membership of a project: role, groups, disabled or enabled.

use domain::access::Right;
use domain::audit::kind::{RoleAndGroups, UserChanged, UserEnabled, UserNamed};
use domain::{
    AuditDraft, AuditKind, Caller, Key, KeyId, Membership, Problem, Refusal, Role, Scope, User, UserId, user,
};

use crate::access;
use crate::access::users::require_user_name;
use crate::run::transaction::Work;
use crate::{Engine, Error};

/// Requested change of a membership. Absent fields stay as they are.
#[derive(Debug, Clone, Default)]
pub struct UserChange {
    /// New role in the project.
    pub role: Option<Role>,
    /// New groups in the project.
    pub groups: Option<Vec<String>>,
    /// Whether the person is disabled in the project.
    pub disabled: Option<bool>,
}

impl UserChange {
    fn check(&self) -> Result<(), Error> {
        let mut problems: Vec<Problem> = Vec::new();
        if self.role.is_none() && self.groups.is_none() && self.disabled.is_none() {
            problems.push(Problem::new("", "name at least one of `role`, `groups` and `disabled`"));
        }
        user::check_role("/role", self.role, &mut problems);
        user::check_groups("/groups", self.groups.as_deref().unwrap_or_default(), &mut problems);
        if problems.is_empty() { Ok(()) } else { Err(Refusal::QuestionInvalid(problems).into()) }
    }
}

impl Engine {
    /// Changes a person's membership of the caller's project. A person whose role falls is signed out everywhere, and keys in their name that may do
    /// more than the new role are revoked. The last admin keeps the role.
    pub async fn user_change(&self, caller: &Caller, name: &str, change: UserChange) -> Result<User, Error> {
        caller.require(Right::ManageUsers)?;
        change.check()?;
        let (scope, name) = (caller.scope, require_user_name(name)?);
        let changed = self.transact_by(caller, move |work| {
            let user = apply_user_change(work, &scope, &name, change.clone())?;
            let keys = revoke_excess_keys(work, &scope, &user)?;
            Ok((user, keys))
        });
        let (user, keys) = changed.await?;
        access::keys::wait_until_revoked(self, keys).await;
        Ok(user)
    }

    /// Disables a person in the caller's project and revokes the keys that act in their name. A person without another project is signed out
    /// everywhere; the old password and links no longer work.
    pub async fn user_disable(&self, caller: &Caller, name: &str) -> Result<(), Error> {
        caller.require(Right::ManageUsers)?;
        let (scope, name) = (caller.scope, require_user_name(name)?);
        let keys = self.transact_by(caller, move |work| {
            let admins = work.tx.admins_lock(&scope)?;
            work.caller()?;
            let (user, membership) = access::find_member(work, &scope, &name)?;
            let left = disable_member(work, &scope, &user, membership, &admins)?;
            revoke_excess_keys(work, &scope, &User { memberships: vec![left], ..user })
        });
        access::keys::wait_until_revoked(self, keys.await?).await;
        Ok(())
    }
}

fn apply_user_change(work: &mut Work<'_>, scope: &Scope, name: &str, change: UserChange) -> Result<User, Error> {
    let admins = work.tx.admins_lock(scope)?;
    let caller = work.caller()?;
    let user = work.tx.user(scope.tenant, name)?.ok_or(Refusal::NotFound("user"))?.user;
    let was = user.memberships.iter().find(|membership| membership.project == scope.project);
    let was = was.cloned().ok_or(Refusal::NotFound("user"))?;
    let mut now = Membership {
        role: change.role.unwrap_or(was.role),
        groups: change.groups.unwrap_or_else(|| was.groups.clone()),
        ..was.clone()
    };
    if now != was {
        change_membership(work, scope, &user, (&was, &now), &admins)?;
    }
    match (change.disabled, was.disabled_at) {
        (Some(true), None) => now = disable_member(work, scope, &user, now, &admins)?,
        (Some(false), Some(_)) => {
            // While the person was disabled here, admins of their other projects could create links without an admin of this project.
            access::protect_foreign_admins(work, scope, &user, Some(&caller))?;
            access::require_member_room(work, scope)?;
            access::void_sign_ins(work, user.id)?;
            now.disabled_at = None;
            work.tx.membership_save(scope, user.id, &now)?;
            let enabled = UserEnabled { user: name.to_owned(), role: now.role };
            work.append_audit(scope, &AuditDraft::plain(AuditKind::UserEnabled(enabled)))?;
        }
        _ => {}
    }
    Ok(User { memberships: vec![now], ..user })
}

/// Revokes the keys in a person's name that may do more in the project than the person, by role or by group. All of the keys are revoked if the
/// person is disabled.
pub(crate) fn revoke_excess_keys(work: &mut Work<'_>, scope: &Scope, user: &User) -> Result<Vec<KeyId>, Error> {
    // The lock orders this transaction and the creation of a key: either this finds the key, or the creation finds the new membership.
    work.tx.names_lock(scope.tenant)?;
    let membership = user.member_of(scope.project);
    let beyond = |key: &Key| membership.is_none_or(|membership| !membership.covers(key));
    let keys = work.tx.keys_named(scope, &user.name)?;
    let keys: Vec<KeyId> = keys.into_iter().filter(beyond).map(|key| key.id).collect();
    for id in &keys {
        access::revoke_key(work, scope, *id)?;
    }
    Ok(keys)
}

/// Ends everything that lets a person in and revokes all keys of the project in their name, because their identity provider gives them no role any
/// more. The membership stays: it is used again when the provider gives a role again.
pub(crate) fn remove_role(work: &mut Work<'_>, scope: &Scope, user: &User) -> Result<Vec<KeyId>, Error> {
    access::void_sign_ins(work, user.id)?;
    if user.member_of(scope.project).is_some() {
        let named = UserNamed { user: user.name.clone() };
        work.append_audit(scope, &AuditDraft::plain(AuditKind::UserRoleLost(named)))?;
    }
    revoke_excess_keys(work, scope, &User { memberships: Vec::new(), ..user.clone() })
}

fn change_membership(
    work: &mut Work<'_>,
    scope: &Scope,
    user: &User,
    (was, now): (&Membership, &Membership),
    admins: &[UserId],
) -> Result<(), Error> {
    if now.role != Role::Admin {
        require_other_admin(user, admins)?;
    }
    save_membership(work, scope, user, (was, now))
}

/// Saves a membership and records the change. A lower role signs the person out everywhere; new groups apply at once.
pub(crate) fn save_membership(
    work: &mut Work<'_>,
    scope: &Scope,
    user: &User,
    (was, now): (&Membership, &Membership),
) -> Result<(), Error> {
    work.tx.membership_save(scope, user.id, now)?;
    if !was.role.is_within(now.role) {
        work.tx.visits_end(user.id, None)?;
    }
    let was = RoleAndGroups { role: was.role, groups: was.groups.clone() };
    let changed = UserChanged { user: user.name.clone(), role: now.role, groups: now.groups.clone(), was };
    work.append_audit(scope, &AuditDraft::plain(AuditKind::UserChanged(changed)))
}

fn disable_member(
    work: &mut Work<'_>,
    scope: &Scope,
    user: &User,
    membership: Membership,
    admins: &[UserId],
) -> Result<Membership, Error> {
    require_other_admin(user, admins)?;
    let ended = Membership { disabled_at: Some(work.now), ..membership };
    work.tx.membership_save(scope, user.id, &ended)?;
    if user.active().all(|membership| membership.project == scope.project) {
        access::void_sign_ins(work, user.id)?;
    }
    let named = UserNamed { user: user.name.clone() };
    work.append_audit(scope, &AuditDraft::plain(AuditKind::UserDisabled(named)))?;
    Ok(ended)
}

/// Refuses to remove the last admin: a project needs a person who can let others in.
fn require_other_admin(user: &User, admins: &[UserId]) -> Result<(), Error> {
    if admins == [user.id] { Err(Refusal::LastAdmin(user.name.clone()).into()) } else { Ok(()) }
}
