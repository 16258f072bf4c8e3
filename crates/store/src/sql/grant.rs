//! Statements about grants, with one text for both stores.

/// SQL statement of [`crate::GrantReads::grant`].
pub const GRANT: &str = "select body, uses from grants where id = ?1 and project = ?2";

/// SQL statement of [`crate::GrantWrites::grant_use`].
pub const GRANT_USE: &str = "update grants set uses = uses + 1 where id = ?1 and project = ?2 and revoked_at is null \
     and (until is null or until > ?3) and (most_uses is null or uses < most_uses)";

/// SQL statement of [`crate::GrantWrites::grant_revoke`].
pub const GRANT_REVOKE: &str =
    "update grants set revoked_at = ?3, body = ?4 where id = ?1 and project = ?2 and revoked_at is null";

/// SQL statement of [`crate::GrantWrites::grant_insert`].
pub const GRANT_INSERT: &str = "insert into grants (id, project, tool, until, most_uses, uses, body) \
     values (?1, ?2, ?3, ?4, ?5, ?6, ?7) on conflict do nothing";
