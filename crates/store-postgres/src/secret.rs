//! Keys that values are sealed with, and secret values that are kept for later.

use domain::{DataKeyId, InteractionId, KeptSecret, Scope, SecretId, TenantId, Timestamp};
use postgres::Row;
use store::{AccessWrites, DataKey, KeptValue, Page, Sealed, SealedAt, SecretReads, SecretWrites, StoreError, Stored};

use crate::access::scope;
use crate::connection::Face;
use crate::values::{column, json, micros, number, parsed, signed, time, time_if};

/// The columns of a data key, which a row begins with.
pub(crate) const DATA_KEY: &str = "data_keys.id, data_keys.tenant, number, master, wrapped";
/// Behind them those of a kept secret, with its value.
const KEPT: &str = "secrets.id, projects.tenant, projects.id, agent, secrets.name, kept_by, kept_at, used_at, driven";
/// Where all of it is.
const KEPT_VALUES: &str = "secrets join projects on projects.id = secrets.project \
                           join data_keys on data_keys.id = secrets.data_key";
/// The setting that names the master key in force.
const MASTER: &str = "master_key";

impl SecretReads for Face<'_> {
    fn data_keys(&mut self, tenant: TenantId) -> Stored<Vec<DataKey>> {
        let sql = format!("select {DATA_KEY} from data_keys where tenant = $1 order by number desc");
        self.rows(&sql, &[&tenant.uuid()])?.iter().map(data_key).collect()
    }

    fn tenants_not_under(&mut self, master: &str, limit: u32) -> Stored<Vec<TenantId>> {
        let sql = "select distinct tenant from data_keys where master <> $1 order by tenant limit $2";
        let found = self.rows(sql, &[&master, &i64::from(limit)])?;
        found.iter().map(|row| Ok(TenantId::from_uuid(column(row, 0)?))).collect()
    }

    fn fence(&mut self) -> Stored<u64> {
        // A number of its own, which is above all that were given. A snapshot's `xmax` is not: it is above all that have *ended*.
        let row = self.row("select pg_current_xact_id()::text::bigint", &[])?;
        number(&row.ok_or(StoreError::Conflict)?, 0)
    }

    fn fence_passed(&mut self, fence: u64) -> Stored<bool> {
        let sql = "select pg_snapshot_xmin(pg_current_snapshot())::text::bigint >= $1";
        column(&self.row(sql, &[&signed(fence)?])?.ok_or(StoreError::Conflict)?, 0)
    }

    fn data_keys_outdated(&mut self, limit: u32) -> Stored<Vec<DataKey>> {
        let sql = format!(
            "select {DATA_KEY} from data_keys where exists (select 1 from data_keys as newer \
             where newer.tenant = data_keys.tenant and newer.number > data_keys.number) order by tenant, number limit $1"
        );
        self.rows(&sql, &[&i64::from(limit)])?.iter().map(data_key).collect()
    }

    fn sealed_under(&mut self, key: DataKeyId, limit: u32) -> Stored<Vec<SealedAt>> {
        let sql = "select projects.tenant, projects.id, interaction, sealed.name, body from sealed \
                   join interactions on interactions.id = sealed.interaction \
                   join projects on projects.id = interactions.project \
                   where data_key = $1 order by interaction, sealed.name limit $2";
        let found = self.rows(sql, &[&key.uuid(), &i64::from(limit)])?;
        let read = |row: &Row| {
            Ok(SealedAt {
                scope: scope(row, 0, 1)?,
                interaction: InteractionId::from_uuid(column(row, 2)?),
                name: column(row, 3)?,
                body: column(row, 4)?,
            })
        };
        found.iter().map(read).collect()
    }

    fn kept_under(&mut self, key: DataKeyId, limit: u32) -> Stored<Vec<KeptValue>> {
        let sql = format!(
            "select {DATA_KEY}, {KEPT}, body from {KEPT_VALUES} where data_key = $1 order by secrets.id limit $2"
        );
        self.rows(&sql, &[&key.uuid(), &i64::from(limit)])?.iter().map(kept_value).collect()
    }

    fn kept_for(&mut self, scope: &Scope, agent: &str) -> Stored<Vec<KeptValue>> {
        let sql = format!(
            "select {DATA_KEY}, {KEPT}, body from {KEPT_VALUES} \
             where secrets.project = $1 and agent = $2 order by secrets.name"
        );
        self.rows(&sql, &[&scope.project.uuid(), &agent])?.iter().map(kept_value).collect()
    }

    fn kept(&mut self, scope: &Scope, page: Page<SecretId>) -> Stored<Vec<KeptSecret>> {
        let sql = format!(
            "select {KEPT} from secrets join projects on projects.id = secrets.project \
             where secrets.project = $1 and ($2::uuid is null or secrets.id < $2) order by secrets.id desc limit $3"
        );
        let after = page.after.map(SecretId::uuid);
        let found = self.listed(&sql, &[&scope.project.uuid(), &after, &i64::from(page.limit)])?;
        found.iter().map(|row| kept(row, 0)).collect()
    }
}

impl SecretWrites for Face<'_> {
    fn master_held(&mut self, fresh: &str) -> Stored<String> {
        self.setting_ensure(MASTER, fresh)?;
        let held = self.row("select value from settings where name = $1 for share", &[&MASTER])?;
        column(&held.ok_or(StoreError::Conflict)?, 0)
    }

    fn master_change(&mut self, from: &str, to: &str) -> Stored<()> {
        self.guarded("update settings set value = $3 where name = $1 and value = $2", &[&MASTER, &from, &to])
    }

    /// Without a lock, which every sealing transaction would share. Instead it has its number before it looks: if it sees a key
    /// that is about to be replaced, that number is below a fence drawn after the replacement.
    fn data_key_newest(&mut self, tenant: TenantId) -> Stored<Option<DataKey>> {
        self.rows("select pg_current_xact_id()", &[])?;
        let sql = format!("select {DATA_KEY} from data_keys where tenant = $1 order by number desc limit 1");
        self.row(&sql, &[&tenant.uuid()])?.as_ref().map(data_key).transpose()
    }

    fn data_key_insert(&mut self, key: &DataKey) -> Stored<bool> {
        let sql = "insert into data_keys (id, tenant, number, master, wrapped) values ($1, $2, $3, $4, $5) \
                   on conflict do nothing";
        let (id, tenant, number) = (key.id.uuid(), key.tenant.uuid(), i64::from(key.number));
        Ok(self.change(sql, &[&id, &tenant, &number, &key.master, &key.wrapped])? == 1)
    }

    fn data_key_rewrap(&mut self, from: &str, key: &DataKey) -> Stored<()> {
        let sql = "update data_keys set master = $3, wrapped = $4 where id = $1 and master = $2";
        self.guarded(sql, &[&key.id.uuid(), &from, &key.master, &key.wrapped])
    }

    fn data_key_forget(&mut self, key: DataKeyId) -> Stored<bool> {
        let sql = "delete from data_keys where id = $1 and not exists (select 1 from sealed where data_key = $1) \
                   and not exists (select 1 from secrets where data_key = $1) \
                   and not exists (select 1 from webhook_secrets where data_key = $1) \
                   and not exists (select 1 from once where data_key = $1)";
        Ok(self.change(sql, &[&key.uuid()])? == 1)
    }

    fn sealed_again(&mut self, from: DataKeyId, at: &SealedAt, to: DataKeyId) -> Stored<()> {
        let sql = "update sealed set data_key = $4, body = $5 where interaction = $1 and name = $2 and data_key = $3";
        let row: [&(dyn postgres::types::ToSql + Sync); 5] =
            [&at.interaction.uuid(), &at.name, &from.uuid(), &to.uuid(), &at.body];
        self.change(sql, &row).map(drop)
    }

    fn kept_again(&mut self, from: DataKeyId, kept: &KeptValue) -> Stored<()> {
        let sql = "update secrets set data_key = $3, body = $4 where id = $1 and data_key = $2";
        let Sealed { key, body } = &kept.sealed;
        self.change(sql, &[&kept.secret.id.uuid(), &from.uuid(), &key.id.uuid(), body]).map(drop)
    }

    fn kept_put(&mut self, KeptValue { secret, sealed }: &KeptValue) -> Stored<()> {
        let sql = "insert into secrets (id, project, agent, name, kept_by, kept_at, used_at, data_key, body, driven) \
                   select $1, id, $4, $5, $6, $7, $8, $9, $10, $11 from projects where id = $2 and tenant = $3 \
                   on conflict (project, agent, driven, name) do update set id = excluded.id, kept_by = excluded.kept_by, \
                   kept_at = excluded.kept_at, used_at = excluded.used_at, data_key = excluded.data_key, \
                   body = excluded.body";
        self.guarded(
            sql,
            &[
                &secret.id.uuid(),
                &secret.scope.project.uuid(),
                &secret.scope.tenant.uuid(),
                &secret.agent,
                &secret.name,
                &json(&secret.kept_by)?,
                &secret.kept_at.as_microsecond(),
                &micros(secret.used_at),
                &sealed.key.id.uuid(),
                &sealed.body,
                &secret.hosted,
            ],
        )
    }

    fn kept_used(&mut self, scope: &Scope, id: SecretId, at: Timestamp) -> Stored<bool> {
        let sql = "update secrets set used_at = $3 where id = $1 and project = $2";
        Ok(self.change(sql, &[&id.uuid(), &scope.project.uuid(), &at.as_microsecond()])? == 1)
    }

    fn kept_forget(&mut self, scope: &Scope, id: SecretId) -> Stored<bool> {
        let sql = "delete from secrets where id = $1 and project = $2";
        Ok(self.change(sql, &[&id.uuid(), &scope.project.uuid()])? == 1)
    }
}

/// A data key, in the columns that a row begins with.
pub(crate) fn data_key(row: &Row) -> Stored<DataKey> {
    Ok(DataKey {
        id: DataKeyId::from_uuid(column(row, 0)?),
        tenant: TenantId::from_uuid(column(row, 1)?),
        number: number(row, 2)?,
        master: column(row, 3)?,
        wrapped: column(row, 4)?,
    })
}

fn kept_value(row: &Row) -> Stored<KeptValue> {
    Ok(KeptValue { secret: kept(row, 5)?, sealed: Sealed { key: data_key(row)?, body: column(row, 14)? } })
}

fn kept(row: &Row, from: usize) -> Stored<KeptSecret> {
    Ok(KeptSecret {
        id: SecretId::from_uuid(column(row, from)?),
        scope: scope(row, from + 1, from + 2)?,
        agent: column(row, from + 3)?,
        name: column(row, from + 4)?,
        kept_by: parsed(column(row, from + 5)?)?,
        kept_at: time(column(row, from + 6)?)?,
        used_at: time_if(column(row, from + 7)?)?,
        hosted: column(row, from + 8)?,
    })
}
