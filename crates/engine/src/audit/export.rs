//! Exports the audit trail of a tenant as a file that can be verified without the server.

use std::time::Duration;

use domain::access::Right;
use domain::audit::chain::{BEGINNING, ChainHead, Checkpoint};
use domain::audit::export::{EntryForm, Header, Writer};
use domain::{Caller, Digest, ProjectId, Refusal, TenantId, Timestamp};
use store::{ChainedEntry, Cost, Page};

use crate::audit;
use crate::audit::list::as_written;
use crate::secrets;
use crate::{Engine, Error};

/// Number of entries that one read fetches.
const BATCH: u32 = 100;
/// Time that an export waits for the transactions that were open when it began.
const PATIENCE: Duration = Duration::from_secs(10);

/// Part of a chain that an export contains.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExportRange {
    /// Number of the entry after which the export begins.
    pub after: u64,
    /// Entries from before this time are exported as their digest only.
    pub since: Option<Timestamp>,
    /// Entries from this time on are exported as their digest only.
    pub until: Option<Timestamp>,
}

/// Export in progress. The reader pulls it, one batch at a time.
pub struct Export {
    engine: Engine,
    tenant: TenantId,
    shown: Option<ProjectId>,
    wanted: ExportRange,
    at: Timestamp,
    after: u64,
    last: Checkpoint,
    /// First line of the file, until `next` returns it.
    header: Option<String>,
    /// Writer of the remaining lines; `None` when the export has ended.
    writer: Option<Writer>,
}

impl Engine {
    /// Exports the chain of the caller's tenant. Entries of other projects are exported as their digest only.
    pub async fn audit_export(&self, caller: &Caller, wanted: ExportRange) -> Result<Export, Error> {
        caller.require(Right::Audit)?;
        collect_export(self, caller.scope.tenant, Some(caller.scope.project), wanted).await
    }

    /// Exports the whole chain of the named tenant, for an operator with direct access to the database.
    pub async fn audit_export_all(&self, tenant: &str, wanted: ExportRange) -> Result<Export, Error> {
        let tenant = find_tenant(self, tenant).await?;
        match self.audit_skipped_count().await? {
            0 => collect_export(self, tenant, None, wanted).await,
            entries => Err(Error::AuditIncomplete(entries)),
        }
    }

    /// Public key that verifies the audit trail of the named tenant.
    pub async fn audit_key_of(&self, tenant: &str) -> Result<domain::audit::chain::PublicKey, Error> {
        let tenant = find_tenant(self, tenant).await?;
        Ok(audit::key::signer(self, tenant).await?.public_key())
    }
}

async fn find_tenant(engine: &Engine, name: &str) -> Result<TenantId, Error> {
    let name = name.to_owned();
    let found = engine.read(Cost::Point, move |reads| Ok(reads.tenant(&name)?)).await?;
    Ok(found.ok_or(Refusal::NotFound("tenant"))?)
}

async fn collect_export(
    engine: &Engine,
    tenant: TenantId,
    shown: Option<ProjectId>,
    wanted: ExportRange,
) -> Result<Export, Error> {
    match engine.audit_unchained_at_start() {
        0 if engine.database_misfit().await?.is_none() => {}
        entries => return Err(Error::AuditIncomplete(entries)),
    }
    // A transaction that stays open must not block the export for ever. The next export contains the entries that this one lacks.
    if let Ok(ended) = tokio::time::timeout(PATIENCE, secrets::rotate::wait_for_older_transactions(engine)).await {
        ended?;
    }
    engine.chain_audit().await?;
    let last = audit::chain::sign(engine, tenant).await?;
    let key = audit::key::signer(engine, tenant).await?.public_key();
    if wanted.after > last.seq {
        return Err(Refusal::NotFound("entry").into());
    }
    let hash = read_hash(engine, tenant, wanted.after).await?;
    let head = ChainHead { seq: last.seq, ..ChainHead::default() };
    let header = Header::new(tenant, &key, (wanted.after, hash), &head);
    let at = engine.read(Cost::Point, |reads| Ok(reads.now()?)).await?;
    let (writer, header) = Writer::begin(&header, shown);
    let (engine, after, header, writer) = (engine.clone(), wanted.after, Some(header), Some(writer));
    Ok(Export { engine, tenant, shown, wanted, at, after, last, header, writer })
}

async fn read_hash(engine: &Engine, tenant: TenantId, seq: u64) -> Result<Digest, Error> {
    let Some(before) = seq.checked_sub(1) else { return Ok(BEGINNING) };
    let page = Page { after: Some(before), limit: 1 };
    let found = engine.read(Cost::Point, move |reads| Ok(reads.audit_chain(tenant, page)?)).await?;
    Ok(found.first().map(|entry| entry.hash).ok_or(Refusal::NotFound("entry"))?)
}

impl Export {
    /// Returns the next lines, or `None` at the end.
    pub async fn next(&mut self) -> Result<Option<String>, Error> {
        if let Some(header) = self.header.take() {
            return Ok(Some(header));
        }
        match self.writer.take() {
            Some(writer) => self.lines(writer).await.map(Some),
            None => Ok(None),
        }
    }

    async fn lines(&mut self, mut writer: Writer) -> Result<String, Error> {
        let (tenant, page) = (self.tenant, Page { after: Some(self.after), limit: BATCH });
        let found = self.engine.read(Cost::Scan, move |reads| {
            Ok((reads.audit_chain(tenant, page)?, reads.audit_checkpoints(tenant, page)?))
        });
        let (entries, checkpoints) = found.await?;
        let mut lines = String::new();
        let mut checkpoints = checkpoints.into_iter().filter(|checkpoint| checkpoint.seq < self.last.seq).peekable();
        for entry in entries.into_iter().filter(|entry| entry.seq <= self.last.seq) {
            lines += &writer.entry(entry.seq, entry.digest, entry.hash, self.shows(&entry));
            self.after = entry.seq;
            while let Some(checkpoint) = checkpoints.next_if(|checkpoint| checkpoint.seq <= entry.seq) {
                lines += &writer.checkpoint(&checkpoint);
            }
        }
        if self.after >= self.last.seq {
            lines += &writer.checkpoint(&self.last);
            let signer = audit::key::signer(&self.engine, tenant).await?;
            lines += &writer.end(&signer, self.at);
        } else if !lines.is_empty() {
            self.writer = Some(writer);
        }
        // A chain that ends before its last checkpoint has been tampered with. The export then ends early and has no seal.
        Ok(lines)
    }

    /// Decides whether an entry is exported with its text. The decision uses the text, which the chain covers; the columns stored beside
    /// it differ from the text only after tampering.
    fn shows<'a>(&self, chained: &'a ChainedEntry) -> EntryForm<'a> {
        let Some(mut entry) = as_written(chained, self.tenant) else { return EntryForm::Changed };
        let wanted = self.shown.is_none_or(|project| entry.scope.project == project)
            && self.wanted.since.is_none_or(|since| entry.at >= since)
            && self.wanted.until.is_none_or(|until| entry.at < until)
            // Only the operator's own export contains the text of an entry with private parts. Other exports contain its digest, which keeps
            // its place in the chain.
            && !(self.shown.is_some() && entry.redact());
        if wanted { EntryForm::Text(&chained.text) } else { EntryForm::DigestAlone }
    }
}
