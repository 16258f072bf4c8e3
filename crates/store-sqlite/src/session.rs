//! Sessions and their steps.

use domain::{Brief, Luggage, Scope, Session, SessionId, Step, StepId};
use rusqlite::{OptionalExtension, Row, params};
use store::{Page, SessionFilter, SessionReads, SessionWrites, StoreError, Stored};

use crate::connection::Face;
use crate::error::Told;
use crate::values::{id, json, parsed, parsed_if, time};

const COLUMNS: &str =
    "id, agent, channel, title, step, started_by, created_at, paused, ended, waiting_on, open, last_seq";

/// Sessions of a project, the newest first.
pub(crate) fn list() -> String {
    format!(
        "select {COLUMNS} from sessions where project = ?1 and (?2 is null or id < ?2) \
         and (?3 is null or status = ?3) and (?4 is null or agent = ?4) order by id desc limit ?5"
    )
}

impl SessionReads for Face<'_> {
    fn session(&mut self, scope: &Scope, session: SessionId) -> Stored<Option<Session>> {
        let sql = format!("select {COLUMNS} from sessions where id = ?1 and project = ?2");
        let mut statement = self.connection.prepare_cached(&sql).told()?;
        statement.query_row([session.uuid(), scope.project.uuid()], |row| read(scope, row)).optional().told()
    }

    fn luggage(&mut self, scope: &Scope, session: SessionId) -> Stored<Option<Luggage>> {
        let sql = "select luggage.body from luggage join sessions on sessions.id = luggage.session \
                   where luggage.session = ?1 and sessions.project = ?2";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        let body = |row: &Row<'_>| parsed(&row.get::<_, String>(0)?);
        statement.query_row([session.uuid(), scope.project.uuid()], body).optional().told()
    }

    fn sessions(&mut self, scope: &Scope, filter: &SessionFilter, page: Page<SessionId>) -> Stored<Vec<Session>> {
        let mut statement = self.connection.prepare_cached(&list()).told()?;
        let row = params![
            scope.project.uuid(),
            page.after.map(SessionId::uuid),
            filter.status.map(domain::SessionStatus::name),
            filter.agent,
            page.limit,
        ];
        let sessions = statement.query_map(row, |row| read(scope, row)).told()?;
        sessions.collect::<Result<_, _>>().told()
    }

    fn steps(&mut self, scope: &Scope, session: SessionId) -> Stored<Vec<Step>> {
        let sql = "select body from steps where session = ?1 and project = ?2 order by id";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        let body = |row: &Row<'_>| parsed(&row.get::<_, String>(0)?);
        let steps = statement.query_map([session.uuid(), scope.project.uuid()], body).told()?;
        steps.collect::<Result<_, _>>().told()
    }
}

impl SessionWrites for Face<'_> {
    fn session_insert(&mut self, session: &Session, luggage: &Luggage) -> Stored<()> {
        let sql = "insert into sessions (id, project, status, agent, channel, title, step, started_by, created_at, paused, \
                   ended, waiting_on, open, last_seq) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
        let row = params![
            session.id.uuid(),
            session.scope.project.uuid(),
            session.status().name(),
            session.brief.agent,
            session.brief.channel,
            session.brief.title,
            session.step.uuid(),
            json(&session.started_by)?,
            session.created_at.as_microsecond(),
            session.paused.as_ref().map(json).transpose()?,
            session.ended.as_ref().map(json).transpose()?,
            session.waiting_on,
            session.open,
            session.last_seq,
        ];
        self.connection.prepare_cached(sql).told()?.execute(row).told()?;
        let sql = "insert into luggage (session, body) values (?1, ?2)";
        let row = params![session.id.uuid(), json(luggage)?];
        self.connection.prepare_cached(sql).told()?.execute(row).told().map(drop)
    }

    /// There is one writer: whatever it reads stays as it is until it commits.
    fn session_lock(&mut self, scope: &Scope, session: SessionId) -> Stored<Option<Session>> {
        self.session(scope, session)
    }

    fn session_save(&mut self, session: &Session) -> Stored<()> {
        let sql = "update sessions set status = ?3, paused = ?4, ended = ?5, waiting_on = ?6, open = ?7, last_seq = ?8 \
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
        ];
        guarded(self.connection.prepare_cached(sql).told()?.execute(row).told()?)
    }

    fn step_insert(&mut self, scope: &Scope, step: &Step) -> Stored<()> {
        let sql = "insert into steps (id, session, project, body) \
                   select ?1, id, project, ?4 from sessions where id = ?2 and project = ?3";
        let row = params![step.id.uuid(), step.session.uuid(), scope.project.uuid(), json(step)?];
        guarded(self.connection.prepare_cached(sql).told()?.execute(row).told()?)
    }

    fn step_save(&mut self, scope: &Scope, step: &Step) -> Stored<()> {
        let sql = "update steps set body = ?3 where id = ?1 and project = ?2";
        let row = params![step.id.uuid(), scope.project.uuid(), json(step)?];
        guarded(self.connection.prepare_cached(sql).told()?.execute(row).told()?)
    }
}

/// A write that was meant for one row and found another number of them has lost a race.
pub(crate) const fn guarded(rows: usize) -> Stored<()> {
    if rows == 1 { Ok(()) } else { Err(StoreError::Conflict) }
}

fn read(scope: &Scope, row: &Row<'_>) -> rusqlite::Result<Session> {
    Ok(Session {
        id: SessionId::from_uuid(id(row.get(0)?)),
        scope: *scope,
        brief: Brief { agent: row.get(1)?, channel: row.get(2)?, title: row.get(3)? },
        step: StepId::from_uuid(id(row.get(4)?)),
        started_by: parsed(&row.get::<_, String>(5)?)?,
        created_at: time(row.get(6)?)?,
        paused: parsed_if(row.get(7)?)?,
        ended: parsed_if(row.get(8)?)?,
        waiting_on: row.get(9)?,
        open: row.get(10)?,
        last_seq: row.get(11)?,
    })
}
