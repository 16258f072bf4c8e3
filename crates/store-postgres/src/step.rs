//! Steps that workers of this server run, and their journals.

use domain::{InteractionId, Scope, SessionId, Step, StepId, Timestamp};
use postgres::Row;
use store::sql::step as sql;
use store::{Bounded, DueStep, JournalEntry, Page, StepReads, StepState, StepWrites, StoreResult};

use crate::access::scope as scope_of;
use crate::connection::{Executor, Values};
use crate::values::{column, json, micros, number, optional_time, parse, signed, time};

impl StepReads for Executor<'_> {
    fn step(&mut self, scope: &Scope, step: StepId) -> StoreResult<Option<Step>> {
        let found = self.row(sql::STEP, &[&step.uuid(), &scope.project.uuid()])?;
        found.map(|row| parse(column(&row, 0)?)).transpose()
    }

    fn steps_due(&mut self, now: Timestamp, limit: u32) -> StoreResult<Vec<DueStep>> {
        let found = self.rows(sql::STEPS_DUE, &[&now.as_microsecond(), &i64::from(limit)])?;
        let due = |row| {
            Ok(DueStep {
                scope: scope_of(row, 0, 1)?,
                session: SessionId::from_uuid(column(row, 2)?),
                step: StepId::from_uuid(column(row, 3)?),
            })
        };
        found.iter().map(due).collect()
    }

    fn next_step_due(&mut self) -> StoreResult<Option<Timestamp>> {
        let row = self.row(sql::NEXT_STEP_DUE, &[])?;
        optional_time(row.map(|row| column(&row, 0)).transpose()?.flatten())
    }

    fn step_state(&mut self, scope: &Scope, step: StepId) -> StoreResult<Option<StepState>> {
        let found = self.row(sql::STEP_STATE, &[&step.uuid(), &scope.project.uuid()])?;
        found.map(|row| Ok(StepState { upto: number(&row, 0)?, body: parse(column(&row, 1)?)? })).transpose()
    }

    fn interactions_with_sealed_value(
        &mut self,
        scope: &Scope,
        session: SessionId,
        name: &str,
    ) -> StoreResult<Vec<InteractionId>> {
        let found = self.rows(sql::INTERACTIONS_WITH_SEALED_VALUE, &[&session.uuid(), &scope.project.uuid(), &name])?;
        found.iter().map(|row| Ok(InteractionId::from_uuid(column(row, 0)?))).collect()
    }

    fn journal(&mut self, scope: &Scope, step: StepId, page: Page<u64>) -> StoreResult<Bounded<JournalEntry>> {
        let after = signed(page.after.unwrap_or(0))?;
        let values: Values<'_> = &[&step.uuid(), &scope.project.uuid(), &after, &i64::from(page.limit)];
        let entry = |row: &Row| {
            Ok(JournalEntry { seq: number(row, 0)?, at: time(column(row, 1)?)?, body: parse(column(row, 2)?)? })
        };
        self.bounded_rows(sql::JOURNAL, values, page.limit, entry)
    }
}

impl StepWrites for Executor<'_> {
    fn journal_append(&mut self, scope: &Scope, step: StepId, entry: &JournalEntry) -> StoreResult<()> {
        let at = entry.at.as_microsecond();
        self.guarded(
            sql::JOURNAL_APPEND,
            &[&step.uuid(), &scope.project.uuid(), &signed(entry.seq)?, &at, &json(&entry.body)?],
        )
    }

    fn step_state_save(&mut self, scope: &Scope, step: StepId, state: &StepState) -> StoreResult<()> {
        self.guarded(
            sql::STEP_STATE_SAVE,
            &[&step.uuid(), &scope.project.uuid(), &signed(state.upto)?, &json(&state.body)?],
        )
    }

    fn session_sealed_values_retire(
        &mut self,
        scope: &Scope,
        session: SessionId,
        at: Option<Timestamp>,
    ) -> StoreResult<()> {
        let sql = "update interactions set retired_at = $3 where session = $1 and project = $2 \
                   and resolved_at is not null and exists (select 1 from sealed_values where interaction = interactions.id)";
        self.change(sql, &[&session.uuid(), &scope.project.uuid(), &micros(at)]).map(drop)
    }

    fn session_sealed_values_delete(&mut self, scope: &Scope, session: SessionId) -> StoreResult<()> {
        self.change(sql::SESSION_SEALED_VALUES_DELETE, &[&session.uuid(), &scope.project.uuid()]).map(drop)
    }
}
