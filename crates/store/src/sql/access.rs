//! Statements about tenants, projects, keys and settings.

/// SQL statement of [`crate::AccessReads::setting`].
pub const SETTING: &str = "select value from settings where name = ?1";

/// SQL statement of [`crate::AccessReads::scope`].
pub const SCOPE: &str = "select tenants.id, projects.id from projects join tenants on tenants.id = projects.tenant \
     where tenants.name = ?1 and projects.name = ?2";

/// SQL statement of [`crate::AccessReads::scopes`].
pub const SCOPES: &str = "select tenant, id from projects order by tenant, id";

/// SQL statement of [`crate::AccessReads::project_settings`].
pub const PROJECT_SETTINGS: &str = "select settings from projects where id = ?1 and tenant = ?2";

/// SQL statement of [`crate::AccessReads::key_count`].
pub const KEY_COUNT: &str = "select count(*) from keys where project = ?1 and revoked_at is null";

/// SQL statement of [`crate::AccessWrites::setting_ensure`].
pub const SETTING_ENSURE: &str = "insert into settings (name, value) values (?1, ?2) on conflict do nothing";

/// SQL statement of [`crate::AccessWrites::scope_ensure`].
pub const TENANT_ENSURE: &str = "insert into tenants (id, name) values (?1, ?2) on conflict do nothing";

/// SQL statement of [`crate::AccessWrites::scope_ensure`].
pub const PROJECT_ENSURE: &str = "insert into projects (id, tenant, name) select ?1, tenants.id, ?3 from tenants where name = ?2 \
     on conflict do nothing";

/// SQL statement of [`crate::AccessWrites::project_settings_save`].
pub const PROJECT_SETTINGS_SAVE: &str = "update projects set settings = ?3 where id = ?1 and tenant = ?2";

/// SQL statement of [`crate::AccessWrites::key_revoke`].
pub const KEY_REVOKE: &str = "update keys set revoked_at = ?3 where project = ?1 and id = ?2 and revoked_at is null";

/// Columns of a key.
macro_rules! key {
    () => {
        "keys.id, projects.tenant, keys.project, role, \"user\", groups, created_at, expires_at, revoked_at, last_used_at, hash, environment"
    };
}

/// Columns of a key.
pub const KEY_COLUMNS: &str = key!();

/// Beginning of a statement that reads keys. A condition follows.
pub const SELECT_KEYS_WHERE: &str =
    concat!("select ", key!(), " from keys join projects on projects.id = keys.project where ");

/// SQL statement of [`crate::AccessReads::key`].
pub const KEY: &str =
    concat!("select ", key!(), " from keys join projects on projects.id = keys.project where keys.id = ?1");

/// SQL statement of [`crate::AccessWrites::key_insert`].
pub const KEY_INSERT: &str = "insert into keys (id, project, role, \"user\", groups, hash, created_at, expires_at, environment) \
     values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) on conflict do nothing";
