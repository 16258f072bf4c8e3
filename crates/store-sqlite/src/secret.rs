//! Data keys, sealed values, and the secrets that people keep for later sessions.

use domain::{DataKeyId, InteractionId, KeptSecret, ProjectId, Scope, SecretId, TenantId, Timestamp};
use rusqlite::{Row, params};
use store::sql::secret::{self as sql, SELECT_KEPT_SECRETS};
use store::{
    AccessWrites, DataKey, KeptSecretValue, Page, Sealed, SealedValue, SecretReads, SecretWrites, StoreResult,
};

use crate::connection::Executor;
use crate::values::{id, json, micros, optional_time, parse, time};

/// Setting that names the master key in force.
const MASTER: &str = "master_key";

impl SecretReads for Executor<'_> {
    fn data_keys(&mut self, tenant: TenantId) -> StoreResult<Vec<DataKey>> {
        self.rows(sql::DATA_KEYS, [tenant.uuid()], data_key)
    }

    fn tenants_under_other_master_keys(&mut self, master: &str, limit: u32) -> StoreResult<Vec<TenantId>> {
        self.rows(sql::TENANTS_UNDER_OTHER_MASTER_KEYS, params![master, limit], |row| {
            Ok(TenantId::from_uuid(id(row.get(0)?)))
        })
    }

    /// SQLite has one writer, so that no earlier transaction can still be running.
    fn fence(&mut self) -> StoreResult<u64> {
        Ok(0)
    }

    fn is_fence_passed(&mut self, _fence: u64) -> StoreResult<bool> {
        Ok(true)
    }

    fn data_keys_outdated(&mut self, limit: u32) -> StoreResult<Vec<DataKey>> {
        self.rows(sql::DATA_KEYS_OUTDATED, [limit], data_key)
    }

    fn sealed_values_under(&mut self, key: DataKeyId, limit: u32) -> StoreResult<Vec<SealedValue>> {
        self.rows(sql::SEALED_VALUES_UNDER, params![key.uuid(), limit], |row| {
            Ok(SealedValue {
                scope: scope(row, 0)?,
                interaction: InteractionId::from_uuid(id(row.get(2)?)),
                name: row.get(3)?,
                body: row.get(4)?,
            })
        })
    }

    fn kept_secrets_under(&mut self, key: DataKeyId, limit: u32) -> StoreResult<Vec<KeptSecretValue>> {
        self.rows(sql::KEPT_SECRETS_UNDER, params![key.uuid(), limit], kept_secret_value)
    }

    fn kept_secrets_for(&mut self, scope: &Scope, agent: &str) -> StoreResult<Vec<KeptSecretValue>> {
        self.rows(sql::KEPT_SECRETS_FOR, params![scope.project.uuid(), agent], kept_secret_value)
    }

    fn kept_secrets(&mut self, scope: &Scope, page: Page<SecretId>) -> StoreResult<Vec<KeptSecret>> {
        let sql = format!(
            "{SELECT_KEPT_SECRETS} where secrets.project = ?1 and (?2 is null or secrets.id < ?2) order by secrets.id desc limit ?3"
        );
        let after = page.after.map(SecretId::uuid);
        self.rows(&sql, params![scope.project.uuid(), after, page.limit], |row| kept_secret(row, 0))
    }
}

impl SecretWrites for Executor<'_> {
    /// SQLite has one writer, so that there is nothing to lock.
    fn master_key_lock(&mut self, fresh: &str) -> StoreResult<String> {
        self.setting_ensure(MASTER, fresh)
    }

    fn master_key_change(&mut self, from: &str, to: &str) -> StoreResult<()> {
        self.guarded(sql::MASTER_KEY_CHANGE, [MASTER, from, to])
    }

    fn data_key_newest(&mut self, tenant: TenantId) -> StoreResult<Option<DataKey>> {
        Ok(self.data_keys(tenant)?.into_iter().next())
    }

    fn data_key_insert(&mut self, key: &DataKey) -> StoreResult<bool> {
        let row = params![key.id.uuid(), key.tenant.uuid(), key.number, key.master, key.wrapped];
        Ok(self.change(sql::DATA_KEY_INSERT, row)? == 1)
    }

    fn data_key_rewrap(&mut self, from: &str, key: &DataKey) -> StoreResult<()> {
        self.guarded(sql::DATA_KEY_REWRAP, params![key.id.uuid(), from, key.master, key.wrapped])
    }

    fn data_key_delete(&mut self, key: DataKeyId) -> StoreResult<bool> {
        Ok(self.change(sql::DATA_KEY_DELETE, [key.uuid()])? == 1)
    }

    fn sealed_value_reseal(&mut self, from: DataKeyId, at: &SealedValue, to: DataKeyId) -> StoreResult<()> {
        self.change(sql::SEALED_VALUE_RESEAL, params![at.interaction.uuid(), at.name, from.uuid(), to.uuid(), at.body])
            .map(drop)
    }

    fn kept_secret_reseal(&mut self, from: DataKeyId, kept: &KeptSecretValue) -> StoreResult<()> {
        let Sealed { key, body } = &kept.sealed;
        self.change(sql::KEPT_SECRET_RESEAL, params![kept.secret.id.uuid(), from.uuid(), key.id.uuid(), body]).map(drop)
    }

    fn kept_secret_save(&mut self, KeptSecretValue { secret, sealed }: &KeptSecretValue) -> StoreResult<()> {
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
        self.guarded(sql::KEPT_SECRET_SAVE, row)
    }

    fn kept_secret_mark_used(&mut self, scope: &Scope, id: SecretId, at: Timestamp) -> StoreResult<bool> {
        Ok(self.change(sql::KEPT_SECRET_MARK_USED, params![id.uuid(), scope.project.uuid(), at.as_microsecond()])? == 1)
    }

    fn kept_secret_delete(&mut self, scope: &Scope, id: SecretId) -> StoreResult<bool> {
        Ok(self.change(sql::KEPT_SECRET_DELETE, [id.uuid(), scope.project.uuid()])? == 1)
    }
}

/// Reads a data key from the first columns of a row.
pub(crate) fn data_key(row: &Row<'_>) -> rusqlite::Result<DataKey> {
    Ok(DataKey {
        id: DataKeyId::from_uuid(id(row.get(0)?)),
        tenant: TenantId::from_uuid(id(row.get(1)?)),
        number: row.get(2)?,
        master: row.get(3)?,
        wrapped: row.get(4)?,
    })
}

fn kept_secret_value(row: &Row<'_>) -> rusqlite::Result<KeptSecretValue> {
    Ok(KeptSecretValue { secret: kept_secret(row, 5)?, sealed: Sealed { key: data_key(row)?, body: row.get(14)? } })
}

fn kept_secret(row: &Row<'_>, from: usize) -> rusqlite::Result<KeptSecret> {
    Ok(KeptSecret {
        id: SecretId::from_uuid(id(row.get(from)?)),
        scope: scope(row, from + 1)?,
        agent: row.get(from + 3)?,
        name: row.get(from + 4)?,
        kept_by: parse(row.get_ref(from + 5)?.as_str()?)?,
        kept_at: time(row.get(from + 6)?)?,
        used_at: optional_time(row.get(from + 7)?)?,
        hosted: row.get(from + 8)?,
    })
}

/// Reads a scope from two columns.
pub(crate) fn scope(row: &Row<'_>, from: usize) -> rusqlite::Result<Scope> {
    Ok(Scope { tenant: TenantId::from_uuid(id(row.get(from)?)), project: ProjectId::from_uuid(id(row.get(from + 1)?)) })
}
