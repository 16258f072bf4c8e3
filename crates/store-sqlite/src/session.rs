//! Sessions and their steps.

use domain::{Actor, Scope, Session, SessionHead, SessionId, SessionInput, SessionStatus, Step, StepId};
use rusqlite::{OptionalExtension, Row, ToSql, params};
use store::{Bounded, Page, SessionFilter, SessionReads, SessionWrites, StoreError, Stored};

use crate::connection::Face;
use crate::error::Told;
use crate::values::{id, json, micros, parsed, parsed_if, time};

const COLUMNS: &str = "id, agent, channel, title, step, started_by, created_at, paused, ended, waiting_on, open, last_seq, \
                       agent_version, driven, flow, flow_version, handed_from";

/// What the `?n` of a statement stand for.
pub(crate) type Given = Vec<Box<dyn ToSql>>;

/// Who opened a session, as it is kept.
pub(crate) fn written(actor: &Actor) -> String {
    // What cannot be written was never kept, and finds nothing.
    serde_json::to_string(actor).unwrap_or_default()
}

/// The statement of a list: only the conditions that are wanted, so that each shape gets the index that fits it.
pub(crate) fn list(scope: &Scope, filter: &SessionFilter, page: Page<SessionId>) -> (String, Given) {
    let mut sql = format!("select {COLUMNS} from sessions where project = ?1");
    let mut values: Given = vec![Box::new(scope.project.uuid())];
    let mut with = |condition: &str, value: Box<dyn ToSql>| {
        values.push(value);
        sql.push_str(&condition.replace('?', &format!("?{}", values.len())));
    };
    if let Some(last) = page.after {
        with(" and id < ?", Box::new(last.uuid()));
    }
    if let Some(status) = filter.status {
        with(" and status = ?", Box::new(status.name()));
    }
    if let Some(agent) = &filter.agent {
        with(" and agent = ?", Box::new(agent.clone()));
    }
    if let Some(channel) = &filter.channel {
        with(" and channel = ?", Box::new(channel.clone()));
    }
    if let Some(actor) = &filter.belongs_to {
        with(" and (started_by = ?", Box::new(written(actor)));
        with(" or (agent = ? and not driven))", Box::new(actor.name.clone()));
    }
    if filter.live || filter.status.is_some_and(SessionStatus::alive) {
        // So that those that have ended cost nothing.
        sql.push_str(" and ended is null");
    }
    sql.push_str(&format!(" order by id desc limit {}", page.limit));
    (sql, values)
}

impl SessionReads for Face<'_> {
    fn session(&mut self, scope: &Scope, session: SessionId) -> Stored<Option<Session>> {
        let sql = format!("select {COLUMNS} from sessions where id = ?1 and project = ?2");
        let mut statement = self.connection.prepare_cached(&sql).told()?;
        statement.query_row([session.uuid(), scope.project.uuid()], |row| read(scope, row)).optional().told()
    }

    fn luggage(&mut self, scope: &Scope, session: SessionId) -> Stored<Option<SessionInput>> {
        let sql = "select luggage.body from luggage join sessions on sessions.id = luggage.session \
                   where luggage.session = ?1 and sessions.project = ?2";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        let body = |row: &Row<'_>| parsed(&row.get::<_, String>(0)?);
        statement.query_row([session.uuid(), scope.project.uuid()], body).optional().told()
    }

    fn sessions(&mut self, scope: &Scope, filter: &SessionFilter, page: Page<SessionId>) -> Stored<Bounded<Session>> {
        let (sql, values) = list(scope, filter, page);
        let values: Vec<&dyn ToSql> = values.iter().map(AsRef::as_ref).collect();
        self.bounded(&sql, values.as_slice(), page.limit, |row| read(scope, row))
    }

    fn steps(&mut self, scope: &Scope, session: SessionId) -> Stored<Vec<Step>> {
        let sql = "select body from steps where session = ?1 and project = ?2 order by id";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        let body = |row: &Row<'_>| parsed(&row.get::<_, String>(0)?);
        let steps = statement.query_map([session.uuid(), scope.project.uuid()], body).told()?;
        steps.collect::<Result<_, _>>().told()
    }

    fn steps_page(&mut self, scope: &Scope, session: SessionId, page: Page<StepId>) -> Stored<Bounded<Step>> {
        let sql = "select body from steps where session = ?1 and project = ?2 and (?3 is null or id < ?3) \
                   order by id desc limit ?4";
        let row = params![session.uuid(), scope.project.uuid(), page.after.map(StepId::uuid), page.limit];
        self.bounded(sql, row, page.limit, |row| parsed(&row.get::<_, String>(0)?))
    }
}

impl SessionWrites for Face<'_> {
    fn session_insert(&mut self, session: &Session, luggage: &SessionInput) -> Stored<()> {
        let sql = "insert into sessions (id, project, status, agent, channel, title, step, started_by, created_at, paused, \
                   ended, waiting_on, open, last_seq, agent_version, driven, flow, flow_version, handed_from) \
                   values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)";
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
        guarded(self.connection.prepare_cached(sql).told()?.execute(row).told()?)
    }

    fn step_insert(&mut self, scope: &Scope, step: &Step) -> Stored<()> {
        let sql = "insert into steps (id, session, project, body, due) \
                   select ?1, id, project, ?4, ?5 from sessions where id = ?2 and project = ?3";
        let due = micros(step.due());
        let row = params![step.id.uuid(), step.session.uuid(), scope.project.uuid(), json(step)?, due];
        guarded(self.connection.prepare_cached(sql).told()?.execute(row).told()?)
    }

    fn step_save(&mut self, scope: &Scope, step: &Step) -> Stored<()> {
        let sql = "update steps set body = ?3, due = ?4 where id = ?1 and project = ?2";
        let row = params![step.id.uuid(), scope.project.uuid(), json(step)?, micros(step.due())];
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
        head: SessionHead {
            agent: row.get(1)?,
            agent_version: row.get(12)?,
            channel: row.get(2)?,
            title: row.get(3)?,
            flow: row.get(14)?,
            flow_version: row.get(15)?,
        },
        step: StepId::from_uuid(id(row.get(4)?)),
        started_by: parsed(&row.get::<_, String>(5)?)?,
        created_at: time(row.get(6)?)?,
        paused: parsed_if(row.get(7)?)?,
        ended: parsed_if(row.get(8)?)?,
        waiting_on: row.get(9)?,
        open: row.get(10)?,
        last_seq: row.get(11)?,
        hosted: row.get(13)?,
        handed_from: parsed_if(row.get(16)?)?,
    })
}
