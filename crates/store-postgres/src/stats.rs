//! Statistics of projects and of the installation.

use std::collections::BTreeMap;

use domain::{InteractionId, Kind, ProjectId, Scope, State, TenantId, Timestamp};
use postgres::Row;
use store::sql::stats as sql;
use store::{Bounded, ClosedInteraction, OpenCount, Stats, StatsReads, StepCounts, StoreResult, percentile};

use crate::connection::{Executor, Values};
use crate::values::{column, corrupt, number, optional_time, parse, time};

impl StatsReads for Executor<'_> {
    fn stats(&mut self, scope: &Scope, since: Timestamp) -> StoreResult<Stats> {
        let (project, since) = (scope.project.uuid(), since.as_microsecond());
        let open = self.counts(sql::STATS_OPEN, &[&project])?;
        let sql = "select created_at from interactions where project = $1 and status = 'pending' order by id limit 1";
        let oldest = self.row(sql, &[&project])?;
        let oldest_open_at = optional_time(oldest.map(|row| column(&row, 0)).transpose()?)?;
        let closed = self.counts(sql::STATS_CLOSED, &[&project, &since])?;
        let waits = self.rows(sql::STATS_WAITS, &[&project, &since])?;
        let mut waits = waits.iter().map(|row| column(row, 0)).collect::<StoreResult<Vec<i64>>>()?;
        waits.sort_unstable();
        let waiting = self.row(sql::STATS_DELIVERIES_WAITING, &[&project])?;
        let deliveries_waiting = waiting.map_or(Ok(0), |row| number(&row, 0))?;
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
                   case when asked::json #>> '{question,asked_by_rule,policy}' is not null \
                   then coalesce(asked::json #>> '{question,asked_by_rule,rule}', '') end \
                   from interactions join questions on questions.interaction = interactions.id \
                   where resolved_at is not null and resolved_at >= $2 and project = $1 \
                   and ($3::uuid is null or resolved_at > $2 or interactions.id > $3) \
                   order by resolved_at, interactions.id limit $4";
        let values: Values<'_> = &[&scope.project.uuid(), &from.as_microsecond(), &beyond, &i64::from(limit)];
        self.bounded_rows(sql, values, limit, closed_interaction)
    }

    fn open_since(&mut self, scope: &Scope, since: Timestamp) -> StoreResult<u64> {
        let counted = self.row(sql::OPEN_SINCE, &[&scope.project.uuid(), &since.as_microsecond()])?;
        counted.map_or(Ok(0), |row| number(&row, 0))
    }

    fn delivery_backlog(&mut self) -> StoreResult<(u64, Option<Timestamp>)> {
        let Some(row) = self.row(sql::DELIVERY_BACKLOG, &[])? else { return Ok((0, None)) };
        Ok((number(&row, 0)?, optional_time(column(&row, 1)?)?))
    }

    fn step_counts(&mut self, now: Timestamp) -> StoreResult<StepCounts> {
        // Matched as text: the input of a step may contain NUL, which PostgreSQL refuses in JSON.
        let sql = "select count(*) filter (where held and due > $1), count(*) filter (where due <= $1), \
                   count(*) filter (where not held and due > $1), \
                   (select count(*) from sessions where ended is null and hosted and waiting_on > 0) from \
                   (select due, body like '%\"drive\":{%\"worker\":\"%' as held from steps where due is not null) looked_at";
        let Some(row) = self.row(sql, &[&now.as_microsecond()])? else { return Ok(StepCounts::default()) };
        let (running, due) = (number(&row, 0)?, number(&row, 1)?);
        Ok(StepCounts { running, due, resting: number(&row, 2)?, waiting: number(&row, 3)? })
    }

    fn open_counts(&mut self) -> StoreResult<Vec<OpenCount>> {
        let counts = self.rows(sql::OPEN_COUNTS, &[])?;
        let count = |row| {
            Ok(OpenCount {
                tenant: TenantId::from_uuid(column(row, 0)?),
                project: ProjectId::from_uuid(column(row, 1)?),
                kind: Kind::named(column(row, 2)?).kind_name(),
                count: number(row, 3)?,
            })
        };
        counts.iter().map(count).collect()
    }
}

impl Executor<'_> {
    fn counts(&mut self, sql: &str, values: Values<'_>) -> StoreResult<BTreeMap<String, u64>> {
        let counts = self.rows(sql, values)?;
        counts.iter().map(|row| Ok((column(row, 0)?, number(row, 1)?))).collect()
    }
}

/// Fails if the state of the row is open, which no row with `resolved_at` has.
fn closed_interaction(row: &Row) -> StoreResult<ClosedInteraction> {
    let State::Resolved { resolution, .. } = parse(column(row, 4)?)? else {
        return Err(corrupt("a closed question is not resolved"));
    };
    Ok(ClosedInteraction {
        id: InteractionId::from_uuid(column(row, 0)?),
        kind: Kind::named(column(row, 1)?).kind_name(),
        asked_at: time(column(row, 2)?)?,
        resolved_at: time(column(row, 3)?)?,
        resolution,
        rule: column(row, 5)?,
    })
}
