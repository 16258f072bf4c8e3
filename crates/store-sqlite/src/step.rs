//! Steps that workers of this server run, and their journals.

use domain::{InteractionId, ProjectId, Scope, SessionId, Step, StepId, TenantId, Timestamp};
use rusqlite::{Row, params};
use store::sql::step as sql;
use store::{Bounded, DueStep, JournalEntry, Page, StepReads, StepState, StepWrites, StoreResult};

use crate::connection::Executor;
use crate::values::{id, json, micros, optional_time, parse, time};

/// Sets the retirement time of the closed questions of a session that have sealed values.
pub(crate) const RETIRE: &str = "update interactions set retired_at = ?3 where session = ?1 and project = ?2 \
     and resolved_at is not null and exists (select 1 from sealed_values where sealed_values.interaction = interactions.id)";
impl StepReads for Executor<'_> {
    fn step(&mut self, scope: &Scope, step: StepId) -> StoreResult<Option<Step>> {
        let body = |row: &Row<'_>| parse(&row.get::<_, String>(0)?);
        self.row(sql::STEP, [step.uuid(), scope.project.uuid()], body)
    }

    fn steps_due(&mut self, now: Timestamp, limit: u32) -> StoreResult<Vec<DueStep>> {
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
        self.rows(sql::STEPS_DUE, params![now.as_microsecond(), limit], due)
    }

    fn next_step_due(&mut self) -> StoreResult<Option<Timestamp>> {
        self.one_row(sql::NEXT_STEP_DUE, [], |row| optional_time(row.get(0)?))
    }

    fn step_state(&mut self, scope: &Scope, step: StepId) -> StoreResult<Option<StepState>> {
        let state = |row: &Row<'_>| Ok(StepState { upto: row.get(0)?, body: parse(&row.get::<_, String>(1)?)? });
        self.row(sql::STEP_STATE, [step.uuid(), scope.project.uuid()], state)
    }

    fn interactions_with_sealed_value(
        &mut self,
        scope: &Scope,
        session: SessionId,
        name: &str,
    ) -> StoreResult<Vec<InteractionId>> {
        let one = |row: &Row<'_>| Ok(InteractionId::from_uuid(id(row.get(0)?)));
        self.rows(sql::INTERACTIONS_WITH_SEALED_VALUE, params![session.uuid(), scope.project.uuid(), name], one)
    }

    fn journal(&mut self, scope: &Scope, step: StepId, page: Page<u64>) -> StoreResult<Bounded<JournalEntry>> {
        let entry = |row: &Row<'_>| {
            Ok(JournalEntry { seq: row.get(0)?, at: time(row.get(1)?)?, body: parse(&row.get::<_, String>(2)?)? })
        };
        let values = params![step.uuid(), scope.project.uuid(), page.after.unwrap_or(0), page.limit];
        self.bounded_rows(sql::JOURNAL, values, page.limit, entry)
    }
}

impl StepWrites for Executor<'_> {
    fn journal_append(&mut self, scope: &Scope, step: StepId, entry: &JournalEntry) -> StoreResult<()> {
        let row = params![step.uuid(), scope.project.uuid(), entry.seq, entry.at.as_microsecond(), json(&entry.body)?];
        self.guarded(sql::JOURNAL_APPEND, row)
    }

    fn step_state_save(&mut self, scope: &Scope, step: StepId, state: &StepState) -> StoreResult<()> {
        let row = params![step.uuid(), scope.project.uuid(), state.upto, json(&state.body)?];
        self.guarded(sql::STEP_STATE_SAVE, row)
    }

    fn session_sealed_values_retire(
        &mut self,
        scope: &Scope,
        session: SessionId,
        at: Option<Timestamp>,
    ) -> StoreResult<()> {
        let row = params![session.uuid(), scope.project.uuid(), micros(at)];
        self.change(RETIRE, row).map(drop)
    }

    fn session_sealed_values_delete(&mut self, scope: &Scope, session: SessionId) -> StoreResult<()> {
        let row = [session.uuid(), scope.project.uuid()];
        self.change(sql::SESSION_SEALED_VALUES_DELETE, row).map(drop)
    }
}
