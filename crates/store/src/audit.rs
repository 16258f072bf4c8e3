//! The audit trail: entries as they were written, the chain that they are put into afterwards, and its checkpoints.

use domain::audit::Written;
use domain::audit::chain::{Checkpoint, Head};
use domain::{Digest, InteractionId, ProjectId, Scope, SessionId, TenantId, Timestamp};

use crate::{Cursor, Page, Stored};

/// An entry that has no place in its chain yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loose {
    /// Where it was written, in commit order.
    pub cursor: Cursor,
    /// Whose chain it belongs to.
    pub tenant: TenantId,
    /// The project that it was done in.
    pub project: ProjectId,
    /// The session that it was done in.
    pub session: Option<SessionId>,
    /// The digest of its text.
    pub digest: Digest,
}

/// An entry's place in its chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Which entry.
    pub loose: Loose,
    /// Its number, from 1 without gaps.
    pub seq: u64,
    /// Its hash there.
    pub hash: Digest,
}

/// An entry in its chain, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chained {
    /// Its number.
    pub seq: u64,
    /// The digest of its text.
    pub digest: Digest,
    /// Its hash.
    pub hash: Digest,
    /// When it was done.
    pub at: Timestamp,
    /// Its text; none where it belongs to another project than the one that was asked for.
    pub text: Option<String>,
}

/// Which entries are wanted; the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Of this type.
    pub name: Option<String>,
    /// Done by whoever has this name.
    pub by: Option<String>,
    /// In this session.
    pub session: Option<SessionId>,
    /// To this question.
    pub interaction: Option<InteractionId>,
    /// Not before this.
    pub since: Option<Timestamp>,
    /// Before this.
    pub until: Option<Timestamp>,
}

/// What can be read of them.
pub trait AuditReads {
    /// The tenant of this name.
    fn tenant(&mut self, name: &str) -> Stored<Option<TenantId>>;
    /// Entries that have no place in a chain yet, in commit order; only those before which nothing can commit any more.
    fn audit_loose(&mut self, limit: u32) -> Stored<Vec<Loose>>;
    /// Where the chain of a tenant ends.
    fn audit_head(&mut self, tenant: TenantId) -> Stored<Head>;
    /// Tenants whose chains end in entries that no checkpoint covers, and which have none since this moment.
    fn audit_unsigned(&mut self, before: Timestamp) -> Stored<Vec<TenantId>>;
    /// Entries of a project, in the order of the chain.
    fn audit_entries(&mut self, scope: &Scope, filter: &AuditFilter, page: Page<u64>) -> Stored<Vec<Chained>>;
    /// A tenant's chain after a number; the texts of one project, or of all where none is named.
    fn audit_chain(&mut self, tenant: TenantId, shown: Option<ProjectId>, page: Page<u64>) -> Stored<Vec<Chained>>;
    /// A tenant's checkpoints after a number.
    fn audit_checkpoints(&mut self, tenant: TenantId, page: Page<u64>) -> Stored<Vec<Checkpoint>>;
}

/// What can be written of them.
pub trait AuditWrites {
    /// Appends an entry, in no chain yet: nobody waits for anybody else's.
    fn audit_append(&mut self, written: &Written) -> Stored<()>;
    /// Keeps everybody else from chaining until the end of the transaction.
    fn audit_lock(&mut self) -> Stored<()>;
    /// Puts entries into the chain of a tenant, whose end this becomes, in the order in which they were read as loose.
    fn audit_link(&mut self, tenant: TenantId, links: &[Link]) -> Stored<()>;
    /// Remembers that everything up to here has its place.
    fn audit_linked(&mut self, upto: Cursor) -> Stored<()>;
    /// Keeps a checkpoint of the end of a tenant's chain.
    fn audit_sign(&mut self, tenant: TenantId, checkpoint: &Checkpoint, now: Timestamp) -> Stored<()>;
}
