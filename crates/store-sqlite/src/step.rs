//! Steps that our own workers run, and their journals.

use domain::{InteractionId, ProjectId, Scope, SessionId, Step, StepId, TenantId, Timestamp};
use rusqlite::{OptionalExtension, Row, params};
use store::{DueStep, JournalEntry, StepReads, StepState, StepWrites, StoreResult};

use crate::connection::Executor;
use crate::error::Told;
use crate::session::guarded;
use crate::values::{id, json, micros, parsed, time, time_if};

/// Has what is sealed for a session's closed questions go with them.
pub(crate) const RETIRE: &str = "update interactions set retired_at = ?3 where session = ?1 and project = ?2 \
     and resolved_at is not null and exists (select 1 from sealed_values where sealed_values.interaction = interactions.id)";
/// What is due, the earliest first.
pub(crate) const DUE: &str = "select projects.tenant, steps.project, session, steps.id from steps \
                              join projects on projects.id = steps.project \
                              where due is not null and due <= ?1 order by due limit ?2";

impl StepReads for Executor<'_> {
    fn step(&mut self, scope: &Scope, step: StepId) -> StoreResult<Option<Step>> {
        let sql = "select body from steps where id = ?1 and project = ?2";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        let body = |row: &Row<'_>| parsed(&row.get::<_, String>(0)?);
        statement.query_row([step.uuid(), scope.project.uuid()], body).optional().told()
    }

    fn steps_due(&mut self, now: Timestamp, limit: u32) -> StoreResult<Vec<DueStep>> {
        let mut statement = self.connection.prepare_cached(DUE).told()?;
        let due = |row: &Row<'_>| {
            Ok(DueStep {
                scope: Scope {
                    tenant: TenantId::from_uuid(id(row.get(0)?)),
                    project: ProjectId::from_uuid(id(row.get(1)?)),
                },
                session: SessionId::from_uuid(id(row.get(2)?)),
                step: StepId::from_uuid(id(row.get(3)?)),
            })
        };
        let found = statement.query_map(params![now.as_microsecond(), limit], due).told()?;
        found.collect::<Result<_, _>>().told()
    }

    fn next_step_due(&mut self) -> StoreResult<Option<Timestamp>> {
        let sql = "select min(due) from steps where due is not null";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        statement.query_row([], |row| time_if(row.get(0)?)).told()
    }

    fn step_state(&mut self, scope: &Scope, step: StepId) -> StoreResult<Option<StepState>> {
        let sql = "select upto, step_states.body from step_states join steps on steps.id = step \
                   where step = ?1 and project = ?2";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        let state = |row: &Row<'_>| Ok(StepState { upto: row.get(0)?, body: parsed(&row.get::<_, String>(1)?)? });
        statement.query_row([step.uuid(), scope.project.uuid()], state).optional().told()
    }

    fn interactions_with_sealed_value(
        &mut self,
        scope: &Scope,
        session: SessionId,
        name: &str,
    ) -> StoreResult<Vec<InteractionId>> {
        let sql = "select interaction from interactions join sealed_values on interaction = interactions.id \
                   where session = ?1 and project = ?2 and name = ?3 order by interaction";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        let one = |row: &Row<'_>| Ok(InteractionId::from_uuid(id(row.get(0)?)));
        let found = statement.query_map(params![session.uuid(), scope.project.uuid(), name], one).told()?;
        found.collect::<Result<_, _>>().told()
    }

    fn journal(&mut self, scope: &Scope, step: StepId, after: u64, limit: u32) -> StoreResult<Vec<JournalEntry>> {
        let sql = "select seq, at, journal.body from journal join steps on steps.id = step \
                   where step = ?1 and seq > ?3 and project = ?2 order by seq limit ?4";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        let entry = |row: &Row<'_>| {
            Ok(JournalEntry { seq: row.get(0)?, at: time(row.get(1)?)?, body: parsed(&row.get::<_, String>(2)?)? })
        };
        let found = statement.query_map(params![step.uuid(), scope.project.uuid(), after, limit], entry).told()?;
        found.collect::<Result<_, _>>().told()
    }
}

impl StepWrites for Executor<'_> {
    fn journal_append(&mut self, scope: &Scope, step: StepId, entry: &JournalEntry) -> StoreResult<()> {
        let sql = "insert into journal (step, seq, at, body) \
                   select id, ?3, ?4, ?5 from steps where id = ?1 and project = ?2 \
                   and ?3 = 1 + (select coalesce(max(seq), 0) from journal where step = ?1)";
        let row = params![step.uuid(), scope.project.uuid(), entry.seq, entry.at.as_microsecond(), json(&entry.body)?];
        guarded(self.connection.prepare_cached(sql).told()?.execute(row).told()?)
    }

    fn step_state_save(&mut self, scope: &Scope, step: StepId, state: &StepState) -> StoreResult<()> {
        let sql = "insert into step_states (step, upto, body) select id, ?3, ?4 from steps where id = ?1 and project = ?2 \
                   on conflict (step) do update set upto = excluded.upto, body = excluded.body";
        let row = params![step.uuid(), scope.project.uuid(), state.upto, json(&state.body)?];
        guarded(self.connection.prepare_cached(sql).told()?.execute(row).told()?)
    }

    fn session_sealed_values_retire(
        &mut self,
        scope: &Scope,
        session: SessionId,
        at: Option<Timestamp>,
    ) -> StoreResult<()> {
        let row = params![session.uuid(), scope.project.uuid(), micros(at)];
        self.connection.prepare_cached(RETIRE).told()?.execute(row).told().map(drop)
    }

    fn session_sealed_values_delete(&mut self, scope: &Scope, session: SessionId) -> StoreResult<()> {
        let sql = "delete from sealed_values where interaction in \
                   (select id from interactions where session = ?1 and project = ?2)";
        let row = [session.uuid(), scope.project.uuid()];
        self.connection.prepare_cached(sql).told()?.execute(row).told().map(drop)
    }
}
