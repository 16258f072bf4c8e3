//! Tenants, projects, API keys and settings.

use domain::{Key, KeyId, ProjectId, Role, Scope, TenantId, Ticket, TicketId, Timestamp};
use rusqlite::types::Type;
use rusqlite::{Row, params};
use store::sql::access::{self as sql, KEY_COLUMNS, SELECT_KEYS_WHERE};
use store::{AccessReads, AccessWrites, Bounded, KeyRecord, Page, StoreError, StoreResult};

use crate::connection::Executor;
use crate::values::{corrupt, id, json, micros, optional_time, parse, time};

/// Keys of a tenant with a name, ignoring ASCII case, that are not revoked.
pub(crate) const NAMED: &str = "select 1 from keys join projects on projects.id = keys.project \
                                where lower(keys.user) = ?2 and projects.tenant = ?1 and revoked_at is null";

/// Keys of a project with a name, ignoring ASCII case, that are not revoked.
pub(crate) fn keys_named() -> String {
    format!(
        "select {KEY_COLUMNS} from keys indexed by keys_by_user join projects on projects.id = keys.project \
         where lower(keys.user) = ?2 and keys.project = ?1 and revoked_at is null"
    )
}

impl AccessReads for Executor<'_> {
    fn setting(&mut self, name: &str) -> StoreResult<Option<String>> {
        self.row(sql::SETTING, [name], |row| row.get(0))
    }

    fn key(&mut self, key: KeyId) -> StoreResult<Option<KeyRecord>> {
        self.row(sql::KEY, [key.uuid()], read)
    }

    fn has_key_named(&mut self, tenant: TenantId, name: &str) -> StoreResult<bool> {
        self.exists(NAMED, params![tenant.uuid(), name.to_ascii_lowercase()])
    }

    fn scope(&mut self, tenant: &str, project: &str) -> StoreResult<Option<Scope>> {
        let scope = |row: &Row<'_>| {
            Ok(Scope { tenant: TenantId::from_uuid(id(row.get(0)?)), project: ProjectId::from_uuid(id(row.get(1)?)) })
        };
        self.row(sql::SCOPE, [tenant, project], scope)
    }

    fn scopes(&mut self) -> StoreResult<Vec<Scope>> {
        let scope = |row: &Row<'_>| {
            let (tenant, project) = (TenantId::from_uuid(id(row.get(0)?)), ProjectId::from_uuid(id(row.get(1)?)));
            Ok(Scope { tenant, project })
        };
        self.rows(sql::SCOPES, [], scope)
    }

    fn project_settings(&mut self, scope: &Scope) -> StoreResult<Option<String>> {
        Ok(self.row(sql::PROJECT_SETTINGS, [scope.project.uuid(), scope.tenant.uuid()], |row| row.get(0))?.flatten())
    }

    fn keys_page(&mut self, scope: &Scope, page: Page<KeyId>) -> StoreResult<Bounded<Key>> {
        let sql = format!(
            "{SELECT_KEYS_WHERE}keys.project = ?1 and (?2 is null or keys.id < ?2) order by keys.id desc limit ?3"
        );
        let row = params![scope.project.uuid(), page.after.map(KeyId::uuid), page.limit];
        self.bounded_rows(&sql, row, page.limit, |row| Ok(read(row)?.key))
    }

    fn keys_of_people(&mut self, scope: &Scope, now: Timestamp, page: Page<KeyId>) -> StoreResult<Bounded<Key>> {
        let sql = format!(
            "{SELECT_KEYS_WHERE}keys.project = ?1 and (?2 is null or keys.id < ?2) and revoked_at is null \
             and (expires_at is null or expires_at > ?3) and role <> 'agent' order by keys.id desc limit ?4"
        );
        let after = page.after.map(KeyId::uuid);
        let row = params![scope.project.uuid(), after, now.as_microsecond(), page.limit];
        self.bounded_rows(&sql, row, page.limit, |row| Ok(read(row)?.key))
    }

    fn key_count(&mut self, scope: &Scope) -> StoreResult<u64> {
        self.one_row(sql::KEY_COUNT, [scope.project.uuid()], |row| row.get(0))
    }

    fn keys_named(&mut self, scope: &Scope, name: &str) -> StoreResult<Vec<Key>> {
        let row = params![scope.project.uuid(), name.to_ascii_lowercase()];
        let mut keys: Vec<Key> = self.rows(&keys_named(), row, |row| Ok(read(row)?.key))?;
        keys.sort_by_key(|key| std::cmp::Reverse(key.id));
        Ok(keys)
    }

    fn has_ticket(&mut self, id: TicketId, hash: &[u8; 32]) -> StoreResult<bool> {
        self.ticket_is_stored(id, hash)
    }
}

impl AccessWrites for Executor<'_> {
    fn setting_ensure(&mut self, name: &str, value: &str) -> StoreResult<String> {
        self.change(sql::SETTING_ENSURE, [name, value])?;
        self.setting(name)?.ok_or(StoreError::Conflict)
    }

    fn scope_ensure(&mut self, tenant: &str, project: &str, fresh: Scope) -> StoreResult<Scope> {
        self.change(sql::TENANT_ENSURE, params![fresh.tenant.uuid(), tenant])?;
        self.change(sql::PROJECT_ENSURE, params![fresh.project.uuid(), tenant, project])?;
        self.scope(tenant, project)?.ok_or(StoreError::Conflict)
    }

    fn project_settings_save(&mut self, scope: &Scope, settings: &str) -> StoreResult<()> {
        let row = params![scope.project.uuid(), scope.tenant.uuid(), settings];
        self.guarded(sql::PROJECT_SETTINGS_SAVE, row)
    }

    fn key_insert(&mut self, KeyRecord { key, hash }: &KeyRecord) -> StoreResult<()> {
        let row = params![
            key.id.uuid(),
            key.scope.project.uuid(),
            key.role.name(),
            key.user,
            json(&key.groups)?,
            hash,
            key.created_at.as_microsecond(),
            micros(key.expires_at),
            json(&key.environment)?,
        ];
        self.guarded(sql::KEY_INSERT, row)
    }

    fn key_revoke(&mut self, scope: &Scope, key: KeyId, at: Timestamp) -> StoreResult<bool> {
        let row = params![scope.project.uuid(), key.uuid(), at.as_microsecond()];
        Ok(self.change(sql::KEY_REVOKE, row)? == 1)
    }

    fn key_mark_used(&mut self, key: KeyId, at: Timestamp) -> StoreResult<()> {
        let sql = "update keys set last_used_at = max(coalesce(last_used_at, 0), ?2) where id = ?1";
        let row = params![key.uuid(), at.as_microsecond()];
        self.change(sql, row).map(drop)
    }

    fn ticket_insert(&mut self, ticket: &Ticket, hash: &[u8; 32]) -> StoreResult<()> {
        self.insert_ticket(ticket, hash)
    }

    fn ticket_redeem(&mut self, id: TicketId, hash: &[u8; 32]) -> StoreResult<Option<Ticket>> {
        self.redeem_ticket(id, hash)
    }

    fn tickets_purge(&mut self, before: Timestamp, limit: u32) -> StoreResult<u64> {
        self.delete_tickets(before, limit)
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<KeyRecord> {
    let role: String = row.get(3)?;
    let role = Role::named(&role).ok_or_else(|| corrupt(Type::Text, StoreError::Corrupt(role)))?;
    let key = Key {
        id: KeyId::from_uuid(id(row.get(0)?)),
        scope: Scope { tenant: TenantId::from_uuid(id(row.get(1)?)), project: ProjectId::from_uuid(id(row.get(2)?)) },
        role,
        user: row.get(4)?,
        groups: parse(&row.get::<_, String>(5)?)?,
        environment: parse(&row.get::<_, String>(11)?)?,
        created_at: time(row.get(6)?)?,
        expires_at: optional_time(row.get(7)?)?,
        revoked_at: optional_time(row.get(8)?)?,
        last_used_at: optional_time(row.get(9)?)?,
    };
    Ok(KeyRecord { key, hash: row.get(10)? })
}
