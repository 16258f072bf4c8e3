//! The policy in force in each project, its history, and the draft that runs in its shadow.

use domain::{Difference, PolicyChange, PolicyState, PolicyVersion, Scope, Shadow};
use rusqlite::{Row, params};
use serde::de::DeserializeOwned;
use store::sql::policy as sql;
use store::{Bounded, DifferenceCount, Page, PolicyChangeRecord, PolicyReads, PolicyWrites, StoreResult};

use crate::connection::Executor;
use crate::values::{json, parse};

/// Number of rows that one count is spread over.
const SHARDS: u8 = 16;
/// Changes of the policy before a number, newest first.
pub(crate) const CHANGES: &str = "select number, policy_changes.body, policy_versions.body from policy_changes \
                                  join policy_versions using (project, version) \
                                  where policy_changes.project = ?1 and number < ?2 \
                                  and (?3 is null or policy_changes.version = ?3) order by number desc limit ?4";

impl PolicyReads for Executor<'_> {
    fn policy_state(&mut self, scope: &Scope) -> StoreResult<Option<PolicyState>> {
        self.row(sql::POLICY_STATE, [scope.project.uuid()], body)
    }

    /// All reads of one transaction see the same snapshot.
    fn policy_states(&mut self, places: &[Scope]) -> StoreResult<Vec<Option<PolicyState>>> {
        places.iter().map(|place| self.policy_state(place)).collect()
    }

    fn policy_version(&mut self, scope: &Scope, version: &str) -> StoreResult<Option<PolicyVersion>> {
        self.row(sql::POLICY_VERSION, params![scope.project.uuid(), version], body)
    }

    fn policy_changes(
        &mut self,
        scope: &Scope,
        version: Option<&str>,
        page: Page<u64>,
    ) -> StoreResult<Bounded<PolicyChangeRecord>> {
        let row = params![scope.project.uuid(), page.after.unwrap_or(i64::MAX.unsigned_abs()), version, page.limit];
        self.bounded_rows(CHANGES, row, page.limit, change_record)
    }

    fn shadow_text(&mut self, scope: &Scope, number: u64) -> StoreResult<Option<String>> {
        self.row(sql::SHADOW_TEXT, params![scope.project.uuid(), number], |row| row.get(0))
    }

    fn differences(&mut self, scope: &Scope, number: u64, limit: u32) -> StoreResult<Bounded<Difference>> {
        self.bounded_rows(sql::DIFFERENCES, params![scope.project.uuid(), number, limit], limit, body)
    }

    fn difference_counts(&mut self, scope: &Scope, number: u64) -> StoreResult<Vec<DifferenceCount>> {
        let sql = "select given, drafted, sum(count) from policy_difference_counts where project = ?1 and number = ?2 \
                   group by given, drafted order by given, drafted";
        let count =
            |row: &Row<'_>| Ok(DifferenceCount { given: row.get(0)?, drafted: row.get(1)?, count: row.get(2)? });
        self.rows(sql, params![scope.project.uuid(), number], count)
    }
}

impl PolicyWrites for Executor<'_> {
    /// SQLite has one writer, so that there is nothing to lock.
    fn policy_lock_shared(&mut self, scope: &Scope) -> StoreResult<Option<PolicyState>> {
        self.policy_state(scope)
    }

    fn policy_save(&mut self, scope: &Scope, state: &PolicyState) -> StoreResult<()> {
        let row = params![scope.project.uuid(), state.revision, json(state)?];
        self.guarded(sql::POLICY_SAVE, row)
    }

    fn policy_version_insert(&mut self, scope: &Scope, version: &PolicyVersion) -> StoreResult<bool> {
        let row = params![scope.project.uuid(), version.version, version.at.as_microsecond(), json(version)?];
        Ok(self.change(sql::POLICY_VERSION_INSERT, row)? == 1)
    }

    fn policy_change_insert(&mut self, scope: &Scope, change: &PolicyChange) -> StoreResult<()> {
        let sql = "insert into policy_changes (project, number, version, body) \
                   select ?1, coalesce(max(number), 0) + 1, ?2, ?3 from policy_changes where project = ?1";
        let row = params![scope.project.uuid(), change.version, json(change)?];
        self.change(sql, row).map(drop)
    }

    fn shadow_save(&mut self, scope: &Scope, shadow: &Shadow, text: &str) -> StoreResult<()> {
        self.shadow_delete(scope)?;
        let row = params![scope.project.uuid(), shadow.number, shadow.version, text];
        self.change(sql::SHADOW_SAVE, row).map(drop)
    }

    fn shadow_delete(&mut self, scope: &Scope) -> StoreResult<()> {
        for sql in sql::SHADOW_DELETE {
            self.change(sql, [scope.project.uuid()])?;
        }
        Ok(())
    }

    fn difference_insert(&mut self, scope: &Scope, number: u64, difference: &Difference) -> StoreResult<()> {
        let (project, session) = (scope.project.uuid(), difference.session.uuid());
        let at = difference.at.as_microsecond();
        let row = params![project, number, at, session, difference.call, json(difference)?];
        self.change(sql::DIFFERENCE_INSERT, row)?;
        let shard = session.as_bytes()[15] % SHARDS;
        let row = params![project, number, difference.given.verdict.name(), difference.drafted_name(), shard];
        self.change(sql::DIFFERENCE_COUNT, row).map(drop)
    }

    fn differences_purge(&mut self, most: u32, limit: u32) -> StoreResult<u64> {
        let sql = "delete from policy_differences where (project, number, at, session, call) in ( \
                   select project, number, at, session, call from ( \
                   select project, number, at, session, call, row_number() over ( \
                   partition by project, number order by at desc, session desc, call desc) as place from policy_differences) \
                   where place > ?1 limit ?2)";
        self.change(sql, [most, limit])
    }
}

fn change_record(row: &Row<'_>) -> rusqlite::Result<PolicyChangeRecord> {
    let PolicyVersion { text, .. } = parse(&row.get::<_, String>(2)?)?;
    Ok(PolicyChangeRecord { number: row.get(0)?, change: parse(&row.get::<_, String>(1)?)?, text })
}

fn body<T: DeserializeOwned>(row: &Row<'_>) -> rusqlite::Result<T> {
    parse(&row.get::<_, String>(0)?)
}
