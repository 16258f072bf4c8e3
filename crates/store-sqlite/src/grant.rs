//! Approvals that hold for more than one action.

use domain::{Grant, GrantId, Scope, Timestamp};
use rusqlite::{OptionalExtension, Row, params};
use store::{Bounded, GrantReads, GrantWrites, Page, StoreResult};

use crate::connection::Executor;
use crate::error::Told;
use crate::session::guarded;
use crate::values::{json, micros, parsed};

/// Grants for a tool that are not over.
pub(crate) const FOR_TOOL: &str = "select body, uses from grants where project = ?1 and tool = ?2 and revoked_at is null \
                                   and (until is null or until > ?3) and (most_uses is null or uses < most_uses) \
                                   and (?4 is null or id > ?4) order by id limit ?5";

impl GrantReads for Executor<'_> {
    fn grant(&mut self, scope: &Scope, id: GrantId) -> StoreResult<Option<Grant>> {
        let sql = "select body, uses from grants where id = ?1 and project = ?2";
        let mut statement = self.connection.prepare_cached(sql).told()?;
        statement.query_row([id.uuid(), scope.project.uuid()], read).optional().told()
    }

    fn grants(&mut self, scope: &Scope, over: bool, page: Page<GrantId>) -> StoreResult<Bounded<Grant>> {
        let now = self.clock.now().as_microsecond();
        let sql = "select body, uses from grants where project = ?1 and (?2 is null or id < ?2) and (?3 or (revoked_at is null \
                   and (until is null or until > ?4) and (most_uses is null or uses < most_uses))) order by id desc limit ?5";
        let row = params![scope.project.uuid(), page.after.map(GrantId::uuid), over, now, page.limit];
        self.bounded(sql, row, page.limit, read)
    }

    fn grants_for(
        &mut self,
        scope: &Scope,
        tool: &str,
        now: Timestamp,
        page: Page<GrantId>,
    ) -> StoreResult<Bounded<Grant>> {
        let after = page.after.map(GrantId::uuid);
        let row = params![scope.project.uuid(), tool, now.as_microsecond(), after, page.limit];
        self.bounded(FOR_TOOL, row, page.limit, read)
    }
}

impl GrantWrites for Executor<'_> {
    fn grant_insert(&mut self, grant: &Grant) -> StoreResult<()> {
        let sql =
            "insert into grants (id, project, tool, until, most_uses, uses, body) values (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let row = params![
            grant.id.uuid(),
            grant.scope.project.uuid(),
            grant.tool,
            micros(grant.until),
            grant.most_uses,
            grant.uses,
            json(grant)?,
        ];
        guarded(self.connection.prepare_cached(sql).told()?.execute(row).told()?)
    }

    fn grant_use(&mut self, scope: &Scope, id: GrantId, now: Timestamp) -> StoreResult<bool> {
        let sql = "update grants set uses = uses + 1 where id = ?1 and project = ?2 and revoked_at is null \
                   and (until is null or until > ?3) and (most_uses is null or uses < most_uses)";
        let row = params![id.uuid(), scope.project.uuid(), now.as_microsecond()];
        Ok(self.connection.prepare_cached(sql).told()?.execute(row).told()? == 1)
    }

    fn grant_revoke(&mut self, grant: &Grant) -> StoreResult<bool> {
        let sql = "update grants set revoked_at = ?3, body = ?4 where id = ?1 and project = ?2 and revoked_at is null";
        let at = grant.revoked.as_ref().map(|(_, at)| at.as_microsecond());
        let row = params![grant.id.uuid(), grant.scope.project.uuid(), at, json(grant)?];
        Ok(self.connection.prepare_cached(sql).told()?.execute(row).told()? == 1)
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Grant> {
    let grant: Grant = parsed(&row.get::<_, String>(0)?)?;
    Ok(Grant { uses: row.get(1)?, ..grant })
}
