//! Tenants, projects, keys, settings.

use domain::{Key, KeyId, ProjectId, Role, Scope, TenantId, Ticket, TicketId, Timestamp};
use rusqlite::types::Type;
use rusqlite::{OptionalExtension, Row, params};
use store::{AccessReads, AccessWrites, Bounded, KeyRecord, Page, StoreError, StoreResult};

use crate::connection::Executor;
use crate::error::Told;
use crate::session::guarded;
use crate::values::{id, json, micros, parsed, time, time_if, unusable};

const COLUMNS: &str = "keys.id, projects.tenant, keys.project, role, user, groups, created_at, expires_at, revoked_at, \
                       last_used_at, hash";

/// The keys of a name, whatever its case, that were not revoked.
pub(crate) const NAMED: &str = "select 1 from keys join projects on projects.id = keys.project \
                                where lower(keys.user) = ?2 and projects.tenant = ?1 and revoked_at is null";

/// The keys of a project with a name, whatever its case, that were not revoked.
pub(crate) fn of_name() -> String {
    format!(
        "select {COLUMNS} from keys indexed by keys_by_user join projects on projects.id = keys.project \
         where lower(keys.user) = ?2 and keys.project = ?1 and revoked_at is null"
    )
}

impl AccessReads for Executor<'_> {
    fn setting(&mut self, name: &str) -> StoreResult<Option<String>> {
        let mut statement = self.connection.prepare_cached("select value from settings where name = ?1").told()?;
        statement.query_row([name], |row| row.get(0)).optional().told()
    }

    fn key(&mut self, key: KeyId) -> StoreResult<Option<KeyRecord>> {
        let sql = format!("select {COLUMNS} from keys join projects on projects.id = keys.project where keys.id = ?1");
        self.connection.prepare_cached(&sql).told()?.query_row([key.uuid()], read).optional().told()
    }

    fn has_key_named(&mut self, tenant: TenantId, name: &str) -> StoreResult<bool> {
        let sql = format!("select exists ({NAMED})");
        let mut statement = self.connection.prepare_cached(&sql).told()?;
        statement.query_row(params![tenant.uuid(), name.to_ascii_lowercase()], |row| row.get(0)).told()
    }

    fn scope(&mut self, tenant: &str, project: &str) -> StoreResult<Option<Scope>> {
        let sql = "select tenants.id, projects.id from projects join tenants on tenants.id = projects.tenant \
                   where tenants.name = ?1 and projects.name = ?2";
        let scope = |row: &Row<'_>| {
            Ok(Scope { tenant: TenantId::from_uuid(id(row.get(0)?)), project: ProjectId::from_uuid(id(row.get(1)?)) })
        };
        self.connection.prepare_cached(sql).told()?.query_row([tenant, project], scope).optional().told()
    }

    fn scopes(&mut self) -> StoreResult<Vec<Scope>> {
        let mut statement =
            self.connection.prepare_cached("select tenant, id from projects order by tenant, id").told()?;
        let scope = |row: &Row<'_>| {
            let (tenant, project) = (TenantId::from_uuid(id(row.get(0)?)), ProjectId::from_uuid(id(row.get(1)?)));
            Ok(Scope { tenant, project })
        };
        let scopes = statement.query_map([], scope).told()?;
        scopes.collect::<Result<_, _>>().told()
    }

    fn project_settings(&mut self, scope: &Scope) -> StoreResult<Option<String>> {
        let sql = "select settings from projects where id = ?1 and tenant = ?2";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        let found = statement.query_row([scope.project.uuid(), scope.tenant.uuid()], |row| row.get(0));
        Ok(found.optional().told()?.flatten())
    }

    fn keys_page(&mut self, scope: &Scope, page: Page<KeyId>) -> StoreResult<Bounded<Key>> {
        let sql = format!(
            "select {COLUMNS} from keys join projects on projects.id = keys.project \
             where keys.project = ?1 and (?2 is null or keys.id < ?2) order by keys.id desc limit ?3"
        );
        let row = params![scope.project.uuid(), page.after.map(KeyId::uuid), page.limit];
        self.bounded(&sql, row, page.limit, |row| Ok(read(row)?.key))
    }

    fn keys_of_people(&mut self, scope: &Scope, now: Timestamp, page: Page<KeyId>) -> StoreResult<Bounded<Key>> {
        let sql = format!(
            "select {COLUMNS} from keys join projects on projects.id = keys.project \
             where keys.project = ?1 and (?2 is null or keys.id < ?2) and revoked_at is null \
             and (expires_at is null or expires_at > ?3) and role <> 'agent' order by keys.id desc limit ?4"
        );
        let after = page.after.map(KeyId::uuid);
        let row = params![scope.project.uuid(), after, now.as_microsecond(), page.limit];
        self.bounded(&sql, row, page.limit, |row| Ok(read(row)?.key))
    }

    fn key_count(&mut self, scope: &Scope) -> StoreResult<u64> {
        let sql = "select count(*) from keys where project = ?1 and revoked_at is null";
        self.connection.prepare_cached(sql).told()?.query_row([scope.project.uuid()], |row| row.get(0)).told()
    }

    fn keys_named(&mut self, scope: &Scope, name: &str) -> StoreResult<Vec<Key>> {
        let mut statement = self.connection.prepare_cached(&of_name()).told()?;
        let row = params![scope.project.uuid(), name.to_ascii_lowercase()];
        let keys = statement.query_map(row, |row| Ok(read(row)?.key)).told()?;
        let mut keys: Vec<Key> = keys.collect::<Result<_, _>>().told()?;
        keys.sort_by_key(|key| std::cmp::Reverse(key.id));
        Ok(keys)
    }

    fn has_ticket(&mut self, id: TicketId, hash: &[u8; 32]) -> StoreResult<bool> {
        self.ticket_is_stored(id, hash)
    }
}

impl AccessWrites for Executor<'_> {
    fn setting_ensure(&mut self, name: &str, value: &str) -> StoreResult<String> {
        let sql = "insert into settings (name, value) values (?1, ?2) on conflict do nothing";
        self.connection.prepare_cached(sql).told()?.execute([name, value]).told()?;
        self.setting(name)?.ok_or(StoreError::Conflict)
    }

    fn scope_ensure(&mut self, tenant: &str, project: &str, fresh: Scope) -> StoreResult<Scope> {
        let sql = "insert into tenants (id, name) values (?1, ?2) on conflict do nothing";
        self.connection.prepare_cached(sql).told()?.execute(params![fresh.tenant.uuid(), tenant]).told()?;
        let sql = "insert into projects (id, tenant, name) select ?1, tenants.id, ?3 from tenants where name = ?2 \
                   on conflict do nothing";
        self.connection.prepare_cached(sql).told()?.execute(params![fresh.project.uuid(), tenant, project]).told()?;
        self.scope(tenant, project)?.ok_or(StoreError::Conflict)
    }

    fn project_settings_save(&mut self, scope: &Scope, settings: &str) -> StoreResult<()> {
        let sql = "update projects set settings = ?3 where id = ?1 and tenant = ?2";
        let row = params![scope.project.uuid(), scope.tenant.uuid(), settings];
        guarded(self.connection.prepare_cached(sql).told()?.execute(row).told()?)
    }

    fn key_insert(&mut self, KeyRecord { key, hash }: &KeyRecord) -> StoreResult<()> {
        let sql = "insert into keys (id, project, role, user, groups, hash, created_at, expires_at) \
                   values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        let row = params![
            key.id.uuid(),
            key.scope.project.uuid(),
            key.role.name(),
            key.user,
            json(&key.groups)?,
            hash,
            key.created_at.as_microsecond(),
            micros(key.expires_at),
        ];
        self.connection.prepare_cached(sql).told()?.execute(row).told().map(drop)
    }

    fn key_revoke(&mut self, scope: &Scope, key: KeyId, at: Timestamp) -> StoreResult<bool> {
        let sql = "update keys set revoked_at = ?3 where project = ?1 and id = ?2 and revoked_at is null";
        let row = params![scope.project.uuid(), key.uuid(), at.as_microsecond()];
        Ok(self.connection.prepare_cached(sql).told()?.execute(row).told()? == 1)
    }

    fn key_mark_used(&mut self, key: KeyId, at: Timestamp) -> StoreResult<()> {
        let sql = "update keys set last_used_at = max(coalesce(last_used_at, 0), ?2) where id = ?1";
        let row = params![key.uuid(), at.as_microsecond()];
        self.connection.prepare_cached(sql).told()?.execute(row).told().map(drop)
    }

    fn ticket_insert(&mut self, ticket: &Ticket, hash: &[u8; 32]) -> StoreResult<()> {
        self.put_ticket(ticket, hash)
    }

    fn ticket_redeem(&mut self, id: TicketId, hash: &[u8; 32]) -> StoreResult<Option<Ticket>> {
        self.take_ticket(id, hash)
    }

    fn tickets_purge(&mut self, before: Timestamp, limit: u32) -> StoreResult<u64> {
        self.drop_tickets(before, limit)
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<KeyRecord> {
    let role: String = row.get(3)?;
    let role = Role::named(&role).ok_or_else(|| unusable(Type::Text, StoreError::Corrupt(role)))?;
    let key = Key {
        id: KeyId::from_uuid(id(row.get(0)?)),
        scope: Scope { tenant: TenantId::from_uuid(id(row.get(1)?)), project: ProjectId::from_uuid(id(row.get(2)?)) },
        role,
        user: row.get(4)?,
        groups: parsed(&row.get::<_, String>(5)?)?,
        created_at: time(row.get(6)?)?,
        expires_at: time_if(row.get(7)?)?,
        revoked_at: time_if(row.get(8)?)?,
        last_used_at: time_if(row.get(9)?)?,
    };
    Ok(KeyRecord { key, hash: row.get(10)? })
}
