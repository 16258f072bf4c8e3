//! Lists the entries of the audit trail.

use domain::access::Right;
use domain::audit::Entry;
use domain::{Caller, Digest, TenantId};
use store::{AuditFilter, Bounded, ChainedEntry, EntryColumns, Page, StoreError};

use crate::{Engine, Error};

/// Audit entry with its position in the chain.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditRecord {
    /// Number of the entry in the chain of its tenant.
    pub seq: u64,
    /// Content of the entry.
    pub entry: Entry,
    /// Digest of the entry's text.
    pub digest: Digest,
    /// Hash of the entry in the chain.
    pub hash: Digest,
}

impl Engine {
    /// Lists the audit trail of the caller's project, the oldest entry first, with the cursor of the next page.
    pub async fn audit_list(
        &self,
        caller: &Caller,
        mut filter: AuditFilter,
        page: Page<u64>,
    ) -> Result<(Vec<AuditRecord>, Option<u64>), Error> {
        caller.require(Right::Audit)?;
        self.chain_audit().await?;
        let (scope, most) = (caller.scope, page.limit as usize);
        let page = Page { limit: page.limit + 1, ..page };
        let found = self.list(caller, move |reads, _| {
            if let (Some(id), None) = (filter.interaction, filter.session) {
                // The chain indexes entries by session. The question of an entry is read from the entry itself.
                let Some(interaction) = reads.interaction(&scope, id)? else { return Ok(Bounded::default()) };
                filter.session = Some(interaction.origin.session);
            }
            Ok(reads.audit_entries(&scope, &filter, page)?)
        });
        let mut found = found.await?;
        let more = found.len() > most || found.more;
        found.truncate(most);
        let next = found.last().map(|chained| chained.seq).filter(|_| more);
        let entries = found.into_iter().map(|chained| {
            // The list fails on an entry that was changed in the database, so that a forged entry or an entry of another project is never
            // shown.
            let mut entry = as_written(&chained, scope.tenant).ok_or_else(|| changed(chained.seq))?;
            entry.redact();
            Ok(AuditRecord { seq: chained.seq, entry, digest: chained.digest, hash: chained.hash })
        });
        Ok((entries.collect::<Result<_, Error>>()?, next))
    }
}

/// Parses an entry of a tenant's chain. Returns `None` if its text or the columns stored beside it were changed after it was written.
pub(crate) fn as_written(chained: &ChainedEntry, tenant: TenantId) -> Option<Entry> {
    let ChainedEntry { digest, text, filed, .. } = chained;
    if Digest::of_bytes(text.as_bytes()) != *digest {
        return None;
    }
    let entry: Entry = serde_json::from_str(text).ok()?;
    (entry.scope.tenant == tenant && EntryColumns::of(&entry) == *filed).then_some(entry)
}

fn changed(seq: u64) -> StoreError {
    StoreError::Corrupt(format!("audit entry {seq} was changed in the database; export the trail and verify it"))
}
