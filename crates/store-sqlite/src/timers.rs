//! The time of a transaction, and the rows that are due.

use domain::{InteractionId, ProjectId, Scope, SessionId, TenantId, Timestamp};
use rusqlite::{Row, params};
use store::{DueAction, DueInteraction, StoreResult, TimerReads, TimerWrites};

use crate::connection::Executor;
use crate::interaction::RETIRED;
use crate::values::{id, optional_time};

/// Rows that are due, earliest first.
pub(crate) const DUE: &str = "select projects.tenant, interactions.project, session, interactions.id from interactions \
                              join projects on projects.id = interactions.project \
                              where wake_at is not null and wake_at <= ?1 order by wake_at limit ?2";

/// Earliest time at which a question is due.
pub(crate) const NEXT: &str = "select min(wake_at) from interactions where wake_at is not null";
/// Time of the oldest retired question.
pub(crate) const OLDEST: &str = "select min(retired_at) from interactions where retired_at is not null";

impl TimerReads for Executor<'_> {
    fn now(&mut self) -> StoreResult<Timestamp> {
        Ok(*self.now.get_or_insert_with(|| self.clock.now()))
    }

    fn interactions_due(&mut self, now: Timestamp, limit: u32) -> StoreResult<Vec<DueInteraction>> {
        let due = |row: &Row<'_>| {
            Ok(DueInteraction {
                scope: Scope {
                    tenant: TenantId::from_uuid(id(row.get(0)?)),
                    project: ProjectId::from_uuid(id(row.get(1)?)),
                },
                session: SessionId::from_uuid(id(row.get(2)?)),
                interaction: InteractionId::from_uuid(id(row.get(3)?)),
            })
        };
        self.readable_rows(DUE, params![now.as_microsecond(), limit], due)
    }

    fn next_interaction_due(&mut self) -> StoreResult<Option<Timestamp>> {
        self.one_row(NEXT, [], |row| optional_time(row.get(0)?))
    }

    fn oldest_retired(&mut self) -> StoreResult<Option<Timestamp>> {
        self.one_row(OLDEST, [], |row| optional_time(row.get(0)?))
    }
}

impl TimerWrites for Executor<'_> {
    fn interaction_postpone(&mut self, due: &DueInteraction, until: Timestamp) -> StoreResult<()> {
        let now = self.now()?.as_microsecond();
        let sql = "update interactions set wake_at = ?3 where id = ?1 and project = ?2 and wake_at <= ?4";
        let row = params![due.interaction.uuid(), due.scope.project.uuid(), until.as_microsecond(), now];
        self.change(sql, row).map(drop)
    }

    fn action_postpone(&mut self, due: &DueAction, until: Timestamp) -> StoreResult<()> {
        let now = self.now()?.as_microsecond();
        let sql = "update actions set wake_at = ?4 where session = ?1 and call = ?2 and project = ?3 and wake_at <= ?5";
        let row = params![due.session.uuid(), due.call, due.scope.project.uuid(), until.as_microsecond(), now];
        self.change(sql, row).map(drop)
    }

    fn archive_postpone(&mut self, until: Timestamp, to: Timestamp) -> StoreResult<Option<InteractionId>> {
        let found = self.rows(RETIRED, params![until.as_microsecond(), 1], |row| row.get::<_, [u8; 16]>(0))?;
        let Some(first) = found.into_iter().next() else { return Ok(None) };
        let sql = "update interactions set retired_at = ?2 where id = ?1";
        self.change(sql, params![first, to.as_microsecond()])?;
        Ok(Some(InteractionId::from_uuid(id(first))))
    }
}
