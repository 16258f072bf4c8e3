//! Time, and what it is due for.

use domain::{InteractionId, ProjectId, Scope, SessionId, TenantId, Timestamp};
use rusqlite::{Row, params};
use store::{Due, Stored, TimerReads};

use crate::connection::Face;
use crate::error::Told;
use crate::values::{id, time_if};

/// What is due, the earliest first.
pub(crate) const DUE: &str = "select projects.tenant, interactions.project, session, interactions.id from interactions \
                              join projects on projects.id = interactions.project \
                              where wake_at is not null and wake_at <= ?1 order by wake_at limit ?2";

/// The earliest moment that is to come.
pub(crate) const NEXT: &str = "select min(wake_at) from interactions where wake_at is not null";
/// The oldest question that is only kept.
pub(crate) const OLDEST: &str = "select min(retired_at) from interactions where retired_at is not null";

impl TimerReads for Face<'_> {
    fn now(&mut self) -> Stored<Timestamp> {
        Ok(*self.now.get_or_insert_with(|| self.clock.now()))
    }

    fn due(&mut self, now: Timestamp, limit: u32) -> Stored<Vec<Due>> {
        let mut statement = self.connection.prepare_cached(DUE).told()?;
        let due = |row: &Row<'_>| {
            Ok(Due {
                scope: Scope {
                    tenant: TenantId::from_uuid(id(row.get(0)?)),
                    project: ProjectId::from_uuid(id(row.get(1)?)),
                },
                session: SessionId::from_uuid(id(row.get(2)?)),
                interaction: InteractionId::from_uuid(id(row.get(3)?)),
            })
        };
        let found = statement.query_map(params![now.as_microsecond(), limit], due).told()?;
        found.collect::<Result<_, _>>().told()
    }

    fn next_due(&mut self) -> Stored<Option<Timestamp>> {
        let mut statement = self.connection.prepare_cached(NEXT).told()?;
        statement.query_row([], |row| time_if(row.get(0)?)).told()
    }

    fn oldest_retired(&mut self) -> Stored<Option<Timestamp>> {
        let mut statement = self.connection.prepare_cached(OLDEST).told()?;
        statement.query_row([], |row| time_if(row.get(0)?)).told()
    }
}
