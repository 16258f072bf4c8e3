//! Keys that values are sealed with, and secret values that are kept for later.

use domain::{DataKeyId, InteractionId, KeptSecret, ProjectId, Scope, SecretId, TenantId, Timestamp};
use rusqlite::types::ValueRef;
use rusqlite::{Params, Row, params};
use store::{AccessWrites, Bounded, DataKey, KeptValue, Page, Sealed, SealedAt, SecretReads, SecretWrites, Stored};

use crate::connection::Face;
use crate::error::Told;
use crate::session::guarded;
use crate::values::{id, json, micros, parsed, time, time_if};

/// The columns of a data key, which a row begins with.
pub(crate) const DATA_KEY: &str = "data_keys.id, data_keys.tenant, number, master, wrapped";
/// Behind them those of a kept secret, with its value.
const KEPT: &str = "secrets.id, projects.tenant, projects.id, agent, secrets.name, kept_by, kept_at, used_at, driven";
/// Where all of it is.
const KEPT_VALUES: &str = "secrets join projects on projects.id = secrets.project \
                           join data_keys on data_keys.id = secrets.data_key";
/// The setting that names the master key in force.
const MASTER: &str = "master_key";

impl Face<'_> {
    pub(crate) fn all<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Stored<Vec<T>> {
        let mut statement = self.connection.prepare_cached(sql).told()?;
        statement.query_map(values, read).told()?.collect::<Result<_, _>>().told()
    }

    /// The rows of a list, read one by one up to its bounds.
    pub(crate) fn bounded<T>(
        &self,
        sql: &str,
        values: impl Params,
        limit: u32,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Stored<Bounded<T>> {
        let mut statement = self.connection.prepare_cached(sql).told()?;
        let mut rows = statement.query(values).told()?;
        Bounded::read(limit, || {
            let Some(row) = rows.next().told()? else { return Ok(None) };
            Ok(Some((width(row), read(row).told()?)))
        })
    }

    pub(crate) fn changed(&self, sql: &str, values: impl Params) -> Stored<usize> {
        self.connection.prepare_cached(sql).told()?.execute(values).told()
    }
}

/// How many bytes of text a row has.
fn width(row: &Row<'_>) -> usize {
    let column = |index| match row.get_ref(index) {
        Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => bytes.len(),
        _ => 0,
    };
    (0..row.as_ref().column_count()).map(column).sum()
}

impl SecretReads for Face<'_> {
    fn data_keys(&mut self, tenant: TenantId) -> Stored<Vec<DataKey>> {
        let sql = format!("select {DATA_KEY} from data_keys where tenant = ?1 order by number desc");
        self.all(&sql, [tenant.uuid()], data_key)
    }

    fn tenants_not_under(&mut self, master: &str, limit: u32) -> Stored<Vec<TenantId>> {
        let sql = "select distinct tenant from data_keys where master <> ?1 order by tenant limit ?2";
        self.all(sql, params![master, limit], |row| Ok(TenantId::from_uuid(id(row.get(0)?))))
    }

    /// One transaction writes at a time: whoever reads has nobody before it who still could.
    fn fence(&mut self) -> Stored<u64> {
        Ok(0)
    }

    fn fence_passed(&mut self, _fence: u64) -> Stored<bool> {
        Ok(true)
    }

    fn data_keys_outdated(&mut self, limit: u32) -> Stored<Vec<DataKey>> {
        let sql = format!(
            "select {DATA_KEY} from data_keys where exists (select 1 from data_keys as newer \
             where newer.tenant = data_keys.tenant and newer.number > data_keys.number) order by tenant, number limit ?1"
        );
        self.all(&sql, [limit], data_key)
    }

    fn sealed_under(&mut self, key: DataKeyId, limit: u32) -> Stored<Vec<SealedAt>> {
        let sql = "select projects.tenant, projects.id, interaction, sealed.name, body from sealed \
                   join interactions on interactions.id = sealed.interaction \
                   join projects on projects.id = interactions.project \
                   where data_key = ?1 order by interaction, sealed.name limit ?2";
        self.all(sql, params![key.uuid(), limit], |row| {
            Ok(SealedAt {
                scope: scope(row, 0)?,
                interaction: InteractionId::from_uuid(id(row.get(2)?)),
                name: row.get(3)?,
                body: row.get(4)?,
            })
        })
    }

    fn kept_under(&mut self, key: DataKeyId, limit: u32) -> Stored<Vec<KeptValue>> {
        let sql = format!(
            "select {DATA_KEY}, {KEPT}, body from {KEPT_VALUES} where data_key = ?1 order by secrets.id limit ?2"
        );
        self.all(&sql, params![key.uuid(), limit], kept_value)
    }

    fn kept_for(&mut self, scope: &Scope, agent: &str) -> Stored<Vec<KeptValue>> {
        let sql = format!(
            "select {DATA_KEY}, {KEPT}, body from {KEPT_VALUES} \
             where secrets.project = ?1 and agent = ?2 order by secrets.name"
        );
        self.all(&sql, params![scope.project.uuid(), agent], kept_value)
    }

    fn kept(&mut self, scope: &Scope, page: Page<SecretId>) -> Stored<Vec<KeptSecret>> {
        let sql = format!(
            "select {KEPT} from secrets join projects on projects.id = secrets.project \
             where secrets.project = ?1 and (?2 is null or secrets.id < ?2) order by secrets.id desc limit ?3"
        );
        let after = page.after.map(SecretId::uuid);
        self.all(&sql, params![scope.project.uuid(), after, page.limit], |row| kept(row, 0))
    }
}

impl SecretWrites for Face<'_> {
    /// Nobody else writes before the transaction ends, so that there is nothing to hold.
    fn master_held(&mut self, fresh: &str) -> Stored<String> {
        self.setting_ensure(MASTER, fresh)
    }

    fn master_change(&mut self, from: &str, to: &str) -> Stored<()> {
        guarded(self.changed("update settings set value = ?3 where name = ?1 and value = ?2", [MASTER, from, to])?)
    }

    fn data_key_newest(&mut self, tenant: TenantId) -> Stored<Option<DataKey>> {
        Ok(self.data_keys(tenant)?.into_iter().next())
    }

    fn data_key_insert(&mut self, key: &DataKey) -> Stored<bool> {
        let sql = "insert into data_keys (id, tenant, number, master, wrapped) values (?1, ?2, ?3, ?4, ?5) \
                   on conflict do nothing";
        let row = params![key.id.uuid(), key.tenant.uuid(), key.number, key.master, key.wrapped];
        Ok(self.changed(sql, row)? == 1)
    }

    fn data_key_rewrap(&mut self, from: &str, key: &DataKey) -> Stored<()> {
        let sql = "update data_keys set master = ?3, wrapped = ?4 where id = ?1 and master = ?2";
        guarded(self.changed(sql, params![key.id.uuid(), from, key.master, key.wrapped])?)
    }

    fn data_key_forget(&mut self, key: DataKeyId) -> Stored<bool> {
        let sql = "delete from data_keys where id = ?1 and not exists (select 1 from sealed where data_key = ?1) \
                   and not exists (select 1 from secrets where data_key = ?1) \
                   and not exists (select 1 from webhook_secrets where data_key = ?1) \
                   and not exists (select 1 from once where data_key = ?1)";
        Ok(self.changed(sql, [key.uuid()])? == 1)
    }

    fn sealed_again(&mut self, from: DataKeyId, at: &SealedAt, to: DataKeyId) -> Stored<()> {
        let sql = "update sealed set data_key = ?4, body = ?5 where interaction = ?1 and name = ?2 and data_key = ?3";
        self.changed(sql, params![at.interaction.uuid(), at.name, from.uuid(), to.uuid(), at.body]).map(drop)
    }

    fn kept_again(&mut self, from: DataKeyId, kept: &KeptValue) -> Stored<()> {
        let sql = "update secrets set data_key = ?3, body = ?4 where id = ?1 and data_key = ?2";
        let Sealed { key, body } = &kept.sealed;
        self.changed(sql, params![kept.secret.id.uuid(), from.uuid(), key.id.uuid(), body]).map(drop)
    }

    fn kept_put(&mut self, KeptValue { secret, sealed }: &KeptValue) -> Stored<()> {
        let sql = "insert into secrets (id, project, agent, name, kept_by, kept_at, used_at, data_key, body, driven) \
                   select ?1, id, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11 from projects where id = ?2 and tenant = ?3 \
                   on conflict (project, agent, driven, name) do update set id = excluded.id, kept_by = excluded.kept_by, \
                   kept_at = excluded.kept_at, used_at = excluded.used_at, data_key = excluded.data_key, \
                   body = excluded.body";
        let row = params![
            secret.id.uuid(),
            secret.scope.project.uuid(),
            secret.scope.tenant.uuid(),
            secret.agent,
            secret.name,
            json(&secret.kept_by)?,
            secret.kept_at.as_microsecond(),
            micros(secret.used_at),
            sealed.key.id.uuid(),
            sealed.body,
            secret.hosted,
        ];
        guarded(self.changed(sql, row)?)
    }

    fn kept_used(&mut self, scope: &Scope, id: SecretId, at: Timestamp) -> Stored<bool> {
        let sql = "update secrets set used_at = ?3 where id = ?1 and project = ?2";
        Ok(self.changed(sql, params![id.uuid(), scope.project.uuid(), at.as_microsecond()])? == 1)
    }

    fn kept_forget(&mut self, scope: &Scope, id: SecretId) -> Stored<bool> {
        Ok(self.changed("delete from secrets where id = ?1 and project = ?2", [id.uuid(), scope.project.uuid()])? == 1)
    }
}

/// A data key, in the columns that a row begins with.
pub(crate) fn data_key(row: &Row<'_>) -> rusqlite::Result<DataKey> {
    Ok(DataKey {
        id: DataKeyId::from_uuid(id(row.get(0)?)),
        tenant: TenantId::from_uuid(id(row.get(1)?)),
        number: row.get(2)?,
        master: row.get(3)?,
        wrapped: row.get(4)?,
    })
}

fn kept_value(row: &Row<'_>) -> rusqlite::Result<KeptValue> {
    Ok(KeptValue { secret: kept(row, 5)?, sealed: Sealed { key: data_key(row)?, body: row.get(14)? } })
}

fn kept(row: &Row<'_>, from: usize) -> rusqlite::Result<KeptSecret> {
    Ok(KeptSecret {
        id: SecretId::from_uuid(id(row.get(from)?)),
        scope: scope(row, from + 1)?,
        agent: row.get(from + 3)?,
        name: row.get(from + 4)?,
        kept_by: parsed(row.get_ref(from + 5)?.as_str()?)?,
        kept_at: time(row.get(from + 6)?)?,
        used_at: time_if(row.get(from + 7)?)?,
        hosted: row.get(from + 8)?,
    })
}

/// The scope that two columns make.
pub(crate) fn scope(row: &Row<'_>, from: usize) -> rusqlite::Result<Scope> {
    Ok(Scope { tenant: TenantId::from_uuid(id(row.get(from)?)), project: ProjectId::from_uuid(id(row.get(from + 1)?)) })
}
