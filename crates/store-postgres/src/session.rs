//! Reads and writes of sessions and their steps.

use domain::{Actor, Scope, Session, SessionHead, SessionId, SessionInput, SessionStatus, Step, StepId};
use postgres::Row;
use postgres::types::ToSql;
use store::{Bounded, Page, SessionFilter, SessionReads, SessionWrites, StoreResult};

use crate::connection::{Executor, Values};
use crate::values::{column, json, micros, number, optional_json, parse, parse_optional, signed, time};

const COLUMNS: &str = "id, agent, channel, title, step, started_by, created_at, paused, ended, waiting_on, open, last_seq, \
                       agent_version, hosted, flow, flow_version, handed_from";

impl SessionReads for Executor<'_> {
    fn session(&mut self, scope: &Scope, session: SessionId) -> StoreResult<Option<Session>> {
        let sql = format!("select {COLUMNS} from sessions where id = $1 and project = $2");
        let found = self.row(&sql, &[&session.uuid(), &scope.project.uuid()])?;
        found.map(|row| read(scope, &row)).transpose()
    }

    fn session_input(&mut self, scope: &Scope, session: SessionId) -> StoreResult<Option<SessionInput>> {
        let sql = "select session_inputs.body from session_inputs join sessions on sessions.id = session_inputs.session \
                   where session_inputs.session = $1 and sessions.project = $2";
        let found = self.row(sql, &[&session.uuid(), &scope.project.uuid()])?;
        found.map(|row| parse(column(&row, 0)?)).transpose()
    }

    fn sessions(
        &mut self,
        scope: &Scope,
        filter: &SessionFilter,
        page: Page<SessionId>,
    ) -> StoreResult<Bounded<Session>> {
        let (sql, values) = list(scope, filter, page);
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(AsRef::as_ref).collect();
        self.bounded_list(&sql, &values, page.limit, |row| read(scope, row))
    }

    fn steps(&mut self, scope: &Scope, session: SessionId) -> StoreResult<Vec<Step>> {
        let sql = "select body from steps where session = $1 and project = $2 order by id";
        let found = self.rows(sql, &[&session.uuid(), &scope.project.uuid()])?;
        found.iter().map(|row| parse(column(row, 0)?)).collect()
    }

    fn steps_page(&mut self, scope: &Scope, session: SessionId, page: Page<StepId>) -> StoreResult<Bounded<Step>> {
        let sql = "select body from steps where session = $1 and project = $2 and ($3::uuid is null or id < $3) \
                   order by id desc limit $4";
        let (after, limit) = (page.after.map(StepId::uuid), i64::from(page.limit));
        let values: Values<'_> = &[&session.uuid(), &scope.project.uuid(), &after, &limit];
        self.bounded_list(sql, values, page.limit, |row| parse(column(row, 0)?))
    }
}

impl SessionWrites for Executor<'_> {
    fn session_insert(&mut self, session: &Session, session_input: &SessionInput) -> StoreResult<()> {
        let sql = "insert into sessions (id, project, status, agent, channel, title, step, started_by, created_at, paused, \
                   ended, waiting_on, open, last_seq, agent_version, hosted, flow, flow_version, handed_from) \
                   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19) \
                   on conflict do nothing";
        self.guarded(
            sql,
            &[
                &session.id.uuid(),
                &session.scope.project.uuid(),
                &session.status().name(),
                &session.head.agent,
                &session.head.channel,
                &session.head.title,
                &session.step.uuid(),
                &json(&session.started_by)?,
                &session.created_at.as_microsecond(),
                &optional_json(session.paused.as_ref())?,
                &optional_json(session.ended.as_ref())?,
                &i64::from(session.waiting_on),
                &i64::from(session.open),
                &signed(session.last_seq)?,
                &session.head.agent_version,
                &session.hosted,
                &session.head.flow,
                &session.head.flow_version,
                &optional_json(session.handed_from.as_ref())?,
            ],
        )?;
        let sql = "insert into session_inputs (session, body) values ($1, $2) on conflict do nothing";
        self.guarded(sql, &[&session.id.uuid(), &json(session_input)?])
    }

    /// Another transaction that locks the row waits here until this one ends, and then reads its writes.
    fn session_lock(&mut self, scope: &Scope, session: SessionId) -> StoreResult<Option<Session>> {
        let sql = format!("select {COLUMNS} from sessions where id = $1 and project = $2 for update");
        let found = self.row(&sql, &[&session.uuid(), &scope.project.uuid()])?;
        found.map(|row| read(scope, &row)).transpose()
    }

    fn session_save(&mut self, session: &Session) -> StoreResult<()> {
        let sql = "update sessions set status = $3, paused = $4, ended = $5, waiting_on = $6, open = $7, last_seq = $8, step = $9 \
                   where id = $1 and project = $2 and last_seq <= $8";
        self.guarded(
            sql,
            &[
                &session.id.uuid(),
                &session.scope.project.uuid(),
                &session.status().name(),
                &optional_json(session.paused.as_ref())?,
                &optional_json(session.ended.as_ref())?,
                &i64::from(session.waiting_on),
                &i64::from(session.open),
                &signed(session.last_seq)?,
                &session.step.uuid(),
            ],
        )
    }

    fn step_insert(&mut self, scope: &Scope, step: &Step) -> StoreResult<()> {
        let sql = "insert into steps (id, session, project, body, due) \
                   select $1, id, project, $4, $5 from sessions where id = $2 and project = $3 on conflict do nothing";
        let due = micros(step.due());
        self.guarded(sql, &[&step.id.uuid(), &step.session.uuid(), &scope.project.uuid(), &json(step)?, &due])
    }

    fn step_save(&mut self, scope: &Scope, step: &Step) -> StoreResult<()> {
        let sql = "update steps set body = $3, due = $4 where id = $1 and project = $2";
        self.guarded(sql, &[&step.id.uuid(), &scope.project.uuid(), &json(step)?, &micros(step.due())])
    }
}

/// Values of a statement that is built from a filter.
pub(crate) type BoxedValues = Vec<Box<dyn ToSql + Sync>>;

/// Returns the stored form of the actor who opened a session.
pub(crate) fn actor_json(actor: &Actor) -> String {
    // An actor that cannot be serialised was never stored; an empty text finds nothing.
    serde_json::to_string(actor).unwrap_or_default()
}

/// Builds the statement of a list from the conditions of the filter, so that each combination gets the plan that fits it.
pub(crate) fn list(scope: &Scope, filter: &SessionFilter, page: Page<SessionId>) -> (String, BoxedValues) {
    let mut sql = format!("select {COLUMNS} from sessions where project = $1");
    let mut values: BoxedValues = vec![Box::new(scope.project.uuid())];
    let mut with = |condition: &str, value: Box<dyn ToSql + Sync>| {
        values.push(value);
        sql.push_str(&condition.replace('?', &format!("${}", values.len())));
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
        with(" and (started_by = ?", Box::new(actor_json(actor)));
        with(" or (agent = ? and not hosted))", Box::new(actor.name.clone()));
    }
    if filter.live || filter.status.is_some_and(SessionStatus::alive) {
        // The partial index on live sessions then applies, and ended sessions cost nothing.
        sql.push_str(" and ended is null");
    }
    sql.push_str(&format!(" order by id desc limit {}", page.limit));
    (sql, values)
}

fn read(scope: &Scope, row: &Row) -> StoreResult<Session> {
    Ok(Session {
        id: SessionId::from_uuid(column(row, 0)?),
        scope: *scope,
        head: SessionHead {
            agent: column(row, 1)?,
            agent_version: column(row, 12)?,
            channel: column(row, 2)?,
            title: column(row, 3)?,
            flow: column(row, 14)?,
            flow_version: column(row, 15)?,
        },
        step: StepId::from_uuid(column(row, 4)?),
        started_by: parse(column(row, 5)?)?,
        created_at: time(column(row, 6)?)?,
        paused: parse_optional(column(row, 7)?)?,
        ended: parse_optional(column(row, 8)?)?,
        waiting_on: number(row, 9)?,
        open: number(row, 10)?,
        last_seq: number(row, 11)?,
        hosted: column(row, 13)?,
        handed_from: parse_optional(column(row, 16)?)?,
    })
}
