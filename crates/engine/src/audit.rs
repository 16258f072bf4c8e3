//! Lists the audit trail.

use domain::access::Right;
use domain::audit::Entry;
use domain::{Caller, Digest};
use store::{AuditFilter, Cost, Page, StoreError};

use crate::{Engine, Error};

/// An entry in its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Audited {
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
    ) -> Result<(Vec<Audited>, Option<u64>), Error> {
        caller.require(Right::Audit)?;
        self.chain().await?;
        let (scope, most) = (caller.scope, page.limit as usize);
        let page = Page { limit: page.limit + 1, ..page };
        let found = self.read(Cost::Scan, move |reads| {
            if let (Some(id), None) = (filter.interaction, filter.session) {
                // The chain knows the session of an entry; its question is read from the entry itself.
                let Some(interaction) = reads.interaction(&scope, id)? else { return Ok(Vec::new()) };
                filter.session = Some(interaction.origin.session);
            }
            Ok(reads.audit_entries(&scope, &filter, page)?)
        });
        let mut found = found.await?;
        let more = found.len() > most;
        found.truncate(most);
        let next = found.last().map(|chained| chained.seq).filter(|_| more);
        let entries = found.into_iter().map(|chained| {
            let text = chained.text.unwrap_or_default();
            let entry = serde_json::from_str(&text).map_err(|error| StoreError::Corrupt(error.to_string()))?;
            Ok(Audited { seq: chained.seq, entry, digest: chained.digest, hash: chained.hash })
        });
        Ok((entries.collect::<Result<_, Error>>()?, next))
    }
}
