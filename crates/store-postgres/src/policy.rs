//! Which policy is in force in a project, and which ones were.

use domain::{PolicyState, PolicyVersion, Scope};
use store::{PolicyReads, PolicyWrites, Stored};

use crate::connection::Face;
use crate::values::{column, json, parsed, signed};

impl PolicyReads for Face<'_> {
    fn policy_state(&mut self, scope: &Scope) -> Stored<Option<PolicyState>> {
        let found = self.row("select body from policy_states where project = $1", &[&scope.project.uuid()])?;
        found.map(|row| parsed(column(&row, 0)?)).transpose()
    }

    fn policy_version(&mut self, scope: &Scope, version: &str) -> Stored<Option<PolicyVersion>> {
        let sql = "select body from policy_versions where project = $1 and version = $2";
        let found = self.row(sql, &[&scope.project.uuid(), &version])?;
        found.map(|row| parsed(column(&row, 0)?)).transpose()
    }

    fn policy_versions(&mut self, scope: &Scope, limit: u32) -> Stored<Vec<PolicyVersion>> {
        let sql = "select body from policy_versions where project = $1 order by at desc limit $2";
        let found = self.rows(sql, &[&scope.project.uuid(), &i64::from(limit)])?;
        found.iter().map(|row| parsed(column(row, 0)?)).collect()
    }
}

impl PolicyWrites for Face<'_> {
    fn policy_save(&mut self, scope: &Scope, state: &PolicyState) -> Stored<()> {
        let sql = "insert into policy_states (project, revision, body) values ($1, $2, $3) \
                   on conflict (project) do update set revision = excluded.revision, body = excluded.body \
                   where policy_states.revision + 1 = excluded.revision";
        self.guarded(sql, &[&scope.project.uuid(), &signed(state.revision)?, &json(state)?])
    }

    fn policy_keep(&mut self, scope: &Scope, version: &PolicyVersion) -> Stored<bool> {
        let sql =
            "insert into policy_versions (project, version, at, body) values ($1, $2, $3, $4) on conflict do nothing";
        let at = version.at.as_microsecond();
        Ok(self.change(sql, &[&scope.project.uuid(), &version.version, &at, &json(version)?])? == 1)
    }
}
