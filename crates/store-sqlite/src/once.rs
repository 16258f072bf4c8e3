//! What idempotency keys were used for.

use domain::{Scope, Timestamp};
use rusqlite::{OptionalExtension, params};
use store::{Once, OnceReads, OnceWrites, Stored, TimerReads};

use crate::connection::Face;
use crate::error::Told;
use crate::session::guarded;

impl OnceReads for Face<'_> {
    fn once(&mut self, scope: &Scope, actor: &str, key: &str) -> Stored<Option<Once>> {
        let sql = "select digest, result from once where project = ?1 and actor = ?2 and key = ?3";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        let found = statement.query_row(params![scope.project.uuid(), actor, key], |row| {
            Ok(Once { digest: row.get(0)?, result: row.get(1)? })
        });
        found.optional().told()
    }
}

impl OnceWrites for Face<'_> {
    fn once_insert(&mut self, scope: &Scope, actor: &str, key: &str, once: &Once) -> Stored<()> {
        let now = self.now()?.as_microsecond();
        let sql = "insert into once (project, actor, key, digest, result, at) values (?1, ?2, ?3, ?4, ?5, ?6)";
        let row = params![scope.project.uuid(), actor, key, once.digest, once.result, now];
        self.connection.prepare_cached(sql).told()?.execute(row).told().map(drop)
    }

    fn once_fill(&mut self, scope: &Scope, actor: &str, key: &str, result: &str) -> Stored<()> {
        let sql = "update once set result = ?4 where project = ?1 and actor = ?2 and key = ?3";
        let row = params![scope.project.uuid(), actor, key, result];
        guarded(self.connection.prepare_cached(sql).told()?.execute(row).told()?)
    }

    fn once_purge(&mut self, before: Timestamp, limit: u32) -> Stored<u64> {
        let sql = "delete from once where (project, actor, key) in \
                   (select project, actor, key from once where at < ?1 order by at limit ?2)";
        let rows =
            self.connection.prepare_cached(sql).told()?.execute(params![before.as_microsecond(), limit]).told()?;
        Ok(rows as u64)
    }
}
