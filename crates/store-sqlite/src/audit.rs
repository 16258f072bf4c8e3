//! The audit trail. Entries are appended without an index; the chain is written afterwards, and lists read by it.

use domain::audit::Written;
use domain::audit::chain::{ChainHead, Checkpoint};
use domain::{Digest, InteractionId, ProjectId, Scope, SessionId, TenantId, Timestamp};
use rusqlite::{OptionalExtension, Row, ToSql, params};
use store::{AuditFilter, AuditReads, AuditWrites, Bounded, Chained, Cursor, Filed, Link, Loose, Page, Stored};
use uuid::Uuid;

use crate::connection::Face;
use crate::error::Told;
use crate::session::{Given, guarded};
use crate::values::{id, json, micros, parsed, time, time_if};

/// Entries without a place in a chain.
pub(crate) const LOOSE: &str = "select position, tenant, project, session, digest from audit \
                                where position > (select position from audit_linked) order by position limit ?1";

/// An entry in its chain, as [`read`] reads it.
macro_rules! chained {
    () => {
        "select audit_chain.seq, audit.digest, audit_chain.hash, audit.text, audit.tenant, audit.project, audit.at, \
         audit.type, audit.by, audit.session, audit.interaction, audit_chain.project, audit_chain.session from audit_chain "
    };
}

/// A tenant's chain after a number.
pub(crate) const CHAIN: &str = concat!(
    chained!(),
    "join audit on audit.position = audit_chain.position where audit_chain.tenant = ?1 and audit_chain.seq > ?2 \
     order by audit_chain.seq limit ?3"
);

/// The statement of a list: only the conditions that are wanted, by the session's own index where one is named.
pub(crate) fn list(scope: &Scope, filter: &AuditFilter, page: Page<u64>) -> (String, Given) {
    let project = if filter.session.is_some() { "+audit_chain.project" } else { "audit_chain.project" };
    let mut sql = chained!().to_owned();
    sql.push_str(&format!("cross join audit on audit.position = audit_chain.position where {project} = ?1"));
    let mut values: Given = vec![Box::new(scope.project.uuid())];
    let mut with = |condition: &str, value: Option<Box<dyn ToSql>>| {
        if let Some(value) = value {
            values.push(value);
            sql.push_str(&condition.replace('?', &format!("?{}", values.len())));
        }
    };
    let boxed = |value: Option<i64>| value.map(|value| Box::new(value) as Box<dyn ToSql>);
    let text = |value: &Option<String>| value.clone().map(|value| Box::new(value) as Box<dyn ToSql>);
    let uuid = |value: Option<Uuid>| value.map(|value| Box::new(value) as Box<dyn ToSql>);
    let (beyond, order) = if filter.newest { ("<", " desc") } else { (">", "") };
    with(&format!(" and audit_chain.seq {beyond} ?"), page.after.map(|after| Box::new(after) as Box<dyn ToSql>));
    with(" and audit_chain.session = ?", uuid(filter.session.map(SessionId::uuid)));
    with(" and audit.interaction = ?", uuid(filter.interaction.map(InteractionId::uuid)));
    with(" and audit.type = ?", text(&filter.name));
    with(" and audit.by = ?", text(&filter.by));
    with(" and audit.at >= ?", boxed(micros(filter.since)));
    with(" and audit.at < ?", boxed(micros(filter.until)));
    sql.push_str(&format!(" order by audit_chain.seq{order} limit {}", page.limit));
    (sql, values)
}

impl AuditReads for Face<'_> {
    fn tenant(&mut self, name: &str) -> Stored<Option<TenantId>> {
        let mut statement = self.connection.prepare_cached("select id from tenants where name = ?1").told()?;
        statement.query_row([name], |row| Ok(TenantId::from_uuid(id(row.get(0)?)))).optional().told()
    }

    fn first_project(&mut self, tenant: TenantId) -> Stored<Option<ProjectId>> {
        let sql = "select id from projects where tenant = ?1 order by id limit 1";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        statement.query_row([tenant.uuid()], |row| Ok(ProjectId::from_uuid(id(row.get(0)?)))).optional().told()
    }

    fn audit_loose(&mut self, limit: u32) -> Stored<Vec<Loose>> {
        let mut statement = self.connection.prepare_cached(LOOSE).told()?;
        let loose = |row: &Row<'_>| {
            Ok(Loose {
                cursor: Cursor { major: 0, minor: row.get(0)? },
                tenant: TenantId::from_uuid(id(row.get(1)?)),
                project: ProjectId::from_uuid(id(row.get(2)?)),
                session: row.get::<_, Option<Uuid>>(3)?.map(SessionId::from_uuid),
                digest: Digest::from_bytes(row.get(4)?),
            })
        };
        let found = statement.query_map([limit], loose).told()?;
        found.collect::<Result<_, _>>().told()
    }

    fn audit_head(&mut self, tenant: TenantId) -> Stored<ChainHead> {
        let sql = "select seq, hash, signed_seq, signed_at from audit_heads where tenant = ?1";
        let head = |row: &Row<'_>| {
            Ok(ChainHead {
                seq: row.get(0)?,
                hash: Digest::from_bytes(row.get(1)?),
                signed_seq: row.get(2)?,
                signed_at: time_if(row.get(3)?)?,
            })
        };
        let mut statement = self.connection.prepare_cached(sql).told()?;
        Ok(statement.query_row([tenant.uuid()], head).optional().told()?.unwrap_or_default())
    }

    fn audit_unsigned(&mut self, before: Timestamp) -> Stored<Vec<TenantId>> {
        let sql = "select tenant from audit_heads where seq > signed_seq and (signed_at is null or signed_at <= ?1)";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        let tenants = statement.query_map([before.as_microsecond()], |row| Ok(TenantId::from_uuid(id(row.get(0)?))));
        tenants.told()?.collect::<Result<_, _>>().told()
    }

    fn audit_entries(&mut self, scope: &Scope, filter: &AuditFilter, page: Page<u64>) -> Stored<Bounded<Chained>> {
        let (sql, values) = list(scope, filter, page);
        let values: Vec<&dyn ToSql> = values.iter().map(AsRef::as_ref).collect();
        self.bounded(&sql, values.as_slice(), page.limit, read)
    }

    fn audit_chain(&mut self, tenant: TenantId, page: Page<u64>) -> Stored<Bounded<Chained>> {
        self.bounded(CHAIN, params![tenant.uuid(), page.after.unwrap_or(0), page.limit], page.limit, read)
    }

    fn audit_checkpoints(&mut self, tenant: TenantId, page: Page<u64>) -> Stored<Vec<Checkpoint>> {
        let sql = "select body from audit_checkpoints where tenant = ?1 and seq > ?2 order by seq limit ?3";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        // A chain without entries may have a checkpoint too, whose number is 0.
        let after = page.after.map_or(-1, |after| i64::try_from(after).unwrap_or(i64::MAX));
        let body = |row: &Row<'_>| parsed(&row.get::<_, String>(0)?);
        let found = statement.query_map(params![tenant.uuid(), after, page.limit], body).told()?;
        found.collect::<Result<_, _>>().told()
    }
}

impl AuditWrites for Face<'_> {
    fn audit_append(&mut self, Written { entry, text, digest }: &Written) -> Stored<()> {
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
        guarded(self.connection.prepare_cached(sql).told()?.execute(row).told()?)
    }

    /// There is one writer: nobody else chains until it commits.
    fn audit_lock(&mut self) -> Stored<()> {
        Ok(())
    }

    fn audit_link(&mut self, tenant: TenantId, links: &[Link]) -> Stored<()> {
        let sql =
            "insert into audit_chain (tenant, seq, project, session, position, hash) values (?1, ?2, ?3, ?4, ?5, ?6)";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        for Link { loose, seq, hash } in links {
            let session = loose.session.map(SessionId::uuid);
            let row = params![tenant.uuid(), seq, loose.project.uuid(), session, loose.cursor.minor, hash.as_bytes()];
            statement.execute(row).told()?;
        }
        let Some(last) = links.last() else { return Ok(()) };
        let sql = "insert into audit_heads (tenant, seq, hash, signed_seq) values (?1, ?2, ?3, 0) \
                   on conflict (tenant) do update set seq = excluded.seq, hash = excluded.hash";
        let row = params![tenant.uuid(), last.seq, last.hash.as_bytes()];
        self.connection.prepare_cached(sql).told()?.execute(row).told().map(drop)
    }

    fn audit_linked(&mut self, upto: Cursor) -> Stored<()> {
        let sql = "update audit_linked set position = ?1 where position < ?1";
        guarded(self.connection.prepare_cached(sql).told()?.execute([upto.minor]).told()?)
    }

    fn audit_sign(&mut self, tenant: TenantId, checkpoint: &Checkpoint, now: Timestamp) -> Stored<()> {
        let sql = "insert into audit_checkpoints (tenant, seq, body) values (?1, ?2, ?3)";
        let row = params![tenant.uuid(), checkpoint.seq, json(checkpoint)?];
        self.connection.prepare_cached(sql).told()?.execute(row).told()?;
        let sql = "update audit_heads set signed_seq = ?2, signed_at = ?3 where tenant = ?1";
        let row = params![tenant.uuid(), checkpoint.seq, now.as_microsecond()];
        self.connection.prepare_cached(sql).told()?.execute(row).told().map(drop)
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Chained> {
    Ok(Chained {
        seq: row.get(0)?,
        digest: Digest::from_bytes(row.get(1)?),
        hash: Digest::from_bytes(row.get(2)?),
        text: row.get(3)?,
        filed: Filed {
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
