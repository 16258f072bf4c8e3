//! Makes, lists and revokes keys.

use domain::access::Right;
use domain::{
    Caller, EntryPoint, EventDraft, Key, KeyId, Limit, Problem, Refusal, Role, Scope, SignedDuration, User, text, user,
};
use serde_json::json;
use store::{Bounded, Cost, KeyRecord, Page};

use crate::access::authenticate::{KEY, fingerprint, spelled};
use crate::engine::KEY_TRUST;
use crate::run::transaction::{Originator, Work};
use crate::{Engine, Error, Idempotency};

/// The longest that a key may be good for, unless it is good for ever.
const LONGEST: SignedDuration = SignedDuration::from_hours(24 * 365 * 100);

/// How many keys of a project may be good or expired. Revoked keys are not counted.
const MOST: u64 = 10_000;
/// How many keys are read at once where all are wanted.
const PAGE: u32 = 200;

/// What a key is made with.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// What it may do.
    pub role: Role,
    /// In whose name it acts.
    pub user: Option<String>,
    /// The groups of that user.
    pub groups: Vec<String>,
    /// How long it is good for.
    pub lifetime: Option<SignedDuration>,
    /// Whether it is a key of the person whose account has this name. Without it such a name is taken.
    pub join_account: bool,
}

impl NewKey {
    /// A key in this name that belongs to no account, has no groups and is good for ever.
    #[must_use]
    pub fn named(role: Role, user: impl Into<String>) -> Self {
        Self { role, user: Some(user.into()), groups: Vec::new(), lifetime: None, join_account: false }
    }

    fn check(&self) -> Result<(), Error> {
        let mut problems: Vec<Problem> = Vec::new();
        if let Some(name) = &self.user {
            user::name("/user", name, &mut problems);
        }
        user::groups("/groups", &self.groups, &mut problems);
        if self.lifetime.is_some_and(|lifetime| lifetime <= SignedDuration::ZERO || lifetime > LONGEST) {
            problems.push(Problem::new("/expires_in_seconds", "must be more than 0 and at most 100 years"));
        }
        if self.join_account && self.user.is_none() {
            problems.push(Problem::new("/join_account", "needs `user`, the name of an account"));
        }
        if problems.is_empty() { Ok(()) } else { Err(Refusal::QuestionInvalid(problems).into()) }
    }
}

/// The accounts that a new key can be joined to.
#[derive(Debug, Clone, Copy)]
enum Joinable {
    /// Those of people who are in the project: an admin of one project makes no keys in the name of people of another.
    Members,
    /// All accounts of the tenant: whoever holds the database may make a key before its person is added to the project.
    Tenant,
}

impl Engine {
    /// Makes a key of the caller's project; the text is shown this once.
    ///
    /// With an idempotency key a repeated command shows the same secret, which is kept sealed for as long as the idempotency key is.
    pub async fn key_create(
        &self,
        caller: &Caller,
        new: NewKey,
        once: Option<Idempotency>,
    ) -> Result<(Key, String), Error> {
        caller.require(Right::ManageKeys)?;
        new.check()?;
        let (scope, pepper) = (caller.scope, self.pepper().await?);
        let made = self.command_with_secret(caller, "key", once, move |work, secret| {
            made(work, scope, new.clone(), fingerprint(&pepper, secret), Joinable::Members)
        });
        let (key, secret) = made.await?;
        let text = spelled(KEY, key.id.uuid(), &secret);
        Ok((key, text))
    }

    /// Makes a key for a tenant and project by name, which are made if absent: for whoever holds the database itself.
    pub async fn key_install(&self, tenant: &str, project: &str, new: NewKey) -> Result<(Key, String), Error> {
        new.check()?;
        let scope = self.scope_ensure(tenant, project).await?;
        let secret = self.ids.random();
        let hash = fingerprint(&self.pepper().await?, &secret);
        let key = self.transact_as(Originator::system(EntryPoint::Cli), move |work| {
            made(work, scope, new.clone(), hash, Joinable::Tenant)
        });
        let key = key.await?;
        let text = spelled(KEY, key.id.uuid(), &secret);
        Ok((key, text))
    }

    /// Part of the keys of the caller's project, the newest first.
    pub async fn keys(&self, caller: &Caller, page: Page<KeyId>) -> Result<Bounded<Key>, Error> {
        caller.require(Right::ManageKeys)?;
        let scope = caller.scope;
        self.list(caller, move |reads| Ok(reads.keys_page(&scope, page)?)).await
    }

    /// The keys of a tenant and project by name.
    pub async fn keys_installed(&self, tenant: &str, project: &str) -> Result<Vec<Key>, Error> {
        let Some(scope) = self.scope_named(tenant, project).await? else { return Ok(Vec::new()) };
        let (mut keys, mut page) = (Vec::new(), Page::first(PAGE));
        loop {
            let found = self.read(Cost::Scan, move |reads| Ok(reads.keys_page(&scope, page)?)).await?;
            let more = found.more;
            keys.extend(found);
            page.after = keys.last().map(|key: &Key| key.id);
            if !more {
                return Ok(keys);
            }
        }
    }

    /// Revokes a key of the caller's project. When this returns, no node accepts it any more.
    pub async fn key_revoke(&self, caller: &Caller, id: KeyId) -> Result<(), Error> {
        caller.require(Right::ManageKeys)?;
        let scope = caller.scope;
        let ended = self.transact_by(caller, move |work| {
            work.caller()?;
            revoke_key(work, &scope, id)
        });
        let ended = ended.await?;
        self.key_over(ended, id).await
    }

    /// Revokes a key of a tenant and project by name.
    pub async fn key_uninstall(&self, tenant: &str, project: &str, id: KeyId) -> Result<(), Error> {
        let scope = self.scope_named(tenant, project).await?.ok_or(Refusal::NotFound("key"))?;
        let ended =
            self.transact_as(Originator::system(EntryPoint::Cli), move |work| revoke_key(work, &scope, id)).await?;
        self.key_over(ended, id).await
    }

    async fn key_over(&self, ended: bool, id: KeyId) -> Result<(), Error> {
        if !ended {
            return Err(Refusal::NotFound("key").into());
        }
        self.keys_ended(vec![id]).await;
        Ok(())
    }

    /// Waits until no node accepts any more what was revoked.
    pub(crate) async fn keys_ended(&self, keys: Vec<KeyId>) {
        if keys.is_empty() {
            return;
        }
        keys.iter().for_each(|id| self.keys.invalidate(id));
        // Other nodes, and a server beside this command, trust what they found for so long.
        tokio::time::sleep(KEY_TRUST).await;
    }

    pub(crate) async fn scope_named(&self, tenant: &str, project: &str) -> Result<Option<Scope>, Error> {
        let (tenant, project) = (tenant.to_owned(), project.to_owned());
        self.read(Cost::Scan, move |reads| Ok(reads.scope(&tenant, &project)?)).await
    }

    pub(crate) async fn scope_ensure(&self, tenant: &str, project: &str) -> Result<Scope, Error> {
        let mut problems = Vec::new();
        text::identifier("/tenant", tenant, &mut problems);
        text::identifier("/project", project, &mut problems);
        if !problems.is_empty() {
            return Err(Refusal::QuestionInvalid(problems).into());
        }
        let (tenant, project) = (tenant.to_owned(), project.to_owned());
        self.transact(move |work| {
            let fresh = Scope { tenant: work.ids.tenant(work.now), project: work.ids.project(work.now) };
            Ok(work.tx.scope_ensure(&tenant, &project, fresh)?)
        })
        .await
    }
}

fn made(work: &mut Work<'_>, scope: Scope, new: NewKey, hash: [u8; 32], joinable: Joinable) -> Result<Key, Error> {
    if work.tx.key_count(&scope)? >= MOST {
        return Err(Refusal::LimitReached { limit: Limit::ProjectKeys, max: MOST }.into());
    }
    let account = find_account_to_join(work, &scope, &new, joinable)?;
    let NewKey { role, user, groups, lifetime, join_account: _ } = new;
    let (id, created_at) = (work.ids.key(work.now), work.now);
    let expires_at = lifetime.and_then(|lifetime| created_at.saturating_add(lifetime).ok());
    let key = Key { id, scope, role, user, groups, created_at, expires_at, revoked_at: None, last_used_at: None };
    work.tx.key_insert(&KeyRecord { key: key.clone(), hash })?;
    let mut told = json!({ "key": id, "role": role, "user": key.user, "groups": key.groups, "expires_at": expires_at });
    if let Some(account) = account {
        told["account"] = json!(account.id);
    }
    work.append_audit(&scope, &EventDraft::plain("key.created", told))?;
    Ok(key)
}

/// The account that a new key belongs to. A key gets the name of an account only where the request says that it belongs to that account, and
/// may do no more in the project than its person.
fn find_account_to_join(
    work: &mut Work<'_>,
    scope: &Scope,
    new: &NewKey,
    joinable: Joinable,
) -> Result<Option<User>, Error> {
    let Some(name) = &new.user else { return Ok(None) };
    work.tx.names_lock(scope.tenant)?;
    let Some(found) = work.tx.user_by_folded_name(scope.tenant, name)? else {
        if new.join_account {
            let problem = Problem::new("/join_account", "no account has the name in `user`");
            return Err(Refusal::QuestionInvalid(vec![problem]).into());
        }
        return Ok(None);
    };
    let membership = found.user.member_of(scope.project);
    if matches!(joinable, Joinable::Members) && membership.is_none() {
        return Err(Refusal::NameOutside(name.clone()).into());
    }
    if !new.join_account {
        return Err(Refusal::NameOfAccount(name.clone()).into());
    }
    let beyond = membership.map_or_else(Vec::new, |membership| membership.beyond(new.role, &new.groups));
    if !beyond.is_empty() {
        return Err(Refusal::QuestionInvalid(beyond).into());
    }
    Ok(Some(found.user))
}

/// Revokes a key; false where there is none that could be.
pub(crate) fn revoke_key(work: &mut Work<'_>, scope: &Scope, id: KeyId) -> Result<bool, Error> {
    let revoked = work.tx.key_revoke(scope, id, work.now)?;
    if revoked {
        work.append_audit(scope, &EventDraft::plain("key.revoked", json!({ "key": id })))?;
    }
    Ok(revoked)
}
