//! What idempotency keys were used for.

use domain::{DataKeyId, Scope, Timestamp};
use rusqlite::{OptionalExtension, params};
use store::{
    IdempotencyReads, IdempotencyRecord, IdempotencySecret, IdempotencyWrites, Sealed, StoreResult, TimerReads,
};

use crate::connection::Executor;
use crate::error::Told;
use crate::secret::{DATA_KEY, data_key, scope as scope_of};
use crate::session::guarded;

impl IdempotencyReads for Executor<'_> {
    fn idempotency_record(&mut self, scope: &Scope, actor: &str, key: &str) -> StoreResult<Option<IdempotencyRecord>> {
        let sql = "select digest, result from idempotency_records where project = ?1 and actor = ?2 and key = ?3";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        let found = statement.query_row(params![scope.project.uuid(), actor, key], |row| {
            Ok(IdempotencyRecord { digest: row.get(0)?, result: row.get(1)? })
        });
        found.optional().told()
    }

    fn idempotency_secret(&mut self, scope: &Scope, actor: &str, key: &str) -> StoreResult<Option<Sealed>> {
        let sql = format!(
            "select {DATA_KEY}, secret from idempotency_records \
             join data_keys on data_keys.id = data_key \
             where project = ?1 and actor = ?2 and key = ?3"
        );
        let row = params![scope.project.uuid(), actor, key];
        let mut found = self.all(&sql, row, |row| Ok(Sealed { key: data_key(row)?, body: row.get(5)? }))?;
        Ok(found.pop())
    }

    fn idempotency_secrets_under(&mut self, key: DataKeyId, limit: u32) -> StoreResult<Vec<IdempotencySecret>> {
        let sql = format!(
            "select {DATA_KEY}, projects.tenant, projects.id, actor, key, secret from idempotency_records \
             join projects on projects.id = project join data_keys on data_keys.id = data_key \
             where data_key = ?1 limit ?2"
        );
        self.all(&sql, params![key.uuid(), limit], |row| {
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
        let sql =
            "insert into idempotency_records (project, actor, key, digest, result, at) values (?1, ?2, ?3, ?4, ?5, ?6)";
        let row = params![scope.project.uuid(), actor, key, record.digest, record.result, now];
        self.connection.prepare_cached(sql).told()?.execute(row).told().map(drop)
    }

    fn idempotency_result_save(&mut self, scope: &Scope, actor: &str, key: &str, result: &str) -> StoreResult<()> {
        let sql = "update idempotency_records set result = ?4 where project = ?1 and actor = ?2 and key = ?3";
        let row = params![scope.project.uuid(), actor, key, result];
        guarded(self.connection.prepare_cached(sql).told()?.execute(row).told()?)
    }

    fn idempotency_secret_save(&mut self, scope: &Scope, actor: &str, key: &str, sealed: &Sealed) -> StoreResult<()> {
        let sql =
            "update idempotency_records set data_key = ?4, secret = ?5 where project = ?1 and actor = ?2 and key = ?3";
        guarded(self.changed(sql, params![scope.project.uuid(), actor, key, sealed.key.id.uuid(), sealed.body])?)
    }

    fn idempotency_secret_reseal(&mut self, from: DataKeyId, secret: &IdempotencySecret) -> StoreResult<()> {
        let IdempotencySecret { scope, actor, key, sealed } = secret;
        let sql = "update idempotency_records set data_key = ?5, secret = ?6 \
                   where project = ?1 and actor = ?2 and key = ?3 and data_key = ?4";
        let row = params![scope.project.uuid(), actor, key, from.uuid(), sealed.key.id.uuid(), sealed.body];
        self.changed(sql, row).map(drop)
    }

    fn idempotency_purge(&mut self, before: Timestamp, limit: u32) -> StoreResult<u64> {
        let sql = "delete from idempotency_records where (project, actor, key) in \
                   (select project, actor, key from idempotency_records where at < ?1 order by at limit ?2)";
        let rows =
            self.connection.prepare_cached(sql).told()?.execute(params![before.as_microsecond(), limit]).told()?;
        Ok(rows as u64)
    }
}
