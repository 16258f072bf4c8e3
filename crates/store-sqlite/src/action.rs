//! Reads and writes of the actions that agents have proposed.

use domain::{Action, ProjectId, Scope, SessionId, TenantId, Timestamp};
use rusqlite::{Row, params};
use store::sql::timers::{ACTIONS_DUE, NEXT_ACTION_DUE};
use store::{
    ActionCursor, ActionHistoryFilter, ActionReads, ActionWrites, Bounded, DueAction, PastAction, StoreResult,
};
use uuid::Uuid;

use crate::connection::Executor;
use crate::values::{id, json, micros, optional_time, parse, time};

/// Actions of a project before a position, newest first.
pub(crate) fn history(asked: bool) -> String {
    let asked = if asked { "and actions.asked " } else { "" };
    format!(
        "select actions.at, actions.session, actions.call, actions.body, sessions.started_by \
         from actions join sessions on sessions.id = actions.session \
         where actions.project = ?1 and actions.at >= ?2 {asked}\
         and (actions.at, actions.session, actions.call) < (?3, ?4, ?5) \
         order by actions.at desc, actions.session desc, actions.call desc limit ?6"
    )
}

impl ActionReads for Executor<'_> {
    fn action(&mut self, scope: &Scope, session: SessionId, call: &str) -> StoreResult<Option<Action>> {
        let sql = "select body from actions where session = ?1 and call = ?2 and project = ?3";
        self.row(sql, params![session.uuid(), call, scope.project.uuid()], body)
    }

    fn actions(&mut self, scope: &Scope, session: SessionId, after: &str, limit: u32) -> StoreResult<Bounded<Action>> {
        let sql = "select body from actions where session = ?1 and call > ?2 and project = ?3 order by call limit ?4";
        self.bounded_rows(sql, params![session.uuid(), after, scope.project.uuid(), limit], limit, body)
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
        let action = |row: &Row<'_>| {
            let cursor = ActionCursor {
                at: time(row.get(0)?)?,
                session: SessionId::from_uuid(id(row.get(1)?)),
                call: row.get(2)?,
            };
            let started_by = parse(&row.get::<_, String>(4)?)?;
            Ok(PastAction { cursor, action: parse(&row.get::<_, String>(3)?)?, started_by })
        };
        let row = params![scope.project.uuid(), since, at, session, call, limit];
        self.bounded_rows(&history(filter.asked), row, limit, action)
    }

    fn actions_due(&mut self, now: Timestamp, limit: u32) -> StoreResult<Vec<DueAction>> {
        let due = |row: &Row<'_>| {
            Ok(DueAction {
                scope: Scope {
                    tenant: TenantId::from_uuid(id(row.get(0)?)),
                    project: ProjectId::from_uuid(id(row.get(1)?)),
                },
                session: SessionId::from_uuid(id(row.get(2)?)),
                call: row.get(3)?,
            })
        };
        self.readable_rows(ACTIONS_DUE, params![now.as_microsecond(), limit], due)
    }

    fn next_action_due(&mut self) -> StoreResult<Option<Timestamp>> {
        self.one_row(NEXT_ACTION_DUE, [], |row| optional_time(row.get(0)?))
    }
}

impl ActionWrites for Executor<'_> {
    fn action_insert(&mut self, action: &Action) -> StoreResult<()> {
        let sql = "insert into actions (session, call, project, wake_at, revision, body, at, asked) \
                   select id, ?2, project, ?4, ?5, ?6, ?7, ?8 from sessions where id = ?1 and project = ?3 \
                   on conflict do nothing";
        let row = params![
            action.session.uuid(),
            action.call_id,
            action.scope.project.uuid(),
            micros(action.wake_at()),
            action.revision,
            json(action)?,
            action.at.as_microsecond(),
            !action.asked.is_empty(),
        ];
        self.guarded(sql, row)
    }

    fn action_save(&mut self, action: &Action) -> StoreResult<()> {
        let sql = "update actions set wake_at = ?4, revision = ?5, body = ?6, asked = ?7 \
                   where session = ?1 and call = ?2 and project = ?3 and revision + 1 = ?5";
        let row = params![
            action.session.uuid(),
            action.call_id,
            action.scope.project.uuid(),
            micros(action.wake_at()),
            action.revision,
            json(action)?,
            !action.asked.is_empty(),
        ];
        self.guarded(sql, row)
    }
}

fn body(row: &Row<'_>) -> rusqlite::Result<Action> {
    parse(&row.get::<_, String>(0)?)
}
