//! The audit trail: entries as they were written, the chain that they are put into afterwards, and its checkpoints.

use domain::audit::chain::{ChainHead, Checkpoint};
use domain::audit::{Entry, Written};
use domain::{Digest, InteractionId, ProjectId, Scope, SessionId, TenantId, Timestamp};

use crate::{Bounded, Cursor, Page, Stored};

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

/// An entry in its chain, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chained {
    /// Its number.
    pub seq: u64,
    /// The digest of its text.
    pub digest: Digest,
    /// Its hash.
    pub hash: Digest,
    /// Its text.
    pub text: String,
    /// What is kept beside its text.
    pub filed: Filed,
}

/// What is kept of an entry beside its text, for lists to go by. The text alone is in the chain: it is what counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filed {
    /// Whose it is, and where it was done.
    pub scope: Scope,
    /// When.
    pub at: Timestamp,
    /// What was done.
    pub name: String,
    /// The name of whoever did it.
    pub by: String,
    /// The session.
    pub session: Option<SessionId>,
    /// The question.
    pub interaction: Option<InteractionId>,
    /// Project and session once more, as its place in the chain has them.
    pub place: (ProjectId, Option<SessionId>),
}

impl Filed {
    /// How an entry is filed. Stores keep microseconds.
    #[must_use]
    pub fn of(entry: &Entry) -> Self {
        Self {
            scope: entry.scope,
            at: Timestamp::from_microsecond(entry.at.as_microsecond()).unwrap_or(entry.at),
            name: entry.name.clone(),
            by: entry.by.name.clone(),
            session: entry.session,
            interaction: entry.interaction,
            place: (entry.scope.project, entry.session),
        }
    }
}

/// Which entries are wanted; the oldest first, unless said otherwise.
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
    /// The newest first: a page then goes on before the number at which the last one ended.
    pub newest: bool,
}

/// What can be read of them.
pub trait AuditReads {
    /// The tenant of this name.
    fn tenant(&mut self, name: &str) -> Stored<Option<TenantId>>;
    /// The oldest project of a tenant: where it stands what was done to the tenant as a whole.
    fn first_project(&mut self, tenant: TenantId) -> Stored<Option<ProjectId>>;
    /// Entries that have no place in a chain yet, in commit order; only those before which nothing can commit any more.
    fn audit_loose(&mut self, limit: u32) -> Stored<Vec<Loose>>;
    /// Where the chain of a tenant ends.
    fn audit_head(&mut self, tenant: TenantId) -> Stored<ChainHead>;
    /// Tenants whose chains end in entries that no checkpoint covers, and which have none since this moment.
    fn audit_unsigned(&mut self, before: Timestamp) -> Stored<Vec<TenantId>>;
    /// Entries of a project, in the order of the chain or against it.
    fn audit_entries(&mut self, scope: &Scope, filter: &AuditFilter, page: Page<u64>) -> Stored<Bounded<Chained>>;
    /// A tenant's chain after a number.
    fn audit_chain(&mut self, tenant: TenantId, page: Page<u64>) -> Stored<Bounded<Chained>>;
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
