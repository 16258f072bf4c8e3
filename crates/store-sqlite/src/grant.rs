//! Grants: approvals that cover more than one action.

use domain::{Grant, GrantId, Scope, Timestamp};
use rusqlite::{Row, params};
use store::sql::grant as sql;
use store::{Bounded, GrantReads, GrantWrites, Page, StoreResult};

use crate::connection::Executor;
use crate::values::{json, micros, parse};

/// Valid grants for a tool.
pub(crate) const FOR_TOOL: &str = "select body, uses from grants where project = ?1 and tool = ?2 and revoked_at is null \
                                   and (until is null or until > ?3) and (most_uses is null or uses < most_uses) \
                                   and (?4 is null or id > ?4) order by id limit ?5";

impl GrantReads for Executor<'_> {
    fn grant(&mut self, scope: &Scope, id: GrantId) -> StoreResult<Option<Grant>> {
        self.row(sql::GRANT, [id.uuid(), scope.project.uuid()], read)
    }

    fn grants(&mut self, scope: &Scope, over: bool, page: Page<GrantId>) -> StoreResult<Bounded<Grant>> {
        let now = self.clock.now().as_microsecond();
        let sql = "select body, uses from grants where project = ?1 and (?2 is null or id < ?2) and (?3 or (revoked_at is null \
                   and (until is null or until > ?4) and (most_uses is null or uses < most_uses))) order by id desc limit ?5";
        let row = params![scope.project.uuid(), page.after.map(GrantId::uuid), over, now, page.limit];
        self.bounded_rows(sql, row, page.limit, read)
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
        self.bounded_rows(FOR_TOOL, row, page.limit, read)
    }
}

impl GrantWrites for Executor<'_> {
    fn grant_insert(&mut self, grant: &Grant) -> StoreResult<()> {
        let row = params![
            grant.id.uuid(),
            grant.scope.project.uuid(),
            grant.tool,
            micros(grant.until),
            grant.most_uses,
            grant.uses,
            json(grant)?,
        ];
        self.guarded(sql::GRANT_INSERT, row)
    }

    fn grant_use(&mut self, scope: &Scope, id: GrantId, now: Timestamp) -> StoreResult<bool> {
        let row = params![id.uuid(), scope.project.uuid(), now.as_microsecond()];
        Ok(self.change(sql::GRANT_USE, row)? == 1)
    }

    fn grant_revoke(&mut self, grant: &Grant) -> StoreResult<bool> {
        let at = grant.revoked.as_ref().map(|(_, at)| at.as_microsecond());
        let row = params![grant.id.uuid(), grant.scope.project.uuid(), at, json(grant)?];
        Ok(self.change(sql::GRANT_REVOKE, row)? == 1)
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Grant> {
    let grant: Grant = parse(&row.get::<_, String>(0)?)?;
    Ok(Grant { uses: row.get(1)?, ..grant })
}
