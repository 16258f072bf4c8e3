//! Versions of agents and flows, and counts of the answers that people give.

use domain::{Definition, DefinitionKind, Scope, Timestamp};
use postgres::Row;
use serde_json::Value;
use store::sql::definition as sql;
use store::{AnswerSource, Bounded, DefinitionReads, DefinitionWrites, Page, StoreResult};

use crate::connection::{Executor, Values};
use crate::values::{column, json, micros, number, optional_time, parse};

impl DefinitionReads for Executor<'_> {
    fn definition(
        &mut self,
        scope: &Scope,
        kind: DefinitionKind,
        name: &str,
        version: &str,
    ) -> StoreResult<Option<Definition>> {
        let found = self.row(sql::DEFINITION, &[&scope.project.uuid(), &kind.name(), &name, &version])?;
        found.map(|row| read(&row)).transpose()
    }

    fn definition_newest(
        &mut self,
        scope: &Scope,
        kind: DefinitionKind,
        name: &str,
    ) -> StoreResult<Option<Definition>> {
        let found = self.row(sql::DEFINITION_NEWEST, &[&scope.project.uuid(), &kind.name(), &name])?;
        found.map(|row| read(&row)).transpose()
    }

    fn definitions(
        &mut self,
        scope: &Scope,
        kind: DefinitionKind,
        page: Page<(String, String)>,
    ) -> StoreResult<Bounded<Definition>> {
        let (name, version) = page.after.unwrap_or_default();
        let limit = i64::from(page.limit);
        let values: Values<'_> = &[&scope.project.uuid(), &kind.name(), &name, &version, &limit];
        self.bounded_list(sql::DEFINITIONS, values, page.limit, read)
    }

    fn frequent_answers(&mut self, scope: &Scope, place: &AnswerSource, limit: u32) -> StoreResult<Vec<(Value, u64)>> {
        let found = self.rows(
            sql::FREQUENT_ANSWERS,
            &[&scope.project.uuid(), &place.place, &place.kind.as_str(), &i64::from(limit)],
        )?;
        found.iter().map(|row| Ok((parse(column(row, 0)?)?, number(row, 1)?))).collect()
    }
}

impl DefinitionWrites for Executor<'_> {
    fn definition_insert(&mut self, scope: &Scope, definition: &Definition) -> StoreResult<bool> {
        let changed = self.change(
            sql::DEFINITION_INSERT,
            &[
                &scope.project.uuid(),
                &definition.kind.name(),
                &definition.name,
                &definition.version,
                &definition.at.as_microsecond(),
                &micros(definition.retired_at),
                &json(definition)?,
            ],
        )?;
        Ok(changed == 1)
    }

    fn definition_retire(
        &mut self,
        scope: &Scope,
        kind: DefinitionKind,
        (name, version): (&str, &str),
        at: Timestamp,
    ) -> StoreResult<bool> {
        let at = at.as_microsecond();
        Ok(self.change(sql::DEFINITION_RETIRE, &[&scope.project.uuid(), &kind.name(), &name, &version, &at])? == 1)
    }

    fn answer_count_increment(
        &mut self,
        scope: &Scope,
        place: &AnswerSource,
        digest: &str,
        answer: &Value,
        at: Timestamp,
    ) -> StoreResult<()> {
        let at = at.as_microsecond();
        self.guarded(
            sql::ANSWER_COUNT_ADD,
            &[&scope.project.uuid(), &place.place, &place.kind.as_str(), &digest, &at, &json(answer)?],
        )
    }
}

fn read(row: &Row) -> StoreResult<Definition> {
    let definition: Definition = parse(column(row, 0)?)?;
    Ok(Definition { retired_at: optional_time(column(row, 1)?)?, ..definition })
}
