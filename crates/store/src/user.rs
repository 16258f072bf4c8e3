//! People who sign in, the browsers in which they have, and the links that let them.

use domain::{Link, LinkId, Membership, ProjectId, Scope, TenantId, Timestamp, User, UserId, Visit, VisitId};

use crate::{Bounded, Stored};

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
    fn user(&mut self, tenant: TenantId, name: &str) -> Stored<Option<UserRecord>>;
    /// The person of this name in a tenant, whatever its case. Where there are several, the one of exactly this name, else the one that was
    /// there first.
    fn user_alike(&mut self, tenant: TenantId, name: &str) -> Stored<Option<UserRecord>>;
    /// The person of this id, whosever: a visit or a link leads here.
    fn user_by_id(&mut self, id: UserId) -> Stored<Option<UserRecord>>;
    /// The person whom an identity provider means in a tenant.
    fn user_by_subject(&mut self, tenant: TenantId, subject: &str) -> Stored<Option<UserRecord>>;
    /// Everybody who belongs or has belonged to a project, by name, and only what they are there.
    fn users(&mut self, scope: &Scope) -> Stored<Vec<User>>;
    /// At most `limit` of them whose names come after this one.
    fn users_page(&mut self, scope: &Scope, after: Option<&str>, limit: u32) -> Stored<Bounded<User>>;
    /// How many people belong to a project now.
    fn member_count(&mut self, scope: &Scope) -> Stored<u64>;
    /// Whether anybody has ever signed in, anywhere.
    fn anybody_signed_in(&mut self) -> Stored<bool>;
    /// What a tenant and its project are called.
    fn scope_names(&mut self, scope: &Scope) -> Stored<Option<(String, String)>>;
    /// The visit of this id, whosever it is: this is how a scope is come by.
    fn visit(&mut self, id: VisitId) -> Stored<Option<VisitRecord>>;
    /// The link of this id.
    fn link(&mut self, id: LinkId) -> Stored<Option<LinkRecord>>;
}

/// What can be written of them.
pub trait UserWrites {
    /// Keeps a new person, who belongs nowhere yet.
    fn user_insert(&mut self, user: &User) -> Stored<()>;
    /// Writes over what a person is in a project of their tenant, or says it for the first time.
    fn membership_put(&mut self, scope: &Scope, user: UserId, membership: &Membership) -> Stored<()>;
    /// Who is an admin of a project now and has ever signed in; nobody else changes what they are there before the transaction has ended.
    fn admins_lock(&mut self, scope: &Scope) -> Stored<Vec<UserId>>;
    /// Waits for other transactions that give, take or join names of the tenant; later ones wait until this one has ended. A name is looked for
    /// among accounts and keys, which no unique index covers together.
    fn names_lock(&mut self, tenant: TenantId) -> Stored<()>;
    /// Notes when a person signed in.
    fn user_signed_in(&mut self, id: UserId, at: Timestamp) -> Stored<()>;
    /// Writes over the password, or takes it away.
    fn password_put(&mut self, id: UserId, password: Option<&str>) -> Stored<()>;
    /// Keeps a new visit.
    fn visit_insert(&mut self, visit: &Visit, hash: &[u8; 32]) -> Stored<()>;
    /// Notes that a visit was used.
    fn visit_seen(&mut self, id: VisitId, at: Timestamp) -> Stored<()>;
    /// Has a visit speak for another project; false where it has gone.
    fn visit_move(&mut self, id: VisitId, project: ProjectId) -> Stored<bool>;
    /// Uses up what a visit that was begun by a link may do without the old password; false where it may not.
    fn visit_settle(&mut self, id: VisitId) -> Stored<bool>;
    /// Ends a visit; false where it has gone.
    fn visit_end(&mut self, id: VisitId) -> Stored<bool>;
    /// Ends every visit of a person, but for one.
    fn visits_end(&mut self, user: UserId, but: Option<VisitId>) -> Stored<()>;
    /// Forgets visits that were last used, or begun, before these moments; says how many.
    fn visits_purge(&mut self, seen: Timestamp, created: Timestamp, limit: u32) -> Stored<u64>;
    /// Keeps a new link.
    fn link_insert(&mut self, link: &Link, hash: &[u8; 32]) -> Stored<()>;
    /// Uses a link up; false where it has gone.
    fn link_take(&mut self, id: LinkId) -> Stored<bool>;
    /// Forgets every link of a person.
    fn links_drop(&mut self, user: UserId) -> Stored<()>;
    /// Forgets links that have expired; says how many.
    fn links_purge(&mut self, before: Timestamp, limit: u32) -> Stored<u64>;
}
