//! Makes, lists and revokes keys.

use domain::access::Right;
use domain::{Caller, Happening, Key, KeyId, Limit, Problem, Refusal, Role, Scope, SignedDuration, Wire, text, user};
use serde_json::json;
use store::{Bounded, Cost, KeyRecord, Page};

use crate::authenticate::{KEY, fingerprint, spelled};
use crate::engine::KEY_TRUST;
use crate::work::{Doer, Work};
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
}

impl NewKey {
    fn check(&self) -> Result<(), Error> {
        let mut problems: Vec<Problem> = Vec::new();
        if let Some(name) = &self.user {
            user::name("/user", name, &mut problems);
        }
        user::groups("/groups", &self.groups, &mut problems);
        if self.lifetime.is_some_and(|lifetime| lifetime <= SignedDuration::ZERO || lifetime > LONGEST) {
            problems.push(Problem::new("/expires_in_seconds", "must be more than 0 and at most 100 years"));
        }
        if problems.is_empty() { Ok(()) } else { Err(Refusal::QuestionInvalid(problems).into()) }
    }
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
            made(work, scope, new.clone(), fingerprint(&pepper, secret))
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
        let key = self.transact_as(Doer::system(Wire::Cli), move |work| made(work, scope, new.clone(), hash)).await?;
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
            work.key_ended(&scope, id)
        });
        let ended = ended.await?;
        self.key_over(ended, id).await
    }

    /// Revokes a key of a tenant and project by name.
    pub async fn key_uninstall(&self, tenant: &str, project: &str, id: KeyId) -> Result<(), Error> {
        let scope = self.scope_named(tenant, project).await?.ok_or(Refusal::NotFound("key"))?;
        let ended = self.transact_as(Doer::system(Wire::Cli), move |work| work.key_ended(&scope, id)).await?;
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

fn made(work: &mut Work<'_>, scope: Scope, new: NewKey, hash: [u8; 32]) -> Result<Key, Error> {
    if work.tx.key_count(&scope)? >= MOST {
        return Err(Refusal::LimitReached { limit: Limit::ProjectKeys, max: MOST }.into());
    }
    let NewKey { role, user, groups, lifetime } = new;
    let (id, created_at) = (work.ids.key(work.now), work.now);
    let expires_at = lifetime.and_then(|lifetime| created_at.saturating_add(lifetime).ok());
    let key = Key { id, scope, role, user, groups, created_at, expires_at, revoked_at: None, last_used_at: None };
    work.tx.key_insert(&KeyRecord { key: key.clone(), hash })?;
    // Whoever manages the keys of a project joins one to a person by giving it their name: the trail says to which account.
    let account = match &key.user {
        Some(name) => {
            work.tx.user_alike(scope.tenant, name)?.filter(|found| found.user.member_of(scope.project).is_some())
        }
        None => None,
    };
    let mut told = json!({ "key": id, "role": role, "user": key.user, "groups": key.groups, "expires_at": expires_at });
    if let Some(found) = account {
        told["account"] = json!(found.user.id);
    }
    work.audited(&scope, &Happening::plain("key.created", told))?;
    Ok(key)
}

impl Work<'_> {
    /// Revokes a key; false where there is none that could be.
    pub(crate) fn key_ended(&mut self, scope: &Scope, id: KeyId) -> Result<bool, Error> {
        let revoked = self.tx.key_revoke(scope, id, self.now)?;
        if revoked {
            self.audited(scope, &Happening::plain("key.revoked", json!({ "key": id })))?;
        }
        Ok(revoked)
    }
}
