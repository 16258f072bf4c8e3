//! The time of a transaction, and the rows that are due.

use domain::{InteractionId, SessionId, Timestamp};
use store::sql::timers as sql;
use store::{DueAction, DueInteraction, StoreError, StoreResult, TimerReads, TimerWrites};

use crate::access::scope;
use crate::connection::{CLOCK, Executor};
use crate::values::{column, optional_time};

impl TimerReads for Executor<'_> {
    fn now(&mut self) -> StoreResult<Timestamp> {
        if let Some(now) = self.now {
            return Ok(now);
        }
        let row = self.row(CLOCK, &[])?.ok_or(StoreError::Conflict)?;
        let now = self.transaction_time(column(&row, 0)?)?;
        self.now = Some(now);
        Ok(now)
    }

    fn interactions_due(&mut self, now: Timestamp, limit: u32) -> StoreResult<Vec<DueInteraction>> {
        let found = self.rows(sql::INTERACTIONS_DUE, &[&now.as_microsecond(), &i64::from(limit)])?;
        let due = |row| {
            Ok(DueInteraction {
                scope: scope(row, 0, 1)?,
                session: SessionId::from_uuid(column(row, 2)?),
                interaction: InteractionId::from_uuid(column(row, 3)?),
            })
        };
        found.iter().map(due).collect()
    }

    fn next_interaction_due(&mut self) -> StoreResult<Option<Timestamp>> {
        let row = self.row(sql::NEXT_INTERACTION_DUE, &[])?;
        optional_time(row.map(|row| column(&row, 0)).transpose()?.flatten())
    }

    fn oldest_retired(&mut self) -> StoreResult<Option<Timestamp>> {
        let row = self.row(sql::OLDEST_RETIRED, &[])?;
        optional_time(row.map(|row| column(&row, 0)).transpose()?.flatten())
    }
}

impl TimerWrites for Executor<'_> {
    fn interaction_postpone(&mut self, due: &DueInteraction, until: Timestamp) -> StoreResult<()> {
        let now = self.now()?.as_microsecond();
        let (id, project) = (due.interaction.uuid(), due.scope.project.uuid());
        self.change(sql::INTERACTION_POSTPONE, &[&id, &project, &until.as_microsecond(), &now]).map(drop)
    }

    fn action_postpone(&mut self, due: &DueAction, until: Timestamp) -> StoreResult<()> {
        let now = self.now()?.as_microsecond();
        let (session, project) = (due.session.uuid(), due.scope.project.uuid());
        self.change(sql::ACTION_POSTPONE, &[&session, &due.call, &project, &until.as_microsecond(), &now]).map(drop)
    }

    fn archive_postpone(&mut self, until: Timestamp, to: Timestamp) -> StoreResult<Option<InteractionId>> {
        let sql = "update interactions set retired_at = $2 where id = (select id from interactions \
                   where retired_at is not null and retired_at <= $1 order by retired_at limit 1) returning id";
        let found = self.row(sql, &[&until.as_microsecond(), &to.as_microsecond()])?;
        found.map(|row| Ok(InteractionId::from_uuid(column(&row, 0)?))).transpose()
    }
}
