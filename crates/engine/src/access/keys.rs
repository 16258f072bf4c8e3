//! Creates, lists and revokes API keys.

use domain::access::Right;
use domain::audit::kind::{KeyCreated, KeyRevoked};
use domain::{
    AgentEnvironment, AuditDraft, AuditKind, Caller, EntryPoint, Key, KeyId, Limit, Problem, Refusal, Role, Scope,
    SignedDuration, User, text, user,
};
use store::{Bounded, Cost, KeyRecord, Page};

use crate::access;
use crate::access::authenticate::{KEY, fingerprint, format_credential};
use crate::engine::KEY_TRUST;
use crate::run::pages::Pages;
use crate::run::transaction::{Originator, Work};
use crate::{Engine, Error, Idempotency};

/// Maximum lifetime of a key that expires.
const LONGEST: SignedDuration = SignedDuration::from_hours(24 * 365 * 100);

/// Maximum number of keys in a project. Expired keys count, revoked keys do not.
const MOST: u64 = 10_000;
/// Number of keys that one read fetches when all keys are listed.
const PAGE: u32 = 200;

/// Request for a new key.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// Role of the key.
    pub role: Role,
    /// Name in which the key acts.
    pub user: Option<String>,
    /// Groups of that name.
    pub groups: Vec<String>,
    /// Time until the key expires. A key without it never expires.
    pub lifetime: Option<SignedDuration>,
    /// Whether the key belongs to the account that has this name. Without it the name of an account is refused.
    pub join_account: bool,
    /// Program and directory for which the key is made.
    pub environment: AgentEnvironment,
}

impl NewKey {
    /// A key in this name that belongs to no account, has no groups and never expires.
    #[must_use]
    pub fn named(role: Role, user: impl Into<String>) -> Self {
        Self {
            role,
            user: Some(user.into()),
            groups: Vec::new(),
            lifetime: None,
            join_account: false,
            environment: AgentEnvironment::default(),
        }
    }

    fn check(&self) -> Result<(), Error> {
        let mut problems: Vec<Problem> = Vec::new();
        if let Some(name) = &self.user {
            user::check_name("/user", name, &mut problems);
        }
        user::check_groups("/groups", &self.groups, &mut problems);
        if self.lifetime.is_some_and(|lifetime| lifetime <= SignedDuration::ZERO || lifetime > LONGEST) {
            problems.push(Problem::new("/expires_in_seconds", "must be more than 0 and at most 100 years"));
        }
        if self.join_account && self.user.is_none() {
            problems.push(Problem::new("/join_account", "needs `user`, the name of an account"));
        }
        check_environment(self.role, &self.environment, &mut problems);
        if problems.is_empty() { Ok(()) } else { Err(Refusal::QuestionInvalid(problems).into()) }
    }
}

/// Adds a problem for a client that the catalogue of tools does not have, for a root that is not a plain absolute path, and for either of them on a
/// key that does not propose actions.
fn check_environment(role: Role, environment: &AgentEnvironment, problems: &mut Vec<Problem>) {
    if let Some(client) = &environment.client
        && !::policy::is_client(client)
    {
        let known = ::policy::clients().join(", ");
        problems.push(Problem::new("/client", format!("is not a known client; the clients are {known}")));
    }
    if let Some(root) = &environment.root
        && !::policy::is_root(root)
    {
        problems.push(Problem::new("/root", "must be an absolute path without `..`, and not `/` itself"));
    }
    if role != Role::Agent && !environment.is_unknown() {
        problems.push(Problem::new("/role", "must be `agent` for a key with `client` or `root`"));
    }
}

/// Accounts that a new key can join.
#[derive(Debug, Clone, Copy)]
enum Joinable {
    /// Accounts of the project's members: an admin of one project creates no keys in the name of people of another.
    Members,
    /// All accounts of the tenant: a person with direct access to the database may create a key before its owner joins the project.
    Tenant,
}

impl Engine {
    /// Creates a key of the caller's project. The text of the key is shown only once.
    ///
    /// With an idempotency key a repeated command returns an identical secret, which is stored sealed for as long as the idempotency key.
    pub async fn key_create(
        &self,
        caller: &Caller,
        new: NewKey,
        idempotency: Option<Idempotency>,
    ) -> Result<(Key, String), Error> {
        caller.require(Right::ManageKeys)?;
        new.check()?;
        let (scope, pepper) = (caller.scope, access::authenticate::load_pepper(self).await?);
        let made = self.command_with_secret(caller, "key", idempotency, move |work, secret| {
            create_key(work, scope, new.clone(), fingerprint(&pepper, secret), Joinable::Members)
        });
        let (key, secret) = made.await?;
        let text = format_credential(KEY, key.id.uuid(), &secret);
        Ok((key, text))
    }

    /// Creates a key in a tenant and project by name, which are created if absent. For the command line, which opens the database itself.
    pub async fn key_install(&self, tenant: &str, project: &str, new: NewKey) -> Result<(Key, String), Error> {
        new.check()?;
        let scope = ensure_scope(self, tenant, project).await?;
        let secret = self.ids.random();
        let hash = fingerprint(&access::authenticate::load_pepper(self).await?, &secret);
        let key = self.transact_as(Originator::system(EntryPoint::Cli), move |work| {
            create_key(work, scope, new.clone(), hash, Joinable::Tenant)
        });
        let key = key.await?;
        let text = format_credential(KEY, key.id.uuid(), &secret);
        Ok((key, text))
    }

    /// A page of the keys of the caller's project, the newest first.
    pub async fn key_list(&self, caller: &Caller, page: Page<KeyId>) -> Result<Bounded<Key>, Error> {
        caller.require(Right::ManageKeys)?;
        let scope = caller.scope;
        self.list(caller, move |reads, _| Ok(reads.keys_page(&scope, page)?)).await
    }

    /// All keys of a tenant and project by name.
    pub async fn list_installed_keys(&self, tenant: &str, project: &str) -> Result<Vec<Key>, Error> {
        let Some(scope) = find_scope(self, tenant, project).await? else { return Ok(Vec::new()) };
        self.read(Cost::Scan, move |reads| {
            let (mut keys, mut pages) = (Vec::new(), Pages::new(PAGE, |key: &Key| key.id));
            while let Some(found) = pages.next(|page| reads.keys_page(&scope, page))? {
                keys.extend(found);
            }
            Ok(keys)
        })
        .await
    }

    /// Revokes a key of the caller's project. When this returns, no node accepts the key any more.
    pub async fn key_revoke(&self, caller: &Caller, id: KeyId) -> Result<(), Error> {
        caller.require(Right::ManageKeys)?;
        let scope = caller.scope;
        let ended = self.transact_by(caller, move |work| {
            work.caller()?;
            revoke_key(work, &scope, id)
        });
        let ended = ended.await?;
        finish_revocation(self, ended, id).await
    }

    /// Revokes a key of a tenant and project by name. For the command line, which opens the database itself.
    pub async fn key_uninstall(&self, tenant: &str, project: &str, id: KeyId) -> Result<(), Error> {
        let scope = find_scope(self, tenant, project).await?.ok_or(Refusal::NotFound("key"))?;
        let ended =
            self.transact_as(Originator::system(EntryPoint::Cli), move |work| revoke_key(work, &scope, id)).await?;
        finish_revocation(self, ended, id).await
    }
}

async fn finish_revocation(engine: &Engine, ended: bool, id: KeyId) -> Result<(), Error> {
    if !ended {
        return Err(Refusal::NotFound("key").into());
    }
    wait_until_revoked(engine, vec![id]).await;
    Ok(())
}

/// Waits until no node accepts the revoked keys any more.
pub(crate) async fn wait_until_revoked(engine: &Engine, keys: Vec<KeyId>) {
    if keys.is_empty() {
        return;
    }
    keys.iter().for_each(|id| engine.keys.invalidate(id));
    // Other nodes, and a server beside this command, trust their cached keys for this long.
    tokio::time::sleep(KEY_TRUST).await;
}

pub(crate) async fn find_scope(engine: &Engine, tenant: &str, project: &str) -> Result<Option<Scope>, Error> {
    let (tenant, project) = (tenant.to_owned(), project.to_owned());
    engine.read(Cost::Scan, move |reads| Ok(reads.scope(&tenant, &project)?)).await
}

pub(crate) async fn ensure_scope(engine: &Engine, tenant: &str, project: &str) -> Result<Scope, Error> {
    let mut problems = Vec::new();
    text::check_identifier("/tenant", tenant, &mut problems);
    text::check_identifier("/project", project, &mut problems);
    if !problems.is_empty() {
        return Err(Refusal::QuestionInvalid(problems).into());
    }
    let (tenant, project) = (tenant.to_owned(), project.to_owned());
    engine
        .transact(move |work| {
            let fresh = Scope { tenant: work.ids.tenant(work.now), project: work.ids.project(work.now) };
            Ok(work.tx.scope_ensure(&tenant, &project, fresh)?)
        })
        .await
}

fn create_key(
    work: &mut Work<'_>,
    scope: Scope,
    new: NewKey,
    hash: [u8; 32],
    joinable: Joinable,
) -> Result<Key, Error> {
    if work.tx.key_count(&scope)? >= MOST {
        return Err(Refusal::LimitReached { limit: Limit::ProjectKeys, max: MOST }.into());
    }
    let account = find_account_to_join(work, &scope, &new, joinable)?;
    let NewKey { role, user, groups, lifetime, join_account: _, environment } = new;
    let (id, created_at) = (work.ids.key(work.now), work.now);
    let expires_at = lifetime.and_then(|lifetime| created_at.saturating_add(lifetime).ok());
    let key = Key {
        id,
        scope,
        role,
        user,
        groups,
        environment,
        created_at,
        expires_at,
        revoked_at: None,
        last_used_at: None,
    };
    work.tx.key_insert(&KeyRecord { key: key.clone(), hash })?;
    let created = KeyCreated {
        key: id,
        role,
        user: key.user.clone(),
        groups: key.groups.clone(),
        expires_at,
        account: account.map(|account| account.id),
        environment: key.environment.clone(),
    };
    work.append_audit(&scope, &AuditDraft::plain(AuditKind::KeyCreated(created)))?;
    Ok(key)
}

/// Finds the account that a new key belongs to. A key gets the name of an account only where the request asks to join that account, and the key may
/// do no more in the project than the person.
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

/// Revokes a key and records that. Returns false if there is no such key or it is revoked already.
pub(crate) fn revoke_key(work: &mut Work<'_>, scope: &Scope, id: KeyId) -> Result<bool, Error> {
    let revoked = work.tx.key_revoke(scope, id, work.now)?;
    if revoked {
        work.append_audit(scope, &AuditDraft::plain(AuditKind::KeyRevoked(KeyRevoked { key: id })))?;
    }
    Ok(revoked)
}
