//! Grants: approvals that cover more than one action.

use domain::{Grant, GrantId, Scope, Timestamp};
use postgres::Row;
use store::sql::grant as sql;
use store::{Bounded, GrantReads, GrantWrites, Page, StoreResult, TimerReads};

use crate::connection::{Executor, Values};
use crate::values::{column, json, micros, number, parse, signed};

/// Valid grants for a tool.
pub(crate) const FOR_TOOL: &str = "select body, uses from grants where project = $1 and tool = $2 and revoked_at is null \
                                   and (until is null or until > $3) and (most_uses is null or uses < most_uses) \
                                   and ($4::uuid is null or id > $4) order by id limit $5";

impl GrantReads for Executor<'_> {
    fn grant(&mut self, scope: &Scope, id: GrantId) -> StoreResult<Option<Grant>> {
        let found = self.row(sql::GRANT, &[&id.uuid(), &scope.project.uuid()])?;
        found.map(|row| read(&row)).transpose()
    }

    fn grants(&mut self, scope: &Scope, over: bool, page: Page<GrantId>) -> StoreResult<Bounded<Grant>> {
        let now = self.now()?.as_microsecond();
        let sql = "select body, uses from grants where project = $1 and ($2::uuid is null or id < $2) and ($3 or (revoked_at is \
                   null and (until is null or until > $4) and (most_uses is null or uses < most_uses))) \
                   order by id desc limit $5";
        let after = page.after.map(GrantId::uuid);
        let values: Values<'_> = &[&scope.project.uuid(), &after, &over, &now, &i64::from(page.limit)];
        self.bounded_list(sql, values, page.limit, read)
    }

    fn grants_for(
        &mut self,
        scope: &Scope,
        tool: &str,
        now: Timestamp,
        page: Page<GrantId>,
    ) -> StoreResult<Bounded<Grant>> {
        let (after, limit) = (page.after.map(GrantId::uuid), i64::from(page.limit));
        let values: Values<'_> = &[&scope.project.uuid(), &tool, &now.as_microsecond(), &after, &limit];
        self.bounded_rows(FOR_TOOL, values, page.limit, read)
    }
}

impl GrantWrites for Executor<'_> {
    fn grant_insert(&mut self, grant: &Grant) -> StoreResult<()> {
        let most_uses = grant.most_uses.map(signed).transpose()?;
        self.guarded(
            sql::GRANT_INSERT,
            &[
                &grant.id.uuid(),
                &grant.scope.project.uuid(),
                &grant.tool,
                &micros(grant.until),
                &most_uses,
                &signed(grant.uses)?,
                &json(grant)?,
            ],
        )
    }

    fn grant_use(&mut self, scope: &Scope, id: GrantId, now: Timestamp) -> StoreResult<bool> {
        Ok(self.change(sql::GRANT_USE, &[&id.uuid(), &scope.project.uuid(), &now.as_microsecond()])? == 1)
    }

    fn grant_revoke(&mut self, grant: &Grant) -> StoreResult<bool> {
        let at = grant.revoked.as_ref().map(|(_, at)| at.as_microsecond());
        Ok(self.change(sql::GRANT_REVOKE, &[&grant.id.uuid(), &grant.scope.project.uuid(), &at, &json(grant)?])? == 1)
    }
}

fn read(row: &Row) -> StoreResult<Grant> {
    let grant: Grant = parse(column(row, 0)?)?;
    Ok(Grant { uses: number(row, 1)?, ..grant })
}
