//! Signs a person in by password, by a one-time link, or through an identity provider.

use std::net::IpAddr;

use domain::audit::How;
use domain::audit::kind::SignInTried;
use domain::user::SignInMethod;
use domain::{
    Actor, AuditDraft, AuditKind, EntryPoint, KeyId, LinkId, Membership, Refusal, Role, Scope, User, UserId, Visit,
    VisitId, text, user,
};
use store::{Cost, LinkRecord, UserRecord};
use subtle::ConstantTimeEq;

use crate::access;
use crate::access::authenticate::{LINK, VISIT, fingerprint, format_credential, parse_credential};
use crate::access::password::Password;
use crate::run::transaction::{Originator, Work};
use crate::{Engine, Error};

/// A person authenticated by an identity provider.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The provider's issuer and its identifier of the person, which never changes.
    pub subject: String,
    /// Name of the new account.
    pub name: String,
    /// Display name of the person.
    pub display: Option<String>,
    /// Role that the provider gives the person.
    pub role: Role,
    /// Names of the person's tenant and project, which are created if absent.
    pub project: (String, String),
}

/// A browser that is about to be signed in. Its credential is generated before the transaction.
#[derive(Clone, Copy)]
struct NewVisit {
    visit: VisitId,
    secret: [u8; 32],
    hash: [u8; 32],
    way: SignInMethod,
    from: Option<IpAddr>,
}

impl NewVisit {
    fn originator(&self, actor: Actor) -> Originator {
        Originator { actor, how: How { visit: Some(self.visit), from: self.from, ..How::by(EntryPoint::Http) } }
    }
}

impl Engine {
    /// Signs in by password and returns the browser's credential. An unknown person and a wrong password cannot be told apart,
    /// neither by the error nor by the time.
    pub async fn sign_in_password(
        &self,
        (tenant, name): (&str, &str),
        password: Password,
        from: Option<IpAddr>,
    ) -> Result<String, Error> {
        let (scope, found) = find_account(self, tenant, name).await?;
        let known = found.as_ref().and_then(|found| found.password.clone());
        let fits = access::password::is_right(self, password, known.clone()).await?;
        let signed_in = match &found {
            Some(found) if fits => {
                let same = move |_: &mut Work<'_>, now: &UserRecord| Ok(now.password == known);
                begin_visit_if(self, &found.user, (SignInMethod::Password, from), same).await
            }
            _ => Err(Error::SignInFailed),
        };
        record_failure(self, signed_in, scope, found.as_ref().map(|found| &found.user), (SignInMethod::Password, from))
            .await
    }

    /// Signs in by a one-time link, which is used up.
    pub async fn sign_in_link(&self, text: &str, from: Option<IpAddr>) -> Result<String, Error> {
        let (id, secret) = parse_credential(LINK, text).ok_or(Error::SignInFailed)?;
        let (id, hash) = (LinkId::from_uuid(id), fingerprint(&access::authenticate::load_pepper(self).await?, &secret));
        let found = self.read(Cost::Point, move |reads| {
            let link = reads.link(id)?.filter(|LinkRecord { hash: known, .. }| bool::from(known.ct_eq(&hash)));
            let Some(LinkRecord { link, .. }) = link else { return Ok(None) };
            Ok(reads.user_by_id(link.user)?.map(|record| (link, record.user)))
        });
        let Some((link, user)) = found.await? else {
            tracing::warn!("a sign-in link is unknown or was already used");
            return Err(Error::SignInFailed);
        };
        let taken =
            move |work: &mut Work<'_>, _: &UserRecord| Ok(work.tx.link_redeem(id)? && work.now < link.expires_at);
        let signed_in = begin_visit_if(self, &user, (SignInMethod::Link, from), taken).await;
        record_failure(self, signed_in, home(&user), Some(&user), (SignInMethod::Link, from)).await
    }

    /// Signs in a person authenticated by an identity provider. The provider sets the role at each sign-in; a person whom an admin has disabled
    /// stays out.
    pub async fn sign_in_external(&self, identity: Identity, from: Option<IpAddr>) -> Result<String, Error> {
        let mut problems = Vec::new();
        user::check_name("/name", &identity.name, &mut problems);
        if let Some(display) = &identity.display {
            text::check_line("/display", display, &mut problems);
        }
        if identity.role == Role::Agent || !problems.is_empty() {
            return Err(Refusal::QuestionInvalid(problems).into());
        }
        let scope = access::keys::ensure_scope(self, &identity.project.0, &identity.project.1).await?;
        let new_visit = prepare_visit(self, (SignInMethod::Oidc, from)).await?;
        let actor = Actor { kind: domain::ActorKind::User, name: identity.name.clone() };
        let signed_in = self.transact_as(new_visit.originator(actor), move |work| {
            let (user, keys) = sync_identity(work, &scope, &identity)?;
            begin_visit(work, &user, new_visit)?;
            Ok(keys)
        });
        let signed_in = match signed_in.await {
            Ok(keys) => {
                access::keys::wait_until_revoked(self, keys).await;
                Ok(format_credential(VISIT, new_visit.visit.uuid(), &new_visit.secret))
            }
            Err(error) => Err(error),
        };
        record_failure(self, signed_in, Some(scope), None, (SignInMethod::Oidc, from)).await
    }

    /// Records that a person signed in at an identity provider and was refused. `without_role` is the issuer and subject of a person to whom the
    /// provider gives no role: if that person has an account, everything that lets them into the project ends.
    pub async fn record_refused_sign_in(
        &self,
        (tenant, project): (String, String),
        without_role: Option<String>,
        from: Option<IpAddr>,
    ) -> Result<(), Error> {
        let scope = access::keys::find_scope(self, &tenant, &project).await?;
        let user = match (scope, without_role) {
            (Some(scope), Some(subject)) => end_without_role(self, scope, subject, from).await?,
            _ => None,
        };
        match record_failure(self, Err(Error::SignInFailed), scope, user.as_ref(), (SignInMethod::Oidc, from)).await {
            Ok(_) | Err(Error::SignInFailed) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Ends the visits of the account of this subject and revokes the keys in its name. Returns the account, if there is one.
async fn end_without_role(
    engine: &Engine,
    scope: Scope,
    subject: String,
    from: Option<IpAddr>,
) -> Result<Option<User>, Error> {
    let originator = Originator { actor: Actor::system(), how: How { from, ..How::by(EntryPoint::Http) } };
    let ended = engine.transact_as(originator, move |work| {
        let Some(user) = work.tx.user_by_subject(scope.tenant, &subject)?.map(|record| record.user) else {
            return Ok(None);
        };
        let keys = access::remove_role(work, &scope, &user)?;
        Ok(Some((user, keys)))
    });
    let Some((user, keys)) = ended.await? else { return Ok(None) };
    access::keys::wait_until_revoked(engine, keys).await;
    Ok(Some(user))
}

/// Finds the person of this name, and the project whose audit trail records the attempt.
async fn find_account(engine: &Engine, tenant: &str, name: &str) -> Result<(Option<Scope>, Option<UserRecord>), Error> {
    let mut problems = Vec::new();
    text::check_identifier("/tenant", tenant, &mut problems);
    text::check_identifier("/user", name, &mut problems);
    if !problems.is_empty() {
        return Ok((None, None));
    }
    let (tenant, name) = (tenant.to_owned(), name.to_owned());
    engine
        .read(Cost::Point, move |reads| {
            let Some(tenant) = reads.tenant(&tenant)? else { return Ok((None, None)) };
            let found = reads.user(tenant, &name)?;
            let first = reads.first_project(tenant)?.map(|project| Scope { tenant, project });
            Ok((found.as_ref().and_then(|found| home(&found.user)).or(first), found))
        })
        .await
}

async fn prepare_visit(engine: &Engine, (way, from): (SignInMethod, Option<IpAddr>)) -> Result<NewVisit, Error> {
    let secret = engine.ids.random();
    let hash = fingerprint(&access::authenticate::load_pepper(engine).await?, &secret);
    Ok(NewVisit { visit: engine.ids.visit(engine.now()), secret, hash, way, from })
}

/// Begins a visit if `holds` confirms the proof of identity within the transaction.
async fn begin_visit_if<F>(
    engine: &Engine,
    user: &User,
    by: (SignInMethod, Option<IpAddr>),
    mut holds: F,
) -> Result<String, Error>
where
    F: FnMut(&mut Work<'_>, &UserRecord) -> Result<bool, Error> + Send + 'static,
{
    let (id, new_visit): (UserId, _) = (user.id, prepare_visit(engine, by).await?);
    let begun = engine.transact_as(new_visit.originator(user.actor()), move |work| {
        let record = work.tx.user_by_id(id)?.ok_or(Error::SignInFailed)?;
        if !holds(work, &record)? {
            return Err(Error::SignInFailed);
        }
        begin_visit(work, &record.user, new_visit)
    });
    begun.await.map(|()| format_credential(VISIT, new_visit.visit.uuid(), &new_visit.secret))
}

/// Records a failed sign-in in the audit trail. The entry names the account, if there is one; the caller is unknown.
async fn record_failure(
    engine: &Engine,
    result: Result<String, Error>,
    scope: Option<Scope>,
    user: Option<&User>,
    (way, from): (SignInMethod, Option<IpAddr>),
) -> Result<String, Error> {
    if result != Err(Error::SignInFailed) {
        return result;
    }
    tracing::warn!(?way, "a sign-in failed");
    if let Some(scope) = scope {
        // A name without an account may be a password typed into the wrong field, so it is not recorded.
        let tried = SignInTried { user: user.map(|user| user.name.clone()), way };
        let originator = Originator { actor: Actor::system(), how: How { from, ..How::by(EntryPoint::Http) } };
        let draft = AuditDraft::plain(AuditKind::UserSignInFailed(tried));
        engine.transact_as(originator, move |work| work.append_audit(&scope, &draft)).await?;
    }
    result
}

fn begin_visit(work: &mut Work<'_>, user: &User, new_visit: NewVisit) -> Result<(), Error> {
    let scope = home(user).ok_or(Error::SignInFailed)?;
    let by_link = new_visit.way == SignInMethod::Link && user.subject.is_none();
    let (id, now) = (new_visit.visit, work.now);
    let visit = Visit { id, user: user.id, project: scope.project, by_link, created_at: now, seen_at: now };
    work.tx.visit_insert(&visit, &new_visit.hash)?;
    work.tx.user_mark_signed_in(user.id, now)?;
    let tried = SignInTried { user: Some(user.name.clone()), way: new_visit.way };
    work.append_audit(&scope, &AuditDraft::by(&user.actor(), AuditKind::UserSignedIn(tried)))
}

/// Finds or creates the account of an identity and gives it the provider's role. Revokes the keys in the person's name that may do more than that
/// role, and returns them.
fn sync_identity(work: &mut Work<'_>, scope: &Scope, identity: &Identity) -> Result<(User, Vec<KeyId>), Error> {
    let found = work.tx.user_by_subject(scope.tenant, &identity.subject)?.map(|record| record.user);
    let user = if let Some(user) = found {
        user
    } else {
        require_unclaimed_name(work, scope, &identity.name)?;
        access::create_account(work, scope, &identity.name, identity.display.clone(), Some(&identity.subject))?
    };
    let was = user.memberships.iter().find(|membership| membership.project == scope.project);
    match was {
        Some(was) if was.disabled_at.is_some() => return Err(Error::SignInFailed),
        Some(was) if was.role != identity.role => {
            access::save_membership(work, scope, &user, (was, &Membership { role: identity.role, ..was.clone() }))?;
        }
        Some(_) => {}
        None => {
            access::void_sign_ins(work, user.id)?;
            access::add_member(work, scope, &user, identity.role, Vec::new())?;
        }
    }
    let user = work.tx.user_by_id(user.id)?.ok_or(Error::SignInFailed)?.user;
    let keys = access::revoke_excess_keys(work, scope, &user)?;
    Ok((user, keys))
}

/// Refuses a name that an account or a key already has: a provider must not turn one person into another.
fn require_unclaimed_name(work: &mut Work<'_>, scope: &Scope, name: &str) -> Result<(), Error> {
    work.tx.names_lock(scope.tenant)?;
    let taken =
        work.tx.user_by_folded_name(scope.tenant, name)?.is_some() || work.tx.has_key_named(scope.tenant, name)?;
    if taken { Err(Refusal::NameTaken(name.to_owned()).into()) } else { Ok(()) }
}

/// First active project of a person, where a new visit begins.
fn home(user: &User) -> Option<Scope> {
    user.active().next().map(|membership| user.scope(membership))
}
