//! Changes what a person is in a project: another role, other groups, out of it, or back in.

use domain::access::Right;
use domain::{Caller, EventDraft, Key, KeyId, Membership, Problem, Refusal, Role, Scope, User, UserId, user};
use serde_json::json;

use crate::users::known;
use crate::work::Work;
use crate::{Engine, Error};

/// What is to be changed; what is absent stays as it is.
#[derive(Debug, Clone, Default)]
pub struct UserChange {
    /// What the person may do in the project.
    pub role: Option<Role>,
    /// The groups that the person belongs to there.
    pub groups: Option<Vec<String>>,
    /// Whether the person is out of the project.
    pub disabled: Option<bool>,
}

impl UserChange {
    fn check(&self) -> Result<(), Error> {
        let mut problems: Vec<Problem> = Vec::new();
        if self.role.is_none() && self.groups.is_none() && self.disabled.is_none() {
            problems.push(Problem::new("", "name what is to be changed: `role`, `groups` or `disabled`"));
        }
        user::role("/role", self.role, &mut problems);
        user::groups("/groups", self.groups.as_deref().unwrap_or_default(), &mut problems);
        if problems.is_empty() { Ok(()) } else { Err(Refusal::QuestionInvalid(problems).into()) }
    }
}

impl Engine {
    /// Changes what a person is in the caller's project. Whose role falls is signed out everywhere, and keys in their name that may do more are
    /// revoked; the last admin stays one.
    pub async fn user_change(&self, caller: &Caller, name: &str, change: UserChange) -> Result<User, Error> {
        caller.require(Right::ManageUsers)?;
        change.check()?;
        let (scope, name) = (caller.scope, known(name)?);
        let changed = self.transact_by(caller, move |work| {
            let user = work.remade(&scope, &name, change.clone())?;
            let keys = work.keys_beyond(&scope, &user)?;
            Ok((user, keys))
        });
        let (user, keys) = changed.await?;
        self.keys_ended(keys).await;
        Ok(user)
    }

    /// Takes a person out of the caller's project, with the keys that act in their name. Whoever belongs nowhere any more is signed out
    /// everywhere, and neither the password nor a link lets them in again.
    pub async fn user_disable(&self, caller: &Caller, name: &str) -> Result<(), Error> {
        caller.require(Right::ManageUsers)?;
        let (scope, name) = (caller.scope, known(name)?);
        let keys = self.transact_by(caller, move |work| {
            let admins = work.tx.admins_lock(&scope)?;
            work.caller()?;
            let (user, membership) = work.member(&scope, &name)?;
            let left = work.leaves(&scope, &user, membership, &admins)?;
            work.keys_beyond(&scope, &User { memberships: vec![left], ..user })
        });
        self.keys_ended(keys.await?).await;
        Ok(())
    }
}

impl Work<'_> {
    fn remade(&mut self, scope: &Scope, name: &str, change: UserChange) -> Result<User, Error> {
        let admins = self.tx.admins_lock(scope)?;
        let caller = self.caller()?;
        let user = self.tx.user(scope.tenant, name)?.ok_or(Refusal::NotFound("user"))?.user;
        let was = user.memberships.iter().find(|membership| membership.project == scope.project);
        let was = was.cloned().ok_or(Refusal::NotFound("user"))?;
        let mut now = Membership {
            role: change.role.unwrap_or(was.role),
            groups: change.groups.unwrap_or_else(|| was.groups.clone()),
            ..was.clone()
        };
        if now != was {
            self.becomes(scope, &user, (&was, &now), &admins)?;
        }
        match (change.disabled, was.disabled_at) {
            (Some(true), None) => now = self.leaves(scope, &user, now, &admins)?,
            (Some(false), Some(_)) => {
                // Meanwhile admins of the person's other projects could make links without a word from here.
                self.spare_admins_elsewhere(scope, &user, Some(&caller))?;
                self.check_room(scope)?;
                self.void_sign_ins(user.id)?;
                now.disabled_at = None;
                self.tx.membership_put(scope, user.id, &now)?;
                self.audited(scope, &EventDraft::plain("user.enabled", json!({ "user": name, "role": now.role })))?;
            }
            _ => {}
        }
        Ok(User { memberships: vec![now], ..user })
    }

    /// Revokes the keys that act in a person's name and may do more in the project than the person, by their role or by a group: all of them
    /// where the person is out.
    pub(crate) fn keys_beyond(&mut self, scope: &Scope, user: &User) -> Result<Vec<KeyId>, Error> {
        // A key that is made at the same moment is found here, or its maker finds what the person is now.
        self.tx.names_lock(scope.tenant)?;
        let membership = user.member_of(scope.project);
        let beyond = |key: &Key| membership.is_none_or(|membership| !membership.covers(key));
        let keys = self.tx.keys_of_name(scope, &user.name)?;
        let keys: Vec<KeyId> = keys.into_iter().filter(beyond).map(|key| key.id).collect();
        for id in &keys {
            self.key_ended(scope, *id)?;
        }
        Ok(keys)
    }

    /// Ends everything that lets a person in, because their identity provider gives them no role any more, and revokes all keys of the project
    /// in their name. The membership stays: it is used again when the provider gives a role again.
    pub(crate) fn lose_role(&mut self, scope: &Scope, user: &User) -> Result<Vec<KeyId>, Error> {
        self.void_sign_ins(user.id)?;
        if user.member_of(scope.project).is_some() {
            self.audited(scope, &EventDraft::plain("user.role_lost", json!({ "user": user.name })))?;
        }
        self.keys_beyond(scope, &User { memberships: Vec::new(), ..user.clone() })
    }

    fn becomes(
        &mut self,
        scope: &Scope,
        user: &User,
        (was, now): (&Membership, &Membership),
        admins: &[UserId],
    ) -> Result<(), Error> {
        if now.role != Role::Admin {
            spare_last(user, admins)?;
        }
        self.now_is(scope, user, (was, now))
    }

    /// Writes down what a person is in a project from now on. Whose role falls is signed out everywhere; other groups hold at once.
    pub(crate) fn now_is(
        &mut self,
        scope: &Scope,
        user: &User,
        (was, now): (&Membership, &Membership),
    ) -> Result<(), Error> {
        self.tx.membership_put(scope, user.id, now)?;
        if !was.role.within(now.role) {
            self.tx.visits_end(user.id, None)?;
        }
        let told = json!({ "user": user.name, "role": now.role, "groups": now.groups,
                           "was": { "role": was.role, "groups": was.groups } });
        self.audited(scope, &EventDraft::plain("user.changed", told))
    }

    fn leaves(
        &mut self,
        scope: &Scope,
        user: &User,
        membership: Membership,
        admins: &[UserId],
    ) -> Result<Membership, Error> {
        spare_last(user, admins)?;
        let ended = Membership { disabled_at: Some(self.now), ..membership };
        self.tx.membership_put(scope, user.id, &ended)?;
        if user.active().all(|membership| membership.project == scope.project) {
            self.void_sign_ins(user.id)?;
        }
        self.audited(scope, &EventDraft::plain("user.disabled", json!({ "user": user.name })))?;
        Ok(ended)
    }
}

/// Somebody who signs in must be left who can let others in.
fn spare_last(user: &User, admins: &[UserId]) -> Result<(), Error> {
    if admins == [user.id] { Err(Refusal::LastAdmin(user.name.clone()).into()) } else { Ok(()) }
}
