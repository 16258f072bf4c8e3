//! Statements about stream tickets, with one text for both stores.

/// SQL statement of [`crate::AccessReads::has_ticket`].
pub const HAS_TICKET: &str = "select 1 from tickets where id = ?1 and hash = ?2";

/// SQL statement of [`crate::AccessWrites::ticket_redeem`].
pub const TICKET_REDEEM: &str =
    "delete from tickets where id = ?1 and hash = ?2 returning id, tenant, project, key, visit, expires_at";

/// SQL statement of [`crate::AccessWrites::ticket_insert`].
pub const TICKET_INSERT: &str = "insert into tickets (id, tenant, project, key, visit, hash, expires_at) \
     values (?1, ?2, ?3, ?4, ?5, ?6, ?7) on conflict do nothing";
