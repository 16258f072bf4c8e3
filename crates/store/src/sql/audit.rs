//! Statements about the audit trail, with one text for both stores.

/// SQL statement of [`crate::AuditReads::tenant`].
pub const TENANT: &str = "select id from tenants where name = ?1";

/// SQL statement of [`crate::AuditReads::first_project`].
pub const FIRST_PROJECT: &str = "select id from projects where tenant = ?1 order by id limit 1";

/// SQL statement of [`crate::AuditReads::audit_head`].
pub const AUDIT_HEAD: &str = "select seq, hash, signed_seq, signed_at from audit_heads where tenant = ?1";

/// SQL statement of [`crate::AuditReads::audit_unsigned_tenants`].
pub const AUDIT_UNSIGNED_TENANTS: &str =
    "select tenant from audit_heads where seq > signed_seq and (signed_at is null or signed_at <= ?1)";

/// SQL statement of [`crate::AuditReads::audit_checkpoints`].
pub const AUDIT_CHECKPOINTS: &str =
    "select body from audit_checkpoints where tenant = ?1 and seq > ?2 order by seq limit ?3";

/// SQL statement of [`crate::AuditWrites::audit_chain_append`].
pub const AUDIT_HEAD_SAVE: &str = "insert into audit_heads (tenant, seq, hash, signed_seq) values (?1, ?2, ?3, 0) on conflict (tenant) \
     do update set seq = excluded.seq, hash = excluded.hash";

/// SQL statement of [`crate::AuditWrites::audit_sign`].
pub const AUDIT_HEAD_SIGN: &str = "update audit_heads set signed_seq = ?2, signed_at = ?3 where tenant = ?1";

/// SQL statement of [`crate::AuditWrites::audit_sign`].
pub const AUDIT_CHECKPOINT_INSERT: &str = "insert into audit_checkpoints (tenant, seq, body) values (?1, ?2, ?3) \
     on conflict do nothing";
