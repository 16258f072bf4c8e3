//! People who sign in, the browsers in which they have, and the links that let them.

use domain::{Link, LinkId, Membership, ProjectId, Scope, TenantId, Timestamp, User, UserId, Visit, VisitId};

use crate::{Bounded, StoreResult};

/// A person as they are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserRecord {
    /// Who.
    pub user: User,
    /// The slow hash of the password, in the form that names its own parameters.
    pub password: Option<String>,
}

/// A visit as it is kept, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisitRecord {
    /// The visit without its secret.
    pub visit: Visit,
    /// Keyed hash of the secret.
    pub hash: [u8; 32],
    /// Who visits.
    pub user: User,
}

/// A link as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkRecord {
    /// The link without its secret.
    pub link: Link,
    /// Keyed hash of the secret.
    pub hash: [u8; 32],
}

/// What can be read of them.
pub trait UserReads {
    /// The person of this name in a tenant.
    fn user(&mut self, tenant: TenantId, name: &str) -> StoreResult<Option<UserRecord>>;
    /// The person of this name in a tenant, whatever its case. Where there are several, the one of exactly this name, else the one that was
    /// there first.
    fn user_by_folded_name(&mut self, tenant: TenantId, name: &str) -> StoreResult<Option<UserRecord>>;
    /// The person of this id, whosever: a visit or a link leads here.
    fn user_by_id(&mut self, id: UserId) -> StoreResult<Option<UserRecord>>;
    /// The person whom an identity provider means in a tenant.
    fn user_by_subject(&mut self, tenant: TenantId, subject: &str) -> StoreResult<Option<UserRecord>>;
    /// Part of those who belong or have belonged to a project, by name, after this one; and only what they are there.
    fn users_page(&mut self, scope: &Scope, after: Option<&str>, limit: u32) -> StoreResult<Bounded<User>>;
    /// How many people belong to a project now.
    fn member_count(&mut self, scope: &Scope) -> StoreResult<u64>;
    /// Whether anybody has ever signed in, anywhere.
    fn has_anybody_signed_in(&mut self) -> StoreResult<bool>;
    /// What a tenant and its project are called.
    fn scope_names(&mut self, scope: &Scope) -> StoreResult<Option<(String, String)>>;
    /// The visit of this id, whosever it is: this is how a scope is come by.
    fn visit(&mut self, id: VisitId) -> StoreResult<Option<VisitRecord>>;
    /// The link of this id.
    fn link(&mut self, id: LinkId) -> StoreResult<Option<LinkRecord>>;
}

/// What can be written of them.
pub trait UserWrites {
    /// Keeps a new person, who belongs nowhere yet.
    fn user_insert(&mut self, user: &User) -> StoreResult<()>;
    /// Writes over what a person is in a project of their tenant, or says it for the first time.
    fn membership_save(&mut self, scope: &Scope, user: UserId, membership: &Membership) -> StoreResult<()>;
    /// Who is an admin of a project now and has ever signed in; nobody else changes what they are there before the transaction has ended.
    fn admins_lock(&mut self, scope: &Scope) -> StoreResult<Vec<UserId>>;
    /// Waits for other transactions that give, take or join names of the tenant; later ones wait until this one has ended. A name is looked for
    /// among accounts and keys, which no unique index covers together.
    fn names_lock(&mut self, tenant: TenantId) -> StoreResult<()>;
    /// Notes when a person signed in.
    fn user_mark_signed_in(&mut self, id: UserId, at: Timestamp) -> StoreResult<()>;
    /// Writes over the password, or takes it away.
    fn password_save(&mut self, id: UserId, password: Option<&str>) -> StoreResult<()>;
    /// Keeps a new visit.
    fn visit_insert(&mut self, visit: &Visit, hash: &[u8; 32]) -> StoreResult<()>;
    /// Notes that a visit was used.
    fn visit_mark_used(&mut self, id: VisitId, at: Timestamp) -> StoreResult<()>;
    /// Has a visit speak for another project; false where it has gone.
    fn visit_set_project(&mut self, id: VisitId, project: ProjectId) -> StoreResult<bool>;
    /// Uses up what a visit that was begun by a link may do without the old password; false where it may not.
    fn visit_consume_link(&mut self, id: VisitId) -> StoreResult<bool>;
    /// Ends a visit; false where it has gone.
    fn visit_end(&mut self, id: VisitId) -> StoreResult<bool>;
    /// Ends every visit of a person, but for one.
    fn visits_end(&mut self, user: UserId, but: Option<VisitId>) -> StoreResult<()>;
    /// Forgets visits that were last used, or begun, before these moments; says how many.
    fn visits_purge(&mut self, seen: Timestamp, created: Timestamp, limit: u32) -> StoreResult<u64>;
    /// Keeps a new link.
    fn link_insert(&mut self, link: &Link, hash: &[u8; 32]) -> StoreResult<()>;
    /// Uses a link up; false where it has gone.
    fn link_redeem(&mut self, id: LinkId) -> StoreResult<bool>;
    /// Forgets every link of a person.
    fn links_delete(&mut self, user: UserId) -> StoreResult<()>;
    /// Forgets links that have expired; says how many.
    fn links_purge(&mut self, before: Timestamp, limit: u32) -> StoreResult<u64>;
}
