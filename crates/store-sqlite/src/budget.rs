//! How much is open, by asker and by tenant.

use std::collections::BTreeMap;

use domain::{InteractionId, Scope};
use rusqlite::{OptionalExtension, Row, params};
use store::{BudgetReads, BudgetWrites, OpenTotal, OpenTotals, StoreResult};

use crate::connection::Executor;
use crate::error::Told;
use crate::session::guarded;

/// What a change does to a total.
#[derive(Clone, Copy, Default)]
struct Difference {
    questions: i64,
    bytes: i64,
}

impl BudgetReads for Executor<'_> {
    fn open_totals(&mut self, scope: &Scope) -> StoreResult<Vec<(String, OpenTotal)>> {
        let sql = "select asker, questions, bytes from open_counts where project = ?1 and (questions <> 0 or bytes <> 0) order by asker";
        self.all(sql, [scope.project.uuid()], |row| Ok((row.get(0)?, total(row, 1)?)))
    }

    fn open_totals_computed(&mut self, scope: &Scope) -> StoreResult<Vec<(String, OpenTotal)>> {
        let sql = "select asker, count(*), sum(weight) from interactions where project = ?1 and status = 'pending' \
                   group by asker order by asker";
        self.all(sql, [scope.project.uuid()], |row| Ok((row.get(0)?, total(row, 1)?)))
    }
}

impl BudgetWrites for Executor<'_> {
    fn interaction_add_bytes(&mut self, scope: &Scope, id: InteractionId, more: u64) -> StoreResult<()> {
        let sql = "update interactions set weight = weight + ?3 where id = ?1 and project = ?2";
        guarded(self.changed(sql, params![id.uuid(), scope.project.uuid(), more])?)
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
            // A question that was opened without being counted must not keep anybody from closing it.
            let sql = "insert into open_counts (project, asker, questions, bytes) values (?1, ?2, max(0, ?3), max(0, ?4)) \
                       on conflict (project, asker) do update set questions = max(0, questions + ?3), \
                       bytes = max(0, bytes + ?4) returning questions, bytes";
            let row = params![scope.project.uuid(), asker, difference.questions, difference.bytes];
            let mut statement = self.connection.prepare_cached(sql).told()?;
            let now = statement.query_row(row, |row| total(row, 0)).told()?;
            totals.askers.push((asker, now));
            whole.questions += difference.questions;
            whole.bytes += difference.bytes;
        }
        let sql = "insert into tenant_open_counts (tenant, questions, bytes) values (?1, max(0, ?2), max(0, ?3)) \
                   on conflict (tenant) do update set questions = max(0, questions + ?2), \
                   bytes = max(0, bytes + ?3) returning questions, bytes";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        let row = params![scope.tenant.uuid(), whole.questions, whole.bytes];
        totals.tenant = statement.query_row(row, |row| total(row, 0)).told()?;
        Ok(totals)
    }

    fn open_totals_recount(&mut self) -> StoreResult<()> {
        for sql in [
            "delete from open_counts",
            "delete from tenant_open_counts",
            "insert into open_counts (project, asker, questions, bytes) select project, asker, count(*), sum(weight) \
             from interactions where status = 'pending' and asker <> '' group by project, asker",
            "insert into tenant_open_counts (tenant, questions, bytes) select projects.tenant, sum(questions), sum(bytes) \
             from open_counts join projects on projects.id = open_counts.project group by projects.tenant",
        ] {
            self.changed(sql, [])?;
        }
        Ok(())
    }
}

impl Executor<'_> {
    /// Who asked a question and what it weighs; nothing where it was asked before there were counters.
    fn weight_of(&self, scope: &Scope, id: InteractionId) -> StoreResult<Option<(String, i64)>> {
        let sql = "select asker, weight from interactions where id = ?1 and project = ?2 and asker <> ''";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        let found = statement.query_row([id.uuid(), scope.project.uuid()], |row| Ok((row.get(0)?, row.get(1)?)));
        found.optional().told()
    }
}

fn total(row: &Row<'_>, first: usize) -> rusqlite::Result<OpenTotal> {
    Ok(OpenTotal { questions: row.get(first)?, bytes: row.get(first + 1)? })
}
