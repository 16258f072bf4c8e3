//! What idempotency keys were used for.

use domain::{Scope, Timestamp};
use store::{Once, OnceReads, OnceWrites, Stored, TimerReads};

use crate::connection::Face;
use crate::values::column;

impl OnceReads for Face<'_> {
    fn once(&mut self, scope: &Scope, actor: &str, key: &str) -> Stored<Option<Once>> {
        let sql = "select digest, result from once where project = $1 and actor = $2 and key = $3";
        let found = self.row(sql, &[&scope.project.uuid(), &actor, &key])?;
        found.map(|row| Ok(Once { digest: column(&row, 0)?, result: column(&row, 1)? })).transpose()
    }
}

impl OnceWrites for Face<'_> {
    fn once_insert(&mut self, scope: &Scope, actor: &str, key: &str, once: &Once) -> Stored<()> {
        let now = self.now()?.as_microsecond();
        let sql = "insert into once (project, actor, key, digest, result, at) values ($1, $2, $3, $4, $5, $6) \
                   on conflict do nothing";
        self.guarded(sql, &[&scope.project.uuid(), &actor, &key, &once.digest, &once.result, &now])
    }

    fn once_fill(&mut self, scope: &Scope, actor: &str, key: &str, result: &str) -> Stored<()> {
        let sql = "update once set result = $4 where project = $1 and actor = $2 and key = $3";
        self.guarded(sql, &[&scope.project.uuid(), &actor, &key, &result])
    }

    fn once_purge(&mut self, before: Timestamp, limit: u32) -> Stored<u64> {
        let sql = "delete from once where (project, actor, key) in \
                   (select project, actor, key from once where at < $1 order by at limit $2 for update skip locked)";
        self.change(sql, &[&before.as_microsecond(), &i64::from(limit)])
    }
}
