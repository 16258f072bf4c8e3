//! Stream tickets, which are valid once.

use domain::{Credential, KeyId, Ticket, TicketId, Timestamp, VisitId};
use postgres::Row;
use store::sql::ticket as sql;
use store::{StoreError, StoreResult};
use uuid::Uuid;

use crate::access::scope;
use crate::connection::Executor;
use crate::values::{column, time};

impl Executor<'_> {
    pub(crate) fn insert_ticket(&mut self, ticket: &Ticket, hash: &[u8; 32]) -> StoreResult<()> {
        let (key, visit) = key_and_visit(ticket.credential);
        let (tenant, project) = (ticket.scope.tenant.uuid(), ticket.scope.project.uuid());
        let expires_at = ticket.expires_at.as_microsecond();
        self.guarded(
            sql::TICKET_INSERT,
            &[&ticket.id.uuid(), &tenant, &project, &key, &visit, &hash.as_slice(), &expires_at],
        )
    }

    pub(crate) fn ticket_is_stored(&mut self, ticket: TicketId, hash: &[u8; 32]) -> StoreResult<bool> {
        Ok(self.row(sql::HAS_TICKET, &[&ticket.uuid(), &hash.as_slice()])?.is_some())
    }

    pub(crate) fn redeem_ticket(&mut self, ticket: TicketId, hash: &[u8; 32]) -> StoreResult<Option<Ticket>> {
        let found = self.row(sql::TICKET_REDEEM, &[&ticket.uuid(), &hash.as_slice()])?;
        found.as_ref().map(read).transpose()
    }

    pub(crate) fn delete_tickets(&mut self, before: Timestamp, limit: u32) -> StoreResult<u64> {
        let sql = "delete from tickets where id in \
                   (select id from tickets where expires_at < $1 limit $2 for update skip locked)";
        self.change(sql, &[&before.as_microsecond(), &i64::from(limit)])
    }
}

const fn key_and_visit(credential: Credential) -> (Option<Uuid>, Option<Uuid>) {
    match credential {
        Credential::Key(key) => (Some(key.uuid()), None),
        Credential::Visit(visit) => (None, Some(visit.uuid())),
        Credential::Worker => (None, None),
    }
}

fn read(row: &Row) -> StoreResult<Ticket> {
    let credential = match (column::<Option<Uuid>>(row, 3)?, column::<Option<Uuid>>(row, 4)?) {
        (Some(key), None) => Credential::Key(KeyId::from_uuid(key)),
        (None, Some(visit)) => Credential::Visit(VisitId::from_uuid(visit)),
        _ => return Err(StoreError::Corrupt("a ticket without a key and a visit".into())),
    };
    Ok(Ticket {
        id: TicketId::from_uuid(column(row, 0)?),
        credential,
        scope: scope(row, 1, 2)?,
        expires_at: time(column(row, 5)?)?,
    })
}
