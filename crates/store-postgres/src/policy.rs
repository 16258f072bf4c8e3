//! The policy in force in each project, its history, and the draft that runs in its shadow.

use std::collections::HashMap;

use domain::{Difference, PolicyChange, PolicyState, PolicyVersion, Scope, Shadow};
use postgres::Row;
use store::sql::policy as sql;
use store::{Bounded, DifferenceCount, Page, PolicyChangeRecord, PolicyReads, PolicyWrites, StoreResult};
use uuid::Uuid;

use crate::connection::{Executor, Values};
use crate::values::{column, json, number as counted, parse, signed};

/// Number of rows that one count is spread over.
const SHARDS: u8 = 16;
/// Changes of the policy before a number, newest first.
pub(crate) const CHANGES: &str = "select number, policy_changes.body, policy_versions.body from policy_changes \
                                  join policy_versions using (project, version) \
                                  where policy_changes.project = $1 and number < $2 \
                                  and ($3::text is null or policy_changes.version = $3) order by number desc limit $4";

impl PolicyReads for Executor<'_> {
    fn policy_state(&mut self, scope: &Scope) -> StoreResult<Option<PolicyState>> {
        let found = self.row(sql::POLICY_STATE, &[&scope.project.uuid()])?;
        found.map(|row| parse(column(&row, 0)?)).transpose()
    }

    fn policy_states(&mut self, places: &[Scope]) -> StoreResult<Vec<Option<PolicyState>>> {
        let projects: Vec<_> = places.iter().map(|place| place.project.uuid()).collect();
        let sql = "select project, body from policy_states where project = any($1)";
        let mut found: HashMap<Uuid, PolicyState> = HashMap::new();
        for row in self.rows(sql, &[&projects])? {
            found.insert(column(&row, 0)?, parse(column(&row, 1)?)?);
        }
        Ok(projects.iter().map(|project| found.remove(project)).collect())
    }

    fn policy_version(&mut self, scope: &Scope, version: &str) -> StoreResult<Option<PolicyVersion>> {
        let found = self.row(sql::POLICY_VERSION, &[&scope.project.uuid(), &version])?;
        found.map(|row| parse(column(&row, 0)?)).transpose()
    }

    fn policy_changes(
        &mut self,
        scope: &Scope,
        version: Option<&str>,
        page: Page<u64>,
    ) -> StoreResult<Bounded<PolicyChangeRecord>> {
        let before = page.after.map_or(Ok(i64::MAX), signed)?;
        let values: Values<'_> = &[&scope.project.uuid(), &before, &version, &i64::from(page.limit)];
        self.bounded_list(CHANGES, values, page.limit, change_record)
    }

    fn shadow_text(&mut self, scope: &Scope, number: u64) -> StoreResult<Option<String>> {
        let found = self.row(sql::SHADOW_TEXT, &[&scope.project.uuid(), &signed(number)?])?;
        found.map(|row| column(&row, 0)).transpose()
    }

    fn differences(&mut self, scope: &Scope, number: u64, limit: u32) -> StoreResult<Bounded<Difference>> {
        let values: Values<'_> = &[&scope.project.uuid(), &signed(number)?, &i64::from(limit)];
        self.bounded_rows(sql::DIFFERENCES, values, limit, |row| parse(column(row, 0)?))
    }

    fn difference_counts(&mut self, scope: &Scope, number: u64) -> StoreResult<Vec<DifferenceCount>> {
        let sql = "select given, drafted, sum(count)::bigint from policy_difference_counts \
                   where project = $1 and number = $2 group by given, drafted order by given, drafted";
        let found = self.rows(sql, &[&scope.project.uuid(), &signed(number)?])?;
        let count =
            |row| Ok(DifferenceCount { given: column(row, 0)?, drafted: column(row, 1)?, count: counted(row, 2)? });
        found.iter().map(count).collect()
    }
}

impl PolicyWrites for Executor<'_> {
    fn policy_lock_shared(&mut self, scope: &Scope) -> StoreResult<Option<PolicyState>> {
        // The policy has no state row before its first change; the project always has a row.
        self.rows("select 1 from projects where id = $1 for share", &[&scope.project.uuid()])?;
        self.policy_state(scope)
    }

    fn policy_save(&mut self, scope: &Scope, state: &PolicyState) -> StoreResult<()> {
        self.lock_history(scope)?;
        self.guarded(sql::POLICY_SAVE, &[&scope.project.uuid(), &signed(state.revision)?, &json(state)?])
    }

    fn policy_version_insert(&mut self, scope: &Scope, version: &PolicyVersion) -> StoreResult<bool> {
        self.lock_history(scope)?;
        let at = version.at.as_microsecond();
        Ok(self.change(sql::POLICY_VERSION_INSERT, &[&scope.project.uuid(), &version.version, &at, &json(version)?])?
            == 1)
    }

    fn policy_change_insert(&mut self, scope: &Scope, change: &PolicyChange) -> StoreResult<()> {
        self.lock_history(scope)?;
        let sql = "insert into policy_changes (project, number, version, body) \
                   select $1::uuid, coalesce(max(number), 0) + 1, $2::text, $3::text from policy_changes where project = $1";
        self.change(sql, &[&scope.project.uuid(), &change.version, &json(change)?]).map(drop)
    }

    fn shadow_save(&mut self, scope: &Scope, shadow: &Shadow, text: &str) -> StoreResult<()> {
        self.shadow_delete(scope)?;
        self.change(sql::SHADOW_SAVE, &[&scope.project.uuid(), &signed(shadow.number)?, &shadow.version, &text])
            .map(drop)
    }

    fn shadow_delete(&mut self, scope: &Scope) -> StoreResult<()> {
        for sql in sql::SHADOW_DELETE {
            self.change(sql, &[&scope.project.uuid()])?;
        }
        Ok(())
    }

    fn difference_insert(&mut self, scope: &Scope, number: u64, difference: &Difference) -> StoreResult<()> {
        let (project, session, number) = (scope.project.uuid(), difference.session.uuid(), signed(number)?);
        let at = difference.at.as_microsecond();
        self.change(sql::DIFFERENCE_INSERT, &[&project, &number, &at, &session, &difference.call, &json(difference)?])?;
        let shard = i64::from(session.as_bytes()[15] % SHARDS);
        let (given, drafted) = (difference.given.verdict.name(), difference.drafted_name());
        self.change(sql::DIFFERENCE_COUNT, &[&project, &number, &given, &drafted, &shard]).map(drop)
    }

    fn differences_purge(&mut self, most: u32, limit: u32) -> StoreResult<u64> {
        let sql = "delete from policy_differences where (project, number, at, session, call) in ( \
                   select project, number, at, session, call from ( \
                   select project, number, at, session, call, row_number() over ( \
                   partition by project, number order by at desc, session desc, call desc) as place \
                   from policy_differences) as placed where place > $1 limit $2)";
        self.change(sql, &[&i64::from(most), &i64::from(limit)])
    }
}

impl Executor<'_> {
    /// Locks the policy of a project until the transaction ends. Every write of the policy takes this lock first, so that two transactions
    /// never wait for each other.
    fn lock_history(&mut self, scope: &Scope) -> StoreResult<()> {
        let sql = "select 1 from projects where id = $1 for no key update";
        self.rows(sql, &[&scope.project.uuid()]).map(drop)
    }
}

fn change_record(row: &Row) -> StoreResult<PolicyChangeRecord> {
    let PolicyVersion { text, .. } = parse(column(row, 2)?)?;
    Ok(PolicyChangeRecord { number: counted(row, 0)?, change: parse(column(row, 1)?)?, text })
}
