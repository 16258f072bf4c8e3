//! Users, their memberships, the browser visits in which they are signed in, and sign-in links.

use domain::{Link, LinkId, Membership, ProjectId, Scope, TenantId, Timestamp, User, UserId, Visit, VisitId};

use crate::{Bounded, StoreResult};

/// A user with the hash of the password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserRecord {
    /// The user, without the password.
    pub user: User,
    /// Password hash in PHC format, which names its own parameters; `None` if the user has no password.
    pub password: Option<String>,
}

/// A visit with the hash of its secret, and its user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisitRecord {
    /// The visit, without its secret.
    pub visit: Visit,
    /// Keyed hash of the secret.
    pub hash: [u8; 32],
    /// User of the visit.
    pub user: User,
}

/// A sign-in link with the hash of its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkRecord {
    /// The link, without its secret.
    pub link: Link,
    /// Keyed hash of the secret.
    pub hash: [u8; 32],
}

/// Reads of users, visits and sign-in links.
pub trait UserReads {
    /// Returns the user with exactly this name in a tenant.
    fn user(&mut self, tenant: TenantId, name: &str) -> StoreResult<Option<UserRecord>>;
    /// Returns the user with this name in a tenant, ignoring ASCII case. If there are several, returns the one with exactly this name,
    /// otherwise the oldest.
    fn user_by_folded_name(&mut self, tenant: TenantId, name: &str) -> StoreResult<Option<UserRecord>>;
    /// Returns the user with this id, in any tenant. Visits and links refer to users by id.
    fn user_by_id(&mut self, id: UserId) -> StoreResult<Option<UserRecord>>;
    /// Returns the user of a tenant with this subject of the identity provider.
    fn user_by_subject(&mut self, tenant: TenantId, subject: &str) -> StoreResult<Option<UserRecord>>;
    /// Lists present and former members of a project by name, each with the membership in this project only.
    fn users_page(&mut self, scope: &Scope, after: Option<&str>, limit: u32) -> StoreResult<Bounded<User>>;
    /// Counts the members of a project.
    fn member_count(&mut self, scope: &Scope) -> StoreResult<u64>;
    /// Returns whether a user of any tenant has ever signed in.
    fn has_anybody_signed_in(&mut self) -> StoreResult<bool>;
    /// Returns the names of a tenant and a project.
    fn scope_names(&mut self, scope: &Scope) -> StoreResult<Option<(String, String)>>;
    /// Returns the visit with this id, in any tenant: authentication learns the scope of a caller from it.
    fn visit(&mut self, id: VisitId) -> StoreResult<Option<VisitRecord>>;
    /// Returns the link with this id.
    fn link(&mut self, id: LinkId) -> StoreResult<Option<LinkRecord>>;
}

/// Writes of users, visits and sign-in links.
pub trait UserWrites {
    /// Inserts a user without memberships.
    fn user_insert(&mut self, user: &User) -> StoreResult<()>;
    /// Saves the membership of a user in a project of their tenant.
    fn membership_save(&mut self, scope: &Scope, user: UserId, membership: &Membership) -> StoreResult<()>;
    /// Returns the admins of a project who have ever signed in, and locks their memberships until the transaction ends.
    fn admins_lock(&mut self, scope: &Scope) -> StoreResult<Vec<UserId>>;
    /// Locks the names of a tenant until the transaction ends. A name must be unique among users and keys, which no unique index covers
    /// together.
    fn names_lock(&mut self, tenant: TenantId) -> StoreResult<()>;
    /// Records when a user last signed in.
    fn user_mark_signed_in(&mut self, id: UserId, at: Timestamp) -> StoreResult<()>;
    /// Saves the password hash of a user; `None` removes it.
    fn password_save(&mut self, id: UserId, password: Option<&str>) -> StoreResult<()>;
    /// Inserts a visit with its hash.
    fn visit_insert(&mut self, visit: &Visit, hash: &[u8; 32]) -> StoreResult<()>;
    /// Records when a visit was last used.
    fn visit_mark_used(&mut self, id: VisitId, at: Timestamp) -> StoreResult<()>;
    /// Switches a visit to another project; `false` if the visit is gone.
    fn visit_set_project(&mut self, id: VisitId, project: ProjectId) -> StoreResult<bool>;
    /// Uses up the permission of a visit that began with a link to set a password without the old one; `false` if it has no such permission.
    fn visit_consume_link(&mut self, id: VisitId) -> StoreResult<bool>;
    /// Deletes a visit; `false` if it is gone.
    fn visit_end(&mut self, id: VisitId) -> StoreResult<bool>;
    /// Deletes all visits of a user except `but`.
    fn visits_end(&mut self, user: UserId, but: Option<VisitId>) -> StoreResult<()>;
    /// Deletes visits last used before `seen` or begun before `created`, at most `limit` of each, and returns how many.
    fn visits_purge(&mut self, seen: Timestamp, created: Timestamp, limit: u32) -> StoreResult<u64>;
    /// Inserts a link with its hash.
    fn link_insert(&mut self, link: &Link, hash: &[u8; 32]) -> StoreResult<()>;
    /// Deletes a link because it was used; `false` if it is gone.
    fn link_redeem(&mut self, id: LinkId) -> StoreResult<bool>;
    /// Deletes all links of a user.
    fn links_delete(&mut self, user: UserId) -> StoreResult<()>;
    /// Deletes up to `limit` links that expired before a time, and returns how many.
    fn links_purge(&mut self, before: Timestamp, limit: u32) -> StoreResult<u64>;
}
