//! The audit trail. Entries are appended to a table without indexes; the chain is written later, and lists use its indexes.

use domain::audit::Written;
use domain::audit::chain::{ChainHead, Checkpoint};
use domain::{Digest, InteractionId, ProjectId, Scope, SessionId, TenantId, Timestamp};
use rusqlite::{Row, params};
use store::sql::audit as sql;
use store::sql::list::List;
use store::{
    AuditFilter, AuditReads, AuditWrites, Bounded, ChainLink, ChainedEntry, Cursor, EntryColumns, Page, StoreResult,
    UnchainedEntry,
};
use uuid::Uuid;

use crate::connection::Executor;
use crate::values::{id, json, optional_time, parse, time};

/// Entries that are not linked yet.
pub(crate) const UNCHAINED_ENTRIES: &str = "select position, tenant, project, session, digest from audit \
                                where position > (select position from audit_linked) order by position limit ?1";

/// Columns of a chained entry, in the order of [`read`].
macro_rules! chained {
    () => {
        "select audit_chain.seq, audit.digest, audit_chain.hash, audit.text, audit.tenant, audit.project, audit.at, \
         audit.type, audit.by, audit.session, audit.interaction, audit_chain.project, audit_chain.session from audit_chain "
    };
}

/// Chain of a tenant after a number.
pub(crate) const CHAIN: &str = concat!(
    chained!(),
    "join audit on audit.position = audit_chain.position where audit_chain.tenant = ?1 and audit_chain.seq > ?2 \
     order by audit_chain.seq limit ?3"
);

/// Statement of a list; a filter by session uses the index of the session.
pub(crate) fn list(scope: &Scope, filter: &AuditFilter, page: Page<u64>) -> StoreResult<List> {
    let project = if filter.session.is_some() { "+audit_chain.project" } else { "audit_chain.project" };
    let joined = concat!(chained!(), "cross join audit on audit.position = audit_chain.position");
    List::of_project(format!("{joined} where {project} = ?1"), scope.project.uuid()).audit(filter, page)
}

impl AuditReads for Executor<'_> {
    fn tenant(&mut self, name: &str) -> StoreResult<Option<TenantId>> {
        self.row(sql::TENANT, [name], |row| Ok(TenantId::from_uuid(id(row.get(0)?))))
    }

    fn first_project(&mut self, tenant: TenantId) -> StoreResult<Option<ProjectId>> {
        self.row(sql::FIRST_PROJECT, [tenant.uuid()], |row| Ok(ProjectId::from_uuid(id(row.get(0)?))))
    }

    fn audit_unchained_entries(&mut self, limit: u32) -> StoreResult<Vec<UnchainedEntry>> {
        let loose = |row: &Row<'_>| {
            Ok(UnchainedEntry {
                cursor: Cursor { major: 0, minor: row.get(0)? },
                tenant: TenantId::from_uuid(id(row.get(1)?)),
                project: ProjectId::from_uuid(id(row.get(2)?)),
                session: row.get::<_, Option<Uuid>>(3)?.map(SessionId::from_uuid),
                digest: Digest::from_bytes(row.get(4)?),
            })
        };
        self.rows(UNCHAINED_ENTRIES, [limit], loose)
    }

    fn audit_head(&mut self, tenant: TenantId) -> StoreResult<ChainHead> {
        let head = |row: &Row<'_>| {
            Ok(ChainHead {
                seq: row.get(0)?,
                hash: Digest::from_bytes(row.get(1)?),
                signed_seq: row.get(2)?,
                signed_at: optional_time(row.get(3)?)?,
            })
        };
        Ok(self.row(sql::AUDIT_HEAD, [tenant.uuid()], head)?.unwrap_or_default())
    }

    fn audit_unsigned_tenants(&mut self, before: Timestamp) -> StoreResult<Vec<TenantId>> {
        self.rows(sql::AUDIT_UNSIGNED_TENANTS, [before.as_microsecond()], |row| {
            Ok(TenantId::from_uuid(id(row.get(0)?)))
        })
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
        self.bounded_rows(CHAIN, params![tenant.uuid(), page.after.unwrap_or(0), page.limit], page.limit, read)
    }

    fn audit_checkpoints(&mut self, tenant: TenantId, page: Page<u64>) -> StoreResult<Vec<Checkpoint>> {
        // An empty chain may have a checkpoint with the number 0.
        let after = page.after.map_or(-1, |after| i64::try_from(after).unwrap_or(i64::MAX));
        let body = |row: &Row<'_>| parse(&row.get::<_, String>(0)?);
        self.rows(sql::AUDIT_CHECKPOINTS, params![tenant.uuid(), after, page.limit], body)
    }
}

impl AuditWrites for Executor<'_> {
    fn audit_append(&mut self, Written { entry, text, digest }: &Written) -> StoreResult<()> {
        let sql = "insert into audit (tenant, project, at, type, by, session, interaction, digest, text) \
                   values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let row = params![
            entry.scope.tenant.uuid(),
            entry.scope.project.uuid(),
            entry.at.as_microsecond(),
            entry.name,
            entry.by.name,
            entry.session.map(SessionId::uuid),
            entry.interaction.map(InteractionId::uuid),
            digest.as_bytes(),
            text,
        ];
        self.guarded(sql, row)
    }

    /// SQLite has one writer, so that no other transaction can link entries.
    fn audit_lock(&mut self) -> StoreResult<()> {
        Ok(())
    }

    fn audit_chain_append(&mut self, tenant: TenantId, links: &[ChainLink]) -> StoreResult<()> {
        let sql =
            "insert into audit_chain (tenant, seq, project, session, position, hash) values (?1, ?2, ?3, ?4, ?5, ?6)";
        for ChainLink { entry, seq, hash } in links {
            let session = entry.session.map(SessionId::uuid);
            let row = params![tenant.uuid(), seq, entry.project.uuid(), session, entry.cursor.minor, hash.as_bytes()];
            self.change(sql, row)?;
        }
        let Some(last) = links.last() else { return Ok(()) };
        let row = params![tenant.uuid(), last.seq, last.hash.as_bytes()];
        self.change(sql::AUDIT_HEAD_SAVE, row).map(drop)
    }

    fn audit_chained_upto_save(&mut self, upto: Cursor) -> StoreResult<()> {
        let sql = "update audit_linked set position = ?1 where position < ?1";
        self.guarded(sql, [upto.minor])
    }

    fn audit_sign(&mut self, tenant: TenantId, checkpoint: &Checkpoint, now: Timestamp) -> StoreResult<()> {
        let row = params![tenant.uuid(), checkpoint.seq, json(checkpoint)?];
        self.guarded(sql::AUDIT_CHECKPOINT_INSERT, row)?;
        let row = params![tenant.uuid(), checkpoint.seq, now.as_microsecond()];
        self.change(sql::AUDIT_HEAD_SIGN, row).map(drop)
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<ChainedEntry> {
    Ok(ChainedEntry {
        seq: row.get(0)?,
        digest: Digest::from_bytes(row.get(1)?),
        hash: Digest::from_bytes(row.get(2)?),
        text: row.get(3)?,
        filed: EntryColumns {
            scope: Scope {
                tenant: TenantId::from_uuid(id(row.get(4)?)),
                project: ProjectId::from_uuid(id(row.get(5)?)),
            },
            at: time(row.get(6)?)?,
            name: row.get(7)?,
            by: row.get(8)?,
            session: row.get::<_, Option<Uuid>>(9)?.map(SessionId::from_uuid),
            interaction: row.get::<_, Option<Uuid>>(10)?.map(InteractionId::from_uuid),
            place: (ProjectId::from_uuid(id(row.get(11)?)), row.get::<_, Option<Uuid>>(12)?.map(SessionId::from_uuid)),
        },
    })
}
