//! The audit trail: entries, the hash chain of each tenant that entries are linked into after their commit, and signed checkpoints.

use domain::audit::chain::{ChainHead, Checkpoint};
use domain::audit::{Entry, Written};
use domain::{Digest, InteractionId, ProjectId, Scope, SessionId, TenantId, Timestamp};

use crate::{Bounded, Cursor, Page, StoreResult};

/// An audit entry that is not linked into its chain yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnchainedEntry {
    /// Position of the entry in commit order.
    pub cursor: Cursor,
    /// Tenant whose chain the entry belongs to.
    pub tenant: TenantId,
    /// Project that the entry is about.
    pub project: ProjectId,
    /// Session that the entry is about, if any.
    pub session: Option<SessionId>,
    /// Digest of the text of the entry.
    pub digest: Digest,
}

/// A link of the chain: an entry with its number and hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainLink {
    /// The entry that the link adds to the chain.
    pub entry: UnchainedEntry,
    /// Number of the entry in the chain, from 1 without gaps.
    pub seq: u64,
    /// Hash of the link, which covers the link before it.
    pub hash: Digest,
}

/// A stored audit entry with its link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainedEntry {
    /// Number of the entry in the chain.
    pub seq: u64,
    /// Digest of the text of the entry.
    pub digest: Digest,
    /// Hash of the link.
    pub hash: Digest,
    /// Canonical text of the entry. The chain covers it.
    pub text: String,
    /// Columns that are stored beside the text.
    pub filed: EntryColumns,
}

/// Columns of an audit entry that filters use. The chain covers only the text, so that the text is authoritative.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryColumns {
    /// Tenant and project of the entry.
    pub scope: Scope,
    /// Time of the entry.
    pub at: Timestamp,
    /// Type of the entry.
    pub name: String,
    /// Name of the actor.
    pub by: String,
    /// Session that the entry is about, if any.
    pub session: Option<SessionId>,
    /// Question that the entry is about, if any.
    pub interaction: Option<InteractionId>,
    /// Project and session as the row of the chain has them.
    pub place: (ProjectId, Option<SessionId>),
}

impl EntryColumns {
    /// Returns the columns of an entry. Stores keep times in microseconds.
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

/// Filter of audit entries. Entries are listed oldest first unless `newest` is set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Only entries of this type.
    pub name: Option<String>,
    /// Only entries of the actor with this name.
    pub by: Option<String>,
    /// Only entries about this session.
    pub session: Option<SessionId>,
    /// Only entries about this question.
    pub interaction: Option<InteractionId>,
    /// Only entries at this time or later.
    pub since: Option<Timestamp>,
    /// Only entries before this time.
    pub until: Option<Timestamp>,
    /// Lists the newest entries first; a page then continues below the number at which the page before it ended.
    pub newest: bool,
}

/// Reads of the audit trail.
pub trait AuditReads {
    /// Returns the tenant with this name.
    fn tenant(&mut self, name: &str) -> StoreResult<Option<TenantId>>;
    /// Returns the oldest project of a tenant. Entries about the tenant as a whole are written to it.
    fn first_project(&mut self, tenant: TenantId) -> StoreResult<Option<ProjectId>>;
    /// Returns entries that are not linked yet, in commit order; only entries before which no transaction can commit any more.
    fn audit_unchained_entries(&mut self, limit: u32) -> StoreResult<Vec<UnchainedEntry>>;
    /// Returns the end of the chain of a tenant.
    fn audit_head(&mut self, tenant: TenantId) -> StoreResult<ChainHead>;
    /// Returns the tenants whose chain has entries after its last checkpoint, if that checkpoint is not newer than `before`.
    fn audit_unsigned_tenants(&mut self, before: Timestamp) -> StoreResult<Vec<TenantId>>;
    /// Lists entries of a project, in the order of the chain or in reverse.
    fn audit_entries(
        &mut self,
        scope: &Scope,
        filter: &AuditFilter,
        page: Page<u64>,
    ) -> StoreResult<Bounded<ChainedEntry>>;
    /// Lists the links of a tenant's chain after a number.
    fn audit_chain(&mut self, tenant: TenantId, page: Page<u64>) -> StoreResult<Bounded<ChainedEntry>>;
    /// Lists the checkpoints of a tenant after a number.
    fn audit_checkpoints(&mut self, tenant: TenantId, page: Page<u64>) -> StoreResult<Vec<Checkpoint>>;
}

/// Writes of the audit trail.
pub trait AuditWrites {
    /// Appends an entry without linking it, so that concurrent transactions do not wait for each other.
    fn audit_append(&mut self, written: &Written) -> StoreResult<()>;
    /// Locks the chains of all tenants until the end of the transaction.
    fn audit_lock(&mut self) -> StoreResult<()>;
    /// Appends links to the chain of a tenant, in the order in which [`AuditReads::audit_unchained_entries`] returned the entries.
    fn audit_chain_append(&mut self, tenant: TenantId, links: &[ChainLink]) -> StoreResult<()>;
    /// Records that all entries up to this cursor are linked.
    fn audit_chained_upto_save(&mut self, upto: Cursor) -> StoreResult<()>;
    /// Inserts a signed checkpoint of the end of a tenant's chain.
    fn audit_sign(&mut self, tenant: TenantId, checkpoint: &Checkpoint, now: Timestamp) -> StoreResult<()>;
}
