//! Lists the audit trail.

use domain::access::Right;
use domain::audit::Entry;
use domain::definition::redact;
use domain::{Caller, Digest, TenantId};
use store::{AuditFilter, Bounded, ChainedEntry, EntryColumns, Page, StoreError};

use crate::{Engine, Error};

/// An entry in its place.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditRecord {
    /// Its number in the chain of its tenant.
    pub seq: u64,
    /// What was done.
    pub entry: Entry,
    /// The digest of its text.
    pub digest: Digest,
    /// Its hash in the chain.
    pub hash: Digest,
}

impl Engine {
    /// The audit trail of the caller's project, the oldest first, and where the next page begins.
    pub async fn audit(
        &self,
        caller: &Caller,
        mut filter: AuditFilter,
        page: Page<u64>,
    ) -> Result<(Vec<AuditRecord>, Option<u64>), Error> {
        caller.require(Right::Audit)?;
        self.chain().await?;
        let (scope, most) = (caller.scope, page.limit as usize);
        let page = Page { limit: page.limit + 1, ..page };
        let found = self.list(caller, move |reads| {
            if let (Some(id), None) = (filter.interaction, filter.session) {
                // The chain knows the session of an entry; its question is read from the entry itself.
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
            // Whatever it was made to look like, nobody is shown it as what happened, nor what is another project's.
            let mut entry = as_written(&chained, scope.tenant).ok_or_else(|| changed(chained.seq))?;
            // Entries of earlier versions have the whole definition, with what is the operator's.
            if entry.name == "definition.added"
                && let Some(body) = entry.data.get_mut("definition")
            {
                redact(body);
            }
            Ok(AuditRecord { seq: chained.seq, entry, digest: chained.digest, hash: chained.hash })
        });
        Ok((entries.collect::<Result<_, Error>>()?, next))
    }
}

/// What an entry of a tenant's chain says, if it is kept as it was written: its text, and all that is filed beside it.
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
