//! Creates links that sign a person in once.

use domain::access::Right;
use domain::audit::kind::UserLinkMade;
use domain::{
    AuditDraft, AuditKind, Caller, Credential, EntryPoint, Link, ProjectId, Refusal, Role, Scope, SignedDuration,
    Timestamp, User,
};
use store::{Cost, StoreError};

use crate::access;
use crate::access::authenticate::{LINK, fingerprint, format_credential};
use crate::access::users::require_user_name;
use crate::run::transaction::{Originator, Work};
use crate::{Engine, Error, Idempotency};

/// Lifetime of a link.
const LIFETIME: SignedDuration = SignedDuration::from_mins(15);
/// Lifetime of the first admin's link, which is printed at the start: the person who installs the server may read it later.
const FIRST_LIFETIME: SignedDuration = SignedDuration::from_hours(1);
/// Name of the first admin.
const FIRST: &str = "admin";
/// Name of the tenant and of the project that the first admin belongs to.
const PLACE: &str = "default";

impl Engine {
    /// Creates a link for a person of the caller's project. The text of the link is shown only once.
    ///
    /// The link signs its holder in as that person in all of the person's projects. The caller must therefore be an admin of each of them.
    pub async fn user_link(
        &self,
        caller: &Caller,
        name: &str,
        idempotency: Option<Idempotency>,
    ) -> Result<(String, Timestamp), Error> {
        caller.require(Right::ManageUsers)?;
        let (name, pepper) = (require_user_name(name)?, access::authenticate::load_pepper(self).await?);
        let (scope, credential) = (caller.scope, caller.credential);
        let (link, secret): (Link, _) = self
            .command_with_secret(caller, "link", idempotency, move |work, secret| {
                let (user, _) = access::find_member(work, &scope, &name)?;
                let governed = list_administered_projects(work, &scope, credential)?;
                if !user.active().all(|membership| governed.contains(&membership.project)) {
                    return Err(Refusal::UserElsewhere(name.clone()).into());
                }
                create_link(work, &scope, &user, &fingerprint(&pepper, secret), LIFETIME)
            })
            .await?;
        Ok((format_credential(LINK, link.id.uuid(), &secret), link.expires_at))
    }

    /// Creates a link for a person by name. For the command line, which opens the database itself.
    pub async fn user_link_install(&self, tenant: &str, project: &str, name: &str) -> Result<String, Error> {
        let scope = access::keys::find_scope(self, tenant, project).await?.ok_or(Refusal::NotFound("user"))?;
        let secret = self.ids.random();
        let (name, hash) =
            (require_user_name(name)?, fingerprint(&access::authenticate::load_pepper(self).await?, &secret));
        let link = self.transact_as(Originator::system(EntryPoint::Cli), move |work| {
            let (user, _) = access::find_member(work, &scope, &name)?;
            create_link(work, &scope, &user, &hash, LIFETIME)
        });
        Ok(format_credential(LINK, link.await?.id.uuid(), &secret))
    }

    /// Creates a link for the first admin while nobody has ever signed in. The previous link becomes void.
    pub async fn create_first_link(&self) -> Result<Option<String>, Error> {
        if self.read(Cost::Point, |reads| Ok(reads.has_anybody_signed_in()?)).await? {
            return Ok(None);
        }
        let scope = access::keys::ensure_scope(self, PLACE, PLACE).await?;
        let secret = self.ids.random();
        let hash = fingerprint(&access::authenticate::load_pepper(self).await?, &secret);
        let made = self.transact_as(Originator::system(EntryPoint::Cli), move |work| {
            let user = match work.tx.user(scope.tenant, FIRST)? {
                Some(found) => found.user,
                None => access::create_account(work, &scope, FIRST, None, None)?,
            };
            if user.member_of(scope.project).is_none() {
                access::add_member(work, &scope, &user, Role::Admin, Vec::new())?;
            }
            work.tx.links_delete(user.id)?;
            create_link(work, &scope, &user, &hash, FIRST_LIFETIME)
        });
        match made.await {
            Ok(link) => Ok(Some(format_credential(LINK, link.id.uuid(), &secret))),
            // Another node starts at this moment and prints a link.
            Err(Error::Store(StoreError::Conflict)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Projects in which the caller is an admin. A key is an admin of its own project only.
pub(crate) fn list_administered_projects(
    work: &mut Work<'_>,
    scope: &Scope,
    credential: Credential,
) -> Result<Vec<ProjectId>, Error> {
    let Credential::Visit(id) = credential else { return Ok(vec![scope.project]) };
    let visitor = work.tx.visit(id)?.ok_or(Error::Unauthenticated)?.user;
    let admins = visitor.active().filter(|membership| membership.role == Role::Admin);
    Ok(admins.map(|membership| membership.project).collect())
}

fn create_link(
    work: &mut Work<'_>,
    scope: &Scope,
    user: &User,
    hash: &[u8; 32],
    lifetime: SignedDuration,
) -> Result<Link, Error> {
    let expires_at = work.now.saturating_add(lifetime).unwrap_or(work.now);
    let link = Link { id: work.ids.link(work.now), user: user.id, created_at: work.now, expires_at };
    work.tx.link_insert(&link, hash)?;
    let made = UserLinkMade { user: user.name.clone(), link: link.id, expires_at };
    work.append_audit(scope, &AuditDraft::plain(AuditKind::UserLinkMade(made)))?;
    Ok(link)
}
