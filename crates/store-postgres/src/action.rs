//! Reads and writes of the actions that agents have proposed.

use domain::{Action, Scope, SessionId, Timestamp};
use postgres::Row;
use store::sql::timers::{ACTIONS_DUE, NEXT_ACTION_DUE};
use store::{
    ActionCursor, ActionHistoryFilter, ActionReads, ActionWrites, Bounded, DueAction, PastAction, StoreResult,
};
use uuid::Uuid;

use crate::access::scope as scope_of;
use crate::connection::{Executor, Values};
use crate::values::{column, json, micros, optional_time, parse, signed, time};

/// Actions of a project before a position, newest first.
pub(crate) fn history(asked: bool) -> String {
    let asked = if asked { "and actions.asked " } else { "" };
    format!(
        "select actions.at, actions.session, actions.call, actions.body, sessions.started_by \
         from actions join sessions on sessions.id = actions.session \
         where actions.project = $1 and actions.at >= $2 {asked}\
         and (actions.at, actions.session, actions.call) < ($3, $4, $5) \
         order by actions.at desc, actions.session desc, actions.call desc limit $6"
    )
}

impl ActionReads for Executor<'_> {
    fn action(&mut self, scope: &Scope, session: SessionId, call: &str) -> StoreResult<Option<Action>> {
        let sql = "select body from actions where session = $1 and call = $2 and project = $3";
        let found = self.row(sql, &[&session.uuid(), &call, &scope.project.uuid()])?;
        found.map(|row| parse(column(&row, 0)?)).transpose()
    }

    fn actions(&mut self, scope: &Scope, session: SessionId, after: &str, limit: u32) -> StoreResult<Bounded<Action>> {
        let sql = "select body from actions where session = $1 and call > $2 and project = $3 order by call limit $4";
        let values: Values<'_> = &[&session.uuid(), &after, &scope.project.uuid(), &i64::from(limit)];
        self.bounded_rows(sql, values, limit, |row| parse(column(row, 0)?))
    }

    fn action_history(
        &mut self,
        scope: &Scope,
        filter: &ActionHistoryFilter,
        before: Option<&ActionCursor>,
        limit: u32,
    ) -> StoreResult<Bounded<PastAction>> {
        let since = micros(filter.since).unwrap_or(i64::MIN);
        let (at, session, call) = before.map_or((i64::MAX, Uuid::max(), ""), |cursor| {
            (cursor.at.as_microsecond(), cursor.session.uuid(), cursor.call.as_str())
        });
        let action = |row: &Row| {
            let cursor = ActionCursor {
                at: time(column(row, 0)?)?,
                session: SessionId::from_uuid(column(row, 1)?),
                call: column(row, 2)?,
            };
            Ok(PastAction { cursor, action: parse(column(row, 3)?)?, started_by: parse(column(row, 4)?)? })
        };
        let project = scope.project.uuid();
        let values: Values<'_> = &[&project, &since, &at, &session, &call, &i64::from(limit)];
        self.bounded_rows(&history(filter.asked), values, limit, action)
    }

    fn actions_due(&mut self, now: Timestamp, limit: u32) -> StoreResult<Vec<DueAction>> {
        let found = self.rows(ACTIONS_DUE, &[&now.as_microsecond(), &i64::from(limit)])?;
        let due = |row| {
            Ok(DueAction {
                scope: scope_of(row, 0, 1)?,
                session: SessionId::from_uuid(column(row, 2)?),
                call: column(row, 3)?,
            })
        };
        found.iter().map(due).collect()
    }

    fn next_action_due(&mut self) -> StoreResult<Option<Timestamp>> {
        let row = self.row(NEXT_ACTION_DUE, &[])?;
        optional_time(row.map(|row| column(&row, 0)).transpose()?.flatten())
    }
}

impl ActionWrites for Executor<'_> {
    fn action_insert(&mut self, action: &Action) -> StoreResult<()> {
        let sql = "insert into actions (session, call, project, wake_at, revision, body, at, asked) \
                   select id, $2, project, $4, $5, $6, $7, $8 from sessions where id = $1 and project = $3 \
                   on conflict do nothing";
        self.guarded(
            sql,
            &[
                &action.session.uuid(),
                &action.call_id,
                &action.scope.project.uuid(),
                &micros(action.wake_at()),
                &signed(action.revision)?,
                &json(action)?,
                &action.at.as_microsecond(),
                &!action.asked.is_empty(),
            ],
        )
    }

    fn action_save(&mut self, action: &Action) -> StoreResult<()> {
        let sql = "update actions set wake_at = $4, revision = $5, body = $6, asked = $7 \
                   where session = $1 and call = $2 and project = $3 and revision + 1 = $5";
        self.guarded(
            sql,
            &[
                &action.session.uuid(),
                &action.call_id,
                &action.scope.project.uuid(),
                &micros(action.wake_at()),
                &signed(action.revision)?,
                &json(action)?,
                &!action.asked.is_empty(),
            ],
        )
    }
}
