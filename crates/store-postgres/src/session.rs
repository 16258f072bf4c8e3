//! Reads and writes of sessions and their steps.

use domain::{Scope, Session, SessionHead, SessionId, SessionInput, Step, StepId};
use postgres::Row;
use store::sql::list::List;
use store::sql::session::{SELECT_SESSIONS_OF_PROJECT, SESSION, SESSION_INPUT, SESSION_INPUT_INSERT, SESSION_INSERT};
use store::sql::step as sql;
use store::{Bounded, Page, SessionFilter, SessionReads, SessionWrites, StoreResult};

use crate::connection::{Executor, Values};
use crate::values::{column, json, micros, number, optional_json, parse, parse_optional, signed, time};

/// Statement of a list.
pub(crate) fn list(scope: &Scope, filter: &SessionFilter, page: Page<SessionId>) -> List {
    List::of_project(SELECT_SESSIONS_OF_PROJECT.to_owned(), scope.project.uuid()).sessions(filter, page)
}

impl SessionReads for Executor<'_> {
    fn session(&mut self, scope: &Scope, session: SessionId) -> StoreResult<Option<Session>> {
        let found = self.row(SESSION, &[&session.uuid(), &scope.project.uuid()])?;
        found.map(|row| read(scope, &row)).transpose()
    }

    fn session_input(&mut self, scope: &Scope, session: SessionId) -> StoreResult<Option<SessionInput>> {
        let found = self.row(SESSION_INPUT, &[&session.uuid(), &scope.project.uuid()])?;
        found.map(|row| parse(column(&row, 0)?)).transpose()
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
        let found = self.rows(sql::STEPS, &[&session.uuid(), &scope.project.uuid()])?;
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
        self.guarded(
            SESSION_INSERT,
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
        self.guarded(SESSION_INPUT_INSERT, &[&session.id.uuid(), &json(session_input)?])
    }

    /// Another transaction that locks the row waits here until this one ends, and then reads its writes.
    fn session_lock(&mut self, scope: &Scope, session: SessionId) -> StoreResult<Option<Session>> {
        let sql = format!("{SESSION} for update");
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
        let due = micros(step.due());
        self.guarded(
            sql::STEP_INSERT,
            &[&step.id.uuid(), &step.session.uuid(), &scope.project.uuid(), &json(step)?, &due],
        )
    }

    fn step_save(&mut self, scope: &Scope, step: &Step) -> StoreResult<()> {
        self.guarded(sql::STEP_SAVE, &[&step.id.uuid(), &scope.project.uuid(), &json(step)?, &micros(step.due())])
    }
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
