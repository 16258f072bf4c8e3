//! Versions of agents and flows, and what people usually answer to them.

use domain::{Definition, DefinitionKind, Scope, Timestamp};
use postgres::Row;
use serde_json::Value;
use store::{AnswerSource, Bounded, DefinitionReads, DefinitionWrites, Page, StoreResult};

use crate::connection::{Executor, Values};
use crate::values::{column, json, micros, number, parsed, time_if};

impl DefinitionReads for Executor<'_> {
    fn definition(
        &mut self,
        scope: &Scope,
        kind: DefinitionKind,
        name: &str,
        version: &str,
    ) -> StoreResult<Option<Definition>> {
        let sql = "select body, retired_at from definitions \
                   where project = $1 and kind = $2 and name = $3 and version = $4";
        let found = self.row(sql, &[&scope.project.uuid(), &kind.name(), &name, &version])?;
        found.map(|row| read(&row)).transpose()
    }

    fn definition_newest(
        &mut self,
        scope: &Scope,
        kind: DefinitionKind,
        name: &str,
    ) -> StoreResult<Option<Definition>> {
        let sql = "select body, retired_at from definitions \
                   where project = $1 and kind = $2 and name = $3 and retired_at is null \
                   order by at desc, version desc limit 1";
        let found = self.row(sql, &[&scope.project.uuid(), &kind.name(), &name])?;
        found.map(|row| read(&row)).transpose()
    }

    fn definitions(
        &mut self,
        scope: &Scope,
        kind: DefinitionKind,
        page: Page<(String, String)>,
    ) -> StoreResult<Bounded<Definition>> {
        let sql = "select body, retired_at from definitions \
                   where project = $1 and kind = $2 and (name, version) > ($3, $4) order by name, version limit $5";
        let (name, version) = page.after.unwrap_or_default();
        let limit = i64::from(page.limit);
        let values: Values<'_> = &[&scope.project.uuid(), &kind.name(), &name, &version, &limit];
        self.bounded_list(sql, values, page.limit, read)
    }

    fn frequent_answers(&mut self, scope: &Scope, place: &AnswerSource, limit: u32) -> StoreResult<Vec<(Value, u64)>> {
        let sql = "select body, count from answer_counts where project = $1 and place = $2 and kind = $3 \
                   order by count desc, at desc limit $4";
        let found = self.rows(sql, &[&scope.project.uuid(), &place.place, &place.kind, &i64::from(limit)])?;
        found.iter().map(|row| Ok((parsed(column(row, 0)?)?, number(row, 1)?))).collect()
    }
}

impl DefinitionWrites for Executor<'_> {
    fn definition_insert(&mut self, scope: &Scope, definition: &Definition) -> StoreResult<bool> {
        let sql = "insert into definitions (project, kind, name, version, at, retired_at, body) \
                   values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing";
        let changed = self.change(
            sql,
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
        let sql = "update definitions set retired_at = $5 \
                   where project = $1 and kind = $2 and name = $3 and version = $4 and retired_at is null";
        let at = at.as_microsecond();
        Ok(self.change(sql, &[&scope.project.uuid(), &kind.name(), &name, &version, &at])? == 1)
    }

    fn answer_count_increment(
        &mut self,
        scope: &Scope,
        place: &AnswerSource,
        digest: &str,
        answer: &Value,
        at: Timestamp,
    ) -> StoreResult<()> {
        let sql = "insert into answer_counts (project, place, kind, digest, count, at, body) \
                   values ($1, $2, $3, $4, 1, $5, $6) on conflict (project, place, kind, digest) \
                   do update set count = answer_counts.count + 1, at = excluded.at";
        let at = at.as_microsecond();
        self.guarded(sql, &[&scope.project.uuid(), &place.place, &place.kind, &digest, &at, &json(answer)?])
    }
}

fn read(row: &Row) -> StoreResult<Definition> {
    let definition: Definition = parsed(column(row, 0)?)?;
    Ok(Definition { retired_at: time_if(column(row, 1)?)?, ..definition })
}
