//! Totals of open questions by asker and by tenant.

use domain::{InteractionId, Scope};
use postgres::Row;
use store::sql::budget as sql;
use store::{BudgetReads, BudgetWrites, OpenTotal, OpenTotals, StoreResult};
use uuid::Uuid;

use crate::connection::Executor;
use crate::values::{column, number, signed};

/// Updates the counters in one statement: the row of each asker in the order of names, and one shard of the tenant. Returns the new totals,
/// which are never below 0: a question that was opened without being counted can still be closed. The connection chooses the shard, so that
/// transactions of one server do not wait for each other's shard.
pub(crate) const COUNT: &str = "with changed as (select asker, sum((id = any($3::uuid[]))::int - (id = any($4::uuid[]))::int)::bigint as questions, \
     sum(weight * ((id = any($3::uuid[]))::int - (id = any($4::uuid[]))::int))::bigint as bytes from interactions \
     where id = any($3::uuid[] || $4::uuid[]) and project = $2 and asker <> '' group by asker order by asker), \
     counted as (insert into open_counts (project, asker, questions, bytes) select $2, asker, questions, bytes from changed \
     on conflict (project, asker) do update set questions = open_counts.questions + excluded.questions, \
     bytes = open_counts.bytes + excluded.bytes returning asker, questions, bytes), \
     whole as (insert into tenant_open_counts (tenant, shard, questions, bytes) \
     select $1, pg_backend_pid() % 32, sum(questions)::bigint, sum(bytes)::bigint from changed having count(*) > 0 \
     on conflict (tenant, shard) do update set questions = tenant_open_counts.questions + excluded.questions, \
     bytes = tenant_open_counts.bytes + excluded.bytes returning 1) \
     select counted.asker, greatest(0, counted.questions), greatest(0, counted.bytes), \
     greatest(0, (select coalesce(sum(questions), 0) from tenant_open_counts where tenant = $1) + (select sum(questions) from changed))::bigint, \
     greatest(0, (select coalesce(sum(bytes), 0) from tenant_open_counts where tenant = $1) + (select sum(bytes) from changed))::bigint \
     from counted order by counted.asker";

/// Returns a row if a counter differs from the open questions. A question and its counters change in one transaction, so that one
/// statement sees either both before the change or both after it.
const DRIFTED: &str = "with found as (select project, asker, count(*) as questions, sum(weight) as bytes from interactions \
     where status = 'pending' and asker <> '' group by project, asker), \
     counted as (select project, asker, questions, bytes from open_counts where questions <> 0 or bytes <> 0), \
     found_whole as (select projects.tenant, sum(questions) as questions, sum(bytes) as bytes from found \
     join projects on projects.id = found.project group by projects.tenant), \
     counted_whole as (select tenant, sum(questions) as questions, sum(bytes) as bytes from tenant_open_counts group by tenant \
     having sum(questions) <> 0 or sum(bytes) <> 0) \
     (select 1 from found full join counted using (project, asker) \
     where (found.questions, found.bytes) is distinct from (counted.questions, counted.bytes) limit 1) union all \
     (select 1 from found_whole full join counted_whole using (tenant) \
     where (found_whole.questions, found_whole.bytes) is distinct from (counted_whole.questions, counted_whole.bytes) limit 1)";

impl BudgetReads for Executor<'_> {
    fn open_totals(&mut self, scope: &Scope) -> StoreResult<Vec<(String, OpenTotal)>> {
        let found = self.rows(sql::OPEN_TOTALS, &[&scope.project.uuid()])?;
        found.iter().map(|row| Ok((column(row, 0)?, total(row, 1)?))).collect()
    }

    fn open_totals_computed(&mut self, scope: &Scope) -> StoreResult<Vec<(String, OpenTotal)>> {
        let sql = "select asker, count(*), sum(weight)::bigint from interactions where project = $1 and status = 'pending' \
                   group by asker order by asker";
        let found = self.rows(sql, &[&scope.project.uuid()])?;
        found.iter().map(|row| Ok((column(row, 0)?, total(row, 1)?))).collect()
    }
}

impl BudgetWrites for Executor<'_> {
    fn interaction_add_bytes(&mut self, scope: &Scope, id: InteractionId, more: u64) -> StoreResult<()> {
        self.guarded(sql::INTERACTION_ADD_BYTES, &[&id.uuid(), &scope.project.uuid(), &signed(more)?])
    }

    fn open_totals_update(
        &mut self,
        scope: &Scope,
        opened: &[InteractionId],
        closed: &[InteractionId],
    ) -> StoreResult<OpenTotals> {
        let uuids = |ids: &[InteractionId]| ids.iter().map(|id| id.uuid()).collect::<Vec<Uuid>>();
        let (tenant, project) = (scope.tenant.uuid(), scope.project.uuid());
        let found = self.rows(COUNT, &[&tenant, &project, &uuids(opened), &uuids(closed)])?;
        let mut totals = OpenTotals::default();
        for row in &found {
            totals.askers.push((column(row, 0)?, total(row, 1)?));
            totals.tenant = total(row, 3)?;
        }
        Ok(totals)
    }

    /// Takes no lock if the counters are right. Otherwise waits briefly for transactions that are counting, and blocks later ones until this
    /// one ends, so that no question is counted twice or lost.
    fn open_totals_recount(&mut self) -> StoreResult<()> {
        for sql in ["set local statement_timeout = 0", "set local lock_timeout = '2s'"] {
            self.change(sql, &[])?;
        }
        if self.rows(DRIFTED, &[])?.is_empty() {
            return Ok(());
        }
        for sql in [
            "lock table open_counts, tenant_open_counts in share row exclusive mode",
            sql::OPEN_COUNTS_CLEAR,
            sql::TENANT_OPEN_COUNTS_CLEAR,
            sql::OPEN_COUNTS_FILL,
            "insert into tenant_open_counts (tenant, shard, questions, bytes) \
             select projects.tenant, 0, sum(questions), sum(bytes) from open_counts \
             join projects on projects.id = open_counts.project group by projects.tenant",
        ] {
            self.change(sql, &[])?;
        }
        Ok(())
    }
}

/// Reads a total from two columns.
fn total(row: &Row, first: usize) -> StoreResult<OpenTotal> {
    Ok(OpenTotal { questions: number(row, first)?, bytes: number(row, first + 1)? })
}
