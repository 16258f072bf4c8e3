//! Statistics of projects and of the installation.

use std::collections::BTreeMap;

use domain::{InteractionId, Kind, ProjectId, Scope, State, TenantId, Timestamp};
use rusqlite::types::Type;
use rusqlite::{Row, params};
use store::sql::stats as sql;
use store::{Bounded, ClosedInteraction, OpenCount, Stats, StatsReads, StepCounts, StoreResult, percentile};

use crate::connection::Executor;
use crate::values::{id, optional_time, parse, time};

impl StatsReads for Executor<'_> {
    fn stats(&mut self, scope: &Scope, since: Timestamp) -> StoreResult<Stats> {
        let project = scope.project.uuid();
        let open = self.counts(sql::STATS_OPEN, params![project])?;
        let sql = "select min(created_at) from interactions where id = \
                   (select min(id) from interactions where project = ?1 and status = 'pending')";
        let oldest_open_at = self.one_row(sql, [project], |row| optional_time(row.get(0)?))?;
        let closed = self.counts(sql::STATS_CLOSED, params![project, since.as_microsecond()])?;
        let mut waits: Vec<i64> =
            self.rows(sql::STATS_WAITS, params![project, since.as_microsecond()], |row| row.get(0))?;
        waits.sort_unstable();
        let deliveries_waiting = self.one_row(sql::STATS_DELIVERIES_WAITING, [project], |row| row.get(0))?;
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
        self.bounded_rows(
            sql,
            params![scope.project.uuid(), from.as_microsecond(), beyond, limit],
            limit,
            closed_interaction,
        )
    }

    fn open_since(&mut self, scope: &Scope, since: Timestamp) -> StoreResult<u64> {
        self.one_row(sql::OPEN_SINCE, params![scope.project.uuid(), since.as_microsecond()], |row| row.get(0))
    }

    fn delivery_backlog(&mut self) -> StoreResult<(u64, Option<Timestamp>)> {
        self.one_row(sql::DELIVERY_BACKLOG, [], |row| Ok((row.get(0)?, optional_time(row.get(1)?)?)))
    }

    fn step_counts(&mut self, now: Timestamp) -> StoreResult<StepCounts> {
        let sql = "select coalesce(sum(held and due > ?1), 0), coalesce(sum(due <= ?1), 0), \
                   coalesce(sum(not held and due > ?1), 0) from \
                   (select due, json_extract(body, '$.drive.worker') is not null as held from steps where due is not null)";
        let counts = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let (running, due, resting) = self.one_row(sql, [now.as_microsecond()], counts)?;
        let sql = "select count(*) from sessions where ended is null and hosted = 1 and waiting_on > 0";
        let waiting = self.one_row(sql, [], |row| row.get(0))?;
        Ok(StepCounts { running, due, resting, waiting })
    }

    fn open_counts(&mut self) -> StoreResult<Vec<OpenCount>> {
        let count = |row: &Row<'_>| {
            Ok(OpenCount {
                tenant: TenantId::from_uuid(id(row.get(0)?)),
                project: ProjectId::from_uuid(id(row.get(1)?)),
                kind: Kind::named(&row.get::<_, String>(2)?).kind_name(),
                count: row.get(3)?,
            })
        };
        self.rows(sql::OPEN_COUNTS, [], count)
    }
}

impl Executor<'_> {
    fn counts(&self, sql: &str, values: impl rusqlite::Params) -> StoreResult<BTreeMap<String, u64>> {
        Ok(self.rows(sql, values, |row| Ok((row.get(0)?, row.get(1)?)))?.into_iter().collect())
    }
}

/// Fails if the state of the row is open, which no row with `resolved_at` has.
fn closed_interaction(row: &Row<'_>) -> rusqlite::Result<ClosedInteraction> {
    let State::Resolved { resolution, .. } = parse(&row.get::<_, String>(4)?)? else {
        return Err(rusqlite::Error::InvalidColumnType(4, "state".into(), Type::Text));
    };
    Ok(ClosedInteraction {
        id: InteractionId::from_uuid(id(row.get(0)?)),
        kind: Kind::named(&row.get::<_, String>(1)?).kind_name(),
        asked_at: time(row.get(2)?)?,
        resolved_at: time(row.get(3)?)?,
        resolution,
        rule: row.get(5)?,
    })
}
