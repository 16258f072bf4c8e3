//! Statements about idempotency records, with one text for both stores.

use super::secret::data_key;

/// SQL statement of [`crate::IdempotencyReads::idempotency_record`].
pub const IDEMPOTENCY_RECORD: &str =
    "select digest, result from idempotency_records where project = ?1 and actor = ?2 and key = ?3";

/// SQL statement of [`crate::IdempotencyWrites::idempotency_result_save`].
pub const IDEMPOTENCY_RESULT_SAVE: &str =
    "update idempotency_records set result = ?4 where project = ?1 and actor = ?2 and key = ?3";

/// SQL statement of [`crate::IdempotencyWrites::idempotency_secret_save`].
pub const IDEMPOTENCY_SECRET_SAVE: &str =
    "update idempotency_records set data_key = ?4, secret = ?5 where project = ?1 and actor = ?2 and key = ?3";

/// SQL statement of [`crate::IdempotencyWrites::idempotency_secret_reseal`].
pub const IDEMPOTENCY_SECRET_RESEAL: &str = "update idempotency_records set data_key = ?5, secret = ?6 \
     where project = ?1 and actor = ?2 and key = ?3 and data_key = ?4";

/// SQL statement of [`crate::IdempotencyReads::idempotency_secret`].
pub const IDEMPOTENCY_SECRET: &str = concat!(
    "select ",
    data_key!(),
    ", secret from idempotency_records join data_keys on data_keys.id = data_key \
     where project = ?1 and actor = ?2 and key = ?3"
);

/// SQL statement of [`crate::IdempotencyReads::idempotency_secrets_under`].
pub const IDEMPOTENCY_SECRETS_UNDER: &str = concat!(
    "select ",
    data_key!(),
    ", projects.tenant, projects.id, actor, key, secret from idempotency_records \
     join projects on projects.id = project join data_keys on data_keys.id = data_key where data_key = ?1 limit ?2"
);

/// SQL statement of [`crate::IdempotencyWrites::idempotency_insert`].
pub const IDEMPOTENCY_INSERT: &str = "insert into idempotency_records (project, actor, key, digest, result, at) \
     values (?1, ?2, ?3, ?4, ?5, ?6) on conflict do nothing";
