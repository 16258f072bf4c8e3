//! Links audit entries into the hash chains of their tenants, after the commands that wrote them, so that no command waits for the entry
//! of another.
//!
//! Every node runs this job. The node that holds the lock of the chain links the entries, and each entry is linked exactly once. The end
//! of a chain is signed at intervals and before an export.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::audit::chain::{Checkpoint, link};
use domain::{SignedDuration, TenantId};
use store::{ChainLink, Cost, Page, UnchainedEntry};

use crate::audit;
use crate::run;
use crate::run::transaction::Work;
use crate::{Engine, Error};

/// Number of entries that one transaction links. The limit keeps the lock of the chain short.
const BATCH: u32 = 256;
/// Number of entries without a checkpoint at which a chain is signed at once.
const MOST_UNSIGNED: u64 = 256;
/// Age of the last checkpoint at which a chain with later entries is signed again.
const LONGEST_UNSIGNED: SignedDuration = SignedDuration::from_secs(60);
/// Interval at which unlinked entries are looked for.
const EVERY: Duration = Duration::from_millis(500);
/// Pause after a failure. It is longer than `EVERY` because the usual cause, an unreachable database or a missing key, lasts longer.
const AFTER_FAILURE: Duration = Duration::from_secs(5);

impl Engine {
    /// Links and signs entries in an endless loop.
    pub async fn run_chain(&self) {
        run::lineage::look_for_unchained(self).await;
        loop {
            let pause = match self.chain_audit().await.and(self.sign_due().await) {
                Ok(()) => EVERY,
                Err(error) => {
                    tracing::warn!(%error, "audit entries could not be chained; the next pass tries again");
                    AFTER_FAILURE
                }
            };
            tokio::time::sleep(pause).await;
        }
    }

    /// Links every entry that can be linked now.
    pub async fn chain_audit(&self) -> Result<(), Error> {
        loop {
            let loose = self.read(Cost::Point, |reads| Ok(reads.audit_unchained_entries(1)?)).await?;
            if loose.is_empty() {
                return Ok(());
            }
            let (linked, long) = self.transact(link_entries).await?;
            sign_all(self, long).await?;
            if linked < BATCH as usize {
                return Ok(());
            }
        }
    }

    /// Signs the chains that have unsigned entries and whose last checkpoint is older than `LONGEST_UNSIGNED`.
    pub async fn sign_due(&self) -> Result<(), Error> {
        let due = self.read(Cost::Point, |reads| {
            let now = reads.now()?;
            Ok(reads.audit_unsigned_tenants(now.saturating_sub(LONGEST_UNSIGNED).unwrap_or(now))?)
        });
        sign_all(self, due.await?).await
    }
}

async fn sign_all(engine: &Engine, tenants: Vec<TenantId>) -> Result<(), Error> {
    let mut all = Ok(());
    // A failure to sign one tenant's chain does not stop the signing of the others.
    for tenant in tenants {
        if let Err(error) = sign(engine, tenant).await {
            run::timers::count_failure("checkpoint");
            tracing::warn!(%tenant, %error, "the end of an audit chain could not be signed");
            all = Err(error);
        }
    }
    all
}

/// Signs the end of a chain and returns the checkpoint. If a checkpoint covers the end already, that one is returned.
pub(crate) async fn sign(engine: &Engine, tenant: TenantId) -> Result<Checkpoint, Error> {
    let signer = audit::key::signer(engine, tenant).await?;
    engine
        .transact(move |work| {
            work.tx.audit_lock()?;
            let head = work.tx.audit_head(tenant)?;
            let page = Page { after: head.seq.checked_sub(1), limit: 1 };
            if let Some(checkpoint) = work.tx.audit_checkpoints(tenant, page)?.pop() {
                return Ok(checkpoint);
            }
            let checkpoint = signer.checkpoint(tenant, &head, work.now);
            work.tx.audit_sign(tenant, &checkpoint, work.now)?;
            Ok(checkpoint)
        })
        .await
}

/// Links one batch of entries. Returns the number of entries and the tenants whose chains have reached `MOST_UNSIGNED`.
fn link_entries(work: &mut Work<'_>) -> Result<(usize, Vec<TenantId>), Error> {
    work.tx.audit_lock()?;
    let loose = work.tx.audit_unchained_entries(BATCH)?;
    let Some(last) = loose.last().map(|loose| loose.cursor) else { return Ok((0, Vec::new())) };
    let (count, mut long) = (loose.len(), Vec::new());
    let mut chains: BTreeMap<TenantId, Vec<UnchainedEntry>> = BTreeMap::new();
    for loose in loose {
        chains.entry(loose.tenant).or_default().push(loose);
    }
    for (tenant, loose) in chains {
        let head = work.tx.audit_head(tenant)?;
        let (mut seq, mut hash) = (head.seq, head.hash);
        let links: Vec<ChainLink> = loose
            .into_iter()
            .map(|loose| {
                seq += 1;
                hash = link(tenant, seq, hash, loose.digest);
                ChainLink { entry: loose, seq, hash }
            })
            .collect();
        work.tx.audit_chain_append(tenant, &links)?;
        if seq - head.signed_seq >= MOST_UNSIGNED {
            long.push(tenant);
        }
    }
    work.tx.audit_chained_upto_save(last)?;
    Ok((count, long))
}
