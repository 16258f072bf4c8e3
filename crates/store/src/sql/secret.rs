//! Statements about data keys, sealed values and kept secrets.

/// Columns of a data key, which come first in a row.
macro_rules! data_key {
    () => {
        "data_keys.id, data_keys.tenant, data_keys.number, master, wrapped"
    };
}
pub(super) use data_key;

/// Columns of a kept secret, after the columns of its data key.
macro_rules! kept_secret {
    () => {
        "secrets.id, projects.tenant, projects.id, agent, secrets.name, kept_by, kept_at, used_at, hosted"
    };
}

/// Beginning of a statement that reads kept secrets with their data keys.
macro_rules! select_kept_secrets {
    () => {
        concat!(
            "select ",
            data_key!(),
            ", ",
            kept_secret!(),
            ", body from secrets join projects on projects.id = secrets.project \
             join data_keys on data_keys.id = secrets.data_key "
        )
    };
}

/// Beginning of a list of kept secrets without their values.
pub const SELECT_KEPT_SECRETS: &str =
    concat!("select ", kept_secret!(), " from secrets join projects on projects.id = secrets.project");

/// SQL statement of [`crate::SecretReads::data_keys`].
pub const DATA_KEYS: &str = concat!("select ", data_key!(), " from data_keys where tenant = ?1 order by number desc");

/// SQL statement of [`crate::SecretReads::data_keys_outdated`].
pub const DATA_KEYS_OUTDATED: &str = concat!(
    "select ",
    data_key!(),
    " from data_keys where exists (select 1 from data_keys as newer \
     where newer.tenant = data_keys.tenant and newer.number > data_keys.number) order by tenant, number limit ?1"
);

/// SQL statement of [`crate::SecretReads::kept_secrets_under`].
pub const KEPT_SECRETS_UNDER: &str =
    concat!(select_kept_secrets!(), "where data_key = ?1 order by secrets.id limit ?2");

/// SQL statement of [`crate::SecretReads::kept_secrets_for`].
pub const KEPT_SECRETS_FOR: &str =
    concat!(select_kept_secrets!(), "where secrets.project = ?1 and agent = ?2 order by secrets.name");

/// SQL statement of [`crate::InteractionReads::sealed_value`].
pub const SEALED_VALUE: &str = concat!(
    "select ",
    data_key!(),
    ", sealed_values.body from sealed_values join interactions on interactions.id = sealed_values.interaction \
     join data_keys on data_keys.id = sealed_values.data_key \
     where sealed_values.interaction = ?1 and sealed_values.name = ?2 and interactions.project = ?3"
);

/// SQL statement of [`crate::SecretReads::tenants_under_other_master_keys`].
pub const TENANTS_UNDER_OTHER_MASTER_KEYS: &str =
    "select distinct tenant from data_keys where master <> ?1 order by tenant limit ?2";

/// SQL statement of [`crate::SecretReads::sealed_values_under`].
pub const SEALED_VALUES_UNDER: &str = "select projects.tenant, projects.id, interaction, sealed_values.name, body from sealed_values \
     join interactions on interactions.id = sealed_values.interaction \
     join projects on projects.id = interactions.project where data_key = ?1 \
     order by interaction, sealed_values.name limit ?2";

/// SQL statement of [`crate::SecretWrites::master_key_change`].
pub const MASTER_KEY_CHANGE: &str = "update settings set value = ?3 where name = ?1 and value = ?2";

/// SQL statement of [`crate::SecretWrites::data_key_insert`].
pub const DATA_KEY_INSERT: &str = "insert into data_keys (id, tenant, number, master, wrapped) values (?1, ?2, ?3, ?4, ?5) \
     on conflict do nothing";

/// SQL statement of [`crate::SecretWrites::data_key_rewrap`].
pub const DATA_KEY_REWRAP: &str = "update data_keys set master = ?3, wrapped = ?4 where id = ?1 and master = ?2";

/// SQL statement of [`crate::SecretWrites::data_key_delete`].
pub const DATA_KEY_DELETE: &str = "delete from data_keys where id = ?1 and not exists (select 1 from sealed_values \
     where data_key = ?1) and not exists (select 1 from secrets where data_key = ?1) and not exists (select 1 \
     from webhook_secrets where data_key = ?1) and not exists (select 1 from idempotency_records \
     where data_key = ?1)";

/// SQL statement of [`crate::SecretWrites::sealed_value_reseal`].
pub const SEALED_VALUE_RESEAL: &str =
    "update sealed_values set data_key = ?4, body = ?5 where interaction = ?1 and name = ?2 and data_key = ?3";

/// SQL statement of [`crate::SecretWrites::kept_secret_reseal`].
pub const KEPT_SECRET_RESEAL: &str = "update secrets set data_key = ?3, body = ?4 where id = ?1 and data_key = ?2";

/// SQL statement of [`crate::SecretWrites::kept_secret_save`].
pub const KEPT_SECRET_SAVE: &str = "insert into secrets (id, project, agent, name, kept_by, kept_at, used_at, data_key, body, hosted) \
     select ?1, id, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11 from projects where id = ?2 and tenant = ?3 \
     on conflict (project, agent, hosted, name) \
     do update set id = excluded.id, kept_by = excluded.kept_by, kept_at = excluded.kept_at, used_at = \
     excluded.used_at, data_key = excluded.data_key, body = excluded.body";

/// SQL statement of [`crate::SecretWrites::kept_secret_mark_used`].
pub const KEPT_SECRET_MARK_USED: &str = "update secrets set used_at = ?3 where id = ?1 and project = ?2";

/// SQL statement of [`crate::SecretWrites::kept_secret_delete`].
pub const KEPT_SECRET_DELETE: &str = "delete from secrets where id = ?1 and project = ?2";
