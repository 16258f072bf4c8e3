//! Stream tickets, which are valid once.

use domain::{Credential, KeyId, ProjectId, Scope, TenantId, Ticket, TicketId, Timestamp, VisitId};
use rusqlite::types::Type;
use rusqlite::{Row, params};
use store::sql::ticket as sql;
use store::{StoreError, StoreResult};
use uuid::Uuid;

use crate::connection::Executor;
use crate::values::{corrupt, id, time};

impl Executor<'_> {
    pub(crate) fn insert_ticket(&self, ticket: &Ticket, hash: &[u8; 32]) -> StoreResult<()> {
        let (key, visit) = key_and_visit(ticket.credential);
        let (tenant, project) = (ticket.scope.tenant.uuid(), ticket.scope.project.uuid());
        let row = params![ticket.id.uuid(), tenant, project, key, visit, hash, ticket.expires_at.as_microsecond()];
        self.guarded(sql::TICKET_INSERT, row)
    }

    pub(crate) fn ticket_is_stored(&self, ticket: TicketId, hash: &[u8; 32]) -> StoreResult<bool> {
        self.exists(sql::HAS_TICKET, params![ticket.uuid(), hash])
    }

    pub(crate) fn redeem_ticket(&self, ticket: TicketId, hash: &[u8; 32]) -> StoreResult<Option<Ticket>> {
        self.row(sql::TICKET_REDEEM, params![ticket.uuid(), hash], read)
    }

    pub(crate) fn delete_tickets(&self, before: Timestamp, limit: u32) -> StoreResult<u64> {
        let sql = "delete from tickets where id in (select id from tickets where expires_at < ?1 limit ?2)";
        let row = params![before.as_microsecond(), limit];
        self.change(sql, row)
    }
}

const fn key_and_visit(credential: Credential) -> (Option<Uuid>, Option<Uuid>) {
    match credential {
        Credential::Key(key) => (Some(key.uuid()), None),
        Credential::Visit(visit) => (None, Some(visit.uuid())),
        Credential::Worker => (None, None),
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Ticket> {
    let credential = match (row.get::<_, Option<Uuid>>(3)?, row.get::<_, Option<Uuid>>(4)?) {
        (Some(key), None) => Credential::Key(KeyId::from_uuid(key)),
        (None, Some(visit)) => Credential::Visit(VisitId::from_uuid(visit)),
        _ => return Err(corrupt(Type::Blob, StoreError::Corrupt("a ticket without a key and a visit".into()))),
    };
    Ok(Ticket {
        id: TicketId::from_uuid(id(row.get(0)?)),
        credential,
        scope: Scope { tenant: TenantId::from_uuid(id(row.get(1)?)), project: ProjectId::from_uuid(id(row.get(2)?)) },
        expires_at: time(row.get(5)?)?,
    })
}
