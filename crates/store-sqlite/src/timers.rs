//! The time of a transaction, and the rows that are due.

use domain::{InteractionId, ProjectId, Scope, SessionId, TenantId, Timestamp};
use rusqlite::{Row, params};
use store::sql::timers as sql;
use store::{DueAction, DueInteraction, StoreResult, TimerReads, TimerWrites};

use crate::connection::Executor;
use crate::interaction::RETIRED;
use crate::values::{id, optional_time};

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
        self.readable_rows(sql::INTERACTIONS_DUE, params![now.as_microsecond(), limit], due)
    }

    fn next_interaction_due(&mut self) -> StoreResult<Option<Timestamp>> {
        self.one_row(sql::NEXT_INTERACTION_DUE, [], |row| optional_time(row.get(0)?))
    }

    fn oldest_retired(&mut self) -> StoreResult<Option<Timestamp>> {
        self.one_row(sql::OLDEST_RETIRED, [], |row| optional_time(row.get(0)?))
    }
}

impl TimerWrites for Executor<'_> {
    fn interaction_postpone(&mut self, due: &DueInteraction, until: Timestamp) -> StoreResult<()> {
        let now = self.now()?.as_microsecond();
        let row = params![due.interaction.uuid(), due.scope.project.uuid(), until.as_microsecond(), now];
        self.change(sql::INTERACTION_POSTPONE, row).map(drop)
    }

    fn action_postpone(&mut self, due: &DueAction, until: Timestamp) -> StoreResult<()> {
        let now = self.now()?.as_microsecond();
        let row = params![due.session.uuid(), due.call, due.scope.project.uuid(), until.as_microsecond(), now];
        self.change(sql::ACTION_POSTPONE, row).map(drop)
    }

    fn archive_postpone(&mut self, until: Timestamp, to: Timestamp) -> StoreResult<Option<InteractionId>> {
        let found = self.rows(RETIRED, params![until.as_microsecond(), 1], |row| row.get::<_, [u8; 16]>(0))?;
        let Some(first) = found.into_iter().next() else { return Ok(None) };
        let sql = "update interactions set retired_at = ?2 where id = ?1";
        self.change(sql, params![first, to.as_microsecond()])?;
        Ok(Some(InteractionId::from_uuid(id(first))))
    }
}
