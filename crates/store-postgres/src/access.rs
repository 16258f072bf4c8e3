//! Tenants, projects, API keys and settings.

use domain::{Key, KeyId, ProjectId, Role, Scope, TenantId, Ticket, TicketId, Timestamp};
use postgres::Row;
use store::sql::access::{self as sql, SELECT_KEYS_WHERE};
use store::{AccessReads, AccessWrites, Bounded, KeyRecord, Page, StoreError, StoreResult};

use crate::connection::{Executor, Values};
use crate::values::{column, json, micros, number, optional_time, parse, time};

/// Keys of a tenant with a name, ignoring ASCII case, that are not revoked.
pub(crate) const NAMED: &str = "select 1 from keys join projects on projects.id = keys.project \
                                where lower(keys.\"user\" collate \"C\") = $2 and projects.tenant = $1 \
                                and revoked_at is null";

/// Keys of a project with a name, ignoring ASCII case, that are not revoked.
pub(crate) fn keys_named() -> String {
    format!("{SELECT_KEYS_WHERE}lower(keys.\"user\" collate \"C\") = $2 and keys.project = $1 and revoked_at is null")
}

impl AccessReads for Executor<'_> {
    fn setting(&mut self, name: &str) -> StoreResult<Option<String>> {
        let found = self.row(sql::SETTING, &[&name])?;
        found.map(|row| column(&row, 0)).transpose()
    }

    fn key(&mut self, key: KeyId) -> StoreResult<Option<KeyRecord>> {
        self.row(sql::KEY, &[&key.uuid()])?.as_ref().map(read).transpose()
    }

    fn has_key_named(&mut self, tenant: TenantId, name: &str) -> StoreResult<bool> {
        let found = self.row(&format!("select exists ({NAMED})"), &[&tenant.uuid(), &name.to_ascii_lowercase()])?;
        found.map_or(Ok(false), |row| column(&row, 0))
    }

    fn scope(&mut self, tenant: &str, project: &str) -> StoreResult<Option<Scope>> {
        self.row(sql::SCOPE, &[&tenant, &project])?.map(|row| scope(&row, 0, 1)).transpose()
    }

    fn scopes(&mut self) -> StoreResult<Vec<Scope>> {
        let found = self.rows(sql::SCOPES, &[])?;
        found.iter().map(|row| scope(row, 0, 1)).collect()
    }

    fn project_settings(&mut self, scope: &Scope) -> StoreResult<Option<String>> {
        let found = self.row(sql::PROJECT_SETTINGS, &[&scope.project.uuid(), &scope.tenant.uuid()])?;
        found.map_or(Ok(None), |row| column(&row, 0))
    }

    fn keys_page(&mut self, scope: &Scope, page: Page<KeyId>) -> StoreResult<Bounded<Key>> {
        let sql = format!(
            "{SELECT_KEYS_WHERE}keys.project = $1 and ($2::uuid is null or keys.id < $2) order by keys.id desc limit $3"
        );
        let (after, limit) = (page.after.map(KeyId::uuid), i64::from(page.limit));
        self.bounded_list(&sql, &[&scope.project.uuid(), &after, &limit], page.limit, |row| Ok(read(row)?.key))
    }

    fn keys_of_people(&mut self, scope: &Scope, now: Timestamp, page: Page<KeyId>) -> StoreResult<Bounded<Key>> {
        let sql = format!(
            "{SELECT_KEYS_WHERE}keys.project = $1 and ($2::uuid is null or keys.id < $2) and revoked_at is null \
             and (expires_at is null or expires_at > $3) and role <> 'agent' order by keys.id desc limit $4"
        );
        let (after, limit) = (page.after.map(KeyId::uuid), i64::from(page.limit));
        let values: Values<'_> = &[&scope.project.uuid(), &after, &now.as_microsecond(), &limit];
        self.bounded_list(&sql, values, page.limit, |row| Ok(read(row)?.key))
    }

    fn key_count(&mut self, scope: &Scope) -> StoreResult<u64> {
        self.row(sql::KEY_COUNT, &[&scope.project.uuid()])?.map_or(Ok(0), |row| number(&row, 0))
    }

    fn keys_named(&mut self, scope: &Scope, name: &str) -> StoreResult<Vec<Key>> {
        let rows = self.rows(&keys_named(), &[&scope.project.uuid(), &name.to_ascii_lowercase()])?;
        let mut keys: Vec<Key> = rows.iter().map(|row| Ok(read(row)?.key)).collect::<StoreResult<_>>()?;
        keys.sort_by_key(|key| std::cmp::Reverse(key.id));
        Ok(keys)
    }

    fn has_ticket(&mut self, id: TicketId, hash: &[u8; 32]) -> StoreResult<bool> {
        self.ticket_is_stored(id, hash)
    }
}

impl AccessWrites for Executor<'_> {
    fn setting_ensure(&mut self, name: &str, value: &str) -> StoreResult<String> {
        self.change(sql::SETTING_ENSURE, &[&name, &value])?;
        self.setting(name)?.ok_or(StoreError::Conflict)
    }

    fn scope_ensure(&mut self, tenant: &str, project: &str, fresh: Scope) -> StoreResult<Scope> {
        self.change(sql::TENANT_ENSURE, &[&fresh.tenant.uuid(), &tenant])?;
        self.change(sql::PROJECT_ENSURE, &[&fresh.project.uuid(), &tenant, &project])?;
        self.scope(tenant, project)?.ok_or(StoreError::Conflict)
    }

    fn project_settings_save(&mut self, scope: &Scope, settings: &str) -> StoreResult<()> {
        self.guarded(sql::PROJECT_SETTINGS_SAVE, &[&scope.project.uuid(), &scope.tenant.uuid(), &settings])
    }

    fn key_insert(&mut self, KeyRecord { key, hash }: &KeyRecord) -> StoreResult<()> {
        self.guarded(
            sql::KEY_INSERT,
            &[
                &key.id.uuid(),
                &key.scope.project.uuid(),
                &key.role.name(),
                &key.user,
                &json(&key.groups)?,
                &hash.as_slice(),
                &key.created_at.as_microsecond(),
                &micros(key.expires_at),
                &json(&key.environment)?,
            ],
        )
    }

    fn key_revoke(&mut self, scope: &Scope, key: KeyId, at: Timestamp) -> StoreResult<bool> {
        Ok(self.change(sql::KEY_REVOKE, &[&scope.project.uuid(), &key.uuid(), &at.as_microsecond()])? == 1)
    }

    fn key_mark_used(&mut self, key: KeyId, at: Timestamp) -> StoreResult<()> {
        let sql = "update keys set last_used_at = greatest(coalesce(last_used_at, 0), $2) where id = $1";
        self.change(sql, &[&key.uuid(), &at.as_microsecond()]).map(drop)
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

/// Reads a scope from two columns.
pub(crate) fn scope(row: &Row, tenant: usize, project: usize) -> StoreResult<Scope> {
    Ok(Scope {
        tenant: TenantId::from_uuid(column(row, tenant)?),
        project: ProjectId::from_uuid(column(row, project)?),
    })
}

fn read(row: &Row) -> StoreResult<KeyRecord> {
    let role: &str = column(row, 3)?;
    let key = Key {
        id: KeyId::from_uuid(column(row, 0)?),
        scope: scope(row, 1, 2)?,
        role: Role::named(role).ok_or_else(|| StoreError::Corrupt(format!("the role `{role}`")))?,
        user: column(row, 4)?,
        groups: parse(column(row, 5)?)?,
        environment: parse(column(row, 11)?)?,
        created_at: time(column(row, 6)?)?,
        expires_at: optional_time(column(row, 7)?)?,
        revoked_at: optional_time(column(row, 8)?)?,
        last_used_at: optional_time(column(row, 9)?)?,
    };
    let hash = <[u8; 32]>::try_from(column::<&[u8]>(row, 10)?).map_err(crate::values::corrupt)?;
    Ok(KeyRecord { key, hash })
}
