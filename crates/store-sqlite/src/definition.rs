//! Versions of agents and flows, and counts of the answers that people give.

use domain::{Definition, DefinitionKind, Scope, Timestamp};
use rusqlite::{Row, params};
use serde_json::Value;
use store::sql::definition as sql;
use store::{AnswerSource, Bounded, DefinitionReads, DefinitionWrites, Page, StoreResult};

use crate::connection::Executor;
use crate::values::{json, micros, optional_time, parse};

impl DefinitionReads for Executor<'_> {
    fn definition(
        &mut self,
        scope: &Scope,
        kind: DefinitionKind,
        name: &str,
        version: &str,
    ) -> StoreResult<Option<Definition>> {
        let row = params![scope.project.uuid(), kind.name(), name, version];
        self.row(sql::DEFINITION, row, read)
    }

    fn definition_newest(
        &mut self,
        scope: &Scope,
        kind: DefinitionKind,
        name: &str,
    ) -> StoreResult<Option<Definition>> {
        self.row(sql::DEFINITION_NEWEST, params![scope.project.uuid(), kind.name(), name], read)
    }

    fn definitions(
        &mut self,
        scope: &Scope,
        kind: DefinitionKind,
        page: Page<(String, String)>,
    ) -> StoreResult<Bounded<Definition>> {
        let (name, version) = page.after.unwrap_or_default();
        let row = params![scope.project.uuid(), kind.name(), name, version, page.limit];
        self.bounded_rows(sql::DEFINITIONS, row, page.limit, read)
    }

    fn frequent_answers(&mut self, scope: &Scope, place: &AnswerSource, limit: u32) -> StoreResult<Vec<(Value, u64)>> {
        let counted = |row: &Row<'_>| Ok((parse(&row.get::<_, String>(0)?)?, row.get(1)?));
        self.rows(
            sql::FREQUENT_ANSWERS,
            params![scope.project.uuid(), place.place, place.kind.as_str(), limit],
            counted,
        )
    }
}

impl DefinitionWrites for Executor<'_> {
    fn definition_insert(&mut self, scope: &Scope, definition: &Definition) -> StoreResult<bool> {
        let row = params![
            scope.project.uuid(),
            definition.kind.name(),
            definition.name,
            definition.version,
            definition.at.as_microsecond(),
            micros(definition.retired_at),
            json(definition)?,
        ];
        Ok(self.change(sql::DEFINITION_INSERT, row)? == 1)
    }

    fn definition_retire(
        &mut self,
        scope: &Scope,
        kind: DefinitionKind,
        (name, version): (&str, &str),
        at: Timestamp,
    ) -> StoreResult<bool> {
        let row = params![scope.project.uuid(), kind.name(), name, version, at.as_microsecond()];
        Ok(self.change(sql::DEFINITION_RETIRE, row)? == 1)
    }

    fn answer_count_increment(
        &mut self,
        scope: &Scope,
        place: &AnswerSource,
        digest: &str,
        answer: &Value,
        at: Timestamp,
    ) -> StoreResult<()> {
        let row =
            params![scope.project.uuid(), place.place, place.kind.as_str(), digest, at.as_microsecond(), json(answer)?];
        self.change(sql::ANSWER_COUNT_ADD, row).map(drop)
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Definition> {
    let definition: Definition = parse(&row.get::<_, String>(0)?)?;
    Ok(Definition { retired_at: optional_time(row.get(1)?)?, ..definition })
}
