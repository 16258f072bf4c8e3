//! Which policy is in force in a project, and which ones were.

use domain::{PolicyState, PolicyVersion, Scope};
use rusqlite::{OptionalExtension, Row, params};
use serde::de::DeserializeOwned;
use store::{PolicyReads, PolicyWrites, Stored};

use crate::connection::Face;
use crate::error::Told;
use crate::session::guarded;
use crate::values::{json, parsed};

impl PolicyReads for Face<'_> {
    fn policy_state(&mut self, scope: &Scope) -> Stored<Option<PolicyState>> {
        let sql = "select body from policy_states where project = ?1";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        statement.query_row([scope.project.uuid()], body).optional().told()
    }

    fn policy_version(&mut self, scope: &Scope, version: &str) -> Stored<Option<PolicyVersion>> {
        let sql = "select body from policy_versions where project = ?1 and version = ?2";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        statement.query_row(params![scope.project.uuid(), version], body).optional().told()
    }

    fn policy_versions(&mut self, scope: &Scope, limit: u32) -> Stored<Vec<PolicyVersion>> {
        let sql = "select body from policy_versions where project = ?1 order by at desc limit ?2";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        let found = statement.query_map(params![scope.project.uuid(), limit], body).told()?;
        found.collect::<Result<_, _>>().told()
    }
}

impl PolicyWrites for Face<'_> {
    fn policy_save(&mut self, scope: &Scope, state: &PolicyState) -> Stored<()> {
        let sql = "insert into policy_states (project, revision, body) values (?1, ?2, ?3) \
                   on conflict (project) do update set revision = excluded.revision, body = excluded.body \
                   where policy_states.revision + 1 = excluded.revision";
        let row = params![scope.project.uuid(), state.revision, json(state)?];
        guarded(self.connection.prepare_cached(sql).told()?.execute(row).told()?)
    }

    fn policy_keep(&mut self, scope: &Scope, version: &PolicyVersion) -> Stored<bool> {
        let sql =
            "insert into policy_versions (project, version, at, body) values (?1, ?2, ?3, ?4) on conflict do nothing";
        let row = params![scope.project.uuid(), version.version, version.at.as_microsecond(), json(version)?];
        Ok(self.connection.prepare_cached(sql).told()?.execute(row).told()? == 1)
    }
}

fn body<T: DeserializeOwned>(row: &Row<'_>) -> rusqlite::Result<T> {
    parsed(&row.get::<_, String>(0)?)
}
