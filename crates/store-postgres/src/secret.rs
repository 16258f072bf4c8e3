//! Data keys, sealed values, and the secrets that people keep for later sessions.

use domain::{DataKeyId, InteractionId, KeptSecret, Scope, SecretId, TenantId, Timestamp};
use postgres::Row;
use store::sql::secret::{self as sql, SELECT_KEPT_SECRETS};
use store::{
    AccessWrites, DataKey, KeptSecretValue, Page, Sealed, SealedValue, SecretReads, SecretWrites, StoreError,
    StoreResult,
};

use crate::access::scope;
use crate::connection::Executor;
use crate::values::{column, json, micros, number, optional_time, parse, signed, time};

/// Setting that names the master key in force.
const MASTER: &str = "master_key";

impl SecretReads for Executor<'_> {
    fn data_keys(&mut self, tenant: TenantId) -> StoreResult<Vec<DataKey>> {
        self.rows(sql::DATA_KEYS, &[&tenant.uuid()])?.iter().map(data_key).collect()
    }

    fn tenants_under_other_master_keys(&mut self, master: &str, limit: u32) -> StoreResult<Vec<TenantId>> {
        let found = self.rows(sql::TENANTS_UNDER_OTHER_MASTER_KEYS, &[&master, &i64::from(limit)])?;
        found.iter().map(|row| Ok(TenantId::from_uuid(column(row, 0)?))).collect()
    }

    fn fence(&mut self) -> StoreResult<u64> {
        // A new transaction id is above all assigned ones. The `xmax` of a snapshot is only above all transactions that have *ended*.
        let row = self.row("select pg_current_xact_id()::text::bigint", &[])?;
        number(&row.ok_or(StoreError::Conflict)?, 0)
    }

    fn is_fence_passed(&mut self, fence: u64) -> StoreResult<bool> {
        let sql = "select pg_snapshot_xmin(pg_current_snapshot())::text::bigint >= $1";
        column(&self.row(sql, &[&signed(fence)?])?.ok_or(StoreError::Conflict)?, 0)
    }

    fn data_keys_outdated(&mut self, limit: u32) -> StoreResult<Vec<DataKey>> {
        self.rows(sql::DATA_KEYS_OUTDATED, &[&i64::from(limit)])?.iter().map(data_key).collect()
    }

    fn sealed_values_under(&mut self, key: DataKeyId, limit: u32) -> StoreResult<Vec<SealedValue>> {
        let found = self.rows(sql::SEALED_VALUES_UNDER, &[&key.uuid(), &i64::from(limit)])?;
        let read = |row: &Row| {
            Ok(SealedValue {
                scope: scope(row, 0, 1)?,
                interaction: InteractionId::from_uuid(column(row, 2)?),
                name: column(row, 3)?,
                body: column(row, 4)?,
            })
        };
        found.iter().map(read).collect()
    }

    fn kept_secrets_under(&mut self, key: DataKeyId, limit: u32) -> StoreResult<Vec<KeptSecretValue>> {
        self.rows(sql::KEPT_SECRETS_UNDER, &[&key.uuid(), &i64::from(limit)])?.iter().map(kept_secret_value).collect()
    }

    fn kept_secrets_for(&mut self, scope: &Scope, agent: &str) -> StoreResult<Vec<KeptSecretValue>> {
        self.rows(sql::KEPT_SECRETS_FOR, &[&scope.project.uuid(), &agent])?.iter().map(kept_secret_value).collect()
    }

    fn kept_secrets(&mut self, scope: &Scope, page: Page<SecretId>) -> StoreResult<Vec<KeptSecret>> {
        let sql = format!(
            "{SELECT_KEPT_SECRETS} where secrets.project = $1 and ($2::uuid is null or secrets.id < $2) order by secrets.id desc limit $3"
        );
        let after = page.after.map(SecretId::uuid);
        let found = self.list_rows(&sql, &[&scope.project.uuid(), &after, &i64::from(page.limit)])?;
        found.iter().map(|row| kept_secret(row, 0)).collect()
    }
}

impl SecretWrites for Executor<'_> {
    fn master_key_lock(&mut self, fresh: &str) -> StoreResult<String> {
        self.setting_ensure(MASTER, fresh)?;
        let held = self.row("select value from settings where name = $1 for share", &[&MASTER])?;
        column(&held.ok_or(StoreError::Conflict)?, 0)
    }

    fn master_key_change(&mut self, from: &str, to: &str) -> StoreResult<()> {
        self.guarded(sql::MASTER_KEY_CHANGE, &[&MASTER, &from, &to])
    }

    /// Takes no lock, which all sealing transactions would share. The transaction gets its id before it reads: if it reads a key that is about
    /// to be replaced, its id is below a fence that is taken after the replacement.
    fn data_key_newest(&mut self, tenant: TenantId) -> StoreResult<Option<DataKey>> {
        self.rows("select pg_current_xact_id()", &[])?;
        let sql = format!("{} limit 1", sql::DATA_KEYS);
        self.row(&sql, &[&tenant.uuid()])?.as_ref().map(data_key).transpose()
    }

    fn data_key_insert(&mut self, key: &DataKey) -> StoreResult<bool> {
        let (id, tenant, number) = (key.id.uuid(), key.tenant.uuid(), i64::from(key.number));
        Ok(self.change(sql::DATA_KEY_INSERT, &[&id, &tenant, &number, &key.master, &key.wrapped])? == 1)
    }

    fn data_key_rewrap(&mut self, from: &str, key: &DataKey) -> StoreResult<()> {
        self.guarded(sql::DATA_KEY_REWRAP, &[&key.id.uuid(), &from, &key.master, &key.wrapped])
    }

    fn data_key_delete(&mut self, key: DataKeyId) -> StoreResult<bool> {
        Ok(self.change(sql::DATA_KEY_DELETE, &[&key.uuid()])? == 1)
    }

    fn sealed_value_reseal(&mut self, from: DataKeyId, at: &SealedValue, to: DataKeyId) -> StoreResult<()> {
        let row: [&(dyn postgres::types::ToSql + Sync); 5] =
            [&at.interaction.uuid(), &at.name, &from.uuid(), &to.uuid(), &at.body];
        self.change(sql::SEALED_VALUE_RESEAL, &row).map(drop)
    }

    fn kept_secret_reseal(&mut self, from: DataKeyId, kept: &KeptSecretValue) -> StoreResult<()> {
        let Sealed { key, body } = &kept.sealed;
        self.change(sql::KEPT_SECRET_RESEAL, &[&kept.secret.id.uuid(), &from.uuid(), &key.id.uuid(), body]).map(drop)
    }

    fn kept_secret_save(&mut self, KeptSecretValue { secret, sealed }: &KeptSecretValue) -> StoreResult<()> {
        self.guarded(
            sql::KEPT_SECRET_SAVE,
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

    fn kept_secret_mark_used(&mut self, scope: &Scope, id: SecretId, at: Timestamp) -> StoreResult<bool> {
        Ok(self.change(sql::KEPT_SECRET_MARK_USED, &[&id.uuid(), &scope.project.uuid(), &at.as_microsecond()])? == 1)
    }

    fn kept_secret_delete(&mut self, scope: &Scope, id: SecretId) -> StoreResult<bool> {
        Ok(self.change(sql::KEPT_SECRET_DELETE, &[&id.uuid(), &scope.project.uuid()])? == 1)
    }
}

/// Reads a data key from the first columns of a row.
pub(crate) fn data_key(row: &Row) -> StoreResult<DataKey> {
    Ok(DataKey {
        id: DataKeyId::from_uuid(column(row, 0)?),
        tenant: TenantId::from_uuid(column(row, 1)?),
        number: number(row, 2)?,
        master: column(row, 3)?,
        wrapped: column(row, 4)?,
    })
}

fn kept_secret_value(row: &Row) -> StoreResult<KeptSecretValue> {
    Ok(KeptSecretValue { secret: kept_secret(row, 5)?, sealed: Sealed { key: data_key(row)?, body: column(row, 14)? } })
}

fn kept_secret(row: &Row, from: usize) -> StoreResult<KeptSecret> {
    Ok(KeptSecret {
        id: SecretId::from_uuid(column(row, from)?),
        scope: scope(row, from + 1, from + 2)?,
        agent: column(row, from + 3)?,
        name: column(row, from + 4)?,
        kept_by: parse(column(row, from + 5)?)?,
        kept_at: time(column(row, from + 6)?)?,
        used_at: optional_time(column(row, from + 7)?)?,
        hosted: column(row, from + 8)?,
    })
}
