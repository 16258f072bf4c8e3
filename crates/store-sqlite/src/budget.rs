//! Totals of open questions by asker and by tenant.

use std::collections::BTreeMap;

use domain::{InteractionId, Scope};
use rusqlite::{Row, params};
use store::sql::budget as sql;
use store::{BudgetReads, BudgetWrites, OpenTotal, OpenTotals, StoreResult};

use crate::connection::Executor;

/// Change of a total.
#[derive(Clone, Copy, Default)]
struct Difference {
    questions: i64,
    bytes: i64,
}

impl BudgetReads for Executor<'_> {
    fn open_totals(&mut self, scope: &Scope) -> StoreResult<Vec<(String, OpenTotal)>> {
        self.rows(sql::OPEN_TOTALS, [scope.project.uuid()], |row| Ok((row.get(0)?, total(row, 1)?)))
    }

    fn open_totals_computed(&mut self, scope: &Scope) -> StoreResult<Vec<(String, OpenTotal)>> {
        let sql = "select asker, count(*), sum(weight) from interactions where project = ?1 and status = 'pending' \
                   group by asker order by asker";
        self.rows(sql, [scope.project.uuid()], |row| Ok((row.get(0)?, total(row, 1)?)))
    }
}

impl BudgetWrites for Executor<'_> {
    fn interaction_add_bytes(&mut self, scope: &Scope, id: InteractionId, more: u64) -> StoreResult<()> {
        self.guarded(sql::INTERACTION_ADD_BYTES, params![id.uuid(), scope.project.uuid(), more])
    }

    fn open_totals_update(
        &mut self,
        scope: &Scope,
        opened: &[InteractionId],
        closed: &[InteractionId],
    ) -> StoreResult<OpenTotals> {
        let mut differences: BTreeMap<String, Difference> = BTreeMap::new();
        for (ids, sign) in [(opened, 1), (closed, -1)] {
            for id in ids {
                let Some((asker, weight)) = self.weight_of(scope, *id)? else { continue };
                let difference = differences.entry(asker).or_default();
                difference.questions += sign;
                difference.bytes += sign * weight;
            }
        }
        let mut totals = OpenTotals::default();
        let mut whole = Difference::default();
        for (asker, difference) in differences {
            // Totals never fall below 0: a question that was opened without being counted can still be closed.
            let sql = "insert into open_counts (project, asker, questions, bytes) values (?1, ?2, max(0, ?3), max(0, ?4)) \
                       on conflict (project, asker) do update set questions = max(0, questions + ?3), \
                       bytes = max(0, bytes + ?4) returning questions, bytes";
            let row = params![scope.project.uuid(), asker, difference.questions, difference.bytes];
            let now = self.one_row(sql, row, |row| total(row, 0))?;
            totals.askers.push((asker, now));
            whole.questions += difference.questions;
            whole.bytes += difference.bytes;
        }
        let sql = "insert into tenant_open_counts (tenant, questions, bytes) values (?1, max(0, ?2), max(0, ?3)) \
                   on conflict (tenant) do update set questions = max(0, questions + ?2), \
                   bytes = max(0, bytes + ?3) returning questions, bytes";
        let row = params![scope.tenant.uuid(), whole.questions, whole.bytes];
        totals.tenant = self.one_row(sql, row, |row| total(row, 0))?;
        Ok(totals)
    }

    fn open_totals_recount(&mut self) -> StoreResult<()> {
        for sql in [
            sql::OPEN_COUNTS_CLEAR,
            sql::TENANT_OPEN_COUNTS_CLEAR,
            sql::OPEN_COUNTS_FILL,
            "insert into tenant_open_counts (tenant, questions, bytes) select projects.tenant, sum(questions), sum(bytes) \
             from open_counts join projects on projects.id = open_counts.project group by projects.tenant",
        ] {
            self.change(sql, [])?;
        }
        Ok(())
    }
}

impl Executor<'_> {
    /// Returns the asker of a question and its bytes; `None` if it was asked before the counters existed.
    fn weight_of(&self, scope: &Scope, id: InteractionId) -> StoreResult<Option<(String, i64)>> {
        let sql = "select asker, weight from interactions where id = ?1 and project = ?2 and asker <> ''";
        self.row(sql, [id.uuid(), scope.project.uuid()], |row| Ok((row.get(0)?, row.get(1)?)))
    }
}

fn total(row: &Row<'_>, first: usize) -> rusqlite::Result<OpenTotal> {
    Ok(OpenTotal { questions: row.get(first)?, bytes: row.get(first + 1)? })
}
