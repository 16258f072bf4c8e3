//! Reads and writes of sessions and their steps.

use domain::{Scope, Session, SessionHead, SessionId, SessionInput, Step, StepId};
use rusqlite::{Row, params};
use store::sql::list::List;
use store::sql::session::{SELECT_SESSIONS_OF_PROJECT, SESSION, SESSION_INPUT, SESSION_INPUT_INSERT, SESSION_INSERT};
use store::sql::step as sql;
use store::{Bounded, Page, SessionFilter, SessionReads, SessionWrites, StoreResult};

use crate::connection::Executor;
use crate::values::{id, json, micros, parse, parse_optional, time};

/// Statement of a list.
pub(crate) fn list(scope: &Scope, filter: &SessionFilter, page: Page<SessionId>) -> List {
    List::of_project(SELECT_SESSIONS_OF_PROJECT.to_owned(), scope.project.uuid()).sessions(filter, page)
}

impl SessionReads for Executor<'_> {
    fn session(&mut self, scope: &Scope, session: SessionId) -> StoreResult<Option<Session>> {
        self.row(SESSION, [session.uuid(), scope.project.uuid()], |row| read(scope, row))
    }

    fn session_input(&mut self, scope: &Scope, session: SessionId) -> StoreResult<Option<SessionInput>> {
        let body = |row: &Row<'_>| parse(&row.get::<_, String>(0)?);
        self.row(SESSION_INPUT, [session.uuid(), scope.project.uuid()], body)
    }

    fn sessions(
        &mut self,
        scope: &Scope,
        filter: &SessionFilter,
        page: Page<SessionId>,
    ) -> StoreResult<Bounded<Session>> {
        self.list(&list(scope, filter, page), page.limit, |row| read(scope, row))
    }

    fn steps(&mut self, scope: &Scope, session: SessionId) -> StoreResult<Vec<Step>> {
        let body = |row: &Row<'_>| parse(&row.get::<_, String>(0)?);
        self.rows(sql::STEPS, [session.uuid(), scope.project.uuid()], body)
    }

    fn steps_page(&mut self, scope: &Scope, session: SessionId, page: Page<StepId>) -> StoreResult<Bounded<Step>> {
        let sql = "select body from steps where session = ?1 and project = ?2 and (?3 is null or id < ?3) \
                   order by id desc limit ?4";
        let row = params![session.uuid(), scope.project.uuid(), page.after.map(StepId::uuid), page.limit];
        self.bounded_rows(sql, row, page.limit, |row| parse(&row.get::<_, String>(0)?))
    }
}

impl SessionWrites for Executor<'_> {
    fn session_insert(&mut self, session: &Session, session_input: &SessionInput) -> StoreResult<()> {
        let row = params![
            session.id.uuid(),
            session.scope.project.uuid(),
            session.status().name(),
            session.head.agent,
            session.head.channel,
            session.head.title,
            session.step.uuid(),
            json(&session.started_by)?,
            session.created_at.as_microsecond(),
            session.paused.as_ref().map(json).transpose()?,
            session.ended.as_ref().map(json).transpose()?,
            session.waiting_on,
            session.open,
            session.last_seq,
            session.head.agent_version,
            session.hosted,
            session.head.flow,
            session.head.flow_version,
            session.handed_from.as_ref().map(json).transpose()?,
        ];
        self.guarded(SESSION_INSERT, row)?;
        let row = params![session.id.uuid(), json(session_input)?];
        self.guarded(SESSION_INPUT_INSERT, row)
    }

    /// SQLite has one writer, so that the session cannot change before the commit.
    fn session_lock(&mut self, scope: &Scope, session: SessionId) -> StoreResult<Option<Session>> {
        self.session(scope, session)
    }

    fn session_save(&mut self, session: &Session) -> StoreResult<()> {
        let sql = "update sessions set status = ?3, paused = ?4, ended = ?5, waiting_on = ?6, open = ?7, last_seq = ?8, step = ?9 \
                   where id = ?1 and project = ?2 and last_seq <= ?8";
        let row = params![
            session.id.uuid(),
            session.scope.project.uuid(),
            session.status().name(),
            session.paused.as_ref().map(json).transpose()?,
            session.ended.as_ref().map(json).transpose()?,
            session.waiting_on,
            session.open,
            session.last_seq,
            session.step.uuid(),
        ];
        self.guarded(sql, row)
    }

    fn step_insert(&mut self, scope: &Scope, step: &Step) -> StoreResult<()> {
        let due = micros(step.due());
        let row = params![step.id.uuid(), step.session.uuid(), scope.project.uuid(), json(step)?, due];
        self.guarded(sql::STEP_INSERT, row)
    }

    fn step_save(&mut self, scope: &Scope, step: &Step) -> StoreResult<()> {
        let row = params![step.id.uuid(), scope.project.uuid(), json(step)?, micros(step.due())];
        self.guarded(sql::STEP_SAVE, row)
    }
}

fn read(scope: &Scope, row: &Row<'_>) -> rusqlite::Result<Session> {
    Ok(Session {
        id: SessionId::from_uuid(id(row.get(0)?)),
        scope: *scope,
        head: SessionHead {
            agent: row.get(1)?,
            agent_version: row.get(12)?,
            channel: row.get(2)?,
            title: row.get(3)?,
            flow: row.get(14)?,
            flow_version: row.get(15)?,
        },
        step: StepId::from_uuid(id(row.get(4)?)),
        started_by: parse(&row.get::<_, String>(5)?)?,
        created_at: time(row.get(6)?)?,
        paused: parse_optional(row.get(7)?)?,
        ended: parse_optional(row.get(8)?)?,
        waiting_on: row.get(9)?,
        open: row.get(10)?,
        last_seq: row.get(11)?,
        hosted: row.get(13)?,
        handed_from: parse_optional(row.get(16)?)?,
    })
}
