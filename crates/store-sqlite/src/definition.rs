//! Versions of agents and flows, and what people usually answer to them.

use domain::{Definition, DefinitionKind, Scope, Timestamp};
use rusqlite::{OptionalExtension, Row, params};
use serde_json::Value;
use store::{AnswerSource, Bounded, DefinitionReads, DefinitionWrites, Page, StoreResult};

use crate::connection::Executor;
use crate::error::Told;
use crate::values::{json, micros, parsed, time_if};

impl DefinitionReads for Executor<'_> {
    fn definition(
        &mut self,
        scope: &Scope,
        kind: DefinitionKind,
        name: &str,
        version: &str,
    ) -> StoreResult<Option<Definition>> {
        let sql = "select body, retired_at from definitions \
                   where project = ?1 and kind = ?2 and name = ?3 and version = ?4";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        let row = params![scope.project.uuid(), kind.name(), name, version];
        statement.query_row(row, read).optional().told()
    }

    fn definition_newest(
        &mut self,
        scope: &Scope,
        kind: DefinitionKind,
        name: &str,
    ) -> StoreResult<Option<Definition>> {
        let sql = "select body, retired_at from definitions \
                   where project = ?1 and kind = ?2 and name = ?3 and retired_at is null \
                   order by at desc, version desc limit 1";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        statement.query_row(params![scope.project.uuid(), kind.name(), name], read).optional().told()
    }

    fn definitions(
        &mut self,
        scope: &Scope,
        kind: DefinitionKind,
        page: Page<(String, String)>,
    ) -> StoreResult<Bounded<Definition>> {
        let sql = "select body, retired_at from definitions \
                   where project = ?1 and kind = ?2 and (name, version) > (?3, ?4) order by name, version limit ?5";
        let (name, version) = page.after.unwrap_or_default();
        let row = params![scope.project.uuid(), kind.name(), name, version, page.limit];
        self.bounded(sql, row, page.limit, read)
    }

    fn frequent_answers(&mut self, scope: &Scope, place: &AnswerSource, limit: u32) -> StoreResult<Vec<(Value, u64)>> {
        let sql = "select body, count from answer_counts where project = ?1 and place = ?2 and kind = ?3 \
                   order by count desc, at desc limit ?4";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        let counted = |row: &Row<'_>| Ok((parsed(&row.get::<_, String>(0)?)?, row.get(1)?));
        let found =
            statement.query_map(params![scope.project.uuid(), place.place, place.kind, limit], counted).told()?;
        found.collect::<Result<_, _>>().told()
    }
}

impl DefinitionWrites for Executor<'_> {
    fn definition_insert(&mut self, scope: &Scope, definition: &Definition) -> StoreResult<bool> {
        let sql = "insert into definitions (project, kind, name, version, at, retired_at, body) \
                   values (?1, ?2, ?3, ?4, ?5, ?6, ?7) on conflict do nothing";
        let row = params![
            scope.project.uuid(),
            definition.kind.name(),
            definition.name,
            definition.version,
            definition.at.as_microsecond(),
            micros(definition.retired_at),
            json(definition)?,
        ];
        Ok(self.connection.prepare_cached(sql).told()?.execute(row).told()? == 1)
    }

    fn definition_retire(
        &mut self,
        scope: &Scope,
        kind: DefinitionKind,
        (name, version): (&str, &str),
        at: Timestamp,
    ) -> StoreResult<bool> {
        let sql = "update definitions set retired_at = ?5 \
                   where project = ?1 and kind = ?2 and name = ?3 and version = ?4 and retired_at is null";
        let row = params![scope.project.uuid(), kind.name(), name, version, at.as_microsecond()];
        Ok(self.connection.prepare_cached(sql).told()?.execute(row).told()? == 1)
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
                   values (?1, ?2, ?3, ?4, 1, ?5, ?6) \
                   on conflict (project, place, kind, digest) do update set count = count + 1, at = excluded.at";
        let row = params![scope.project.uuid(), place.place, place.kind, digest, at.as_microsecond(), json(answer)?];
        self.connection.prepare_cached(sql).told()?.execute(row).told().map(drop)
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Definition> {
    let definition: Definition = parsed(&row.get::<_, String>(0)?)?;
    Ok(Definition { retired_at: time_if(row.get(1)?)?, ..definition })
}
