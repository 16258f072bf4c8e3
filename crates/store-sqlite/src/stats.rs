//! Figures.

use std::collections::BTreeMap;

use domain::{InteractionId, ProjectId, Scope, State, TenantId, Timestamp};
use rusqlite::types::Type;
use rusqlite::{Row, params};
use store::{Bounded, ClosedInteraction, OpenCount, Stats, StatsReads, StepCounts, StoreResult, percentile};

use crate::connection::Executor;
use crate::error::Told;
use crate::values::{id, parsed, time, time_if};

impl StatsReads for Executor<'_> {
    fn stats(&mut self, scope: &Scope, since: Timestamp) -> StoreResult<Stats> {
        let project = scope.project.uuid();
        let sql = "select kind, count(*) from interactions where project = ?1 and status = 'pending' group by kind";
        let open = self.counts(sql, params![project])?;
        let sql = "select min(created_at) from interactions where id = \
                   (select min(id) from interactions where project = ?1 and status = 'pending')";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        let oldest_open_at = statement.query_row([project], |row| time_if(row.get(0)?)).told()?;
        let sql = "select status, count(*) from interactions \
                   where resolved_at is not null and resolved_at >= ?2 and project = ?1 group by status";
        let closed = self.counts(sql, params![project, since.as_microsecond()])?;
        let sql = "select resolved_at - created_at from interactions \
                   where resolved_at is not null and resolved_at >= ?2 and project = ?1 and status = 'answered'";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        let waits = statement.query_map(params![project, since.as_microsecond()], |row| row.get(0)).told()?;
        let mut waits: Vec<i64> = waits.collect::<Result<_, _>>().told()?;
        waits.sort_unstable();
        let sql = "select count(*) from interactions where project = ?1 and delivery = 'waiting'";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        let deliveries_waiting = statement.query_row([project], |row| row.get(0)).told()?;
        let (wait_p50, wait_p95) = (percentile(&waits, 50), percentile(&waits, 95));
        Ok(Stats { open, oldest_open_at, closed, wait_p50, wait_p95, deliveries_waiting })
    }

    fn closed_interactions(
        &mut self,
        scope: &Scope,
        since: Timestamp,
        after: Option<(Timestamp, InteractionId)>,
        limit: u32,
    ) -> StoreResult<Bounded<ClosedInteraction>> {
        let (from, beyond) = after.map_or((since, None), |(at, id)| (at, Some(id.uuid())));
        let sql = "select interactions.id, kind, created_at, resolved_at, state, \
                   iif(json_extract(asked, '$.question.asked_by_rule.policy') is null, null, \
                   coalesce(json_extract(asked, '$.question.asked_by_rule.rule'), '')) \
                   from interactions join questions on questions.interaction = interactions.id \
                   where resolved_at is not null and resolved_at >= ?2 and project = ?1 \
                   and (?3 is null or resolved_at > ?2 or interactions.id > ?3) order by resolved_at, interactions.id limit ?4";
        self.bounded(
            sql,
            params![scope.project.uuid(), from.as_microsecond(), beyond, limit],
            limit,
            closed_interaction,
        )
    }

    fn open_since(&mut self, scope: &Scope, since: Timestamp) -> StoreResult<u64> {
        let sql = "select count(*) from interactions where project = ?1 and status = 'pending' and created_at >= ?2";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        statement.query_row(params![scope.project.uuid(), since.as_microsecond()], |row| row.get(0)).told()
    }

    fn delivery_backlog(&mut self) -> StoreResult<(u64, Option<Timestamp>)> {
        let sql = "select count(*), min(resolved_at) from interactions where delivery = 'waiting'";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        statement.query_row([], |row| Ok((row.get(0)?, time_if(row.get(1)?)?))).told()
    }

    fn step_counts(&mut self, now: Timestamp) -> StoreResult<StepCounts> {
        let sql = "select coalesce(sum(held and due > ?1), 0), coalesce(sum(due <= ?1), 0), \
                   coalesce(sum(not held and due > ?1), 0) from \
                   (select due, json_extract(body, '$.drive.worker') is not null as held from steps where due is not null)";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        let counts = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let (running, due, resting) = statement.query_row([now.as_microsecond()], counts).told()?;
        let sql = "select count(*) from sessions where ended is null and hosted = 1 and waiting_on > 0";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        let waiting = statement.query_row([], |row| row.get(0)).told()?;
        Ok(StepCounts { running, due, resting, waiting })
    }

    fn open_counts(&mut self) -> StoreResult<Vec<OpenCount>> {
        let sql = "select projects.tenant, project, kind, count(*) from interactions \
                   join projects on projects.id = interactions.project \
                   where status = 'pending' group by projects.tenant, project, kind";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        let count = |row: &Row<'_>| {
            Ok(OpenCount {
                tenant: TenantId::from_uuid(id(row.get(0)?)),
                project: ProjectId::from_uuid(id(row.get(1)?)),
                kind: row.get(2)?,
                count: row.get(3)?,
            })
        };
        let counts = statement.query_map([], count).told()?;
        counts.collect::<Result<_, _>>().told()
    }
}

impl Executor<'_> {
    fn counts(&self, sql: &str, values: impl rusqlite::Params) -> StoreResult<BTreeMap<String, u64>> {
        let mut statement = self.connection.prepare_cached(sql).told()?;
        let counts = statement.query_map(values, |row| Ok((row.get(0)?, row.get(1)?))).told()?;
        counts.collect::<Result<_, _>>().told()
    }
}

/// Nothing where the row says that the question is still open, which no row with `resolved_at` does.
fn closed_interaction(row: &Row<'_>) -> rusqlite::Result<ClosedInteraction> {
    let State::Resolved { resolution, .. } = parsed(&row.get::<_, String>(4)?)? else {
        return Err(rusqlite::Error::InvalidColumnType(4, "state".into(), Type::Text));
    };
    Ok(ClosedInteraction {
        id: InteractionId::from_uuid(id(row.get(0)?)),
        kind: row.get(1)?,
        asked_at: time(row.get(2)?)?,
        resolved_at: time(row.get(3)?)?,
        resolution,
        rule: row.get(5)?,
    })
}
