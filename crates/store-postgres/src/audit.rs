//! The audit trail. Appending an entry takes no lock. Links are written later, under the lock of one row, for entries before the oldest
//! transaction that is still running.

use domain::audit::Written;
use domain::audit::chain::{ChainHead, Checkpoint};
use domain::{Digest, InteractionId, ProjectId, Scope, SessionId, TenantId, Timestamp};
use postgres::Row;
use postgres::types::ToSql;
use store::sql::audit as sql;
use store::sql::list::List;
use store::{
    AuditFilter, AuditReads, AuditWrites, Bounded, ChainLink, ChainedEntry, Cursor, EntryColumns, Page, StoreResult,
    UnchainedEntry,
};
use uuid::Uuid;

use crate::connection::Executor;
use crate::event::{OWN, SETTLED, cursor};
use crate::values::{column, corrupt, json, number, optional_time, parse, signed, time};

/// Entries after a cursor, up to the oldest transaction that is still running.
pub(crate) fn unchained() -> String {
    format!(
        "select xid::text, position, tenant, project, session, digest from audit \
         where (xid, position) > ($1::text::xid8, $2) and {SETTLED} order by audit.xid, position limit $3"
    )
}

/// Columns of a chained entry, in the order of [`read`].
macro_rules! chained {
    () => {
        "select audit_chain.seq, audit.digest, audit_chain.hash, audit.text, audit.tenant, audit.project, audit.at, \
         audit.type, audit.by, audit.session, audit.interaction, audit_chain.project, audit_chain.session \
         from audit_chain join audit using (xid, position) "
    };
}

/// Chain of a tenant after a number.
pub(crate) const CHAIN: &str =
    concat!(chained!(), "where audit_chain.tenant = $1 and audit_chain.seq > $2 order by audit_chain.seq limit $3");

/// Statement of a list.
pub(crate) fn list(scope: &Scope, filter: &AuditFilter, page: Page<u64>) -> StoreResult<List> {
    let beginning = concat!(chained!(), "where audit_chain.project = ?1").to_owned();
    List::of_project(beginning, scope.project.uuid()).audit(filter, page)
}

impl AuditReads for Executor<'_> {
    fn tenant(&mut self, name: &str) -> StoreResult<Option<TenantId>> {
        let found = self.row(sql::TENANT, &[&name])?;
        found.map(|row| Ok(TenantId::from_uuid(column(&row, 0)?))).transpose()
    }

    fn first_project(&mut self, tenant: TenantId) -> StoreResult<Option<ProjectId>> {
        let found = self.row(sql::FIRST_PROJECT, &[&tenant.uuid()])?;
        found.map(|row| Ok(ProjectId::from_uuid(column(&row, 0)?))).transpose()
    }

    fn audit_unchained_entries(&mut self, limit: u32) -> StoreResult<Vec<UnchainedEntry>> {
        let linked = self.row("select xid::text, position from audit_linked", &[])?;
        let after = linked.map_or(Ok(Cursor::default()), |row| cursor(&row, 0))?;
        let values: &[&(dyn ToSql + Sync)] = &[&after.major.to_string(), &signed(after.minor)?, &i64::from(limit)];
        let found = self.rows(&unchained(), values)?;
        let read = |row: &Row| {
            Ok(UnchainedEntry {
                cursor: cursor(row, 0)?,
                tenant: TenantId::from_uuid(column(row, 2)?),
                project: ProjectId::from_uuid(column(row, 3)?),
                session: column::<Option<_>>(row, 4)?.map(SessionId::from_uuid),
                digest: digest(row, 5)?,
            })
        };
        found.iter().map(read).collect()
    }

    fn audit_head(&mut self, tenant: TenantId) -> StoreResult<ChainHead> {
        let Some(row) = self.row(sql::AUDIT_HEAD, &[&tenant.uuid()])? else { return Ok(ChainHead::default()) };
        Ok(ChainHead {
            seq: number(&row, 0)?,
            hash: digest(&row, 1)?,
            signed_seq: number(&row, 2)?,
            signed_at: optional_time(column(&row, 3)?)?,
        })
    }

    fn audit_unsigned_tenants(&mut self, before: Timestamp) -> StoreResult<Vec<TenantId>> {
        let found = self.rows(sql::AUDIT_UNSIGNED_TENANTS, &[&before.as_microsecond()])?;
        found.iter().map(|row| Ok(TenantId::from_uuid(column(row, 0)?))).collect()
    }

    fn audit_entries(
        &mut self,
        scope: &Scope,
        filter: &AuditFilter,
        page: Page<u64>,
    ) -> StoreResult<Bounded<ChainedEntry>> {
        self.list(&list(scope, filter, page)?, page.limit, read)
    }

    fn audit_chain(&mut self, tenant: TenantId, page: Page<u64>) -> StoreResult<Bounded<ChainedEntry>> {
        let (after, limit) = (signed(page.after.unwrap_or(0))?, i64::from(page.limit));
        self.bounded_rows(CHAIN, &[&tenant.uuid(), &after, &limit], page.limit, read)
    }

    fn audit_checkpoints(&mut self, tenant: TenantId, page: Page<u64>) -> StoreResult<Vec<Checkpoint>> {
        // An empty chain may have a checkpoint with the number 0.
        let after = page.after.map_or(Ok(-1), signed)?;
        let found = self.rows(sql::AUDIT_CHECKPOINTS, &[&tenant.uuid(), &after, &i64::from(page.limit)])?;
        found.iter().map(|row| parse(column(row, 0)?)).collect()
    }
}

impl AuditWrites for Executor<'_> {
    /// The entry gets the transaction id of the session's last event, so that entries of a session have the order of its events.
    fn audit_append(&mut self, Written { entry, text, digest }: &Written) -> StoreResult<()> {
        let sql = format!(
            "insert into audit (tenant, project, at, type, by, session, interaction, digest, text, xid) \
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, greatest({OWN}, \
             (select xid from events where session = $6 and seq = $10::bigint - 1)))"
        );
        self.guarded(
            &sql,
            &[
                &entry.scope.tenant.uuid(),
                &entry.scope.project.uuid(),
                &entry.at.as_microsecond(),
                &entry.name,
                &entry.by.name,
                &entry.session.map(SessionId::uuid),
                &entry.interaction.map(InteractionId::uuid),
                &digest.as_bytes().as_slice(),
                text,
                &entry.event.map(signed).transpose()?,
            ],
        )
    }

    fn audit_lock(&mut self) -> StoreResult<()> {
        self.rows("select 1 from audit_linked for update", &[]).map(drop)
    }

    fn audit_chain_append(&mut self, tenant: TenantId, links: &[ChainLink]) -> StoreResult<()> {
        let Some(last) = links.last() else { return Ok(()) };
        let seqs = links.iter().map(|link| signed(link.seq)).collect::<StoreResult<Vec<i64>>>()?;
        let projects: Vec<Uuid> = links.iter().map(|link| link.entry.project.uuid()).collect();
        let sessions: Vec<Option<Uuid>> = links.iter().map(|link| link.entry.session.map(SessionId::uuid)).collect();
        let xids: Vec<String> = links.iter().map(|link| link.entry.cursor.major.to_string()).collect();
        let positions = links.iter().map(|link| signed(link.entry.cursor.minor)).collect::<StoreResult<Vec<i64>>>()?;
        let hashes: Vec<&[u8]> = links.iter().map(|link| link.hash.as_bytes().as_slice()).collect();
        let sql = "insert into audit_chain (tenant, seq, project, session, xid, position, hash) \
                   select $1, seq, project, session, xid::xid8, position, hash from unnest($2::bigint[], $3::uuid[], \
                   $4::uuid[], $5::text[], $6::bigint[], $7::bytea[]) as link (seq, project, session, xid, position, hash)";
        self.change(sql, &[&tenant.uuid(), &seqs, &projects, &sessions, &xids, &positions, &hashes])?;
        self.guarded(sql::AUDIT_HEAD_SAVE, &[&tenant.uuid(), &signed(last.seq)?, &last.hash.as_bytes().as_slice()])
    }

    fn audit_chained_upto_save(&mut self, upto: Cursor) -> StoreResult<()> {
        let sql = "update audit_linked set xid = $1::text::xid8, position = $2 \
                   where (xid, position) < ($1::text::xid8, $2)";
        self.guarded(sql, &[&upto.major.to_string(), &signed(upto.minor)?])
    }

    fn audit_sign(&mut self, tenant: TenantId, checkpoint: &Checkpoint, now: Timestamp) -> StoreResult<()> {
        let seq = signed(checkpoint.seq)?;
        self.guarded(sql::AUDIT_CHECKPOINT_INSERT, &[&tenant.uuid(), &seq, &json(checkpoint)?])?;
        self.change(sql::AUDIT_HEAD_SIGN, &[&tenant.uuid(), &seq, &now.as_microsecond()]).map(drop)
    }
}

fn digest(row: &Row, index: usize) -> StoreResult<Digest> {
    let bytes: &[u8] = column(row, index)?;
    bytes.try_into().map(Digest::from_bytes).map_err(corrupt)
}

fn read(row: &Row) -> StoreResult<ChainedEntry> {
    Ok(ChainedEntry {
        seq: number(row, 0)?,
        digest: digest(row, 1)?,
        hash: digest(row, 2)?,
        text: column(row, 3)?,
        filed: EntryColumns {
            scope: Scope {
                tenant: TenantId::from_uuid(column(row, 4)?),
                project: ProjectId::from_uuid(column(row, 5)?),
            },
            at: time(column(row, 6)?)?,
            name: column(row, 7)?,
            by: column(row, 8)?,
            session: column::<Option<_>>(row, 9)?.map(SessionId::from_uuid),
            interaction: column::<Option<_>>(row, 10)?.map(InteractionId::from_uuid),
            place: (ProjectId::from_uuid(column(row, 11)?), column::<Option<_>>(row, 12)?.map(SessionId::from_uuid)),
        },
    })
}
