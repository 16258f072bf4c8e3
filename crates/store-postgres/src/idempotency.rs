//! Idempotency records: the commands that idempotency keys were used for, and their results.

use domain::{DataKeyId, Scope, Timestamp};
use postgres::Row;
use store::sql::idempotency as sql;
use store::{
    IdempotencyReads, IdempotencyRecord, IdempotencySecret, IdempotencyWrites, Sealed, StoreResult, TimerReads,
};

use crate::access::scope as scope_of;
use crate::connection::Executor;
use crate::secret::data_key;
use crate::values::column;

impl IdempotencyReads for Executor<'_> {
    fn idempotency_record(&mut self, scope: &Scope, actor: &str, key: &str) -> StoreResult<Option<IdempotencyRecord>> {
        let found = self.row(sql::IDEMPOTENCY_RECORD, &[&scope.project.uuid(), &actor, &key])?;
        found.map(|row| Ok(IdempotencyRecord { digest: column(&row, 0)?, result: column(&row, 1)? })).transpose()
    }

    fn idempotency_secret(&mut self, scope: &Scope, actor: &str, key: &str) -> StoreResult<Option<Sealed>> {
        let sql = sql::IDEMPOTENCY_SECRET;
        let found = self.row(sql, &[&scope.project.uuid(), &actor, &key])?;
        found.map(|row| Ok(Sealed { key: data_key(&row)?, body: column(&row, 5)? })).transpose()
    }

    fn idempotency_secrets_under(&mut self, key: DataKeyId, limit: u32) -> StoreResult<Vec<IdempotencySecret>> {
        let sql = sql::IDEMPOTENCY_SECRETS_UNDER;
        let found = self.rows(sql, &[&key.uuid(), &i64::from(limit)])?;
        let read = |row: &Row| {
            let sealed = Sealed { key: data_key(row)?, body: column(row, 9)? };
            Ok(IdempotencySecret { scope: scope_of(row, 5, 6)?, actor: column(row, 7)?, key: column(row, 8)?, sealed })
        };
        found.iter().map(read).collect()
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
        self.guarded(
            sql::IDEMPOTENCY_INSERT,
            &[&scope.project.uuid(), &actor, &key, &record.digest, &record.result, &now],
        )
    }

    fn idempotency_result_save(&mut self, scope: &Scope, actor: &str, key: &str, result: &str) -> StoreResult<()> {
        self.guarded(sql::IDEMPOTENCY_RESULT_SAVE, &[&scope.project.uuid(), &actor, &key, &result])
    }

    fn idempotency_secret_save(&mut self, scope: &Scope, actor: &str, key: &str, sealed: &Sealed) -> StoreResult<()> {
        self.guarded(
            sql::IDEMPOTENCY_SECRET_SAVE,
            &[&scope.project.uuid(), &actor, &key, &sealed.key.id.uuid(), &sealed.body],
        )
    }

    fn idempotency_secret_reseal(&mut self, from: DataKeyId, secret: &IdempotencySecret) -> StoreResult<()> {
        let IdempotencySecret { scope, actor, key, sealed } = secret;
        let project = scope.project.uuid();
        self.change(
            sql::IDEMPOTENCY_SECRET_RESEAL,
            &[&project, actor, key, &from.uuid(), &sealed.key.id.uuid(), &sealed.body],
        )
        .map(drop)
    }

    fn idempotency_purge(&mut self, before: Timestamp, limit: u32) -> StoreResult<u64> {
        let sql = "delete from idempotency_records where (project, actor, key) in \
                   (select project, actor, key from idempotency_records where at < $1 order by at limit $2 for update skip locked)";
        self.change(sql, &[&before.as_microsecond(), &i64::from(limit)])
    }
}
