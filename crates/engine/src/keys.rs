//! Makes, lists and revokes keys.

use domain::access::Right;
use domain::{Caller, Happening, Key, KeyId, Problem, Refusal, Role, Scope, SignedDuration, Wire, text, user};
use serde_json::json;
use store::{Cost, KeyRecord};

use crate::authenticate::{KEY, fingerprint, spelled};
use crate::engine::KEY_TRUST;
use crate::work::{Doer, Work};
use crate::{Engine, Error, Idempotency};

/// The longest that a key may be good for, unless it is good for ever.
const LONGEST: SignedDuration = SignedDuration::from_hours(24 * 365 * 100);

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
    /// With an idempotency key the secret is derived from the installation's own key and the command, so that a repeated command shows the
    /// same secret and it is kept nowhere.
    pub async fn key_create(
        &self,
        caller: &Caller,
        new: NewKey,
        once: Option<Idempotency>,
    ) -> Result<(Key, String), Error> {
        caller.require(Right::ManageKeys)?;
        new.check()?;
        let secret = match &once {
            Some(once) => self.fingerprint("key", &once.name(caller)).await?,
            None => self.ids.random(),
        };
        let (scope, hash) = (caller.scope, fingerprint(&self.pepper().await?, &secret));
        let key = self.command(caller, once, move |work| made(work, scope, new.clone(), hash)).await?;
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

    /// The keys of the caller's project.
    pub async fn keys(&self, caller: &Caller) -> Result<Vec<Key>, Error> {
        caller.require(Right::ManageKeys)?;
        let scope = caller.scope;
        self.list(caller, move |reads| Ok(reads.keys(&scope)?)).await
    }

    /// The keys of a tenant and project by name.
    pub async fn keys_installed(&self, tenant: &str, project: &str) -> Result<Vec<Key>, Error> {
        match self.scope_named(tenant, project).await? {
            Some(scope) => self.keys_of(scope).await,
            None => Ok(Vec::new()),
        }
    }

    /// Revokes a key of the caller's project. When this returns, no node accepts it any more.
    pub async fn key_revoke(&self, caller: &Caller, id: KeyId) -> Result<(), Error> {
        caller.require(Right::ManageKeys)?;
        self.key_end(Doer::of(caller), caller.scope, id).await
    }

    /// Revokes a key of a tenant and project by name.
    pub async fn key_uninstall(&self, tenant: &str, project: &str, id: KeyId) -> Result<(), Error> {
        let scope = self.scope_named(tenant, project).await?.ok_or(Refusal::NotFound("key"))?;
        self.key_end(Doer::system(Wire::Cli), scope, id).await
    }

    async fn key_end(&self, doer: Doer, scope: Scope, id: KeyId) -> Result<(), Error> {
        if !self.transact_as(doer, move |work| work.key_ended(&scope, id)).await? {
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

    async fn keys_of(&self, scope: Scope) -> Result<Vec<Key>, Error> {
        self.read(Cost::Scan, move |reads| Ok(reads.keys(&scope)?)).await
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
    let NewKey { role, user, groups, lifetime } = new;
    let (id, created_at) = (work.ids.key(work.now), work.now);
    let expires_at = lifetime.and_then(|lifetime| created_at.saturating_add(lifetime).ok());
    let key = Key { id, scope, role, user, groups, created_at, expires_at, revoked_at: None, last_used_at: None };
    work.tx.key_insert(&KeyRecord { key: key.clone(), hash })?;
    let told = json!({ "key": id, "role": role, "user": key.user, "groups": key.groups, "expires_at": expires_at });
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
