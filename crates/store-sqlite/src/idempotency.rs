//! Idempotency records: the commands that idempotency keys were used for, and their results.

use domain::{DataKeyId, Scope, Timestamp};
use rusqlite::params;
use store::sql::idempotency as sql;
use store::{
    IdempotencyReads, IdempotencyRecord, IdempotencySecret, IdempotencyWrites, Sealed, StoreResult, TimerReads,
};

use crate::connection::Executor;
use crate::secret::{data_key, scope as scope_of};

impl IdempotencyReads for Executor<'_> {
    fn idempotency_record(&mut self, scope: &Scope, actor: &str, key: &str) -> StoreResult<Option<IdempotencyRecord>> {
        self.row(sql::IDEMPOTENCY_RECORD, params![scope.project.uuid(), actor, key], |row| {
            Ok(IdempotencyRecord { digest: row.get(0)?, result: row.get(1)? })
        })
    }

    fn idempotency_secret(&mut self, scope: &Scope, actor: &str, key: &str) -> StoreResult<Option<Sealed>> {
        let sql = sql::IDEMPOTENCY_SECRET;
        let row = params![scope.project.uuid(), actor, key];
        let mut found = self.rows(sql, row, |row| Ok(Sealed { key: data_key(row)?, body: row.get(5)? }))?;
        Ok(found.pop())
    }

    fn idempotency_secrets_under(&mut self, key: DataKeyId, limit: u32) -> StoreResult<Vec<IdempotencySecret>> {
        let sql = sql::IDEMPOTENCY_SECRETS_UNDER;
        self.rows(sql, params![key.uuid(), limit], |row| {
            let sealed = Sealed { key: data_key(row)?, body: row.get(9)? };
            Ok(IdempotencySecret { scope: scope_of(row, 5)?, actor: row.get(7)?, key: row.get(8)?, sealed })
        })
    }
}

impl IdempotencyWrites for Executor<'_> {
    fn idempotency_insert(
        &mut self,
        scope: &Scope,
        actor: &str,
        key: &str,
        record: &IdempotencyRecord,
    ) -> StoreResult<()> {
        let now = self.now()?.as_microsecond();
        let row = params![scope.project.uuid(), actor, key, record.digest, record.result, now];
        self.guarded(sql::IDEMPOTENCY_INSERT, row)
    }

    fn idempotency_result_save(&mut self, scope: &Scope, actor: &str, key: &str, result: &str) -> StoreResult<()> {
        let row = params![scope.project.uuid(), actor, key, result];
        self.guarded(sql::IDEMPOTENCY_RESULT_SAVE, row)
    }

    fn idempotency_secret_save(&mut self, scope: &Scope, actor: &str, key: &str, sealed: &Sealed) -> StoreResult<()> {
        self.guarded(
            sql::IDEMPOTENCY_SECRET_SAVE,
            params![scope.project.uuid(), actor, key, sealed.key.id.uuid(), sealed.body],
        )
    }

    fn idempotency_secret_reseal(&mut self, from: DataKeyId, secret: &IdempotencySecret) -> StoreResult<()> {
        let IdempotencySecret { scope, actor, key, sealed } = secret;
        let row = params![scope.project.uuid(), actor, key, from.uuid(), sealed.key.id.uuid(), sealed.body];
        self.change(sql::IDEMPOTENCY_SECRET_RESEAL, row).map(drop)
    }

    fn idempotency_purge(&mut self, before: Timestamp, limit: u32) -> StoreResult<u64> {
        let sql = "delete from idempotency_records where (project, actor, key) in \
                   (select project, actor, key from idempotency_records where at < ?1 order by at limit ?2)";
        self.change(sql, params![before.as_microsecond(), limit])
    }
}
